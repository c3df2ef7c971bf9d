//! A stage for a person: the node behind the proxy, at a port that stays, with workstreams to try.

use std::time::Duration;

use anyhow::Context;
use camino::Utf8Path;
use tokio_util::sync::CancellationToken;

use crate::node::model::{Reply, ToolCall};
use crate::os::children::Children;
use crate::record::settings::{Clock, PageSettings};
use crate::redact::Redactor;
use crate::scenario::stage::{Stage, StageConfig, StageError};
use crate::scenario::steps::{seed_three_turns, workstream};
use crate::scenario::{CaseLog, SERVED};

/// How often the model of a workstream says the same again.
const ROUNDS: usize = 200;

/// A turn that is long enough to hide a tab, or to kill the node, in the middle of it.
const SOUNDING: &str = "for fathom in $(seq 30); do echo \"$fathom fathoms\"; sleep 1; done";

/// Serves until the person has had enough, and returns the exit code.
///
/// # Errors
/// When the stage cannot be set up, or the node does not come back.
pub async fn serve(
    port: u16,
    program: &Utf8Path,
    temp: &Utf8Path,
    enough: &CancellationToken,
) -> anyhow::Result<u8> {
    let artifacts = temp.join("serve");
    std::fs::create_dir_all(&artifacts).context("no folder for the stage; is there room?")?;
    let redactor = Redactor::default();
    let mut children = Children::new().context("no name for the stage's children")?;
    let log = CaseLog::new(redactor.clone());
    let mut stage = Stage::set(StageConfig {
        scenario: &SERVED,
        log: &log,
        port,
        browser: None,
        headed: false,
        slow_mo: Duration::ZERO,
        node: program,
        temp,
        artifacts: &artifacts,
        page: PageSettings::new(Clock::Real, 0),
        redactor: &redactor,
        children: &children,
    })
    .await?;
    let workstreams = furnish(&mut stage).await?;
    println!("{}", welcome(&stage, &workstreams)?);
    loop {
        tokio::select! {
            () = enough.cancelled() => break,
            death = children.deaths.first() => {
                children = children.next_life();
                stage.revive_node(&children).await?;
                println!("{death}; it runs again as process {}", stage.node_pid()?);
            }
        }
    }
    stage.close().await?;
    Ok(0)
}

/// A name and a path for each workstream that there is to try.
async fn furnish(stage: &mut Stage) -> Result<Vec<(&'static str, String)>, StageError> {
    let again = |replies: Vec<Reply>| -> Vec<Reply> {
        replies.iter().cycle().take(replies.len() * ROUNDS).cloned().collect()
    };
    let rewind = seed_three_turns(stage, "three-turns", again(vec![Reply::text("Aye.")])).await?;
    let sounding = vec![
        Reply::calls(vec![ToolCall::bash("sounding", SOUNDING)]),
        Reply::text("Thirty fathoms, and a sandy bottom."),
    ];
    let slow = workstream(stage, "thirty-seconds", again(sounding)).await?;
    let lights = ["red", "green"].map(|id| ToolCall::bash(id, format!("echo {id}")));
    let buoys = ["north", "east", "south", "west"].map(|id| ToolCall::bash(id, "sleep 2; echo up"));
    let storm = vec![
        Reply::calls(
            buoys.into_iter().chain([ToolCall::agent("harbour", "Both lights?")]).collect(),
        ),
        Reply::calls(lights.into()),
        Reply::text("Both lights are on."),
        Reply::text("All buoys are where they should be."),
    ];
    let storm = workstream(stage, "storm", again(storm)).await?;
    let listed = [
        ("three turns, to be rewound", rewind),
        ("a message starts a tool of thirty seconds", slow),
        ("a message starts four tools and an agent", storm),
    ];
    Ok(listed.map(|(name, ws)| (name, format!("/ws/{}", ws.as_str()))).into())
}

fn welcome(stage: &Stage, workstreams: &[(&str, String)]) -> Result<String, StageError> {
    let origin = stage.proxy.origin();
    let mut text = format!("{}\n\n", stage.addresses());
    for (name, path) in workstreams {
        text.push_str(&format!("{origin}{path}   {name}\n"));
    }
    let pid = stage.node_pid()?;
    text.push_str(&format!(
        "\nThe model is scripted: it answers the same to whatever is asked.\n\
         kill {pid} stops the node in good order, kill -KILL {pid} crashes it; either way it starts\n\
         again on the same data behind the same origin. Ctrl-C ends all of it."
    ));
    Ok(text)
}
