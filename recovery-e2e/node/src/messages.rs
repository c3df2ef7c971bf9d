//! Every error message that a user or a model can see, listed once:
//! `src/snapshots/…messages.snap`.
//!
//! A message says what happened, to what, and what to do next. The list is of the node with its
//! control socket, which has all of them.

use std::ffi::OsString;
use std::fmt::Write;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::Duration;

use axum::http::StatusCode;
use clap::error::ErrorKind;
use clap::{Args as _, Command};

use crate::cli::ConfigError;
use crate::halt::Why;
use crate::http::{ApiError, BadRequest, SecretError};
use crate::model::{BaseError, ModelError};
use crate::registry::LoadError;
use crate::serve::ServeError;
use crate::settings::Settings;
use crate::store::StoreError;
use crate::tools::{Ended, Refusal};
use crate::turn::{AgentError, TurnError};

/// Adds a message for each variant of an error. The match has no wildcard, so that a variant
/// without an entry does not compile.
macro_rules! list {
    ($list:ident, $error:ident { $($entries:tt)+ }) => {
        list!($list, $error, |error: &$error| error.to_string(), { $($entries)+ })
    };
    ($list:ident, $error:ident, $show:expr, { $($variant:ident => $sample:expr,)+ }) => {
        let _ = |error: &$error| match error { $($error::$variant { .. } => (),)+ };
        writeln!($list, "# {}", stringify!($error)).unwrap();
        $(
            let sample: $error = $sample;
            assert!(matches!(sample, $error::$variant { .. }), "{sample:?} is another variant");
            writeln!($list, "{}: {}", stringify!($variant), $show(&sample)).unwrap();
        )+
        writeln!($list).unwrap();
    };
}

fn denied() -> io::Error {
    io::ErrorKind::PermissionDenied.into()
}

fn not_json() -> serde_json::Error {
    serde_json::from_str::<u32>("x").unwrap_err()
}

fn not_random() -> getrandom::Error {
    getrandom::Error::UNSUPPORTED
}

fn full() -> rusqlite::Error {
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_FULL);
    rusqlite::Error::SqliteFailure(code, Some("database or disk is full".to_owned()))
}

fn no_client() -> reqwest::Error {
    reqwest::Client::new().get("x").build().unwrap_err()
}

/// What the flags say about a value that they do not take.
fn refused(flag: &str, value: &str) -> clap::Error {
    let command = Settings::augment_args(Command::new("serve"));
    let args = ["serve".to_owned(), format!("--{flag}={value}")].map(OsString::from);
    command.try_get_matches_from(args).unwrap_err()
}

#[test]
fn every_message_of_an_error_is_as_reviewed() {
    let mut all = String::new();
    list!(all, ConfigError {
        CommandLine => ConfigError::CommandLine(clap::Error::raw(
            ErrorKind::UnknownArgument,
            "unexpected argument '--lisen' found",
        )),
        File => ConfigError::File { path: "node.toml".into(), source: denied() },
        Syntax => ConfigError::Syntax {
            path: "node.toml".into(),
            source: "ping 5s".parse::<toml::Table>().unwrap_err(),
        },
        Unknown => ConfigError::Unknown { path: "node.toml".into(), key: "lisen".to_owned() },
        Kind => ConfigError::Kind { path: "node.toml".into(), key: "ping".to_owned() },
        Value => ConfigError::Value { path: "node.toml".into(), source: refused("ping", "soon") },
    });
    list!(all, ServeError {
        Threads => ServeError::Threads(denied()),
        DataDir => ServeError::DataDir { path: "data".into(), source: denied() },
        InUse => ServeError::InUse("data".into()),
        Secrets => ServeError::Secrets(SecretError::Unusable("data/token".into())),
        Store => ServeError::Store { path: "data".into(), source: StoreError::Version(7) },
        Random => ServeError::Random(not_random()),
        Model => ServeError::Model(no_client()),
        Listen => ServeError::Listen {
            address: ([127, 0, 0, 1], 8480).into(),
            source: io::ErrorKind::AddrInUse.into(),
        },
        Control => ServeError::Control { path: "control.sock".into(), source: denied() },
        Signals => ServeError::Signals(denied()),
        Announce => ServeError::Announce(io::ErrorKind::BrokenPipe.into()),
        Ended => ServeError::Ended,
    });
    list!(all, SecretError {
        File => SecretError::File { path: "data/token".into(), source: denied() },
        Unusable => SecretError::Unusable("data/token".into()),
    });
    list!(all, StoreError {
        Sqlite => StoreError::Sqlite(full()),
        Version => StoreError::Version(7),
        Gone => StoreError::Gone,
        RowTaken => StoreError::RowTaken,
        Unreadable => StoreError::Unreadable(not_json()),
        Closed => StoreError::Closed,
    });
    list!(all, LoadError {
        Store => LoadError::Store(StoreError::Gone),
        Random => LoadError::Random(not_random()),
    });
    let response = |error: &ApiError| {
        let (status, code) = error.status();
        format!("{} {code}: {error}", status.as_u16())
    };
    list!(all, ApiError, response, {
        NoRoute => ApiError::NoRoute,
        NoMethod => ApiError::NoMethod,
        NoWorkstream => ApiError::NoWorkstream,
        NoLogin => ApiError::NoLogin,
        WrongToken => ApiError::WrongToken,
        Foreign => ApiError::Foreign,
        Gone => ApiError::Gone,
        Closing => ApiError::Closing,
        Busy => ApiError::Busy,
        Full => ApiError::Full,
        Storage => ApiError::Storage,
        Internal => ApiError::Internal,
        Bad => ApiError::Bad(BadRequest::Name),
    });
    list!(all, BadRequest {
        Body => BadRequest::Body("length limit exceeded".to_owned()),
        NotJson => BadRequest::NotJson(not_json()),
        Name => BadRequest::Name,
        ModelUrl => BadRequest::ModelUrl(BaseError::Scheme),
        NoParent => BadRequest::NoParent,
        Message => BadRequest::Message { max: 1000 },
        ClientId => BadRequest::ClientId { field: "client_send_id" },
        Limit => BadRequest::Limit,
        Defect => BadRequest::Defect,
    });
    list!(all, BaseError {
        NotAUrl => crate::model::check_base("h").unwrap_err(),
        NoTls => BaseError::NoTls,
        Scheme => BaseError::Scheme,
        NotABase => BaseError::NotABase,
    });
    list!(all, ModelError {
        Unreachable => ModelError::Unreachable("connection refused".to_owned()),
        Forbidden => ModelError::Forbidden(StatusCode::UNAUTHORIZED),
        Status => ModelError::Status(StatusCode::BAD_GATEWAY),
        Silent => ModelError::Silent,
        Cut => ModelError::Cut,
        Unreadable => ModelError::Unreadable(not_json().to_string()),
    });
    list!(all, TurnError {
        NoModel => TurnError::NoModel,
        Cancelled => TurnError::Cancelled,
        Stopping => TurnError::Stopping,
        Store => TurnError::Store(StoreError::Gone),
        ResultLost => TurnError::ResultLost(StoreError::Closed),
        Model => TurnError::Model(ModelError::Cut),
    });
    list!(all, AgentError {
        Model => AgentError::Model(ModelError::Cut),
        Halted => AgentError::Halted(Why::Cancelled),
    });
    list!(all, Why {
        Cancelled => Why::Cancelled,
        Stopping => Why::Stopping,
    });
    list!(all, Refusal {
        NoId => Refusal::NoId,
        SharedId => Refusal::SharedId("call_1".to_owned()),
        Unknown => Refusal::Unknown("rm".to_owned()),
        Arguments => Refusal::Arguments {
            name: "bash".to_owned(),
            error: "missing field `command`".to_owned(),
        },
    });
    list!(all, Ended, |ended: &Ended| ended.note().unwrap(), {
        Exit => Ended::Exit(ExitStatus::from_raw(1 << 8)),
        TimedOut => Ended::TimedOut(Duration::from_millis(1500)),
        Halted => Ended::Halted(Why::Stopping),
        NotRun => Ended::NotRun(io::ErrorKind::NotFound.into()),
    });
    writeln!(all, "by a signal: {}", Ended::Exit(ExitStatus::from_raw(9)).note().unwrap()).unwrap();
    insta::assert_snapshot!("messages", all);
}

#[test]
fn every_message_of_a_flag_whose_value_is_invalid_is_as_reviewed() {
    let mut all = String::new();
    for (flag, value) in [
        ("ping", "soon"),
        ("cancel-grace", "soon"),
        ("retry", "2s..1s"),
        ("message-bytes", "1MB"),
        ("max-connections", "0"),
        ("public-origin", "node.example"),
        ("model-url", "ftp://h"),
        ("log", "recovery_node=loud"),
    ] {
        writeln!(all, "{}", refused(flag, value)).unwrap();
    }
    insta::assert_snapshot!("flags", all);
}
