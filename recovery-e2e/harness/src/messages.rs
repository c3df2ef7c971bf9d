//! Every error message that a user can see, listed once: `src/snapshots/…messages.snap`.
//!
//! A message says what happened, to what, and what to do next.

use std::fmt::Write;
use std::io;
use std::time::Duration;

use chromiumoxide::error::CdpError;
use globset::Glob;
use reqwest::StatusCode;

use crate::browser::chromium::BrowserError;
use crate::browser::page::PageError;
use crate::node::control_socket::ControlError;
use crate::node::error::AppError;
use crate::node::model::ModelError;
use crate::node::process::NodeError;
use crate::node::tool_gate::GateError;
use crate::node::wire::WireError;
use crate::os::log::LogError;
use crate::proxy::ProxyError;
use crate::record::build::BuildInfo;
use crate::record::journal::{AppendError, JournalError};
use crate::record::trace::TraceError;
use crate::report::{ReportError, VerdictFileError};
use crate::run::defect::DefectError;
use crate::run::merge::MergeError;
use crate::run::out::OutError;
use crate::run::plan::timings::{NotMeasured, TimingsError};
use crate::run::plan::{PlanError, ShardError};
use crate::run::preflight::PreflightError;
use crate::run::watching::WatchingError;
use crate::scenario::stage::StageError;
use crate::wait::{Ended, WaitTimeout};

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

fn no_request() -> reqwest::Error {
    reqwest::Client::new().get("no url").build().unwrap_err()
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
    let missed = || WaitTimeout::need("3 painted user rows", "2 rows, stale, cursor none");
    for missed in [
        missed(),
        missed().into_claim(),
        WaitTimeout { ended: Ended::NothingPending, ..missed().into_claim() },
        WaitTimeout { ended: Ended::Unmet, ..missed().into_claim() },
    ] {
        let (Ended::Deadline(_) | Ended::NothingPending | Ended::Unmet) = missed.ended;
        writeln!(all, "# WaitTimeout\n{missed}\n").unwrap();
    }
    list!(all, TraceError {
        Create => TraceError::Create { path: "requests.jsonl".into(), source: denied().into() },
        Write => TraceError::Write { path: "requests.jsonl".into(), source: denied().into() },
    });
    list!(all, ProxyError {
        Listen => ProxyError::Listen { port: 8971, source: denied() },
        ContentType => ProxyError::ContentType {
            path: "/recovery".to_owned(),
            content_type: "text\n".to_owned(),
        },
        Accept => ProxyError::Accept(denied()),
        Log => ProxyError::Log(TraceError::Create {
            path: "requests.jsonl".into(),
            source: denied().into(),
        }),
    });
    list!(all, BrowserError {
        Start => BrowserError::Start { program: "chromium".into(), source: denied() },
        NoDevTools => BrowserError::NoDevTools {
            program: "/bin/true".into(),
            said: "nothing".to_owned(),
        },
        Wait => BrowserError::Wait(missed()),
        Protocol => BrowserError::Protocol {
            what: "a screenshot".to_owned(),
            source: Box::new(CdpError::Timeout),
        },
        Folder => BrowserError::Folder(denied()),
        Left => BrowserError::Left("page http://127.0.0.1/".to_owned()),
        Log => BrowserError::Log(log_error()),
    });
    list!(all, PageError {
        Browser => PageError::Browser(BrowserError::Left("page".to_owned())),
        Wait => PageError::Wait(missed()),
        Threw => PageError::Threw {
            what: "a click on a rewind button".to_owned(),
            thrown: "Error: user row 1 of 0 has no rewind button".to_owned(),
        },
        Answer => PageError::Answer { what: "a frame".to_owned(), answer: "None".to_owned() },
        Screenshot => PageError::Screenshot { path: "3-end.png".into(), source: denied() },
    });
    list!(all, NodeError {
        Start => NodeError::Start { program: "recovery-node-control".into(), source: denied() },
        NoAddress => NodeError::NoAddress {
            program: "/bin/true".into(),
            said: "the port is taken".to_owned(),
        },
        Wait => NodeError::Wait(missed()),
        Log => NodeError::Log(log_error()),
    });
    list!(all, WireError {
        Refused => WireError::Refused {
            what: "a send".to_owned(),
            status: StatusCode::CONFLICT,
            body: "{}".to_owned(),
        },
        Transport => WireError::Transport { what: "a send".to_owned(), source: no_request() },
        Wait => WireError::Wait(missed()),
        StreamEnded => WireError::StreamEnded {
            awaited: "the idle edge of a turn".to_owned(),
            last: "no event".to_owned(),
        },
    });
    list!(all, ControlError {
        Transport => ControlError::Transport(no_request()),
        Wait => ControlError::Wait(missed()),
    });
    list!(all, GateError {
        Socket => GateError::Socket(denied()),
        Wait => GateError::Wait(missed()),
    });
    list!(all, ModelError {
        Listen => ModelError::Listen(denied()),
        Name => ModelError::Name("a/b".to_owned()),
        Taken => ModelError::Taken("storm".to_owned()),
    });
    list!(all, AppError {
        Wait => AppError::Wait(missed()),
        Page => AppError::Page(PageError::Wait(missed())),
        Node => AppError::Node(NodeError::Wait(missed())),
        Wire => AppError::Wire(WireError::Wait(missed())),
        Control => AppError::Control(ControlError::Wait(missed())),
        Gate => AppError::Gate(GateError::Wait(missed())),
    });
    list!(all, StageError {
        App => StageError::App(missed().into()),
        Browser => StageError::Browser(BrowserError::Left("page".to_owned())),
        Proxy => StageError::Proxy(ProxyError::Accept(denied())),
        Model => StageError::Model(ModelError::Taken("storm".to_owned())),
        Trace => StageError::Trace(TraceError::Create {
            path: "requests.jsonl".into(),
            source: denied().into(),
        }),
        Log => StageError::Log(log_error()),
        NoNode => StageError::NoNode,
        NoBrowser => StageError::NoBrowser,
        Death => StageError::Death("the node died without being stopped: signal 9".to_owned()),
        TooLong => StageError::TooLong(Duration::from_secs(120)),
        Undeclared => StageError::Undeclared {
            scenario: "storm",
            what: "field \"rows\"".to_owned(),
        },
    });
    writeln!(all, "# LogError\n{}", log_error()).unwrap();
    insta::assert_snapshot!("messages", all);
}
