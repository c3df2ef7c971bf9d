//! The configuration file. It has the settings of the flags, by their names, with their checks:
//! what it says is read as if it were written before the flags of the command line.

use std::ffi::OsString;
use std::fs;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use toml::{Table, Value};

/// Why the settings cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The command line is invalid, or asks for the help.
    #[error(transparent)]
    CommandLine(#[from] clap::Error),
    /// The file cannot be read.
    #[error("cannot read the configuration file {path}: {source}; check --config")]
    File {
        /// The file.
        path: Utf8PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is not TOML.
    #[error("cannot parse {path} as TOML: {source}")]
    Syntax {
        /// The file.
        path: Utf8PathBuf,
        /// Why.
        source: toml::de::Error,
    },
    /// The file contains an unknown setting.
    #[error("{path}: unknown setting {key:?}; `recovery-node config` prints all settings")]
    Unknown {
        /// The file.
        path: Utf8PathBuf,
        /// The name.
        key: String,
    },
    /// The value of a setting has the wrong type.
    #[error(
        "{path}: wrong type of {key}; write a string or a whole number, or a list of them if the \
         flag may be repeated"
    )]
    Kind {
        /// The file.
        path: Utf8PathBuf,
        /// The setting.
        key: String,
    },
    /// The value of a setting is invalid.
    #[error("invalid value in {path}: {source}")]
    Value {
        /// The file.
        path: Utf8PathBuf,
        /// Why.
        source: clap::Error,
    },
}

/// Reads `args`, and the file that they name with `--config`: a flag overrides the file, the
/// file overrides the default.
///
/// # Errors
/// When either cannot be used.
pub fn read(command: &Command, mut args: Vec<OsString>) -> Result<ArgMatches, ConfigError> {
    let lenient = lenient(command.clone());
    let matches = lenient.clone().try_get_matches_from(&args)?;
    if let Some((name, matches)) = matches.subcommand()
        && let Some(subcommand) = command.find_subcommand(name)
        && let Ok(Some(path)) = matches.try_get_one::<Utf8PathBuf>("config")
    {
        let failed = |source| ConfigError::File { path: path.clone(), source };
        let text = fs::read_to_string(path).map_err(failed)?;
        let from_file = arguments(subcommand, matches, path, &text)?;
        let alone = ["recovery-node".into(), name.into()].into_iter().chain(from_file.clone());
        let failed = |source| ConfigError::Value { path: path.clone(), source };
        lenient.try_get_matches_from(alone).map_err(failed)?;
        // After the program and the subcommand.
        args.splice(2..2, from_file);
    }
    Ok(command.clone().try_get_matches_from(args)?)
}

/// The command without required arguments: the file may contain them.
fn lenient(command: Command) -> Command {
    command.mut_subcommands(|subcommand| subcommand.mut_args(|arg| arg.required(false)))
}

/// The file's settings as arguments, without those that are on the command line.
fn arguments(
    command: &Command,
    matches: &ArgMatches,
    path: &Utf8Path,
    text: &str,
) -> Result<Vec<OsString>, ConfigError> {
    let table: Table =
        text.parse().map_err(|source| ConfigError::Syntax { path: path.to_owned(), source })?;
    let mut arguments = Vec::new();
    for (key, value) in table {
        let Some(arg) = settings(command).find(|arg| arg.get_long() == Some(&key)) else {
            return Err(ConfigError::Unknown { path: path.to_owned(), key });
        };
        let Some(texts) = texts(value, is_list(arg)) else {
            return Err(ConfigError::Kind { path: path.to_owned(), key });
        };
        if matches.value_source(arg.get_id().as_str()) != Some(ValueSource::CommandLine) {
            arguments.extend(texts.iter().map(|text| format!("--{key}={text}").into()));
        }
    }
    Ok(arguments)
}

/// The arguments that are settings.
fn settings(command: &Command) -> impl Iterator<Item = &Arg> {
    let own = ["config", "help", "version"];
    command.get_arguments().filter(move |arg| !own.contains(&arg.get_id().as_str()))
}

fn is_list(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Append)
}

fn texts(value: Value, list: bool) -> Option<Vec<String>> {
    match value {
        Value::String(text) => Some(vec![text]),
        Value::Integer(number) => Some(vec![number.to_string()]),
        Value::Array(values) if list => {
            let texts = values.into_iter().map(|value| texts(value, false));
            texts.collect::<Option<Vec<_>>>().map(|texts| texts.concat())
        }
        _ => None,
    }
}

/// The effective settings as a configuration file, each with its help and its default.
pub fn show(command: &Command, matches: &ArgMatches) -> String {
    settings(command)
        .map(|arg| {
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            let default: Vec<_> =
                arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
            let default = if default.is_empty() { "none".to_owned() } else { default.join(", ") };
            let key = arg.get_long().unwrap_or_default();
            let values: Vec<_> = matches
                .get_raw(arg.get_id().as_str())
                .into_iter()
                .flatten()
                .map(|value| quoted(&value.to_string_lossy()))
                .collect();
            let line = match values.as_slice() {
                [] => format!("# {key} ="),
                values if is_list(arg) => format!("{key} = [{}]", values.join(", ")),
                values => format!("{key} = {}", values.concat()),
            };
            format!("# {}\n# Default: {default}.\n{line}\n", help.replace('\n', "\n# "))
        })
        .collect::<Vec<_>>()
        .join("\n")
}

/// A value as TOML writes it. The escapes of a JSON text are those of a TOML text too.
fn quoted(text: &str) -> String {
    let is_number = text.parse::<i64>().is_ok_and(|number| number.to_string() == text);
    if is_number { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}

#[cfg(test)]
mod tests;
