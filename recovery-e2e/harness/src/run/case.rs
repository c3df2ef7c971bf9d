//! One case, from an empty folder to its verdict.

use std::any::Any;
use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};
use std::{fs, io};

use camino::{Utf8Path, Utf8PathBuf};
use futures_util::FutureExt;
use futures_util::future::OptionFuture;

use crate::browser::session::{Leaks, SharedBrowser, Wanted};
use crate::os::children::Children;
use crate::os::deaths::Deaths;
use crate::os::inventory::Inventory;
use crate::os::machine::{Look, Strain};
use crate::os::temp;
use crate::proxy::ReceiptState;
use crate::record::journal::CaseResult;
use crate::record::ledger::Ledger;
use crate::record::settings::BrowserInfo;
use crate::record::settings::DefectEdit;
use crate::record::settings::Isolation;
use crate::record::settings::PageSettings;
use crate::record::stamp::Stamp;
use crate::record::verdict::{Outcome, Verdict, conclude, judge_control};
use crate::redact::Redactor;
use crate::report::{Conditions, VERDICT_FILE, write_verdict_file};
use crate::run::defect;
use crate::run::plan::Job;
use crate::run::watching::{Pause, Watching};
use crate::scenario::stage::{Ground, Stage, StageConfig, StageError};

/// How long a page that something broke on may take to be looked at once more.
const LAST_LOOK: Duration = Duration::from_secs(10);

/// What all cases of a run have in common.
pub struct Common {
    /// The browser to start.
    pub browser: BrowserInfo,
    /// What of the browser a case has to itself.
    pub isolation: Isolation,
    /// What browsers that served several cases have left behind.
    pub leaks: Leaks,
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
    /// What a person has put into the client.
    pub defect: Vec<DefectEdit>,
    /// How a person watches.
    pub watching: Watching,
    /// Holds the stage of a bad case for a person, and prints where it is.
    pub pause: Option<(Pause, Tell)>,
    /// Knows the secrets of all stages.
    pub redactor: Redactor,
}

/// Prints for the person who watches.
pub type Tell = Box<dyn Fn(&str) + Send + Sync>;

/// Runs one attempt at a case, counted from 1. Whatever goes wrong in it is its outcome, also a panic.
///
/// Where its browser is shared, that is the one in `shared`, or a new one, and stands there again
/// afterwards, unless the stage broke.
///
/// Dropped before its end, it leaves no process; its temporary folder goes with the run's.
pub async fn run(
    common: &Common,
    job: &Job,
    attempt: u32,
    shared: &mut Option<Box<SharedBrowser>>,
) -> CaseResult {
    let (start, machine) = (Instant::now(), Look::now());
    let dir = job.case.attempt_dir(attempt);
    let artifacts = common.out.join(&dir);
    let (verdict, ground, ledger) = match in_folders(common, job, &artifacts, shared).await {
        Ok((verdict, ground, ledger)) => (verdict, ground, Some(ledger)),
        Err(error) => (broken(format!("{error}; is there room?")), Ground::default(), None),
    };
    let verdict = match job.control {
        Some(control) => judge_control(control.predicted, verdict),
        None => verdict,
    };
    let verdict = match ledger.as_ref().and_then(|ledger| ledger.left.describe()) {
        Some(leak) => leaked(&leak, &verdict),
        None => verdict,
    };
    let strain = machine.strain();
    let verdict = if verdict.outcome.is_bad() && strain.is_starved() {
        starved(verdict, &strain)
    } else {
        verdict
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
        ledger,
    };
    let told = (&job.case, &result);
    let conditions = Conditions {
        browser: common.browser.clone(),
        isolation: common.isolation,
        page: page_of(common, job),
        defect: common.defect.clone(),
    };
    if let Err(error) = write_verdict_file(&artifacts, told, &conditions, &common.redactor) {
        result.outcome = Outcome::Error;
        result.reason = Some(error.to_string());
    }
    result
}

async fn in_folders(
    common: &Common,
    job: &Job,
    artifacts: &Utf8Path,
    shared: &mut Option<Box<SharedBrowser>>,
) -> io::Result<(Verdict, Ground, Ledger)> {
    fs::create_dir_all(artifacts)?;
    let (temp, path) = temp::folder_in(&common.temp)?;
    let children = Children::new()?;
    let folders = Folders { artifacts, temp: &path };
    let (verdict, ground, held) = on_a_stage(common, job, folders, &children, shared).await;
    // What cannot be removed is counted below.
    let _ = temp.close();
    let ledger = tokio::task::spawn_blocking(move || held.close(&children, &path));
    Ok((verdict, ground, ledger.await.map_err(io::Error::other)?))
}

/// Where a case may write.
struct Folders<'a> {
    artifacts: &'a Utf8Path,
    temp: &'a Utf8Path,
}

async fn on_a_stage(
    common: &Common,
    job: &Job,
    Folders { artifacts, temp }: Folders<'_>,
    children: &Children,
    shared: &mut Option<Box<SharedBrowser>>,
) -> (Verdict, Ground, Inventory) {
    let wanted = match common.isolation {
        Isolation::Process => Wanted::Own,
        Isolation::Context => {
            Wanted::Context { browser: shared.take(), temp: &common.temp, leaks: &common.leaks }
        }
    };
    let config = StageConfig {
        port: 0,
        browser: Some((&common.browser, wanted)),
        headed: common.watching.headed,
        slow_mo: common.watching.slow_mo,
        node: &common.node,
        temp,
        artifacts,
        page: page_of(common, job),
        redactor: &common.redactor,
        children,
    };
    let mut stage = match Stage::set(config).await {
        Ok(stage) => stage,
        Err(error) => {
            return (broken(error.to_string()), Ground::default(), Inventory::default());
        }
    };
    for patch in defect::patches(&common.defect) {
        stage.proxy.patch(patch);
    }
    if let Some(control) = job.control
        && let Err(error) = control.defect.put_into(&stage).await
    {
        return (broken(error.to_string()), Ground::default(), Inventory::default());
    }
    let deaths_of_shared = stage.deaths_of_shared_browser();
    let death_of_shared = OptionFuture::from(deaths_of_shared.as_ref().map(Deaths::first));
    let told = AssertUnwindSafe(tell(&mut stage, job)).catch_unwind();
    let told = tokio::select! {
        told = told => told,
        death = children.deaths.first() => Ok(Err(StageError::Death(death))),
        Some(death) = death_of_shared => Ok(Err(StageError::Death(death))),
        () = tokio::time::sleep(common.timeout) => Ok(Err(StageError::TooLong(common.timeout))),
    };
    let told = match told {
        Ok(Ok(stamp)) => Ok(stamp),
        Ok(Err(error)) if error.is_missed_wait() => {
            Err(Verdict::without_stamp(Outcome::Inconclusive, error.to_string()))
        }
        Ok(Err(error)) => Err(broken(error.to_string())),
        Err(panic) => Err(broken(format!("the scenario panicked: {}", message_of(&*panic)))),
    };
    // What a page makes of a module that is not served says less than why it is not.
    let told = told.map_err(|verdict| misfit(&stage).map_or(verdict, broken));
    if told.is_err() {
        // Whatever broke may have taken the page with it; then there is nothing to show.
        let _ = tokio::time::timeout(LAST_LOOK, stage.screenshot("failure")).await;
    }
    if let Some((pause, print)) = &common.pause
        && let Some(why) = why_bad(&told, &stage, job)
    {
        print(&format!(
            "{} is paused: {why}\n{}\npress Enter to go on",
            job.case.id,
            stage.addresses()
        ));
        pause.hold().await;
    }
    let (of_children, folder) = (children.clone(), temp.to_owned());
    let held = tokio::task::spawn_blocking(move || Inventory::take(&of_children, &folder)).await;
    let held = held.unwrap_or_default();
    match stage.close().await {
        Ok((ground, browser)) => {
            *shared = browser;
            let conclude = |stamp| conclude(stamp, &ground.evidence, &ground.receipts);
            (told.map_or_else(|verdict| verdict, conclude), ground, held)
        }
        // What went wrong first says more.
        Err(error) => {
            (told.err().unwrap_or_else(|| broken(error.to_string())), Ground::default(), held)
        }
    }
}

async fn tell(stage: &mut Stage, job: &Job) -> Result<Stamp, StageError> {
    let stamp = (job.scenario.story)(stage).await?;
    let exceptions = stage.page_exceptions().await?;
    stage.require("nothing in the page threw without being caught", exceptions == 0, exceptions);
    let unforeseen = stage.unforeseen_model_calls();
    stage.require("the model was called no more often than scripted", unforeseen == 0, unforeseen);
    stage.stamp_title(&stamp.to_string()).await?;
    stage.screenshot("end").await?;
    Ok(stamp)
}

/// Why a fault could not do what it was armed for, if there is such a one.
fn misfit(stage: &Stage) -> Option<String> {
    stage.proxy.receipts().iter().find_map(|receipt| match receipt.state() {
        ReceiptState::Broken { reason } => {
            Some(format!("{} does not apply: {reason}", receipt.name()))
        }
        ReceiptState::Armed { .. } | ReceiptState::Redeemed { .. } => None,
    })
}

/// Why the verdict to come will be bad, if it will, as far as this is known while the stage stands.
fn why_bad(told: &Result<Stamp, Verdict>, stage: &Stage, job: &Job) -> Option<String> {
    match told {
        Err(verdict) => Some(verdict.reason.clone().unwrap_or_default()),
        Ok(_) if !stage.holds() => Some("something that it rests on did not hold".to_owned()),
        Ok(stamp) => {
            let expected = job.control.map_or(job.scenario.success, |control| control.predicted);
            (stamp.to_string() != expected).then(|| format!("{stamp} in place of {expected}"))
        }
    }
}

fn page_of(common: &Common, job: &Job) -> PageSettings {
    common.page.of_repeat(job.case.repeat)
}

/// What a case comes to whose stage did not take everything with it: it may have disturbed others.
fn leaked(leak: &str, verdict: &Verdict) -> Verdict {
    let Verdict { outcome, stamp, reason } = verdict;
    let stamp = stamp.as_ref().map(Stamp::to_string);
    let before: Vec<_> = stamp.iter().chain(reason).map(String::as_str).collect();
    let before = format!("it was {} before: {}", outcome.name(), before.join(": "));
    broken(format!("left behind: {leak}\n{before}"))
}

/// A bad end on a machine that had too little to give: that may be why.
fn starved(mut verdict: Verdict, strain: &Strain) -> Verdict {
    let reason = verdict.reason.into_iter().chain([format!("the machine was starved: {strain}")]);
    verdict.reason = Some(reason.collect::<Vec<_>>().join("\n"));
    verdict
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
