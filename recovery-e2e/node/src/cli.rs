//! The command line.

use std::future::Future;
use std::io::IsTerminal as _;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::process::ExitCode;
use std::time::Duration;

use camino::Utf8PathBuf;
use clap::{Args, Parser, Subcommand};
use tracing_subscriber::EnvFilter;

use crate::feed::Limits;
use crate::origin::Origin;
use crate::ring::Bounds;
use crate::serve::{self, ServeError};

/// A small streaming agent node.
#[derive(Parser)]
#[command(name = "recovery-node", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve workstreams until SIGTERM or SIGINT; prints one line of JSON when it listens.
    Serve(Settings),
}

/// How a node is started. Defaults are those of the protocol.
#[derive(Args, Clone, Debug)]
pub struct Settings {
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
    /// After how many milliseconds a browser redials: a random value of this range.
    #[arg(long, default_value = "2500..4500", value_name = "A..B", value_parser = range)]
    pub retry_ms: RangeInclusive<u32>,
    /// Milliseconds between the comments that keep a stream open.
    #[arg(long, default_value = "5000", value_name = "MS", value_parser = positive)]
    pub ping_ms: u64,
    /// Milliseconds between the numbers of all that is loaded, on the global stream.
    #[arg(long, default_value = "10000", value_name = "MS", value_parser = positive)]
    pub aggregate_ms: u64,
    /// Events that a workstream keeps for replay.
    #[arg(long, default_value_t = 50_000, value_name = "N")]
    pub ring_events: usize,
    /// Bytes that a workstream keeps for replay.
    #[arg(long, default_value_t = 64 << 20, value_name = "N")]
    pub ring_bytes: usize,
    /// Events that may wait for one connection.
    #[arg(long, default_value_t = 500, value_name = "N")]
    pub listener_events: usize,
    /// Bytes that may wait for one connection.
    #[arg(long, default_value_t = 1 << 20, value_name = "N")]
    pub listener_bytes: usize,
    /// Bytes that a message may have.
    #[arg(long, default_value_t = 1 << 20, value_name = "N")]
    pub message_bytes: usize,
}

impl Settings {
    /// What lanes and connections may hold.
    pub fn limits(&self) -> Limits {
        Limits {
            ring: Bounds { events: self.ring_events, bytes: self.ring_bytes },
            listener: Bounds { events: self.listener_events, bytes: self.listener_bytes },
        }
    }

    /// The time between two aggregates.
    pub fn aggregate(&self) -> Duration {
        Duration::from_millis(self.aggregate_ms)
    }

    /// The time between pings.
    pub fn ping(&self) -> Duration {
        Duration::from_millis(self.ping_ms)
    }
}

fn range(text: &str) -> Result<RangeInclusive<u32>, String> {
    let ends = text.split_once("..").and_then(|(a, b)| Some(a.parse().ok()?..=b.parse().ok()?));
    match ends {
        Some(range) if !range.is_empty() => Ok(range),
        _ => Err("write it as A..B, in milliseconds, A no greater than B".to_owned()),
    }
}

fn positive(text: &str) -> Result<u64, String> {
    let number = text.parse().map_err(|error| format!("{error}"))?;
    if number == 0 { Err("must be at least 1".to_owned()) } else { Ok(number) }
}

/// Runs `recovery-node` with the arguments of this process.
pub fn main() -> ExitCode {
    let Command::Serve(settings) = Cli::parse().command;
    run(async {
        let running = serve::start(settings).await?;
        running.announce()?;
        running.until_stopped().await
    })
}

/// Runs a node to its end: 0 when it was asked to stop, 2 when it could not start, 1 otherwise.
pub(crate) fn run(node: impl Future<Output = Result<(), ServeError>>) -> ExitCode {
    tracing_subscriber::fmt()
        .with_env_filter(
            EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info")),
        )
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("recovery-node: cannot start its threads: {error}");
            return ExitCode::from(2);
        }
    };
    let ended = runtime.block_on(node);
    // A commit that still waits for a foreign lock must not hold up the end.
    runtime.shutdown_timeout(serve::GRACE);
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("recovery-node: {error}");
            ExitCode::from(if error.is_at_start() { 2 } else { 1 })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retry_range_reads_low_to_high() {
        assert_eq!(range("50..100"), Ok(50..=100));
        assert_eq!(range("7..7"), Ok(7..=7));
        for text in ["", "5", "5..", "..5", "9..5", "a..b", "-1..5"] {
            assert!(range(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory as _;
        Cli::command().debug_assert();
    }
}
