//! The command line.

mod turns;

use std::future::Future;
use std::io::{self, IsTerminal as _, Write as _};
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::process::ExitCode;
use std::time::Duration;

use camino::Utf8PathBuf;
use clap::{Args, Command, CommandFactory as _, FromArgMatches, Parser, Subcommand, ValueEnum};
use tracing_subscriber::EnvFilter;

pub use turns::TurnSettings;

use crate::config::{self, ConfigError};
use crate::feed::Limits;
use crate::origin::Origin;
use crate::ring::Bounds;
use crate::serve::{self, ServeError};
use crate::units::{bytes, duration, millis_range};

/// A small streaming agent node.
#[derive(Parser)]
#[command(name = "recovery-node", version)]
struct Cli {
    #[command(subcommand)]
    command: Subcommands,
}

#[derive(Subcommand)]
enum Subcommands {
    /// Serve workstreams until SIGTERM or SIGINT; prints one line of JSON when it listens.
    Serve(Box<Settings>),
}

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

    /// Where the tools of a workstream work.
    pub fn work_dir(&self, ws_id: &str) -> Utf8PathBuf {
        self.data_dir.join("work").join(ws_id)
    }

    /// Whether nobody but this machine can reach the node.
    pub fn is_local(&self) -> bool {
        self.listen.ip().is_loopback() && self.public_origins.iter().all(Origin::is_loopback)
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

/// Runs `recovery-node` with the arguments of this process.
pub fn main() -> ExitCode {
    const CONFIG: &str = "config";
    let show = Settings::augment_args(Command::new(CONFIG))
        .about("Print the settings in force, as a configuration file")
        .mut_args(|arg| arg.required(false));
    let command = Cli::command().subcommand(show);
    let told = match config::read(&command, std::env::args_os().collect()) {
        Ok(told) => told,
        Err(error) => return refused(error),
    };
    if let (Some((CONFIG, told)), Some(command)) =
        (told.subcommand(), command.find_subcommand(CONFIG))
    {
        let written = io::stdout().write_all(config::show(command, told).as_bytes());
        return if written.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let Subcommands::Serve(settings) = match Cli::from_arg_matches(&told) {
        Ok(cli) => cli.command,
        Err(error) => error.exit(),
    };
    run(&settings.clone(), async {
        let running = serve::start(*settings).await?;
        running.announce()?;
        running.until_stopped().await
    })
}

/// Reads the command line of this process, and the configuration file that it names.
///
/// # Errors
/// When they make no sense: the exit code, after it was said why.
#[cfg(feature = "control")]
pub(crate) fn read<T: Parser>() -> Result<T, ExitCode> {
    let command = T::command();
    let told = config::read(&command, std::env::args_os().collect()).map_err(refused)?;
    T::from_arg_matches(&told).map_err(|error| refused(error.into()))
}

fn refused(error: ConfigError) -> ExitCode {
    match error {
        ConfigError::CommandLine(error) => error.exit(),
        error => {
            eprintln!("recovery-node: {error}");
            ExitCode::from(2)
        }
    }
}

/// Runs a node to its end: 0 when it was asked to stop, 2 when it could not start, 1 otherwise.
pub(crate) fn run(
    settings: &Settings,
    node: impl Future<Output = Result<(), ServeError>>,
) -> ExitCode {
    let log = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(&settings.log))
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal());
    match settings.log_format {
        LogFormat::Text => log.init(),
        LogFormat::Json => log.json().init(),
    }
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
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
