//! One case, from an empty folder to its verdict.

use std::any::Any;
use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};
use std::{fs, io};

use camino::{Utf8Path, Utf8PathBuf};
use futures_util::FutureExt;

use crate::deaths::Deaths;
use crate::journal::{BrowserInfo, CaseResult};
use crate::plan::Job;
use crate::redact::Redactor;
use crate::report::{VERDICT_FILE, write_verdict_file};
use crate::stage::clock::PageSettings;
use crate::stage::{Ground, Stage, StageConfig, StageError};
use crate::verdict::{Outcome, Stamp, Verdict, conclude, judge_control};

/// What all cases of a run have in common.
pub struct Common {
    /// The browser to start.
    pub browser: BrowserInfo,
    /// The node to start.
    pub node: Utf8PathBuf,
    /// How the page of a first repeat is set up.
    pub page: PageSettings,
    /// The run's temporary folder.
    pub temp: Utf8PathBuf,
    /// The run's out folder.
    pub out: Utf8PathBuf,
    /// How long a scenario may take on its stage.
    pub timeout: Duration,
    /// Knows the secrets of all stages.
    pub redactor: Redactor,
}

/// Runs one attempt at a case, counted from 1. Whatever goes wrong in it is its outcome, also a panic.
///
/// Dropped before its end, it leaves no process; its temporary folder goes with the run's.
pub async fn run(common: &Common, job: &Job, attempt: u32) -> CaseResult {
    let start = Instant::now();
    let dir = job.case.attempt_dir(attempt);
    let artifacts = common.out.join(&dir);
    let (verdict, ground) = match in_folders(common, job, &artifacts).await {
        Ok(reached) => reached,
        Err(error) => (broken(format!("{error}; is there room?")), Ground::default()),
    };
    let verdict = match job.control {
        Some(control) => judge_control(control.predicted, verdict),
        None => verdict,
    };
    let mut result = CaseResult {
        case: job.case.id.clone(),
        attempt,
        outcome: verdict.outcome,
        stamp: verdict.stamp,
        reason: verdict.reason.map(|reason| common.redactor.clean(&reason)),
        seconds: start.elapsed().as_secs_f64(),
        phases: ground.phases,
        evidence: ground.evidence,
        receipts: ground.receipts,
        artifacts: files_in(&artifacts)
            .chain([VERDICT_FILE.into()])
            .map(|name| dir.strip_prefix(&job.case.dir).map_or(name.clone(), |own| own.join(name)))
            .collect(),
    };
    let told = (&job.case, &result);
    let (browser, redactor) = (&common.browser, &common.redactor);
    if let Err(error) =
        write_verdict_file(&artifacts, told, browser, &page_of(common, job), redactor)
    {
        result.outcome = Outcome::Error;
        result.reason = Some(error.to_string());
    }
    result
}

async fn in_folders(
    common: &Common,
    job: &Job,
    artifacts: &Utf8Path,
) -> io::Result<(Verdict, Ground)> {
    fs::create_dir_all(artifacts)?;
    // Short, since a path to a Unix socket has to fit into 108 bytes.
    let temp = tempfile::tempdir_in(&common.temp)?;
    let path = Utf8Path::from_path(temp.path()).ok_or(io::ErrorKind::InvalidFilename)?;
    let reached = on_a_stage(common, job, artifacts, path).await;
    temp.close()?;
    Ok(reached)
}

async fn on_a_stage(
    common: &Common,
    job: &Job,
    artifacts: &Utf8Path,
    temp: &Utf8Path,
) -> (Verdict, Ground) {
    let deaths = Deaths::default();
    let config = StageConfig {
        browser: &common.browser,
        node: &common.node,
        temp,
        artifacts,
        page: page_of(common, job),
        redactor: &common.redactor,
        deaths: &deaths,
    };
    let mut stage = match Stage::set(config).await {
        Ok(stage) => stage,
        Err(error) => return (broken(error.to_string()), Ground::default()),
    };
    if let Some(control) = job.control
        && let Err(error) = control.defect.put_into(&stage).await
    {
        return (broken(error.to_string()), Ground::default());
    }
    let told = AssertUnwindSafe(tell(&mut stage, job)).catch_unwind();
    let told = tokio::select! {
        told = told => told,
        death = deaths.first() => Ok(Err(StageError::Death(death))),
        () = tokio::time::sleep(common.timeout) => Ok(Err(StageError::TooLong(common.timeout))),
    };
    let told = match told {
        Ok(Ok(stamp)) => Ok(stamp),
        Ok(Err(error)) if error.is_missed_edge() => {
            Err(Verdict::without_stamp(Outcome::Inconclusive, error.to_string()))
        }
        Ok(Err(error)) => Err(broken(error.to_string())),
        Err(panic) => Err(broken(format!("the scenario panicked: {}", message_of(&*panic)))),
    };
    if told.is_err() {
        // Whatever broke may have taken the page with it; then there is nothing to show.
        let _ = stage.screenshot("failure").await;
    }
    match stage.close().await {
        Ok(ground) => {
            let conclude = |stamp| conclude(stamp, &ground.evidence, &ground.receipts);
            (told.map_or_else(|verdict| verdict, conclude), ground)
        }
        Err(error) => (broken(error.to_string()), Ground::default()),
    }
}

async fn tell(stage: &mut Stage, job: &Job) -> Result<Stamp, StageError> {
    let stamp = (job.scenario.story)(stage).await?;
    let exceptions = stage.page_exceptions();
    stage.require("nothing in the page threw without being caught", exceptions == 0, exceptions);
    let unforeseen = stage.unforeseen_model_calls();
    stage.require("the model was called no more often than scripted", unforeseen == 0, unforeseen);
    stage.stamp_title(&stamp.to_string()).await?;
    stage.screenshot("end").await?;
    Ok(stamp)
}

fn page_of(common: &Common, job: &Job) -> PageSettings {
    common.page.of_repeat(job.case.repeat)
}

fn broken(reason: String) -> Verdict {
    Verdict::without_stamp(Outcome::Error, reason)
}

/// What a panic said, as far as it said anything in words.
fn message_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a word")
}

/// The names of the files in a folder, sorted.
fn files_in(folder: &Utf8Path) -> impl Iterator<Item = Utf8PathBuf> {
    let entries = folder.read_dir_utf8().into_iter().flatten().flatten();
    let names: BTreeSet<_> = entries.map(|entry| entry.file_name().into()).collect();
    names.into_iter()
}
