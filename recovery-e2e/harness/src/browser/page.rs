//! One page of the stage's browser: evaluating in it, waiting in it, looking at it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use chromiumoxide::cdp::browser_protocol::network;
use chromiumoxide::cdp::browser_protocol::page::CaptureScreenshotFormat;
use chromiumoxide::cdp::js_protocol::runtime::{
    EvaluateParams, EventConsoleApiCalled, EventExceptionThrown, RemoteObject,
};
use chromiumoxide::error::CdpError;
use chromiumoxide::page::ScreenshotParams;
use futures_util::StreamExt;
use serde::de::DeserializeOwned;

use crate::browser::chromium::{BrowserError, bounded};
use crate::browser::clock::init_scripts;
use crate::os::log::LogFile;
use crate::record::settings::PageSettings;
use crate::wait::WaitTimeout;

/// A page that does not do what a page does.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// The browser refused or did not answer.
    #[error(transparent)]
    Browser(#[from] BrowserError),
    /// A condition in the page that was not met.
    #[error(transparent)]
    Wait(#[from] WaitTimeout),
    /// What was done in the page threw an exception.
    #[error("an exception in the page at {what}: {thrown}")]
    Threw {
        /// What was done.
        what: String,
        /// The exception.
        thrown: String,
    },
    /// The page answered with something else than was asked for.
    #[error("the page answered {answer} to {what}; the page driver and the harness do not fit")]
    Answer {
        /// What it was asked for.
        what: String,
        /// What it answered.
        answer: String,
    },
    /// A screenshot could not be kept.
    #[error("cannot write the screenshot {path}: {source}; make room and run again")]
    Screenshot {
        /// The file.
        path: Utf8PathBuf,
        /// What the kernel says.
        source: std::io::Error,
    },
}

/// A page that serves `__e2e`, the page driver of the harness (`pages/driver.js`).
#[derive(Clone)]
pub struct Page {
    inner: chromiumoxide::Page,
    exceptions: Arc<AtomicU64>,
    fences: Arc<AtomicU64>,
    slow_mo: Duration,
}

impl Page {
    /// The fresh page `inner`, whose console goes to `console`. It is set up as `settings` say.
    ///
    /// # Errors
    /// When the browser does not do so.
    pub async fn new(
        inner: chromiumoxide::Page,
        settings: PageSettings,
        console: LogFile,
    ) -> Result<Page, PageError> {
        // Watching the network is known to stall streamed bodies, and the proxy sees it all.
        bounded("an unwatched network", inner.execute(network::DisableParams {})).await?;
        for script in init_scripts(settings) {
            bounded("an init script", inner.evaluate_on_new_document(script)).await?;
        }

        let exceptions = Arc::new(AtomicU64::new(0));
        let mut said =
            bounded("its console", inner.event_listener::<EventConsoleApiCalled>()).await?;
        let mut thrown =
            bounded("its exceptions", inner.event_listener::<EventExceptionThrown>()).await?;
        let count = exceptions.clone();
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    Some(event) = said.next() => {
                        let args: Vec<_> = event.args.iter().map(text_of).collect();
                        console.line(&format!("{}: {}", event.r#type.as_ref(), args.join(" ")));
                    }
                    Some(event) = thrown.next() => {
                        count.fetch_add(1, Ordering::Relaxed);
                        let details = &event.exception_details;
                        let what = details.exception.as_ref().map(text_of).unwrap_or_default();
                        console.line(&format!("uncaught: {} {what}", details.text));
                    }
                    else => break,
                }
            }
        });
        Ok(Page { inner, exceptions, fences: Arc::default(), slow_mo: Duration::ZERO })
    }

    /// The same page, with a wait before everything that is done to it.
    #[must_use]
    pub fn slowed(self, slow_mo: Duration) -> Page {
        Page { slow_mo, ..self }
    }

    /// Goes to `url` and waits until it is loaded.
    ///
    /// # Errors
    /// When the browser cannot.
    pub async fn goto(&self, url: &str) -> Result<(), PageError> {
        // Not the URL itself: it may be the one that logs in.
        bounded("a navigation", self.inner.goto(url)).await?;
        Ok(())
    }

    /// Loads the page anew and waits until that is done.
    ///
    /// # Errors
    /// When the browser cannot.
    pub async fn reload(&self) -> Result<(), PageError> {
        bounded("a reload", self.inner.reload()).await?;
        Ok(())
    }

    /// How many exceptions nothing in the page has caught, as far as it or the browser has reported:
    /// the page forgets when it is loaded anew, and what the browser says may still be on its way,
    /// or hold what JSON cannot.
    ///
    /// # Errors
    /// When the page does not answer.
    pub async fn exceptions(&self) -> Result<u64, PageError> {
        let told_by_page: u64 = self.eval("its exceptions", "__counts.uncaught()").await?;
        Ok(told_by_page.max(self.exceptions.load(Ordering::Relaxed)))
    }

    /// The value of a JavaScript expression; a promise is awaited.
    ///
    /// # Errors
    /// When it throws, is no `T`, or the page does not answer.
    pub async fn eval<T: DeserializeOwned>(
        &self,
        what: &str,
        expression: &str,
    ) -> Result<T, PageError> {
        let params = EvaluateParams {
            await_promise: Some(true),
            return_by_value: Some(true),
            ..EvaluateParams::new(expression)
        };
        let result = match bounded(what, self.inner.evaluate_expression(params)).await {
            Ok(result) => result,
            Err(error) => return Err(thrown(what, error)),
        };
        let answer = format!("{:?}", result.value());
        result.into_value().map_err(|_| PageError::Answer { what: what.to_owned(), answer })
    }

    /// Evaluates a JavaScript expression, awaits it if it is a promise, and leaves its value.
    ///
    /// # Errors
    /// When it throws, or the page does not answer.
    pub async fn run(&self, what: &str, expression: &str) -> Result<(), PageError> {
        let script = format!("Promise.resolve({expression}).then(() => true)");
        self.eval::<bool>(what, &script).await.map(drop)
    }

    /// Does something to the page, as a person would. Before it, whoever watches has time to look.
    ///
    /// # Errors
    /// As [`Page::run`].
    pub async fn act(&self, what: &str, expression: &str) -> Result<(), PageError> {
        tokio::time::sleep(self.slow_mo).await;
        self.run(what, expression).await
    }

    /// The same, and gives the value of the expression that does it.
    ///
    /// # Errors
    /// As [`Page::eval`].
    pub async fn act_for<T: DeserializeOwned>(
        &self,
        what: &str,
        expression: &str,
    ) -> Result<T, PageError> {
        tokio::time::sleep(self.slow_mo).await;
        self.eval(what, expression).await
    }

    /// A number that no other fence of this page has.
    pub fn next_fence(&self) -> u64 {
        self.fences.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Keeps what the page looks like now, as a PNG.
    ///
    /// # Errors
    /// When the browser does not show it, or the file cannot be written.
    pub async fn screenshot(&self, path: &Utf8Path) -> Result<(), PageError> {
        let params = ScreenshotParams::builder().format(CaptureScreenshotFormat::Png).build();
        let png = bounded("a screenshot", self.inner.screenshot(params)).await?;
        tokio::fs::write(path, png)
            .await
            .map_err(|source| PageError::Screenshot { path: path.to_owned(), source })
    }
}

/// The error of a script: an exception in the page, or what the browser says.
fn thrown(what: &str, error: BrowserError) -> PageError {
    if let BrowserError::Protocol { source, .. } = &error
        && let CdpError::JavascriptException(details) = source.as_ref()
    {
        let exception = details.exception.as_ref().map(text_of);
        let thrown = exception.unwrap_or_else(|| details.text.clone());
        let thrown = thrown.lines().next().unwrap_or_default().to_owned();
        return PageError::Threw { what: what.to_owned(), thrown };
    }
    error.into()
}

/// A value of the page's console as a person would see it.
fn text_of(object: &RemoteObject) -> String {
    match (&object.value, &object.description) {
        (Some(serde_json::Value::String(text)), _) => text.clone(),
        (Some(value), _) => value.to_string(),
        (None, Some(description)) => description.clone(),
        (None, None) => object.r#type.as_ref().to_owned(),
    }
}
