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
use crate::run::settings::RunSettings;
use crate::run::watching::Pause;
use crate::run::{defect, out, serve};

/// Runs one shard of `plan` and returns the exit code.
///
/// # Errors
/// When the environment is broken: no browser, no node, an output folder of something else.
pub fn run(
    settings: &RunSettings,
    plan: &Plan,
    shard: Shard,
    temp: Utf8PathBuf,
) -> anyhow::Result<u8> {
    let shutdown = Shutdown { out: Some(settings.out.clone()), temp, journal: OnceLock::new() };
    under(shutdown, async |shutdown, pause| work(settings, (plan, shard), shutdown, pause).await)
}

/// Serves the node `program` at `port` for a person and returns the exit code.
///
/// # Errors
/// When the environment is broken: no node, no such port.
pub fn serve(port: u16, program: &Utf8Path, temp: Utf8PathBuf) -> anyhow::Result<u8> {
    let shutdown = Shutdown { out: None, temp, journal: OnceLock::new() };
    under(shutdown, async |shutdown, pause| {
        serve::serve(port, program, &shutdown.temp, pause.interrupt()).await
    })
}

/// Does `work` as the child of the outer process; when either ends, no descendant is left.
fn under(
    shutdown: Shutdown,
    work: impl AsyncFnOnce(&Arc<Shutdown>, Pause) -> anyhow::Result<u8>,
) -> anyhow::Result<u8> {
    descendants::adopt_orphans()
        .context("this kernel has no child subreaper (Linux 3.4 or later has)")?;
    let _in_use =
        temp::hold(&shutdown.temp).context("cannot lock the temporary folder of the run")?;
    let shutdown = Arc::new(shutdown);
    let cut = shutdown.clone();
    let pause = Pause::new(CancellationToken::new());
    let enter = pause.clone();
    lifeline::watch(move || enter.go_on(), move || cut.perform())
        .context("cannot start the thread that watches the outer process")?;
    let runtime = tokio::runtime::Runtime::new().context("cannot start the async runtime")?;
    let code = runtime.block_on(async {
        tokio::spawn(interrupt_on_signal(pause.interrupt().clone(), shutdown.clone()));
        work(&shutdown, pause).await
    });
    // If the lifeline was cut before, this waits until that shutdown exits the process.
    descendants::start_no_more();
    descendants::kill_all();
    code
}

async fn work(
    settings: &RunSettings,
    (plan, shard): (&Plan, Shard),
    shutdown: &Arc<Shutdown>,
    pause: Pause,
) -> anyhow::Result<u8> {
    let begin = Instant::now();
    let redactor = Redactor::default();
    let given = settings.defect_file.as_deref().map(defect::read).transpose()?;
    let defect = given.unwrap_or_else(|| settings.defect.clone());
    let (browser, node) = (browser_of(settings)?, settings.node.clone());
    let Probed { version, sandbox } =
        preflight::check(&browser, &node, &shutdown.temp, &redactor).await?;
    settings.watching.check_browser(&version)?;
    let _claim = out::prepare(&settings.out)?;
    let page = PageSettings::new(settings.clock, settings.seed.map_or_else(getrandom::u32, Ok)?);
    let browser = BrowserInfo {
        origin: origin_of(&browser, |name| env::var(name).ok()),
        path: browser.into_string(),
        version,
        sandbox,
        small_shm: chromium::shm_is_small(),
    };
    let run = RunInfo {
        v: journal::VERSION,
        run_id: run_id(&shutdown.temp).to_owned(),
        started_at: OffsetDateTime::now_utc(),
        harness_version: env!("CARGO_PKG_VERSION").to_owned(),
        build: BuildInfo::of_this_program(),
        browser: browser.clone(),
        node: node.to_string(),
        args: env::args().skip(1).collect(),
        clock: page.clock,
        isolation: settings.isolation,
        seed: page.seed,
        jobs: settings.jobs,
        plan: plan.info.clone(),
        part: Part::Shard(shard.index()),
        fail_on_flaky: settings.fail_on_flaky,
    };
    let mut jobs: Vec<Job> = plan.of_shard(shard.index()).cloned().collect();
    settings.order.arrange(&mut jobs, page.seed);
    let started = RunStarted { run, cases: jobs.iter().map(|job| job.case.clone()).collect() };
    println!("{}", terminal::head(&started));
    let path = settings.out.join(journal::FILE_NAME);
    let journal = Arc::new(Journal::create(&path, redactor.clone(), started)?);
    let _ = shutdown.journal.set(journal.clone());

    let layout = Layout {
        out: settings.out.clone(),
        colour: std::io::stdout().is_terminal() && env::var_os("NO_COLOR").is_none(),
        width: jobs.iter().map(|job| job.case.id.len()).max().unwrap_or(0),
    };
    let live = Arc::new(Live::new(settings.jobs));
    let (lines, paused) = (live.clone(), live.clone());
    let print: case::Print = Box::new(move |text| paused.print(text));
    let pool = Pool {
        common: Common {
            browser,
            isolation: settings.isolation,
            leaks: Leaks::default(),
            node,
            page,
            temp: shutdown.temp.clone(),
            out: settings.out.clone(),
            timeout: settings.timeout,
            defect,
            watching: settings.watching.clone(),
            pause: settings.watching.pause_on_failure.then(|| (pause.clone(), print)),
            redactor,
        },
        journal: journal.clone(),
        admission: Admission::new(Look::strain),
        waiting: Mutex::new(jobs.into()),
        begin,
        retries: settings.retries,
        fail_fast: settings.fail_fast,
        first_bad: OnceLock::new(),
        interrupt: pause.interrupt().clone(),
        watch: Box::new(move |worker, progress| match progress {
            Progress::Began(case) => lines.began(worker, case),
            Progress::Retried(case, result) => lines.print(&layout.retried(case, result)),
            Progress::Ended(view) => {
                lines.ended(worker);
                lines.print(&layout.ended(view));
            }
        }),
    };
    let ended = pool::run(Arc::new(pool), settings.jobs).await;
    live.end();
    let seconds = begin.elapsed().as_secs_f64();
    let (stopped, leaks) = ended?;
    journal.append(&Event::RunFinished(RunFinished { seconds, stopped, leaks }))?;
    let summary = report::write_all(&settings.out)?;
    let code = report::publish(&summary, &settings.out)?;
    let updated = if settings.update_timings { update_timings(settings, &summary)? } else { true };
    Ok(if updated { code } else { 1 })
}

/// Writes the measured durations; false, with the reason printed, when they are not valid.
fn update_timings(settings: &RunSettings, summary: &Summary) -> anyhow::Result<bool> {
    match Timings::measured(&summary.cases) {
        Ok(measured) => {
            let given = settings.timings.as_deref();
            let old = Timings::load(given, Missing::IsEmpty)?;
            println!("wrote the timings to {}", measured.over(old).write(given)?);
            Ok(true)
        }
        Err(not_measured) => {
            eprintln!("recovery-e2e: {not_measured}");
            Ok(false)
        }
    }
}

fn browser_of(settings: &RunSettings) -> anyhow::Result<Utf8PathBuf> {
    // An empty variable names no browser.
    settings.browser.clone().filter(|path| !path.as_str().is_empty()).context(
        "no browser is given: name the path of a Chromium with --browser or in E2E_BROWSER \
         (`cargo xtask e2e` finds one)",
    )
}

/// Who provided the browser. The variables describe the browser that they name; `--browser` may
/// have named another.
fn origin_of(browser: &Utf8Path, variable: impl Fn(&str) -> Option<String>) -> String {
    match variable("E2E_BROWSER") {
        Some(path) if path == *browser => {
            variable("E2E_BROWSER_ORIGIN").unwrap_or_else(|| "E2E_BROWSER".to_owned())
        }
        _ => "--browser".to_owned(),
    }
}

/// The first signal stops the run gracefully; a second one kills it.
async fn interrupt_on_signal(
    interrupt: CancellationToken,
    shutdown: Arc<Shutdown>,
) -> std::io::Result<()> {
    let mut signals = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()]
        .into_iter()
        .map(signal)
        .collect::<Result<Vec<_>, _>>()?;
    loop {
        let next = signals.iter_mut().map(|signal| Box::pin(signal.recv()));
        futures_util::future::select_all(next).await;
        if interrupt.is_cancelled() {
            std::thread::spawn(move || shutdown.perform());
            return Ok(());
        }
        eprintln!(
            "recovery-e2e: interrupted; stopping the cases that run (interrupt again to kill them)"
        );
        interrupt.cancel();
    }
}

/// Ends this process at once.
struct Shutdown {
    /// The folder of the reports, of a run that writes some.
    out: Option<Utf8PathBuf>,
    temp: Utf8PathBuf,
    journal: OnceLock<Arc<Journal>>,
}

impl Shutdown {
    /// Kills all descendants, writes the reports and exits. The journal is closed first, so that it
    /// contains no results that this shutdown caused.
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
            eprintln!("recovery-e2e: cannot write the reports of the interrupted run: {error}");
        }
        // No other process is left to remove it, or to report that it remains.
        let _ = std::fs::remove_dir_all(&self.temp);
        std::process::exit(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_origin_is_that_of_the_browser_that_the_variable_names() {
        for (browser, variable, given, origin) in [
            ("/a", Some("/a"), Some("nix"), "nix"),
            ("/a", Some("/a"), None, "E2E_BROWSER"),
            ("/a", Some("/b"), Some("nix"), "--browser"),
            ("/a", None, None, "--browser"),
        ] {
            let value = |name: &str| match name {
                "E2E_BROWSER" => variable.map(str::to_owned),
                _ => given.map(str::to_owned),
            };
            assert_eq!(origin_of(Utf8Path::new(browser), value), origin, "{browser} {variable:?}");
        }
    }
}
