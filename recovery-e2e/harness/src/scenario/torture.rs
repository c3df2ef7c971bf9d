//! The runner's own cases, which `run --torture` runs in place of the catalogue's: those that break on
//! purpose, each in its own way, and the example of `docs/writing-a-scenario.md`.

use std::future::pending;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::{Scenario, Story, example};
use crate::node::client::PaneKind;
use crate::scenario::stage::{Stage, StageError};
use crate::wait::Kind;

/// What the page prints in [`flood`]: so many lines of a MiB each.
const FLOOD_MIB: u32 = 200;

/// All of them.
pub const TORTURE: [&Scenario; 8] = [
    &example::SCENARIO,
    &torture("torture-panic", "a panic is an error of its case", |_| Box::pin(panics())),
    &torture("torture-hang", "a story without an end is ended", |_| Box::pin(pending())),
    &torture("torture-freeze", "a browser that hangs is killed", |stage| Box::pin(freeze(stage))),
    &torture("torture-text", "no text breaks a report", |stage| Box::pin(odd_texts(stage))),
    &torture("torture-flood", "what a page prints is bounded", |stage| Box::pin(flood(stage))),
    &torture("torture-node", "a node that dies is an error of its case", |stage| {
        Box::pin(kill(stage.node_pid().ok()))
    }),
    &torture("torture-browser", "a browser that dies is an error of its case", |stage| {
        Box::pin(kill(stage.browser_pid()))
    }),
];

const fn torture(name: &'static str, proves: &'static str, story: Story) -> Scenario {
    Scenario {
        id: "-",
        name,
        family: "torture",
        proves,
        pane: PaneKind::Interactive,
        code: "TORTURE",
        fields: &[],
        ready_shows: &[],
        rests_on: &[],
        controls: &[],
        story,
    }
}

/// Every byte as a character, what a terminal obeys, and what XML and its CDATA forbid.
fn odd_text() -> String {
    let bytes = (0..=u8::MAX).map(char::from).collect::<String>();
    format!("{bytes}\u{1b}[2J\u{1b}]0;title\u{7}]]>\u{fffe}\u{ffff}&<\">::error::[[ATTACHMENT|/x]]")
}

async fn panics() -> Result<(), StageError> {
    panic!("on purpose: {}", odd_text())
}

/// An odd text on the page, in its console, in its title, and as the reason.
async fn odd_texts(stage: &mut Stage) -> Result<(), StageError> {
    let page = stage.open("/").await?;
    let text = serde_json::Value::from(odd_text());
    // Half a character is what the browser cannot send as text.
    let half =
        "void (async () => { console.log('a half \\ud800'); throw new Error('\\udfff'); })()";
    page.run("half characters", half).await?;
    page.run("an odd line", &format!("console.log({text})")).await?;
    page.run("an odd body", &format!("document.body.append({text})")).await?;
    stage.stamp_title(&odd_text()).await?;
    stage.observe(Kind::Need, &odd_text(), false, &odd_text());
    Ok(())
}

async fn flood(stage: &mut Stage) -> Result<(), StageError> {
    let page = stage.open("/").await?;
    let line = "console.log('x'.repeat(1 << 20))";
    page.run("a flood", &format!("[...Array({FLOOD_MIB})].map(() => {line})")).await?;
    Ok(())
}

/// Kills a part of the stage; the stage reports that it died, and the story does not go on.
async fn kill(part: Option<u32>) -> Result<(), StageError> {
    if let Some(pid) = part.and_then(|pid| Pid::from_raw(pid.cast_signed())) {
        // That it has ended already is reported too.
        let _ = kill_process(pid, Signal::KILL);
    }
    pending().await
}

/// Stops the browser, whatever of it runs under its pages too, and waits for an answer of it.
async fn freeze(stage: &mut Stage) -> Result<(), StageError> {
    let page = stage.open("/").await?;
    if let Some(pid) = stage.browser_pid().and_then(|pid| Pid::from_raw(pid.cast_signed())) {
        // That it has ended already is reported too.
        let _ = kill_process_group(pid, Signal::STOP);
    }
    page.eval::<bool>("an answer", "true").await?;
    Ok(())
}
