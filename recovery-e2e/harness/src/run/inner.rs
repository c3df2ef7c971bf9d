//! The inner process of a run: it does the work.

use std::env;
use std::io::IsTerminal;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use anyhow::Context;
use camino::{Utf8Path, Utf8PathBuf};
use time::OffsetDateTime;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::browser::chromium;
use crate::browser::session::Leaks;
use crate::cli::RunArgs;
use crate::cli::serve::ServeArgs;
use crate::os::machine::Look;
use crate::os::temp::{self, run_id};
use crate::os::{descendants, lifeline};
use crate::record::build::BuildInfo;
use crate::record::journal::{self, Event, Journal, Part, RunFinished, RunInfo, RunStarted};
use crate::record::settings::BrowserInfo;
use crate::record::settings::PageSettings;
use crate::redact::Redactor;
use crate::report::live::Live;
use crate::report::terminal::{self, Layout};
use crate::report::{self, Summary};
use crate::run::admission::Admission;
use crate::run::case::{self, Common};
use crate::run::plan::timings::{Missing, Timings};
use crate::run::plan::{Job, Plan, Shard};
use crate::run::pool::{self, Pool, Progress};
use crate::run::preflight::{self, Probed};
use crate::run::watching::Pause;
use crate::run::{defect, out, serve};

/// Runs one shard of `plan` and returns the exit code.
///
/// # Errors
/// When the environment is broken: no browser, no node, an out folder that is not ours.
pub fn run(args: &RunArgs, plan: &Plan, shard: Shard, temp: Utf8PathBuf) -> anyhow::Result<u8> {
    let rites = LastRites { out: Some(args.out.clone()), temp, journal: OnceLock::new() };
    under(rites, async |rites, pause| work(args, (plan, shard), rites, pause).await)
}

/// Serves a stage for a person and returns the exit code.
///
/// # Errors
/// When the environment is broken: no node, no such port.
pub fn serve(args: &ServeArgs, temp: Utf8PathBuf) -> anyhow::Result<u8> {
    let rites = LastRites { out: None, temp, journal: OnceLock::new() };
    under(rites, async |rites, pause| serve::serve(args, &rites.temp, pause.interrupt()).await)
}

/// Does `work` below the outer process: whatever ends, nothing of it is left.
fn under(
    rites: LastRites,
    work: impl AsyncFnOnce(&Arc<LastRites>, Pause) -> anyhow::Result<u8>,
) -> anyhow::Result<u8> {
    descendants::adopt_orphans().context("this kernel has no child subreaper")?;
    let _in_use = temp::hold(&rites.temp).context("this is no run's temporary folder")?;
    let rites = Arc::new(rites);
    let cut = rites.clone();
    let pause = Pause::new(CancellationToken::new());
    let enter = pause.clone();
    lifeline::watch(move || enter.go_on(), move || cut.perform()).context("no thread")?;
    let runtime = tokio::runtime::Runtime::new().context("no runtime")?;
    let code = runtime.block_on(async {
        tokio::spawn(interrupt_on_signal(pause.interrupt().clone(), rites.clone()));
        work(&rites, pause).await
    });
    // From here on a cut lifeline changes nothing, and one that was cut before ends this process.
    descendants::start_no_more();
    descendants::kill_all();
    code
}

async fn work(
    args: &RunArgs,
    (plan, shard): (&Plan, Shard),
    rites: &Arc<LastRites>,
    pause: Pause,
) -> anyhow::Result<u8> {
    let begin = Instant::now();
    let redactor = Redactor::default();
    let given = args.defect.as_deref().map(defect::read).transpose()?;
    let defect = given.unwrap_or_else(|| args.earlier_defect.clone());
    let (browser, node) = (browser_of(args)?, args.node());
    let Probed { version, sandbox } =
        preflight::check(&browser, &node, &rites.temp, &redactor).await?;
    args.watching.check_browser(&version)?;
    let _claim = out::prepare(&args.out)?;
    let page = PageSettings::new(args.clock, args.seed.map_or_else(getrandom::u32, Ok)?);
    let browser = BrowserInfo {
        origin: origin_of(&browser, |name| env::var(name).ok()),
        path: browser.into_string(),
        version,
        sandbox,
        small_shm: chromium::shm_is_small(),
    };
    let run = RunInfo {
        v: journal::VERSION,
        run_id: run_id(&rites.temp).to_owned(),
        started_at: OffsetDateTime::now_utc(),
        harness_version: env!("CARGO_PKG_VERSION").to_owned(),
        build: BuildInfo::of_this_program(),
        browser: browser.clone(),
        node: node.to_string(),
        args: env::args().skip(1).collect(),
        clock: page.clock,
        isolation: args.isolation,
        seed: page.seed,
        jobs: args.jobs(),
        plan: plan.info.clone(),
        part: Part::Shard(shard.index()),
        fail_on_flaky: args.fail_on_flaky,
    };
    let mut jobs: Vec<Job> = plan.of_shard(shard.index()).cloned().collect();
    args.order.arrange(&mut jobs, page.seed);
    let started = RunStarted { run, cases: jobs.iter().map(|job| job.case.clone()).collect() };
    println!("{}", terminal::head(&started));
    let path = args.out.join(journal::FILE_NAME);
    let journal = Arc::new(Journal::create(&path, redactor.clone(), started)?);
    let _ = rites.journal.set(journal.clone());

    let layout = Layout {
        out: args.out.clone(),
        colour: std::io::stdout().is_terminal() && env::var_os("NO_COLOR").is_none(),
        width: jobs.iter().map(|job| job.case.id.len()).max().unwrap_or(0),
    };
    let live = Arc::new(Live::new(args.jobs()));
    let (shown, aside) = (live.clone(), live.clone());
    let print: case::Tell = Box::new(move |lines| aside.print(lines));
    let pool = Pool {
        common: Common {
            browser,
            isolation: args.isolation,
            leaks: Leaks::default(),
            node,
            page,
            temp: rites.temp.clone(),
            out: args.out.clone(),
            timeout: args.timeout,
            defect,
            watching: args.watching.clone(),
            pause: args.watching.pause_on_failure.then(|| (pause.clone(), print)),
            redactor,
        },
        journal: journal.clone(),
        admission: Admission::new(Look::strain),
        waiting: Mutex::new(jobs.into()),
        begin,
        retries: args.retries,
        fail_fast: args.fail_fast,
        first_bad: OnceLock::new(),
        interrupt: pause.interrupt().clone(),
        watch: Box::new(move |worker, progress| match progress {
            Progress::Began(case) => shown.began(worker, case),
            Progress::Again(case, result) => shown.print(&layout.again(case, result)),
            Progress::Ended(view) => {
                shown.ended(worker);
                shown.print(&layout.ended(view));
            }
        }),
    };
    let ended = pool::run(Arc::new(pool), args.jobs()).await;
    live.end();
    let seconds = begin.elapsed().as_secs_f64();
    let (stopped, leaks) = ended?;
    journal.append(&Event::RunFinished(RunFinished { seconds, stopped, leaks }))?;
    let summary = report::write_all(&args.out)?;
    let code = report::publish(&summary, &args.out)?;
    let updated = if args.update_timings { update_timings(args, &summary)? } else { true };
    Ok(if updated { code } else { 1 })
}

/// Keeps what the cases took; false, and said why, when that is no measure.
fn update_timings(args: &RunArgs, summary: &Summary) -> anyhow::Result<bool> {
    match Timings::measured(&summary.cases) {
        Ok(measured) => {
            let given = args.selection.timings.as_deref();
            let old = Timings::load(given, Missing::IsEmpty)?;
            println!("timings are in {}", measured.over(old).write(given)?);
            Ok(true)
        }
        Err(no_measure) => {
            eprintln!("recovery-e2e: {no_measure}");
            Ok(false)
        }
    }
}

fn browser_of(args: &RunArgs) -> anyhow::Result<Utf8PathBuf> {
    // A variable that is set to nothing names nothing.
    args.browser.clone().filter(|path| !path.as_str().is_empty()).context(
        "no browser is named: give the path of a Chromium with --browser or in E2E_BROWSER \
         (`cargo xtask e2e` finds one)",
    )
}

/// Who provided the browser. What the variables tell is of the browser that they name, and a
/// `--browser` beside them may have named another.
fn origin_of(browser: &Utf8Path, variable: impl Fn(&str) -> Option<String>) -> String {
    match variable("E2E_BROWSER") {
        Some(path) if path == *browser => {
            variable("E2E_BROWSER_ORIGIN").unwrap_or_else(|| "E2E_BROWSER".to_owned())
        }
        _ => "--browser".to_owned(),
    }
}

/// The first signal ends the run in good order; a second one ends it now.
async fn interrupt_on_signal(
    interrupt: CancellationToken,
    rites: Arc<LastRites>,
) -> std::io::Result<()> {
    let mut signals = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()]
        .into_iter()
        .map(signal)
        .collect::<Result<Vec<_>, _>>()?;
    loop {
        let next = signals.iter_mut().map(|signal| Box::pin(signal.recv()));
        futures_util::future::select_all(next).await;
        if interrupt.is_cancelled() {
            std::thread::spawn(move || rites.perform());
            return Ok(());
        }
        eprintln!("recovery-e2e: interrupted; ending what runs (once more to kill it)");
        interrupt.cancel();
    }
}

/// What is done when this process has to end at once.
struct LastRites {
    /// Of a run that leaves reports.
    out: Option<Utf8PathBuf>,
    temp: Utf8PathBuf,
    journal: OnceLock<Arc<Journal>>,
}

impl LastRites {
    /// Ends this process and everything below it. The journal keeps what was finished before, and
    /// takes nothing that this very end would make of the others.
    fn perform(&self) {
        descendants::start_no_more();
        let journal = self.journal.get();
        if let Some(journal) = journal {
            journal.close();
        }
        descendants::kill_all();
        if let (Some(_), Some(out)) = (journal, &self.out)
            && let Err(error) = report::write_all(out)
        {
            eprintln!("recovery-e2e: no report of the interrupted run: {error}");
        }
        // Whoever else is left to remove it, or to hear of it?
        let _ = std::fs::remove_dir_all(&self.temp);
        std::process::exit(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_told_origin_is_of_the_browser_that_the_variable_names() {
        for (browser, variable, told, origin) in [
            ("/a", Some("/a"), Some("nix"), "nix"),
            ("/a", Some("/a"), None, "E2E_BROWSER"),
            ("/a", Some("/b"), Some("nix"), "--browser"),
            ("/a", None, None, "--browser"),
        ] {
            let value = |name: &str| match name {
                "E2E_BROWSER" => variable.map(str::to_owned),
                _ => told.map(str::to_owned),
            };
            assert_eq!(origin_of(Utf8Path::new(browser), value), origin, "{browser} {variable:?}");
        }
    }
}
