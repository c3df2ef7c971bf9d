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

/// How a node is started. Each is also a key of the configuration file.
#[derive(Args, Clone, Debug)]
pub struct Settings {
    /// A file with further settings, in TOML; a flag beats it.
    #[arg(long, value_name = "FILE")]
    pub config: Option<Utf8PathBuf>,
    /// Where to listen; port 0 takes a free one.
    #[arg(long, default_value = "127.0.0.1:8480", value_name = "ADDR:PORT")]
    pub listen: SocketAddr,
    /// The folder of everything that survives; made if missing.
    #[arg(long, value_name = "DIR")]
    pub data_dir: Utf8PathBuf,
    /// Where the token is, if not in the data folder.
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<Utf8PathBuf>,
    /// An origin that browsers reach this node by; may be repeated.
    #[arg(long = "public-origin", value_name = "URL")]
    pub public_origins: Vec<Origin>,
    /// The model's base URL, for workstreams without one of their own. An API key is taken from
    /// the environment variable RECOVERY_NODE_MODEL_KEY.
    #[arg(long, value_name = "URL", value_parser = crate::model::check_base)]
    pub model_url: Option<String>,
    /// The model to ask for.
    #[arg(long, default_value = "default", value_name = "NAME")]
    pub model_name: String,
    /// After how long a browser redials: a random time of this range.
    #[arg(
        long,
        alias = "retry-ms",
        default_value = "2500ms..4500ms",
        value_name = "A..B",
        value_parser = millis_range
    )]
    pub retry: RangeInclusive<u32>,
    /// The time between the comments that keep a stream open.
    #[arg(
        long,
        alias = "ping-ms",
        default_value = "5s",
        value_name = "TIME",
        value_parser = duration
    )]
    pub ping: Duration,
    /// The time between the numbers of all that is loaded, on the global stream.
    #[arg(
        long,
        alias = "aggregate-ms",
        default_value = "10s",
        value_name = "TIME",
        value_parser = duration
    )]
    pub aggregate: Duration,
    /// How long a peer may take no bytes before its connection is ended.
    #[arg(long, default_value = "30s", value_name = "TIME", value_parser = duration)]
    pub write_deadline: Duration,
    /// How long a peer may take to send the head of its next request, and then its body.
    #[arg(long, default_value = "30s", value_name = "TIME", value_parser = duration)]
    pub request_deadline: Duration,
    /// How many connections there may be; more are answered with 503.
    #[arg(long, default_value = "1024", value_name = "N", value_parser = connections)]
    pub max_connections: usize,
    /// Events that a lane keeps for replay.
    #[arg(long, default_value_t = 50_000, value_name = "N")]
    pub ring_events: usize,
    /// Bytes that a lane keeps for replay.
    #[arg(long, default_value = "64MiB", value_name = "SIZE", value_parser = bytes)]
    pub ring_bytes: usize,
    /// Events that may wait for one connection.
    #[arg(long, default_value_t = 500, value_name = "N")]
    pub listener_events: usize,
    /// Bytes that may wait for one connection.
    #[arg(long, default_value = "1MiB", value_name = "SIZE", value_parser = bytes)]
    pub listener_bytes: usize,
    /// Bytes that a message may have.
    #[arg(long, default_value = "1MiB", value_name = "SIZE", value_parser = bytes)]
    pub message_bytes: usize,
    /// What turns may take.
    #[command(flatten)]
    pub turns: TurnSettings,
    /// What is logged: a level, or a filter such as info,recovery_node=debug.
    #[arg(
        long,
        env = "RUST_LOG",
        hide_env_values = true,
        default_value = "info",
        value_name = "FILTER",
        value_parser = filter
    )]
    pub log: String,
    /// How the log is written, on standard error.
    #[arg(long, value_enum, default_value = "text")]
    pub log_format: LogFormat,
}

/// How the log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Lines for people.
    Text,
    /// A JSON object a line.
    Json,
}

impl Settings {
    /// What lanes and connections may hold.
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
        _ => Err("must be a number of at least 1".to_owned()),
    }
}

fn filter(text: &str) -> Result<String, String> {
    EnvFilter::try_new(text).map_err(|error| error.to_string())?;
    Ok(text.to_owned())
}
