//! What each subcommand does, and the exit code.

use std::process::ExitCode;

use crate::cli::{Cli, Command, MergeArgs, RunArgs};
use crate::record::build::BuildInfo;
use crate::report::{self, ReportError, Summary};
use crate::run::{inner, list, merge, plan, supervisor};
use camino::Utf8Path;
use clap::Parser;

/// A run, or the shards of one, that are not ok.
const EXIT_BAD: u8 = 1;

/// Bad arguments or a broken environment.
const EXIT_ENVIRONMENT: u8 = 2;

/// Runs the command with the arguments of this process; returns its exit code.
pub fn main() -> ExitCode {
    let done = match Cli::parse().command() {
        Command::Run(args) => run(&args),
        Command::Repeat(args) => args.run().map_err(Into::into).and_then(|args| run(&args)),
        Command::Serve(args) => match supervisor::inner_temp() {
            Some(temp) => inner::serve(args.keep_open, &args.node(), temp),
            None => supervisor::supervise(None, false),
        },
        Command::Report { dir } => reported(&dir, report::write_all(&dir)),
        Command::Merge(MergeArgs { dirs, out, partial }) => {
            match merge::merge(&dirs, &out, partial) {
                Ok(summary) => reported(&out, Ok(summary)),
                Err(error) if error.is_environment() => Err(error.into()),
                Err(error) => {
                    eprintln!("recovery-e2e: {error}");
                    Ok(EXIT_BAD)
                }
            }
        }
        Command::List(args) => args.timings().map(|timings| {
            print!("{}", list::render(args.format, &timings));
            0
        }),
        Command::Plan(args) => args.plan().map(|plan| {
            print!("{}", plan::show::render(&plan, &BuildInfo::of_this_program(), args.format));
            0
        }),
    };
    done.map_or_else(
        |error| {
            eprintln!("recovery-e2e: {}", with_causes(&error));
            ExitCode::from(EXIT_ENVIRONMENT)
        },
        ExitCode::from,
    )
}

fn reported(out: &Utf8Path, summary: Result<Summary, ReportError>) -> anyhow::Result<u8> {
    Ok(report::publish(&summary?, out)?)
}

fn run(args: &RunArgs) -> anyhow::Result<u8> {
    args.check()?;
    let (plan, shard) = args.plan()?;
    match supervisor::inner_temp() {
        Some(temp) => inner::run(&args.settings(), &plan, shard, temp),
        None => {
            args.watching.check()?;
            supervisor::supervise(Some(&args.out), args.watching.pause_on_failure)
        }
    }
}

/// An error with its causes, without those that its message contains already.
fn with_causes(error: &anyhow::Error) -> String {
    error.chain().fold(String::new(), |mut message, cause| {
        let cause = cause.to_string();
        if message.is_empty() {
            message = cause;
        } else if !message.contains(&cause) {
            message = format!("{message}: {cause}");
        }
        message
    })
}
