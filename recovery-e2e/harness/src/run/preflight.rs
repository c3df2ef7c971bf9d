//! The check before a run that the browser and the node start.

use camino::Utf8Path;

use crate::browser::chromium::{Browser, BrowserConfig, BrowserError};
use crate::node::process::{Node, NodeConfig, NodeError};
use crate::os::children::Children;
use crate::os::log::{LogError, LogFile};
use crate::record::settings::Sandbox;
use crate::redact::Redactor;

/// A browser or a node with which no scenario can be run.
#[derive(Debug, thiserror::Error)]
pub enum PreflightError {
    /// The browser.
    #[error(transparent)]
    Browser(#[from] BrowserError),
    /// The node.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// The node's log.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The temporary folder.
    #[error(
        "cannot use the temporary folder: {0}; free disk space, or set TMPDIR to a folder that can be written"
    )]
    Temp(std::io::Error),
}

/// What the check found out about the browser.
#[derive(Debug)]
pub struct Probed {
    /// Its name and version.
    pub version: String,
    /// Whether its sandbox works here.
    pub sandbox: Sandbox,
}

/// Starts both once, stops them again, and returns what it found out about the browser.
///
/// # Errors
/// When one of them does not start.
pub async fn check(
    browser: &Utf8Path,
    node: &Utf8Path,
    temp: &Utf8Path,
    redactor: &Redactor,
) -> Result<Probed, PreflightError> {
    let folder = temp.join("preflight");
    std::fs::create_dir_all(&folder).map_err(PreflightError::Temp)?;
    // Their unexpected ends are not watched: a missing answer reports them.
    let children = Children::new().map_err(PreflightError::Temp)?;
    let probed = probe(browser, Sandbox::of_this_user(), &folder, redactor, &children);
    let listens = async {
        let node = Node::start(&NodeConfig {
            program: node.to_owned(),
            folder: folder.clone(),
            public_origin: "http://127.0.0.1:1".to_owned(),
            retry_ms: None,
            log: LogFile::create(&folder.join("node.log"), redactor.clone())?,
            redactor: redactor.clone(),
            children: children.clone(),
        })
        .await?;
        node.kill().await;
        Ok::<_, PreflightError>(())
    };
    let (probed, listens) = tokio::join!(probed, listens);
    listens?;
    std::fs::remove_dir_all(&folder).map_err(PreflightError::Temp)?;
    probed
}

/// Starts the browser with the `best` sandbox. If it ends at once, and does not without its sandbox,
/// the machine forbids the sandbox: no other probe is as reliable.
///
/// # Errors
/// The error of the first attempt, when the second fails too.
pub async fn probe(
    program: &Utf8Path,
    best: Sandbox,
    folder: &Utf8Path,
    redactor: &Redactor,
    children: &Children,
) -> Result<Probed, PreflightError> {
    let try_with = async |sandbox: Sandbox| {
        // A profile of its own: that of an earlier try may still be locked.
        let folder = folder.join(format!("{sandbox:?}"));
        std::fs::create_dir_all(&folder).map_err(PreflightError::Temp)?;
        let log = folder.join("browser.log");
        let browser = Browser::launch(BrowserConfig {
            program,
            sandbox,
            headed: false,
            folder: &folder,
            log: &log,
            redactor,
            children,
        })
        .await?;
        let version = browser.version().await;
        browser.close().await;
        Ok::<_, PreflightError>(Probed { version: version?, sandbox })
    };
    match try_with(best).await {
        Err(gave_up @ PreflightError::Browser(BrowserError::NoDevTools { .. }))
            if best == Sandbox::On =>
        {
            try_with(Sandbox::OffForMachine).await.map_err(|_| gave_up)
        }
        tried => tried,
    }
}
