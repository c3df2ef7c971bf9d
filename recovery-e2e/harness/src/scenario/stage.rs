//! What one scenario stands on: model server, node, proxy proxy and browser, shared with no other.

mod power;
mod time;

use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use futures_util::future::OptionFuture;

use crate::browser::chromium::{BrowserConfig, BrowserError};
use crate::browser::page::{Page, PageError};
use crate::browser::session::{BrowserSession, SharedBrowser, Wanted};
use crate::node::control_socket::{Control, ControlError};
use crate::node::model::{ModelError, ModelServer, Reply, Script};
use crate::node::process::{Node, NodeConfig, NodeError};
use crate::node::tool_gate::GateError;
use crate::node::wire::{Wire, WireError};
use crate::os::children::Children;
use crate::os::deaths::Deaths;
use crate::os::log::{LogError, LogFile};
use crate::proxy::{Proxy, ProxyConfig, ProxyError};
use crate::record::journal::Phase;
use crate::record::settings::BrowserInfo;
use crate::record::settings::PageSettings;
use crate::record::trace::{Trace, TraceError};
use crate::record::verdict::{Evidence, ReceiptReport};
use crate::redact::Redactor;
use crate::wait::{self, WaitTimeout};

/// The stage broke: no verdict could be reached.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum StageError {
    #[error(transparent)]
    Node(#[from] NodeError),
    #[error(transparent)]
    Browser(#[from] BrowserError),
    #[error(transparent)]
    Page(#[from] PageError),
    #[error(transparent)]
    Proxy(#[from] ProxyError),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Wire(#[from] WireError),
    #[error(transparent)]
    Control(#[from] ControlError),
    #[error(transparent)]
    Gate(#[from] GateError),
    #[error(transparent)]
    Trace(#[from] TraceError),
    #[error(transparent)]
    Log(#[from] LogError),
    #[error(transparent)]
    Edge(#[from] WaitTimeout),
    #[error("there is no node now: it was ended; a scenario has to start it before this")]
    NoNode,
    #[error("there is no browser on this stage: a person brings one")]
    NoBrowser,
    #[error("{0}; its log in the scenario's folder may say why")]
    Death(String),
    #[error("the scenario ran longer than {} s; see --timeout", .0.as_secs_f64())]
    TooLong(Duration),
}

/// What a stage is made of and where it may write.
pub struct StageConfig<'a> {
    /// The port of 127.0.0.1 at which the proxy listens; 0 takes a free one.
    pub port: u16,
    /// The browser, and what of it; none where a person brings one.
    pub browser: Option<(&'a BrowserInfo, Wanted<'a>)>,
    /// Whether people see its window.
    pub headed: bool,
    /// How long to wait before everything that is done to the page.
    pub slow_mo: Duration,
    /// The node to start.
    pub node: &'a Utf8Path,
    /// A temporary folder of this stage's own, removed by whoever made it.
    pub temp: &'a Utf8Path,
    /// The folder of the scenario's artifacts.
    pub artifacts: &'a Utf8Path,
    /// How the page is set up.
    pub page: PageSettings,
    /// Learns every secret of the stage.
    pub redactor: &'a Redactor,
    /// What the node and the browser are children of.
    pub children: &'a Children,
}

/// A running stage. Dropping it ends all of its processes; [`Stage::close`] also waits for that.
pub struct Stage {
    /// The only origin that the browser sees.
    pub proxy: Proxy,
    /// The node's public wire, straight.
    pub wire: Wire,
    /// The node's control socket.
    pub control: Control,
    model: ModelServer,
    scripts: Vec<Script>,
    /// None between its end and its next start.
    node: Option<Node>,
    node_config: NodeConfig,
    session: Option<BrowserSession>,
    page: Option<Page>,
    /// Of the page.
    path: String,
    settings: PageSettings,
    slow_mo: Duration,
    artifacts: Utf8PathBuf,
    redactor: Redactor,
    trace: Trace,
    evidence: Vec<Evidence>,
    phases: Vec<(String, Instant)>,
    screenshots: usize,
}

/// What a verdict on this stage rests on.
#[derive(Debug, Default)]
pub struct Ground {
    /// The observations.
    pub evidence: Vec<Evidence>,
    /// What became of the faults.
    pub receipts: Vec<ReceiptReport>,
    /// The scenario's phases.
    pub phases: Vec<Phase>,
}

impl StageError {
    /// Whether the stage works and something awaited did not happen on it.
    pub fn is_missed_wait(&self) -> bool {
        matches!(
            self,
            StageError::Edge(_)
                | StageError::Page(PageError::Edge(_))
                | StageError::Wire(WireError::Edge(_))
                | StageError::Gate(GateError::Edge(_))
        )
    }
}

impl Stage {
    /// Sets a stage up: everything runs, and no page is open.
    ///
    /// # Errors
    /// When a part of it does not start.
    pub async fn set(config: StageConfig<'_>) -> Result<Stage, StageError> {
        let begin = Instant::now();
        let trace =
            Trace::create(&config.artifacts.join("requests.jsonl"), config.redactor.clone())?;
        trace.phase("set");
        let model = ModelServer::start().await?;
        let proxy = Proxy::start(ProxyConfig {
            port: config.port,
            upstream: None,
            routes: crate::node::routes::ROUTES,
            pages: crate::node::pages::own_pages(),
            trace: trace.clone(),
        })
        .await?;
        let node_log = config.artifacts.join("node.log");
        let node_config = NodeConfig {
            program: config.node.to_owned(),
            folder: config.temp.to_owned(),
            public_origin: proxy.origin().to_owned(),
            retry_ms: config.page.clock.retry_ms(),
            log: LogFile::create(&node_log, config.redactor.clone())?,
            redactor: config.redactor.clone(),
            children: config.children.clone(),
        };
        let node = Node::start(&node_config);
        let browser_log = config.artifacts.join("browser.log");
        let session = config.browser.map(|(browser, wanted)| {
            let config = BrowserConfig {
                program: Utf8Path::new(&browser.path),
                sandbox: browser.sandbox,
                headed: config.headed,
                folder: config.temp,
                log: &browser_log,
                redactor: config.redactor,
                children: config.children,
            };
            BrowserSession::take(wanted, config)
        });
        let (node, session) = tokio::join!(node, OptionFuture::from(session));
        let stands = node.map_err(StageError::from).and_then(|node| {
            let control = Control::new(node.control_socket())?;
            Ok((node, control))
        });
        let ((node, control), session) = match (stands, session) {
            (Ok(stands), session) => (stands, session.transpose()?),
            (Err(error), session) => {
                if let Some(Ok(session)) = session {
                    session.end().await;
                }
                return Err(error);
            }
        };
        proxy.point_at(node.address());
        Ok(Stage {
            wire: Wire::new(node.address(), node.login().token()),
            control,
            proxy,
            model,
            scripts: Vec::new(),
            node: Some(node),
            node_config,
            session,
            page: None,
            path: String::new(),
            settings: config.page,
            slow_mo: config.slow_mo,
            artifacts: config.artifacts.to_owned(),
            redactor: config.redactor.clone(),
            trace,
            evidence: Vec::new(),
            phases: vec![("set".to_owned(), begin)],
            screenshots: 0,
        })
    }

    /// From here on the scenario is in this phase: every trace event says so, and its time is told.
    pub fn phase(&mut self, name: &str) {
        self.trace.phase(name);
        self.phases.push((name.to_owned(), Instant::now()));
    }

    /// An observation that the verdict rests on: where it did not hold, there is no verdict.
    pub fn require(&mut self, what: &str, held: bool, saw: impl std::fmt::Display) {
        let saw = self.redactor.clean(&saw.to_string());
        self.evidence.push(Evidence { what: what.to_owned(), held, saw });
    }

    /// Has the model answer one workstream's calls with `replies`, one by one; the answer is the
    /// model's URL for that workstream.
    ///
    /// # Errors
    /// When there is such a script already.
    pub fn script(&mut self, name: &str, replies: Vec<Reply>) -> Result<String, StageError> {
        let script = self.model.script(name, replies)?;
        let url = script.base_url().to_owned();
        self.scripts.push(script);
        Ok(url)
    }

    /// How many calls the model had that no script foresaw.
    pub fn unforeseen_model_calls(&self) -> usize {
        self.scripts.iter().map(Script::overrun).sum()
    }

    /// Opens the stage's one page, logged in, at `path`.
    ///
    /// # Errors
    /// When the page does not load.
    pub async fn open(&mut self, path: &str) -> Result<Page, StageError> {
        let console = LogFile::create(&self.artifacts.join("console.log"), self.redactor.clone())?;
        let page = self.session.as_ref().ok_or(StageError::NoBrowser)?.new_page().await?;
        let page = Page::new(page, self.settings, console).await?.slowed(self.slow_mo);
        self.page = Some(page.clone());
        path.clone_into(&mut self.path);
        page.goto(self.node()?.login().url()).await?;
        page.goto(&format!("{}{path}", self.proxy.origin())).await?;
        Ok(page)
    }

    /// Keeps what the page looks like now.
    ///
    /// # Errors
    /// When the page cannot be seen.
    pub async fn screenshot(&mut self, moment: &str) -> Result<(), StageError> {
        if let Some(page) = &self.page {
            self.screenshots += 1;
            let path = self.artifacts.join(format!("{}-{moment}.png", self.screenshots));
            page.screenshot(&path).await?;
        }
        Ok(())
    }

    /// Shows a verdict to a person who watches.
    ///
    /// # Errors
    /// When the page does not take a title.
    pub async fn stamp_title(&self, stamp: &str) -> Result<(), StageError> {
        if let Some(page) = &self.page {
            let title = serde_json::Value::from(stamp);
            page.eval::<String>("a title", &format!("document.title = {title}")).await?;
        }
        Ok(())
    }

    /// Where a person finds what stands here, line by line. The way in is for a terminal only: it
    /// logs in.
    pub fn addresses(&self) -> String {
        let node = self.node.as_ref();
        let node = node.map(|node| (node.login().url().to_owned(), node.address().to_string()));
        let (login, node) = node.unwrap_or_else(|| ("-".to_owned(), "ended".to_owned()));
        let page = format!("{}{}", self.proxy.origin(), self.path);
        let devtools = self.session.as_ref().map(|session| session.browser().devtools());
        let devtools = devtools.unwrap_or_else(|| "-".to_owned());
        format!("the page   {page}\nlog in     {login}\nthe node   {node}\nDevTools   {devtools}")
    }

    /// Whether every observation so far has held.
    pub fn holds(&self) -> bool {
        self.evidence.iter().all(|evidence| evidence.held)
    }

    /// The id of the browser's process, while it runs.
    pub fn browser_pid(&self) -> Option<u32> {
        self.session.as_ref().and_then(|session| session.browser().pid())
    }

    /// Where the unasked end of a browser is reported that is not of this stage alone.
    pub fn deaths_of_shared_browser(&self) -> Option<Deaths> {
        self.session.as_ref().and_then(BrowserSession::deaths_of_shared).cloned()
    }

    /// How many exceptions nothing in the page has caught.
    ///
    /// # Errors
    /// When the page does not answer.
    pub async fn page_exceptions(&self) -> Result<u64, StageError> {
        match &self.page {
            Some(page) => Ok(page.exceptions().await?),
            None => Ok(0),
        }
    }

    /// Ends all of it, waits until nothing runs any more, and tells what the verdict rests on and
    /// how long each phase took. What goes on is a browser that others may have too.
    ///
    /// # Errors
    /// When something does not end, or the trace or the records could not be written: evidence is
    /// missing then.
    pub async fn close(mut self) -> Result<(Ground, Option<Box<SharedBrowser>>), StageError> {
        let ends = self.phases.iter().skip(1).map(|(_, begin)| *begin).chain([Instant::now()]);
        let phases = self.phases.iter().zip(ends).map(|((name, begin), end)| Phase {
            name: name.clone(),
            seconds: (end - *begin).as_secs_f64(),
        });
        let phases = phases.collect();
        let receipts = self.proxy.receipts().iter().map(ReceiptReport::from).collect();
        let node = self.node.take();
        let node_ends = async {
            match node {
                Some(node) => Some(node.stop().await),
                None => None,
            }
        };
        let left = OptionFuture::from(self.session.take().map(BrowserSession::leave));
        let ends = async { tokio::join!(left, node_ends) };
        let saw = || "a process that does not even die of SIGKILL".to_owned();
        let (left, status) = wait::within("the end of the browser and the node", ends, saw).await?;
        self.evidence.extend(status.map(power::end_in_good_order));
        self.proxy.shutdown().await?;
        self.trace.check()?;
        let shared = left.transpose()?.flatten();
        Ok((Ground { evidence: self.evidence, receipts, phases }, shared))
    }
}
