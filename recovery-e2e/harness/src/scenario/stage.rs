//! What one scenario runs on: model server, node, proxy and browser, shared with no other.

mod power;
mod reading;

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use futures_util::future::OptionFuture;

use super::{CaseLog, Check, Scenario};
use crate::browser::chromium::{BrowserConfig, BrowserError};
use crate::browser::page::Page;
use crate::browser::session::{BrowserSession, SharedBrowser, Wanted};
use crate::browser::tab::Tab;
use crate::node::client::{Dashboard, Driven, Pane, PaneKind, TwoPanes};
use crate::node::control_socket::ControlSocket;
use crate::node::error::AppError;
use crate::node::model::{ModelError, ModelServer, Reply, Script};
use crate::node::pages::own_pages;
use crate::node::process::{Node, NodeConfig};
use crate::node::routes::ROUTES;
use crate::node::wire::{Wire, WsId};
use crate::os::children::Children;
use crate::os::deaths::Deaths;
use crate::os::log::{LogError, LogFile};
use crate::proxy::{Counters, Proxy, ProxyConfig, ProxyError};
use crate::record::settings::{BrowserInfo, PageSettings};
use crate::record::trace::{Trace, TraceError};
use crate::redact::Redactor;
use crate::wait::{self, Ended, Kind, WaitTimeout};

/// A story cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// The application under test, or a wait for it.
    #[error(transparent)]
    App(AppError),
    /// The browser.
    #[error(transparent)]
    Browser(#[from] BrowserError),
    /// The proxy.
    #[error(transparent)]
    Proxy(#[from] ProxyError),
    /// The scripted model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A file of evidence.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// A log.
    #[error(transparent)]
    Log(#[from] LogError),
    /// There is no node to do this with.
    #[error("there is no node now: it was stopped; start it before this")]
    NoNode,
    /// There is no browser to do this with.
    #[error("this stage has no browser: a person opens the page")]
    NoBrowser,
    /// A process of the stage died.
    #[error("{0}; its log in the case's folder may say why")]
    Death(String),
    /// The story took too long.
    #[error("the scenario ran longer than {} s; raise --timeout, or find what it waits for", .0.as_secs_f64())]
    TooLong(Duration),
    /// The story does what its scenario does not declare.
    #[error("the scenario {scenario} declares no {what}; add it to its declaration")]
    Undeclared {
        /// The scenario.
        scenario: &'static str,
        /// What the story has read or checked.
        what: String,
    },
}

impl<E: Into<AppError>> From<E> for StageError {
    fn from(error: E) -> StageError {
        StageError::App(error.into())
    }
}

/// What a stage is made of and where it may write.
pub struct StageConfig<'a> {
    /// What is played on it.
    pub scenario: &'static Scenario,
    /// Keeps what is seen on it.
    pub log: &'a CaseLog,
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

/// What the page of a stage shows.
enum Subject {
    Pane(Pane),
    TwoPanes(TwoPanes),
    Dashboard(Dashboard),
}

/// A running stage. Dropping it ends all of its processes; [`Stage::close`] also waits for that.
pub struct Stage {
    /// The only origin that the browser sees.
    pub proxy: Arc<Proxy>,
    /// The node's public wire, without the proxy.
    pub wire: Wire,
    /// The node's control socket.
    pub control: ControlSocket,
    scenario: &'static Scenario,
    log: CaseLog,
    model: ModelServer,
    scripts: Vec<Script>,
    /// None between its end and its next start.
    node: Option<Node>,
    node_config: NodeConfig,
    session: Option<BrowserSession>,
    page: Option<Page>,
    subject: Option<Subject>,
    /// Of the page.
    path: String,
    /// The counters at the last [`Stage::mark`].
    mark: Counters,
    settings: PageSettings,
    slow_mo: Duration,
    artifacts: Utf8PathBuf,
    redactor: Redactor,
    trace: Trace,
    screenshots: usize,
}

impl StageError {
    /// Whether the stage works and an awaited condition was not met, and who had to bring it. None
    /// when something broke.
    pub fn missed(&self) -> Option<Kind> {
        match self {
            StageError::App(error) => error.missed(),
            _ => None,
        }
    }
}

impl Stage {
    /// Sets a stage up: everything runs, and no page is open.
    ///
    /// # Errors
    /// When a part of it does not start.
    pub async fn set(config: StageConfig<'_>) -> Result<Stage, StageError> {
        config.log.phase("set");
        let trace =
            Trace::create(&config.artifacts.join("requests.jsonl"), config.redactor.clone())?;
        trace.phase("set");
        let model = ModelServer::start().await?;
        let proxy = Arc::new(
            Proxy::start(ProxyConfig {
                port: config.port,
                upstream: None,
                pages: own_pages(),
                routes: ROUTES,
                trace: trace.clone(),
            })
            .await?,
        );
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
        let started = node.map_err(StageError::from).and_then(|node| {
            let control = ControlSocket::new(node.control_socket())?;
            Ok((node, control))
        });
        let ((node, control), session) = match (started, session) {
            (Ok(started), session) => (started, session.transpose()?),
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
            scenario: config.scenario,
            log: config.log.clone(),
            model,
            scripts: Vec::new(),
            node: Some(node),
            node_config,
            session,
            page: None,
            subject: None,
            path: String::new(),
            mark: Counters::default(),
            settings: config.page,
            slow_mo: config.slow_mo,
            artifacts: config.artifacts.to_owned(),
            redactor: config.redactor.clone(),
            trace,
            screenshots: 0,
        })
    }

    /// The pane that the scenario drives.
    pub fn pane_kind(&self) -> PaneKind {
        self.scenario.pane
    }

    /// The name of the scenario.
    pub fn name(&self) -> &'static str {
        self.scenario.name
    }

    /// From here on the scenario is in this phase: every trace event says so, and its time is kept.
    pub fn phase(&mut self, name: &str) {
        self.trace.phase(name);
        self.log.phase(name);
    }

    /// Checks what the scenario rests on, and keeps it as evidence.
    ///
    /// # Errors
    /// A need or a claim, as declared, when it does not hold; and when it is not declared.
    pub fn check(
        &mut self,
        check: &Check,
        held: bool,
        saw: impl Display,
    ) -> Result<(), StageError> {
        let Check { kind, what } = *check;
        let saw = saw.to_string();
        if self.scenario.rests_on.iter().all(|declared| declared.what != what) {
            return Err(self.undeclared(format!("check {what:?}")));
        }
        self.observe(kind, what, held, &saw);
        if held {
            return Ok(());
        }
        let missed = WaitTimeout { ended: Ended::Unmet, ..WaitTimeout::need(what, saw) };
        Err(WaitTimeout { kind, ..missed }.into())
    }

    /// Keeps an observation as evidence; the judge decides what it means.
    pub fn observe(&self, kind: Kind, what: &str, held: bool, saw: &str) {
        self.log.observe(kind, what, held, saw);
    }

    fn undeclared(&self, what: String) -> StageError {
        StageError::Undeclared { scenario: self.scenario.name, what }
    }

    /// Has the model answer one workstream's calls with `replies`, one by one; returns the model's
    /// URL for that workstream.
    ///
    /// # Errors
    /// When there is such a script already.
    pub fn script(&mut self, name: &str, replies: Vec<Reply>) -> Result<String, StageError> {
        let script = self.model.script(name, replies)?;
        let url = script.base_url().to_owned();
        self.scripts.push(script);
        Ok(url)
    }

    /// How many calls the model had beyond its script.
    pub fn unscripted_model_calls(&self) -> usize {
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

    async fn open_driven(&mut self, path: &str) -> Result<Driven, StageError> {
        let page = self.open(path).await?;
        let tab = Tab::new(page, self.proxy.clone(), self.settings.clock);
        Ok(Driven::new(tab, self.control.clone()))
    }

    /// Opens a page with the scenario's pane on `ws`, whose first load is then under way.
    ///
    /// # Errors
    /// When the page does not load; a claim when the client does not run.
    pub async fn open_pane(&mut self, ws: WsId) -> Result<Pane, StageError> {
        let path = format!("{}?ws_id={}", self.pane_kind().page(), ws.as_str());
        let pane = Pane::mounted(self.open_driven(&path).await?, ws).await?;
        self.subject = Some(Subject::Pane(pane.clone()));
        Ok(pane)
    }

    /// Opens a page with two panes on `ws`, which have both caught up.
    ///
    /// # Errors
    /// When the page does not load; a claim when the client does not run or catch up.
    pub async fn open_two_panes(&mut self, ws: WsId) -> Result<TwoPanes, StageError> {
        let path = format!("{}?ws_id={}&peer", PaneKind::Interactive.page(), ws.as_str());
        let panes = TwoPanes::mounted(self.open_driven(&path).await?, ws).await?;
        self.subject = Some(Subject::TwoPanes(panes.clone()));
        Ok(panes)
    }

    /// Opens the dashboard, which shows all of `workstreams` then, with frozen time.
    ///
    /// # Errors
    /// When the page does not load; a claim when the client does not show them.
    pub async fn open_dashboard(
        &mut self,
        workstreams: Vec<(&'static str, WsId)>,
    ) -> Result<Dashboard, StageError> {
        let dashboard = Dashboard::opened(self.open_driven("/").await?, workstreams).await?;
        self.subject = Some(Subject::Dashboard(dashboard.clone()));
        Ok(dashboard)
    }

    /// The dashboard, which counts its redials and presented cursors from now on.
    ///
    /// # Errors
    /// When it is not open.
    pub fn count_redials_from_now_on(&mut self) -> Result<Dashboard, StageError> {
        let dashboard = self.dashboard()?.clone().counting_from_now();
        self.subject = Some(Subject::Dashboard(dashboard.clone()));
        Ok(dashboard)
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

    /// Shows a stamp as the page's title to a person who watches.
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

    /// Where a person finds everything of this stage, line by line. The login URL is for a terminal
    /// only.
    pub fn addresses(&self) -> String {
        let node = self.node.as_ref();
        let node = node.map(|node| (node.login().url().to_owned(), node.address().to_string()));
        let (login, node) = node.unwrap_or_else(|| ("-".to_owned(), "stopped".to_owned()));
        let page = format!("{}{}", self.proxy.origin(), self.path);
        let devtools = self.session.as_ref().map(|session| session.browser().devtools());
        let devtools = devtools.unwrap_or_else(|| "-".to_owned());
        format!("the page   {page}\nlog in     {login}\nthe node   {node}\nDevTools   {devtools}")
    }

    /// The id of the browser's process, while it runs.
    pub fn browser_pid(&self) -> Option<u32> {
        self.session.as_ref().and_then(|session| session.browser().pid())
    }

    /// Where the death of a browser is reported that other cases have used too.
    pub fn deaths_of_shared_browser(&self) -> Option<Deaths> {
        self.session.as_ref().and_then(BrowserSession::deaths_of_shared).cloned()
    }

    /// How many exceptions were not caught in the page.
    ///
    /// # Errors
    /// When the page does not answer.
    pub async fn page_exceptions(&self) -> Result<u64, StageError> {
        match &self.page {
            Some(page) => Ok(page.exceptions().await?),
            None => Ok(0),
        }
    }

    /// Ends all of it, and waits until nothing of it runs any more. Returns a browser that other
    /// cases may use.
    ///
    /// # Errors
    /// When something does not end, or the trace or the records could not be written: evidence is
    /// missing then.
    pub async fn close(mut self) -> Result<Option<Box<SharedBrowser>>, StageError> {
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
        if let Some(status) = status {
            power::observe_end(&self.log, status);
        }
        self.proxy.shutdown().await?;
        self.trace.check()?;
        Ok(left.transpose()?.flatten())
    }
}
