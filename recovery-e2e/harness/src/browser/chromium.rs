//! A Chromium of the stage's own: its process, its profile, and the connection to it.

use camino::{Utf8Path, Utf8PathBuf};
use chromiumoxide::cdp::browser_protocol::browser::BrowserContextId;
use chromiumoxide::cdp::browser_protocol::target::{
    CreateBrowserContextParams, CreateTargetParams, DisposeBrowserContextParams, GetTargetsParams,
};
use chromiumoxide::error::CdpError;
use chromiumoxide::handler::HandlerConfig;
use futures_util::StreamExt;
use tokio::process::Command;
use tokio::task::JoinHandle;

use crate::os::children::Children;
use crate::os::log::{LogError, LogFile};
use crate::os::process::Process;
use crate::record::settings::{Sandbox, WINDOW};
use crate::redact::Redactor;
use crate::wait::{self, WaitTimeout};

/// What every browser of a stage is started with.
///
/// The first three keep a page in the background as quick as one in the foreground; the others
/// keep the browser from doing anything of its own, and from asking anything of the machine.
const FLAGS: [&str; 14] = [
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
    "--disable-backgrounding-occluded-windows",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--disable-gpu",
    "--disable-sync",
    "--hide-scrollbars",
    "--mute-audio",
    "--no-default-browser-check",
    "--no-first-run",
    "--password-store=basic",
    "--remote-debugging-port=0",
];

/// What precedes the address in the line in which Chromium prints where its DevTools listen.
const LISTENING: &str = "DevTools listening on ";

/// The most of a message that is quoted, in bytes.
const MAX_QUOTED: usize = 1 << 10;

/// The least room in /dev/shm that tabs are trusted with, in bytes: containers often have 64 MiB,
/// and tabs crash there.
const MIN_SHM: u64 = 256 << 20;

/// How a browser is started.
#[derive(Clone, Copy)]
pub struct BrowserConfig<'a> {
    /// The program.
    pub program: &'a Utf8Path,
    /// Whether it keeps its processes in its own sandbox.
    pub sandbox: Sandbox,
    /// Whether people see its window.
    pub headed: bool,
    /// The folder for its fresh profile.
    pub folder: &'a Utf8Path,
    /// Where what it prints goes.
    pub log: &'a Utf8Path,
    /// Knows what must not be in it.
    pub redactor: &'a Redactor,
    /// It becomes one of these.
    pub children: &'a Children,
}

/// A browser that is of no use to a scenario.
#[derive(Debug, thiserror::Error)]
pub enum BrowserError {
    /// The program could not be started at all.
    #[error("{program} does not start: {source}; name a Chromium with --browser")]
    Start {
        /// The program.
        program: Utf8PathBuf,
        /// What the kernel says.
        source: std::io::Error,
    },
    /// It ended, or closed its standard error, before it printed where its DevTools listen.
    #[error(
        "{program} cannot be driven as a browser: it ended before it printed the address of its \
         DevTools, and said {said:?}; name a Chromium with --browser"
    )]
    NoDevTools {
        /// The program.
        program: Utf8PathBuf,
        /// The last lines that it printed.
        said: String,
    },
    /// A condition of the browser that was not met.
    #[error("the browser: {0}")]
    Wait(#[from] WaitTimeout),
    /// It refused a command, or the connection broke.
    #[error("the browser failed at {what}: {source}; browser.log may say why")]
    Protocol {
        /// What it was asked for.
        what: String,
        /// What came instead.
        source: Box<CdpError>,
    },
    /// There is no place for one that is shared.
    #[error("no folder for a browser: {0}; is TMPDIR writable, and is there room?")]
    Folder(std::io::Error),
    /// A page outlived its context.
    #[error("left behind in the browser: {0}")]
    Left(String),
    /// Its log could not be written.
    #[error(transparent)]
    Log(#[from] LogError),
}

/// A part of a browser that shares no cookie, storage, cache or connection with another.
pub struct Context(BrowserContextId);

/// A running browser. Dropping it kills all of its processes.
pub struct Browser {
    process: Process,
    /// Of its DevTools, a WebSocket's.
    address: String,
    connection: chromiumoxide::Browser,
    /// Polls the connection all the time: without that no command is ever answered.
    handler: JoinHandle<()>,
    log: LogFile,
}

impl Browser {
    /// Starts a browser with a fresh profile.
    ///
    /// # Errors
    /// When it cannot be started or is no browser.
    pub async fn launch(config: BrowserConfig<'_>) -> Result<Browser, BrowserError> {
        let BrowserConfig { program, sandbox, headed, folder, log, redactor, children } = config;
        let mut command = Command::new(program);
        command
            .args(FLAGS)
            .args((!headed).then_some("--headless=new"))
            .args((sandbox != Sandbox::On).then_some("--no-sandbox"))
            .args(shm_is_small().then_some("--disable-dev-shm-usage"))
            .arg(format!("--window-size={},{}", WINDOW.0, WINDOW.1))
            .arg(format!("--user-data-dir={}", folder.join("profile")))
            .env("XDG_CONFIG_HOME", folder.join("config"))
            .env("XDG_CACHE_HOME", folder.join("cache"))
            .envs(temporary(folder));
        let mut process = Process::start("browser", command, children)
            .map_err(|source| BrowserError::Start { program: program.to_owned(), source })?;

        let log = LogFile::create(log, redactor.clone())?;
        let printed = log.follow(process.take_stderr(), |line| {
            line.split_once(LISTENING).map(|(_, address)| address.trim().to_owned())
        });
        let address = wait::within("the address of its DevTools", printed, || log.last_lines())
            .await?
            .map_err(|_| BrowserError::NoDevTools {
                program: program.to_owned(),
                said: log.last_lines(),
            })?;

        let config = HandlerConfig {
            viewport: None,
            ignore_invalid_messages: false,
            ..HandlerConfig::default()
        };
        let connect = chromiumoxide::Browser::connect_with_config(address.clone(), config);
        let (connection, mut events) = bounded("a connection", connect).await?;
        let aside = log.clone();
        let handler = tokio::spawn(async move {
            while let Some(event) = events.next().await {
                // JSON has room for half a character, and text has not.
                if let Err(CdpError::InvalidMessage(message, _)) = event {
                    let begin = &message[..message.floor_char_boundary(MAX_QUOTED)];
                    aside.line(&format!("DevTools said what cannot be read: {begin}"));
                }
            }
        });
        Ok(Browser { process, address, connection, handler, log })
    }

    /// Where a person's browser finds its DevTools.
    pub fn devtools(&self) -> String {
        let host = self.address.split('/').nth(2).unwrap_or_default();
        format!("http://{host}/json/list")
    }

    /// What the browser says it is, as `HeadlessChrome/156.0.1.2`.
    ///
    /// # Errors
    /// When it does not answer.
    pub async fn version(&self) -> Result<String, BrowserError> {
        Ok(bounded("its version", self.connection.version()).await?.product)
    }

    /// Its process's id; none after its end.
    pub fn pid(&self) -> Option<u32> {
        self.process.id()
    }

    /// A fresh, empty page, in `context` or in the browser's own.
    ///
    /// # Errors
    /// When the browser does not make one.
    pub async fn new_page(
        &self,
        context: Option<&Context>,
    ) -> Result<chromiumoxide::Page, BrowserError> {
        let target = CreateTargetParams {
            browser_context_id: context.map(|Context(id)| id.clone()),
            ..CreateTargetParams::new("about:blank")
        };
        bounded("a page", self.connection.new_page(target)).await
    }

    /// A fresh off-the-record context, which ends with the connection at the latest.
    ///
    /// # Errors
    /// When the browser does not make one.
    pub async fn new_context(&self) -> Result<Context, BrowserError> {
        let params = CreateBrowserContextParams::builder().dispose_on_detach(true).build();
        let made = bounded("a context", self.connection.execute(params)).await?;
        Ok(Context(made.result.browser_context_id))
    }

    /// Ends a context with all of its pages.
    ///
    /// # Errors
    /// When the browser does not, or [`BrowserError::Left`] when something of it is still there.
    pub async fn end_context(&self, Context(id): Context) -> Result<(), BrowserError> {
        let params = DisposeBrowserContextParams::new(id.clone());
        bounded("the end of a context", self.connection.execute(params)).await?;
        let targets = self.connection.execute(GetTargetsParams::default());
        let targets = bounded("what it still shows", targets).await?.result.target_infos;
        match targets.into_iter().find(|target| target.browser_context_id.as_ref() == Some(&id)) {
            Some(target) => Err(BrowserError::Left(format!("{} {}", target.r#type, target.url))),
            None => Ok(()),
        }
    }

    /// Adds a line of the harness to what it prints.
    pub fn note(&self, line: &str) {
        self.log.line(line);
    }

    /// What it prints from now on goes to `path`.
    ///
    /// # Errors
    /// When that file cannot be made.
    pub fn log_to(&self, path: &Utf8Path) -> Result<(), LogError> {
        self.log.turn_to(path)
    }

    /// Ends the browser, and returns when nothing of it runs any more.
    ///
    /// It is killed, not asked: its profile is thrown away, and a helper could hold an orderly end
    /// up for ever.
    pub async fn close(mut self) {
        self.process.kill().await;
        self.log.drained().await;
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.handler.abort();
    }
}

/// A command to the browser with a deadline: its own is known not to fire always.
pub(super) async fn bounded<T>(
    what: &str,
    command: impl Future<Output = Result<T, CdpError>>,
) -> Result<T, BrowserError> {
    wait::within(&format!("the answer to {what}"), command, || "no answer".to_owned())
        .await?
        .map_err(|source| BrowserError::Protocol {
            what: what.to_owned(),
            source: Box::new(source),
        })
}

/// The folder for what the browser would leave among the machine's temporary files when it is
/// killed, unless the path of a Unix socket in it were longer than the kernel takes.
fn temporary(folder: &Utf8Path) -> Option<(&'static str, &Utf8Path)> {
    const MAX_SOCKET_PATH: usize = 107;
    const SOCKET: &str = "/org.chromium.Chromium.XXXXXX/SingletonSocket";
    (folder.as_str().len() + SOCKET.len() <= MAX_SOCKET_PATH).then_some(("TMPDIR", folder))
}

/// Whether tabs would crash for want of room in this machine's /dev/shm.
pub fn shm_is_small() -> bool {
    let room = rustix::fs::statvfs("/dev/shm").map_or(0, |stat| stat.f_blocks * stat.f_frsize);
    room < MIN_SHM
}
