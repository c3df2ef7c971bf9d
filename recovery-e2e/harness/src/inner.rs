//! The inner process of a run: it does the work.

use std::env;
use std::io::IsTerminal;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use anyhow::Context;
use camino::Utf8PathBuf;
use time::OffsetDateTime;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::case::Common;
use crate::cli::RunArgs;
use crate::gate::Gate;
use crate::journal::{self, BrowserInfo, Event, Journal, Part, RunFinished, RunInfo, RunStarted};
use crate::machine::Look;
use crate::plan::timings::{Missing, Timings};
use crate::plan::{Job, Plan, Shard};
use crate::pool::{self, Pool, Progress};
use crate::redact::Redactor;
use crate::report::live::Live;
use crate::report::terminal::{self, Layout};
use crate::report::{self, Summary};
use crate::stage::clock::PageSettings;
use crate::temp::{self, run_id};
use crate::{descendants, lifeline, out, preflight};

/// Runs one shard of `plan` and returns the exit code.
///
/// # Errors
/// When the environment is broken: no browser, no node, an out folder that is not ours.
pub fn run(args: &RunArgs, plan: &Plan, shard: Shard, temp: Utf8PathBuf) -> anyhow::Result<u8> {
    descendants::adopt_orphans().context("this kernel has no child subreaper")?;
    let _in_use = temp::hold(&temp).context("this is no run's temporary folder")?;
    let rites = Arc::new(LastRites { out: args.out.clone(), temp, journal: OnceLock::new() });
    let cut = rites.clone();
    lifeline::watch(move || cut.perform()).context("no thread")?;
    let runtime = tokio::runtime::Runtime::new().context("no runtime")?;
    let code = runtime.block_on(work(args, (plan, shard), &rites));
    // From here on a cut lifeline changes nothing, and one that was cut before ends this process.
    descendants::start_no_more();
    descendants::kill_all();
    code
}

async fn work(
    args: &RunArgs,
    (plan, shard): (&Plan, Shard),
    rites: &Arc<LastRites>,
) -> anyhow::Result<u8> {
    let interrupt = CancellationToken::new();
    tokio::spawn(interrupt_on_signal(interrupt.clone(), rites.clone()));

    let begin = Instant::now();
    let redactor = Redactor::default();
    let (browser, node) = (browser_of(args)?, args.node());
    let version = preflight::check(&browser, &node, &rites.temp, &redactor).await?;
    let _claim = out::prepare(&args.out)?;
    let page = PageSettings::new(args.clock, args.seed.map_or_else(getrandom::u32, Ok)?);
    let browser = BrowserInfo {
        path: browser.to_string(),
        version,
        origin: env::var("E2E_BROWSER_ORIGIN").unwrap_or_else(|_| "--browser".to_owned()),
    };
    let run = RunInfo {
        v: journal::VERSION,
        run_id: run_id(&rites.temp).to_owned(),
        started_at: OffsetDateTime::now_utc(),
        harness_version: env!("CARGO_PKG_VERSION").to_owned(),
        browser: browser.clone(),
        node: node.to_string(),
        args: env::args().skip(1).collect(),
        clock: page.clock,
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
    let shown = live.clone();
    let pool = Pool {
        common: Common {
            browser,
            node,
            page,
            temp: rites.temp.clone(),
            out: args.out.clone(),
            timeout: args.timeout,
            redactor,
        },
        journal: journal.clone(),
        gate: Gate::new(Look::strain),
        waiting: Mutex::new(jobs.into()),
        begin,
        retries: args.retries,
        fail_fast: args.fail_fast,
        first_bad: OnceLock::new(),
        interrupt,
        watch: Box::new(move |worker, progress| match progress {
            Progress::Began(case) => shown.began(worker, case),
            Progress::Again(case, result) => shown.print(&layout.again(case, result)),
            Progress::Ended(view) => {
                shown.ended(worker);
                shown.print(&layout.ended(view));
            }
        }),
    };
    let stopped = pool::run(Arc::new(pool), args.jobs()).await;
    live.end();
    let seconds = begin.elapsed().as_secs_f64();
    journal.append(&Event::RunFinished(RunFinished { seconds, stopped: stopped? }))?;
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
    out: Utf8PathBuf,
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
        if journal.is_some()
            && let Err(error) = report::write_all(&self.out)
        {
            eprintln!("recovery-e2e: no report of the interrupted run: {error}");
        }
        // Whoever else is left to remove it, or to hear of it?
        let _ = std::fs::remove_dir_all(&self.temp);
        std::process::exit(1);
    }
}
