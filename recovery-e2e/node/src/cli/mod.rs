//! The command line.

mod config;

use std::future::Future;
use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use clap::{Args as _, Command, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use tracing_subscriber::EnvFilter;

use crate::serve::{self, ServeError};
use crate::settings::{self, LogFormat, Settings};

pub(crate) use config::ConfigError;

/// A small streaming agent node.
#[derive(Parser)]
#[command(name = "recovery-node", version)]
struct Cli {
    #[command(subcommand)]
    command: Subcommands,
}

#[derive(Subcommand)]
enum Subcommands {
    /// Serve workstreams until SIGTERM or SIGINT. Prints one line of JSON when it listens.
    #[command(after_help = settings::FORMATS)]
    Serve(Box<Settings>),
}

/// Runs `recovery-node` with the arguments of this process.
pub fn main() -> ExitCode {
    const CONFIG: &str = "config";
    let show = Settings::augment_args(Command::new(CONFIG))
        .about("Print the effective settings as a configuration file")
        .after_help(settings::FORMATS)
        .mut_args(|arg| arg.required(false));
    let command = Cli::command().subcommand(show);
    let matches = match config::read(&command, std::env::args_os().collect()) {
        Ok(matches) => matches,
        Err(error) => return refused(error),
    };
    if let (Some((CONFIG, matches)), Some(command)) =
        (matches.subcommand(), command.find_subcommand(CONFIG))
    {
        let written = io::stdout().write_all(config::show(command, matches).as_bytes());
        return if written.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let Subcommands::Serve(settings) = match Cli::from_arg_matches(&matches) {
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
/// The exit code, when they cannot be used. The reason is already printed.
#[cfg(feature = "control")]
pub(crate) fn read<T: Parser>() -> Result<T, ExitCode> {
    let command = T::command();
    let matches = config::read(&command, std::env::args_os().collect()).map_err(refused)?;
    T::from_arg_matches(&matches).map_err(|error| refused(error.into()))
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

/// Runs a node until it ends. Exit code 0: stopped by a signal; 2: could not start; 1: any other
/// end.
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
            eprintln!("recovery-node: {}", ServeError::Threads(error));
            return ExitCode::from(2);
        }
    };
    let ended = runtime.block_on(node);
    // A commit that waits for the lock of another process must not delay the exit.
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
