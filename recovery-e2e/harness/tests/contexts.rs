//! What two contexts of one browser share, and what not.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use recovery_e2e::browser::page::Page;
use recovery_e2e::record::settings::{Clock, PageSettings};
use support::test_page::TestPage;

/// Leaves something wherever a page can.
const LEAVE: &str = "(async () => {
    document.cookie = 'left=cookie; max-age=600';
    localStorage.setItem('left', 'local');
    sessionStorage.setItem('left', 'session');
    await new Promise((resolve) => {
        const open = indexedDB.open('left');
        open.onsuccess = () => { open.result.close(); resolve(); };
    });
    await caches.open('left');
})()";

/// What of that is seen.
const SEEN: &str = "(async () => [
    document.cookie,
    localStorage.getItem('left'),
    sessionStorage.getItem('left'),
    ...(await indexedDB.databases()).map((it) => it.name),
    ...(await caches.keys()),
].filter(Boolean))()";

async fn seen_by(page: &Page) -> Vec<String> {
    page.eval("what was left", SEEN).await.unwrap()
}

#[tokio::test]
#[ignore = "needs a browser: cargo xtask test"]
async fn a_context_sees_nothing_of_what_another_keeps_and_takes_everything_along() {
    let test_page = TestPage::new(PageSettings::new(Clock::Real, 1)).await;
    let (first, second) = (
        test_page.browser.new_context().await.unwrap(),
        test_page.browser.new_context().await.unwrap(),
    );
    let page = test_page.page_in(&first).await;
    page.run("what is left", LEAVE).await.unwrap();
    assert_eq!(seen_by(&page).await, ["left=cookie", "local", "session", "left", "left"]);

    let other = test_page.page_in(&second).await;
    assert!(seen_by(&other).await.is_empty(), "beside it");
    test_page.browser.end_context(first).await.unwrap();
    let third = test_page.browser.new_context().await.unwrap();
    assert!(seen_by(&test_page.page_in(&third).await).await.is_empty(), "after it");
    assert!(seen_by(&test_page.page).await.is_empty(), "in the browser's own profile");
    let ended: Result<bool, _> = page.eval("a page that is gone", "true").await;
    assert!(ended.is_err());
}
