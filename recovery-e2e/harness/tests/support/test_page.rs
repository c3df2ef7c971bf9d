//! An empty page, at an origin of its own.

use camino::{Utf8Path, Utf8PathBuf};
use recovery_e2e::browser::chromium::{Browser, BrowserConfig, Context};
use recovery_e2e::browser::page::Page;
use recovery_e2e::os::children::Children;
use recovery_e2e::os::log::LogFile;
use recovery_e2e::proxy::{LocalPage, Proxy, ProxyConfig};
use recovery_e2e::record::settings::PageSettings;
use recovery_e2e::record::settings::Sandbox;
use recovery_e2e::record::trace::Trace;
use recovery_e2e::redact::Redactor;
use serde::de::DeserializeOwned;

pub struct TestPage {
    pub page: Page,
    pub url: String,
    pub browser: Browser,
    settings: PageSettings,
    _proxy: Proxy,
    folder: tempfile::TempDir,
}

impl TestPage {
    pub async fn new(settings: PageSettings) -> TestPage {
        let program: Utf8PathBuf = std::env::var("E2E_BROWSER")
            .expect("E2E_BROWSER names a browser; `cargo xtask test` sets it")
            .into();
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path()).unwrap();
        let redactor = Redactor::default();
        let proxy = Proxy::start(ProxyConfig {
            port: 0,
            upstream: None,
            routes: &[],
            pages: vec![LocalPage {
                path: "/empty".to_owned(),
                content_type: "text/html".to_owned(),
                body: "<title>empty</title>".into(),
            }],
            trace: Trace::create(&path.join("requests.jsonl"), redactor.clone()).unwrap(),
        })
        .await
        .unwrap();
        let log = path.join("browser.log");
        let browser = Browser::launch(BrowserConfig {
            program: &program,
            sandbox: Sandbox::of_this_user(),
            headed: false,
            folder: path,
            log: &log,
            redactor: &redactor,
            children: &Children::new().unwrap(),
        })
        .await
        .unwrap();
        let url = format!("{}/empty", proxy.origin());
        let page = page_of(&browser, None, (settings, path), &url).await;
        TestPage { page, url, browser, settings, _proxy: proxy, folder }
    }

    /// Another page, at the same address.
    pub async fn page_in(&self, context: &Context) -> Page {
        let path = Utf8Path::from_path(self.folder.path()).unwrap();
        page_of(&self.browser, Some(context), (self.settings, path), &self.url).await
    }

    pub async fn eval<T: DeserializeOwned>(&self, expression: &str) -> T {
        self.page.eval("a value", expression).await.unwrap()
    }
}

async fn page_of(
    browser: &Browser,
    context: Option<&Context>,
    (settings, folder): (PageSettings, &Utf8Path),
    url: &str,
) -> Page {
    let console = LogFile::create(&folder.join("console.log"), Redactor::default()).unwrap();
    let page = browser.new_page(context).await.unwrap();
    let page = Page::new(page, settings, console).await.unwrap();
    page.goto(url).await.unwrap();
    page
}
