//! What a case has of a browser: one of its own, or a context in one that serves others after it.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use tempfile::TempDir;

use crate::browser::chromium::{Browser, BrowserConfig, BrowserError, Context};
use crate::os::children::Children;
use crate::os::deaths::Deaths;
use crate::os::inventory::Inventory;
use crate::os::temp;
use crate::wait::{Ended, WaitTimeout};

/// How long a browser may take to end a context. One that takes longer serves no other case.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a case wants of a browser.
pub enum Wanted<'a> {
    /// All of it.
    Own,
    /// A context in this one; where there is none, or it has died, in a new one.
    Context {
        /// The one that served the worker's last case.
        browser: Option<Box<SharedBrowser>>,
        /// The folder in which a new one gets a folder that outlives the case.
        temp: &'a Utf8Path,
        /// Where it is reported what a browser has left behind at its end.
        leaks: &'a Leaks,
    },
}

/// What shared browsers have left behind, a sentence each. Clones are the same list.
#[derive(Clone, Debug, Default)]
pub struct Leaks(Arc<Mutex<Vec<String>>>);

impl Leaks {
    /// All of it; then there is none.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// A browser that serves one case after the other. Dropping it kills all of its processes; only
/// [`SharedBrowser::end`] reports what they leave behind.
pub struct SharedBrowser {
    browser: Browser,
    children: Children,
    folder: TempDir,
    /// Of `folder`.
    path: Utf8PathBuf,
    leaks: Leaks,
}

/// What a case has of a browser.
pub enum BrowserSession {
    /// All of it.
    Own(Box<Browser>),
    /// A context.
    Context(Box<SharedBrowser>, Context),
}

impl SharedBrowser {
    async fn launch(
        config: &BrowserConfig<'_>,
        temp: &Utf8Path,
        leaks: &Leaks,
    ) -> Result<Box<SharedBrowser>, BrowserError> {
        let (folder, path) = temp::folder_in(temp).map_err(BrowserError::Folder)?;
        let children = Children::new().map_err(BrowserError::Folder)?;
        let own = BrowserConfig { folder: &path, children: &children, ..*config };
        let browser = Browser::launch(own).await?;
        let leaks = leaks.clone();
        Ok(Box::new(SharedBrowser { browser, children, folder, path, leaks }))
    }

    /// Ends what a case had of it, within [`PATIENCE`].
    async fn give_up(&self, context: Context) -> Result<(), BrowserError> {
        let end = tokio::time::timeout(PATIENCE, self.browser.end_context(context));
        end.await.map_err(|_| WaitTimeout {
            ended: Ended::Deadline(PATIENCE),
            ..WaitTimeout::need("the end of a context", "no answer")
        })??;
        Ok(self.browser.log_to(&self.path.join("browser.log"))?)
    }

    /// Makes a context for a case; what it prints from now on goes to `log`.
    async fn receive(&self, log: &Utf8Path) -> Result<Context, BrowserError> {
        self.browser.log_to(log)?;
        self.browser.new_context().await
    }

    /// Ends it, and reports what it has left behind, which is cleared.
    pub async fn end(self: Box<Self>) {
        let SharedBrowser { browser, children, folder, path, leaks } = *self;
        let (of_browser, in_folder) = (children.clone(), path.clone());
        let held = tokio::task::spawn_blocking(move || Inventory::take(&of_browser, &in_folder));
        let held = held.await.unwrap_or_default();
        browser.close().await;
        // What cannot be removed is counted below.
        let _ = folder.close();
        let ledger = tokio::task::spawn_blocking(move || held.close(&children, &path));
        let left = ledger.await.map(|ledger| ledger.left.describe());
        let left = left.unwrap_or_else(|error| Some(format!("unknown: {error}")));
        leaks.lock().extend(left.map(|left| format!("a shared browser left behind: {left}")));
    }
}

impl BrowserSession {
    /// What is wanted; what it prints goes to the log that `config` names.
    pub async fn take(
        wanted: Wanted<'_>,
        config: BrowserConfig<'_>,
    ) -> Result<BrowserSession, BrowserError> {
        let (shared, temp, leaks) = match wanted {
            Wanted::Own => {
                return Ok(BrowserSession::Own(Box::new(Browser::launch(config).await?)));
            }
            Wanted::Context { browser, temp, leaks } => (browser, temp, leaks),
        };
        let death = shared.as_ref().and_then(|shared| shared.children.deaths.heard());
        let (shared, context) = match (shared, &death) {
            (Some(shared), None) => {
                let context = shared.receive(config.log).await;
                (shared, context)
            }
            (dead, _) => {
                if let Some(dead) = dead {
                    dead.end().await;
                }
                let shared = SharedBrowser::launch(&config, temp, leaks).await?;
                if let Some(death) = death {
                    shared.browser.note(&format!("before this one, {death}"));
                }
                let context = shared.browser.new_context().await;
                (shared, context)
            }
        };
        match context {
            Ok(context) => Ok(BrowserSession::Context(shared, context)),
            Err(error) => {
                shared.end().await;
                Err(error)
            }
        }
    }

    /// Ends all of the browser, whoever else might have it.
    pub async fn end(self) {
        match self {
            BrowserSession::Own(browser) => browser.close().await,
            BrowserSession::Context(shared, _) => shared.end().await,
        }
    }

    /// The browser.
    pub fn browser(&self) -> &Browser {
        match self {
            BrowserSession::Own(browser) => browser,
            BrowserSession::Context(shared, _) => &shared.browser,
        }
    }

    /// A fresh, empty page.
    pub async fn new_page(&self) -> Result<chromiumoxide::Page, BrowserError> {
        match self {
            BrowserSession::Own(browser) => browser.new_page(None).await,
            BrowserSession::Context(shared, context) => {
                shared.browser.new_page(Some(context)).await
            }
        }
    }

    /// Where an unasked end of a browser that others had before is reported.
    pub fn deaths_of_shared(&self) -> Option<&Deaths> {
        match self {
            BrowserSession::Own(_) => None,
            BrowserSession::Context(shared, _) => Some(&shared.children.deaths),
        }
    }

    /// Ends what the case has, and gives back the browser that can serve another.
    pub async fn leave(self) -> Result<Option<Box<SharedBrowser>>, BrowserError> {
        let (shared, context) = match self {
            BrowserSession::Own(browser) => {
                browser.close().await;
                return Ok(None);
            }
            BrowserSession::Context(shared, context) => (shared, context),
        };
        if shared.children.deaths.heard().is_some() {
            return Ok(Some(shared));
        }
        if let Err(error) = shared.give_up(context).await {
            shared.end().await;
            return Err(error);
        }
        Ok(Some(shared))
    }
}
