//! The `recovery-e2e` command.

use std::process::ExitCode;

use clap::Parser;
use recovery_e2e::cli::{Cli, Command, RunArgs};
use recovery_e2e::{inner, list, plan, supervisor};

/// Bad arguments or a broken environment.
const EXIT_ENVIRONMENT: u8 = 2;

fn main() -> ExitCode {
    let done = match Cli::parse().command() {
        Command::Run(args) => run(&args),
        Command::List => {
            print!("{}", list::text());
            Ok(0)
        }
        Command::Plan(args) => args.plan().map(|plan| {
            print!("{}", plan::show::render(&plan, args.format));
            0
        }),
    };
    done.map_or_else(
        |error| {
            eprintln!("recovery-e2e: {}", told(&error));
            ExitCode::from(EXIT_ENVIRONMENT)
        },
        ExitCode::from,
    )
}

fn run(args: &RunArgs) -> anyhow::Result<u8> {
    args.check()?;
    let (plan, shard) = args.plan()?;
    match supervisor::inner_temp() {
        Some(temp) => inner::run(args, &plan, shard, temp),
        None => supervisor::supervise(&args.out),
    }
}

/// An error with its causes, each once: many an error quotes its cause already.
fn told(error: &anyhow::Error) -> String {
    error.chain().fold(String::new(), |mut told, cause| {
        let cause = cause.to_string();
        if told.is_empty() {
            told = cause;
        } else if !told.contains(&cause) {
            told = format!("{told}: {cause}");
        }
        told
    })
}
