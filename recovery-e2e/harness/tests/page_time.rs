//! Page time in a real browser: what it shims, in which order timers fire, and what survives.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use recovery_e2e::record::settings::{Clock, PageSettings};
use support::test_page::TestPage;

fn page_time(seed: u32) -> PageSettings {
    PageSettings::new(Clock::Page, seed)
}

#[tokio::test]
#[ignore = "needs a browser: cargo xtask test"]
async fn frozen_time_stands_for_every_clock_and_fires_nothing_until_it_is_stepped() {
    let test_page = TestPage::new(page_time(1)).await;
    test_page.page.freeze().await.unwrap();
    let seen: Vec<f64> = test_page
        .eval(
            "(async () => {
                window.fired = [];
                setTimeout((name) => fired.push(name), 20, 'late');
                setTimeout(() => fired.push('early'), 10);
                const gone = setTimeout(() => fired.push('cleared'), 5);
                clearTimeout(gone);
                const look = () => [Date.now(), new Date().getTime(), performance.now()];
                const before = look();
                const { setTimeout: wallTimeout } = __pageTime.originals;
                await new Promise((resolve) => wallTimeout(resolve, 60));
                return [...before.map((at, i) => look()[i] - at), fired.length];
            })()",
        )
        .await;
    assert_eq!(seen, [0.0, 0.0, 0.0, 0.0]);

    let stepped: Vec<serde_json::Value> = test_page
        .eval(
            "(async () => {
                const begin = performance.now();
                const seen = [];
                const until = __pageTime.now() + 15;
                while (await __pageTime.step(until)) seen.push(fired.at(-1), performance.now() - begin);
                return [...seen, performance.now() - begin, fired.length];
            })()",
        )
        .await;
    let numbers: Vec<f64> = stepped[1..].iter().map(|value| value.as_f64().unwrap()).collect();
    assert_eq!(stepped[0], "early");
    for (seen, due) in numbers.iter().zip([10.0, 15.0, 1.0]) {
        assert!((seen - due).abs() < 0.01, "{stepped:?}");
    }
}

#[tokio::test]
#[ignore = "needs a browser: cargo xtask test"]
async fn timers_fire_in_the_order_in_which_they_fall_due_also_those_set_on_the_way() {
    let test_page = TestPage::new(page_time(1)).await;
    test_page.page.freeze().await.unwrap();
    let order: Vec<String> = test_page
        .eval(
            "(async () => {
                const order = [];
                setTimeout(() => order.push('c'), 30);
                setTimeout(() => { order.push('a'); setTimeout(() => order.push('b'), 10); }, 10);
                setTimeout(() => order.push('d'), 30);
                const ticks = setInterval(() => {
                  if (order.push('i') > 5) clearInterval(ticks);
                }, 25);
                const until = __pageTime.now() + 60;
                while (await __pageTime.step(until));
                return order;
            })()",
        )
        .await;
    assert_eq!(order, ["a", "b", "i", "c", "d", "i"]);
}

#[tokio::test]
#[ignore = "needs a browser: cargo xtask test"]
async fn time_that_flows_again_goes_on_from_where_it_stood() {
    let test_page = TestPage::new(page_time(1)).await;
    test_page.page.freeze().await.unwrap();
    let behind: f64 = test_page
        .eval(
            "(async () => {
                const fired = new Promise((resolve) => setTimeout(resolve, 50));
                const { setTimeout: wallTimeout } = __pageTime.originals;
                await new Promise((resolve) => wallTimeout(resolve, 80));
                const frozenAt = __pageTime.now();
                __pageTime.flow();
                await fired;
                return __pageTime.now() - frozenAt;
            })()",
        )
        .await;
    assert!(behind >= 49.0, "the timer had all of its wait before it, and {behind} ms passed");
}

#[tokio::test]
#[ignore = "needs a browser: cargo xtask test"]
async fn where_time_stands_survives_a_navigation_and_its_timers_do_not() {
    let test_page = TestPage::new(page_time(1)).await;
    test_page.page.freeze().await.unwrap();
    let before: f64 = test_page
        .eval("(localStorage.fired = 0, setTimeout(() => { localStorage.fired = 1 }, 5), __pageTime.step(__pageTime.now() + 2).then(() => __pageTime.now()))")
        .await;
    test_page.page.goto(&test_page.url).await.unwrap();
    assert_eq!(test_page.eval::<f64>("__pageTime.now()").await, before);
    assert!(test_page.eval::<bool>("performance.now() >= 0").await);
    test_page.page.run("a step", "__pageTime.step(__pageTime.now() + 10)").await.unwrap();
    assert_eq!(test_page.eval::<String>("localStorage.fired").await, "0");
}

#[tokio::test]
#[ignore = "needs a browser: cargo xtask test"]
async fn a_timer_that_throws_is_uncaught_as_in_a_browser_and_the_next_one_fires() {
    let test_page = TestPage::new(page_time(1)).await;
    test_page.page.freeze().await.unwrap();
    let seen: Vec<String> = test_page
        .eval(
            "(async () => {
                const seen = [];
                addEventListener('error', (event) => seen.push(event.message));
                setTimeout(() => { throw new Error('boom') }, 1);
                setTimeout(() => seen.push('next'), 2);
                const until = __pageTime.now() + 5;
                while (await __pageTime.step(until));
                return seen;
            })()",
        )
        .await;
    assert_eq!(seen, ["Uncaught Error: boom", "next"]);
}

#[tokio::test]
#[ignore = "needs a browser: cargo xtask test"]
async fn a_seed_decides_the_random_numbers_and_wall_time_is_left_alone() {
    const DRAW: &str = "[Math.random(), Math.random(), Math.random()]";
    let test_page = TestPage::new(page_time(41)).await;
    let first: Vec<f64> = test_page.eval(DRAW).await;
    assert!(first.iter().all(|drawn| (0.0..1.0).contains(drawn)), "{first:?}");
    test_page.page.goto(&test_page.url).await.unwrap();
    assert_eq!(test_page.eval::<Vec<f64>>(DRAW).await, first);

    let real = TestPage::new(PageSettings::new(Clock::Real, 42)).await;
    assert_ne!(real.eval::<Vec<f64>>(DRAW).await, first);
    assert!(real.eval::<bool>("/native code/.test(setTimeout + Date + performance.now)").await);
}
