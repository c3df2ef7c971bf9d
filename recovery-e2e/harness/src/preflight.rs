//! Before a run: do the browser and the node work at all?

use camino::Utf8Path;

use crate::children::Children;
use crate::redact::Redactor;
use crate::stage::browser::{Browser, BrowserError};
use crate::stage::log::{LogError, LogFile};
use crate::stage::node::{Node, NodeConfig, NodeError};

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
    /// What both stand on.
    #[error("{0}; is TMPDIR writable, and is there room?")]
    Temp(std::io::Error),
}

/// Starts both once, ends them again, and returns what the browser says it is.
///
/// # Errors
/// When one of them does not start.
pub async fn check(
    browser: &Utf8Path,
    node: &Utf8Path,
    temp: &Utf8Path,
    redactor: &Redactor,
) -> Result<String, PreflightError> {
    let folder = temp.join("preflight");
    std::fs::create_dir_all(&folder).map_err(PreflightError::Temp)?;
    // Nobody listens: what ends here is told by what it does not answer.
    let children = Children::new().map_err(PreflightError::Temp)?;
    let version = async {
        let log = folder.join("browser.log");
        let browser = Browser::launch(browser, &folder, &log, redactor, &children).await?;
        let version = browser.version().await;
        browser.close().await;
        Ok::<_, PreflightError>(version?)
    };
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
    let (version, listens) = tokio::join!(version, listens);
    listens?;
    std::fs::remove_dir_all(&folder).map_err(PreflightError::Temp)?;
    version
}
