//! Every error message that a user can see, listed once: `src/snapshots/…messages.snap`.
//!
//! A message says what happened, to what, and what to do next.

use std::fmt::Write;
use std::io;

use globset::Glob;

use crate::os::log::LogError;
use crate::record::build::BuildInfo;
use crate::record::journal::{AppendError, JournalError};
use crate::report::{ReportError, VerdictFileError};
use crate::run::defect::DefectError;
use crate::run::merge::MergeError;
use crate::run::out::OutError;
use crate::run::plan::timings::{NotMeasured, TimingsError};
use crate::run::plan::{PlanError, ShardError};
use crate::run::preflight::PreflightError;
use crate::run::watching::WatchingError;

/// Adds a message for each variant of an error. The match has no wildcard, so that a variant
/// without an entry does not compile.
macro_rules! list {
    ($list:ident, $error:ident { $($variant:ident => $sample:expr,)+ }) => {
        let _ = |error: &$error| match error { $($error::$variant { .. } => (),)+ };
        writeln!($list, "# {}", stringify!($error)).unwrap();
        $(
            let sample: $error = $sample;
            assert!(matches!(sample, $error::$variant { .. }), "{sample} is another variant");
            writeln!($list, "{}: {sample}", stringify!($variant)).unwrap();
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

fn log_error() -> LogError {
    LogError { path: "out/node.log".into(), source: denied() }
}

fn build(digest: &str) -> Box<BuildInfo> {
    let commit = Some("c0ffee".repeat(6));
    Box::new(BuildInfo { digest: digest.repeat(16), commit, dirty: false })
}

#[test]
fn every_message_of_an_error_is_as_reviewed() {
    let mut all = String::new();
    list!(all, PlanError {
        NoSuchScenario => PlanError::NoSuchScenario {
            pattern: "rewind".to_owned(),
            names: vec!["restart", "rewind-window"],
        },
        BadPattern => PlanError::BadPattern {
            pattern: "[".to_owned(),
            source: Glob::new("[").unwrap_err(),
        },
        NothingLeft => PlanError::NothingLeft,
    });
    list!(all, ShardError {
        NotAShard => ShardError::NotAShard { text: "two".to_owned() },
        OutOfRange => ShardError::OutOfRange { index: 5, total: 4 },
        NoCi => ShardError::NoCi,
        HalfSet => ShardError::HalfSet { set: "CI_NODE_INDEX", missing: "CI_NODE_TOTAL" },
        NotANumber => ShardError::NotANumber { name: "CI_NODE_INDEX", value: "two".to_owned() },
    });
    list!(all, TimingsError {
        Read => TimingsError::Read { path: "ci/timings.json".into(), source: denied() },
        NotTimings => TimingsError::NotTimings {
            path: "ci/timings.json".into(),
            what: "storm cannot take -1 seconds".to_owned(),
        },
        Write => TimingsError::Write { path: "ci/timings.json".into(), source: denied() },
        NoPlace => TimingsError::NoPlace,
    });
    list!(all, NotMeasured {
        NotReady => NotMeasured::NotReady { case: "storm".to_owned() },
        Uniform => NotMeasured::Uniform { tenths: 15 },
    });
    list!(all, DefectError {
        Read => DefectError::Read { path: "defect.json".into(), source: denied() },
        Parse => DefectError::Parse { path: "defect.json".into(), source: not_json() },
    });
    list!(all, WatchingError {
        Display => WatchingError::Display,
        Windows => WatchingError::Windows("HeadlessChrome/156.0".to_owned()),
        Terminal => WatchingError::Terminal,
    });
    list!(all, PreflightError {
        Browser => PreflightError::Browser(log_error().into()),
        Node => PreflightError::Node(log_error().into()),
        Log => PreflightError::Log(log_error()),
        Temp => PreflightError::Temp(denied()),
    });
    list!(all, OutError {
        NotAFolder => OutError::NotAFolder { out: "out".into() },
        Link => OutError::Link { out: "out".into() },
        Foreign => OutError::Foreign { out: "out".into() },
        InUse => OutError::InUse { out: "out".into(), by: Some(7) },
        Io => OutError::Io { path: "out".into(), source: denied() },
    });
    list!(all, JournalError {
        Read => JournalError::Read { path: "out/journal.jsonl".into(), source: denied() },
        NotOurs => JournalError::NotOurs { path: "out/journal.jsonl".into() },
        Version => JournalError::Version { path: "out/journal.jsonl".into(), found: 1 },
        Damaged => JournalError::Damaged {
            path: "out/journal.jsonl".into(),
            line: 3,
            what: "the run starts a second time".to_owned(),
        },
    });
    list!(all, AppendError {
        Create => AppendError::Create { path: "out/journal.jsonl".into(), source: denied() },
        Write => AppendError::Write { path: "out/journal.jsonl".into(), source: denied() },
        Ended => AppendError::Ended { path: "out/journal.jsonl".into() },
        Encode => AppendError::Encode(not_json()),
    });
    list!(all, ReportError {
        Journal => ReportError::Journal(JournalError::NotOurs { path: "out/journal.jsonl".into() }),
        Place => ReportError::Place { out: "out".into(), source: denied() },
        Junit => ReportError::Junit(denied().into()),
        Encode => ReportError::Encode(not_json()),
        Write => ReportError::Write { path: "out/junit.xml".into(), source: denied() },
    });
    list!(all, VerdictFileError {
        Read => VerdictFileError::Read { dir: "target/e2e/storm".into(), source: denied() },
        Parse => VerdictFileError::Parse {
            path: "target/e2e/scenarios/storm/verdict.json".into(),
            source: not_json(),
        },
    });
    list!(all, MergeError {
        Journal => MergeError::Journal(JournalError::NotOurs { path: "s/journal.jsonl".into() }),
        Foreign => MergeError::Foreign {
            dir: "shard-2".into(),
            what: "its clock is wall time, and that of shard-1 is page time".to_owned(),
        },
        OtherBuild => MergeError::OtherBuild {
            shard: "shard 2/4 in shard-2".to_owned(),
            build: build("2c3d"),
            first_shard: "shard 1/4 in shard-1".to_owned(),
            first_build: build("0a1b"),
        },
        Doubled => MergeError::Doubled {
            shard: 2,
            shards: 4,
            first: "shard-2".into(),
            second: "copy-of-2".into(),
        },
        Missing => MergeError::Missing { missing: vec![1, 3], shards: 4 },
        Nothing => MergeError::Nothing,
        Overlap => MergeError::Overlap { out: "out".into(), dir: "out/shard-1".into() },
        Out => MergeError::Out(OutError::Foreign { out: "out".into() }),
        Copy => MergeError::Copy { path: "shard-1/scenarios/storm".into(), source: denied() },
        Append => MergeError::Append(AppendError::Ended { path: "out/journal.jsonl".into() }),
        Report => MergeError::Report(ReportError::Encode(not_json())),
    });
    writeln!(all, "# LogError\n{}", log_error()).unwrap();
    insta::assert_snapshot!("messages", all);
}
