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
use crate::node::client::unmet;
use crate::os::children::Children;
use crate::os::deaths::Deaths;
use crate::os::inventory::Inventory;
use crate::os::machine::{Look, Strain};
use crate::os::temp;
use crate::proxy::Proxy;
use crate::record::journal::CaseResult;
use crate::record::ledger::Ledger;
use crate::record::settings::{BrowserInfo, DefectEdit, Isolation, PageSettings};
use crate::record::stamp::Stamp;
use crate::record::verdict::{Outcome, ReceiptReport, Verdict};
use crate::redact::Redactor;
use crate::report::{Conditions, VERDICT_FILE, write_verdict_file};
use crate::run::defect;
use crate::run::plan::Job;
use crate::run::watching::{Pause, Watching};
use crate::scenario::stage::{Stage, StageConfig, StageError};
use crate::scenario::{CaseLog, Ending, Observed, judge, judge_control};
use crate::wait::Kind;

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
    pub pause: Option<(Pause, Print)>,
    /// Knows the secrets of all stages.
    pub redactor: Redactor,
}

/// Prints for the person who watches.
pub type Print = Box<dyn Fn(&str) + Send + Sync>;

/// Runs one attempt at a case, counted from 1. Whatever goes wrong in it is its outcome, also a panic.
///
/// Where its browser is shared, that is the one in `shared`, or a new one, which is put back there
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
    let log = CaseLog::new(common.redactor.clone());
    let (played, ledger) = match in_folders(common, job, &artifacts, shared, (&log, &machine)).await
    {
        Ok((played, ledger)) => (played, Some(ledger)),
        Err(error) => (Played::broke(format!("{error}; is there room?")), None),
    };
    let strain = machine.strain();
    let observed = Observed {
        readings: log.readings(),
        evidence: log.evidence(),
        receipts: played.receipts,
        starved: played.starved,
    };
    let verdict = verdict_of(job, &played.ending, &observed);
    let verdict = match ledger.as_ref().and_then(|ledger| ledger.left.describe()) {
        Some(leak) => leaked(&leak, &verdict),
        None => verdict,
    };
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
        phases: log.phases(),
        evidence: observed.evidence,
        receipts: observed.receipts,
        artifacts: files_in(&artifacts)
            .chain([VERDICT_FILE.into()])
            .map(|name| dir.strip_prefix(&job.case.dir).map_or(name.clone(), |own| own.join(name)))
            .collect(),
        ledger,
    };
    let reported = (&job.case, &result);
    let conditions = Conditions {
        browser: common.browser.clone(),
        isolation: common.isolation,
        page: page_of(common, job),
        defect: common.defect.clone(),
    };
    if let Err(error) = write_verdict_file(&artifacts, reported, &conditions, &common.redactor) {
        result.outcome = Outcome::Error;
        result.reason = Some(error.to_string());
    }
    result
}

/// The verdict on a case, as its scenario declares it; of a control: whether its defect was seen.
fn verdict_of(job: &Job, ending: &Ending, observed: &Observed) -> Verdict {
    let verdict = judge(job.scenario, &job.scenario.success().to_string(), ending, observed);
    match job.control {
        Some(control) => judge_control(&job.scenario.predicted(control).to_string(), verdict),
        None => verdict,
    }
}

/// How the story of a case ended, and what became of its faults.
struct Played {
    ending: Ending,
    receipts: Vec<ReceiptReport>,
    /// Whether the machine was starved until its end.
    starved: bool,
}

impl Played {
    fn broke(reason: String) -> Played {
        Played { ending: Ending::Broke(reason), receipts: Vec::new(), starved: false }
    }
}

async fn in_folders(
    common: &Common,
    job: &Job,
    artifacts: &Utf8Path,
    shared: &mut Option<Box<SharedBrowser>>,
    (log, machine): (&CaseLog, &Look),
) -> io::Result<(Played, Ledger)> {
    fs::create_dir_all(artifacts)?;
    let (temp, path) = temp::folder_in(&common.temp)?;
    let children = Children::new()?;
    let place = Place { artifacts, temp: &path, log, children: &children, machine };
    let (played, held) = on_a_stage(common, job, place, shared).await;
    // What cannot be removed is counted below.
    let _ = temp.close();
    let ledger = tokio::task::spawn_blocking(move || held.close(&children, &path));
    Ok((played, ledger.await.map_err(io::Error::other)?))
}

/// Where a case may write, and what it starts.
struct Place<'a> {
    artifacts: &'a Utf8Path,
    temp: &'a Utf8Path,
    log: &'a CaseLog,
    children: &'a Children,
    machine: &'a Look,
}

async fn on_a_stage(
    common: &Common,
    job: &Job,
    Place { artifacts, temp, log, children, machine }: Place<'_>,
    shared: &mut Option<Box<SharedBrowser>>,
) -> (Played, Inventory) {
    let wanted = match common.isolation {
        Isolation::Process => Wanted::Own,
        Isolation::Context => {
            Wanted::Context { browser: shared.take(), temp: &common.temp, leaks: &common.leaks }
        }
    };
    let config = StageConfig {
        scenario: job.scenario,
        log,
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
        Err(error) => return (Played::broke(error.to_string()), Inventory::default()),
    };
    for patch in defect::patches(&common.defect) {
        stage.proxy.patch(patch);
    }
    let prepared = match job.control {
        Some(control) => control.defect.put_into(&stage).await,
        None => Ok(()),
    };
    let deaths_of_shared = stage.deaths_of_shared_browser();
    let death_of_shared = OptionFuture::from(deaths_of_shared.as_ref().map(Deaths::first));
    let story = async {
        prepared?;
        play(&mut stage, job).await
    };
    let story = AssertUnwindSafe(story).catch_unwind();
    let story = tokio::select! {
        story = story => story,
        death = children.deaths.first() => Ok(Err(StageError::Death(death))),
        Some(death) = death_of_shared => Ok(Err(StageError::Death(death))),
        () = tokio::time::sleep(common.timeout) => Ok(Err(StageError::TooLong(common.timeout))),
    };
    let ending = ending_of(story);
    if matches!(ending, Ending::ClaimMissed(_)) {
        // A page that does not answer has nothing more to read.
        let _ = tokio::time::timeout(LAST_LOOK, stage.read_what_can_be_read()).await;
    }
    if ending != Ending::Completed {
        // Whatever broke may have taken the page with it; then there is nothing to show.
        let _ = tokio::time::timeout(LAST_LOOK, stage.screenshot("failure")).await;
    }
    let observed = Observed {
        readings: log.readings(),
        evidence: log.evidence(),
        receipts: reports(&stage.proxy),
        starved: machine.strain().is_starved(),
    };
    let starved = observed.starved;
    let verdict = verdict_of(job, &ending, &observed);
    if let Some(stamp) = &verdict.stamp {
        let _ = tokio::time::timeout(LAST_LOOK, stage.stamp_title(&stamp.to_string())).await;
    }
    if let Some((pause, print)) = &common.pause
        && verdict.outcome.is_bad()
    {
        let Verdict { outcome, stamp, reason } = verdict;
        let stamp = stamp.map(|stamp| stamp.to_string());
        let why: Vec<_> = stamp.into_iter().chain(reason).collect();
        let (id, outcome, why) = (&job.case.id, outcome.name(), why.join(": "));
        let addresses = stage.addresses();
        print(&format!("{id} is paused, {outcome}: {why}\n{addresses}\npress Enter to continue"));
        pause.hold().await;
    }
    let (of_children, folder) = (children.clone(), temp.to_owned());
    let held = tokio::task::spawn_blocking(move || Inventory::take(&of_children, &folder)).await;
    let held = held.unwrap_or_default();
    let proxy = stage.proxy.clone();
    let ending = match stage.close().await {
        Ok(browser) => {
            *shared = browser;
            ending
        }
        // What went wrong first says more.
        Err(error) => match ending {
            Ending::Broke(_) => ending,
            Ending::Completed | Ending::ClaimMissed(_) | Ending::NeedMissed(_) => {
                Ending::Broke(error.to_string())
            }
        },
    };
    (Played { ending, receipts: reports(&proxy), starved }, held)
}

/// Plays the story, and checks what every story rests on.
async fn play(stage: &mut Stage, job: &Job) -> Result<(), StageError> {
    (job.scenario.story)(stage).await?;
    stage.read_the_rest().await?;
    let exceptions = stage.page_exceptions().await?;
    let unscripted = stage.unscripted_model_calls();
    for (what, count) in [
        ("no exception was left uncaught in the page", exceptions),
        ("the model was called no more often than scripted", unscripted as u64),
    ] {
        stage.observe(Kind::Claim, what, count == 0, &count.to_string());
        unmet(what, count == 0, count)?;
    }
    stage.screenshot("end").await
}

fn ending_of(story: Result<Result<(), StageError>, Box<dyn Any + Send>>) -> Ending {
    match story {
        Ok(Ok(())) => Ending::Completed,
        Ok(Err(error)) => match error.missed() {
            Some(Kind::Claim) => Ending::ClaimMissed(error.to_string()),
            Some(Kind::Need) => Ending::NeedMissed(error.to_string()),
            None => Ending::Broke(error.to_string()),
        },
        Err(panic) => Ending::Broke(format!("the scenario panicked: {}", message_of(&*panic))),
    }
}

fn reports(proxy: &Proxy) -> Vec<ReceiptReport> {
    proxy.receipts().iter().map(ReceiptReport::from).collect()
}

fn page_of(common: &Common, job: &Job) -> PageSettings {
    common.page.of_repeat(job.case.repeat)
}

/// The verdict of a case that left something behind: it may have disturbed others.
fn leaked(leak: &str, verdict: &Verdict) -> Verdict {
    let Verdict { outcome, stamp, reason } = verdict;
    let stamp = stamp.as_ref().map(Stamp::to_string);
    let before: Vec<_> = stamp.iter().chain(reason).map(String::as_str).collect();
    let before = format!("it was {} before: {}", outcome.name(), before.join(": "));
    broken(format!("left behind: {leak}\n{before}"))
}

/// A bad end on a machine that was short of something: that may be why.
fn starved(mut verdict: Verdict, strain: &Strain) -> Verdict {
    let note = format!("the machine was starved: {strain}");
    let reason = verdict.reason.into_iter().chain([note]);
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
