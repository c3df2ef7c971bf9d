//! The settings of a node: the flags of the command line.

mod turns;

use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::time::Duration;

use camino::Utf8PathBuf;
use clap::{Args, ValueEnum};
use tracing_subscriber::EnvFilter;

use crate::http::{self, Origin};
use crate::lane::{Bounds, Limits};
use crate::tools;
use crate::units::{bytes, duration, millis_range};
use turns::TurnSettings;

/// How the values of flags are written; the end of the help.
pub const FORMATS: &str = "\
TIME is a number with ms, s, m or h; without a unit it is in milliseconds. A..B is a range of TIMEs.
SIZE is a number of bytes, or a number with KiB, MiB or GiB.
Each flag without its dashes is a key of the configuration file. `recovery-node config` prints the
effective settings in its format.";

/// The settings of a node. Each is a flag, and a key of the configuration file.
#[derive(Args, Clone, Debug)]
pub struct Settings {
    /// TOML file with further settings; a flag overrides the file.
    #[arg(long, value_name = "FILE")]
    pub config: Option<Utf8PathBuf>,
    /// Address to listen on; port 0 picks a free port.
    #[arg(long, default_value = "127.0.0.1:8480", value_name = "ADDR:PORT")]
    pub listen: SocketAddr,
    /// Folder of the database, the secrets and the files of tools; created if it is missing.
    #[arg(long, value_name = "DIR")]
    pub data_dir: Utf8PathBuf,
    /// File with the login token, in place of `token` in the data folder.
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<Utf8PathBuf>,
    /// Origin under which browsers may reach this node, such as https://node.example; may be
    /// repeated.
    #[arg(long = "public-origin", value_name = "URL")]
    pub public_origins: Vec<Origin>,
    /// Base URL of an OpenAI-compatible model API, such as http://127.0.0.1:8080/v1, for
    /// workstreams without one of their own. The environment variable RECOVERY_NODE_MODEL_KEY
    /// holds the API key.
    #[arg(long, value_name = "URL", value_parser = crate::model::check_base)]
    pub model_url: Option<String>,
    /// Name of the model in requests to the model API.
    #[arg(long, default_value = "default", value_name = "NAME")]
    pub model_name: String,
    /// Time before a browser reconnects an event stream: a random time from this range.
    #[arg(
        long,
        alias = "retry-ms",
        default_value = "2500ms..4500ms",
        value_name = "A..B",
        value_parser = millis_range
    )]
    pub retry: RangeInclusive<u32>,
    /// Interval of the comments that keep an event stream open.
    #[arg(
        long,
        alias = "ping-ms",
        default_value = "5s",
        value_name = "TIME",
        value_parser = duration
    )]
    pub ping: Duration,
    /// Interval of the `aggregate` events on the global event stream.
    #[arg(
        long,
        alias = "aggregate-ms",
        default_value = "10s",
        value_name = "TIME",
        value_parser = duration
    )]
    pub aggregate: Duration,
    /// Time without progress after which a write to a peer fails and its connection is closed.
    #[arg(long, default_value = "30s", value_name = "TIME", value_parser = duration)]
    pub write_deadline: Duration,
    /// Maximum time to receive the head of a request, and again to receive its body.
    #[arg(long, default_value = "30s", value_name = "TIME", value_parser = duration)]
    pub request_deadline: Duration,
    /// Maximum number of open connections; further ones are answered with status 503.
    #[arg(long, default_value = "1024", value_name = "N", value_parser = connections)]
    pub max_connections: usize,
    /// Maximum number of events that a lane keeps for replay.
    #[arg(long, default_value_t = 50_000, value_name = "N")]
    pub ring_events: usize,
    /// Maximum size of the events that a lane keeps for replay.
    #[arg(long, default_value = "64MiB", value_name = "SIZE", value_parser = bytes)]
    pub ring_bytes: usize,
    /// Maximum number of events queued for one connection; a slower connection is closed.
    #[arg(long, default_value_t = 500, value_name = "N")]
    pub listener_events: usize,
    /// Maximum size of the events queued for one connection; a slower connection is closed.
    #[arg(long, default_value = "1MiB", value_name = "SIZE", value_parser = bytes)]
    pub listener_bytes: usize,
    /// Maximum size of a message.
    #[arg(long, default_value = "1MiB", value_name = "SIZE", value_parser = bytes)]
    pub message_bytes: usize,
    /// The limits of turns.
    #[command(flatten)]
    pub turns: TurnSettings,
    /// Log filter: a level, or a list such as info,recovery_node=debug.
    #[arg(
        long,
        env = "RUST_LOG",
        hide_env_values = true,
        default_value = "info",
        value_name = "FILTER",
        value_parser = filter
    )]
    pub log: String,
    /// Format of the log on standard error.
    #[arg(long, value_enum, default_value = "text")]
    pub log_format: LogFormat,
}

/// The format of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Plain text.
    Text,
    /// One JSON object per line.
    Json,
}

impl Settings {
    /// The limits of lanes and of connections.
    pub fn limits(&self) -> Limits {
        Limits {
            ring: Bounds { events: self.ring_events, bytes: self.ring_bytes },
            listener: Bounds { events: self.listener_events, bytes: self.listener_bytes },
        }
    }

    /// The limits of tools, and where they run.
    pub fn tools(&self) -> tools::Options {
        tools::Options {
            folder: self.data_dir.join("work"),
            limit: self.turns.tool_limit,
            output_bytes: self.turns.tool_output_bytes,
        }
    }

    /// What the HTTP server allows, and how long it waits.
    pub fn http(&self) -> http::Options {
        let is_local =
            self.listen.ip().is_loopback() && self.public_origins.iter().all(Origin::is_loopback);
        http::Options {
            public_origins: self.public_origins.clone(),
            is_local,
            max_connections: self.max_connections,
            message_bytes: self.message_bytes,
            request_deadline: self.request_deadline,
            write_deadline: self.write_deadline,
            cancel_grace: self.turns.cancel_grace,
            retry: self.retry.clone(),
            ping: self.ping,
        }
    }
}

fn connections(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count @ 1..=tokio::sync::Semaphore::MAX_PERMITS) => Ok(count),
        _ => Err("not a number of connections; write a whole number of at least 1".to_owned()),
    }
}

fn filter(text: &str) -> Result<String, String> {
    match EnvFilter::try_new(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(error) => Err(format!("{error}; write LEVEL or MODULE=LEVEL, such as info")),
    }
}
