//! A task given to an agent: a conversation of its own with the same model, whose calls are
//! steps within one call of the turn.

use futures_util::future::join_all;
use serde_json::Value;

use super::call::{Done, Site};
use crate::halt::Why;
use crate::lane::{Event, Item};
use crate::model::{ModelError, message};
use crate::record::{Call, Part, RowId, Step};
use crate::tools::{self, Caller, Planned};

/// Why an agent has no complete answer.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// Its model failed.
    #[error("the agent has no answer: {0}")]
    Model(#[from] ModelError),
    /// Its turn was ended.
    #[error("the agent was {0}")]
    Halted(Why),
}

/// Works on a task until the model calls nothing more; its last text is the output.
pub async fn run(site: &Site<'_>, call_id: &str, row_id: &RowId, task: &str) -> Done {
    let mut agent = Agent { site, call_id, row_id, run: site.ws.begin_run(), steps: Vec::new() };
    let worked = agent.work(task).await;
    let steps = agent.steps;
    match worked {
        Ok(output) => Done { output, is_error: false, steps },
        Err(error) => Done { steps, ..Done::failed(error) },
    }
}

struct Agent<'a> {
    site: &'a Site<'a>,
    /// The call that it works for.
    call_id: &'a str,
    row_id: &'a RowId,
    /// Which run of an agent this is, in its workstream since that was loaded.
    run: u64,
    steps: Vec<Step>,
}

impl Agent<'_> {
    async fn work(&mut self, task: &str) -> Result<String, AgentError> {
        let mut halted = self.site.halted.clone();
        let mut messages = vec![message(task, &Part::User { client_send_ids: Vec::new() })];
        for step in 1_u64.. {
            let (text, calls) = tokio::select! {
                biased;
                why = halted.asked() => return Err(AgentError::Halted(why)),
                answer = self.ask(&messages) => answer?,
            };
            if calls.is_empty() {
                return Ok(text);
            }
            let mut planned = tools::plan(calls, Caller::Agent);
            let tool_calls: Vec<_> = planned.iter().map(|planned| planned.call.clone()).collect();
            for planned in &mut planned {
                planned.call.id = child_id(self.call_id, self.run, step, &planned.call.id);
            }
            let done = self.run_all(&planned).await;
            messages.push(message(&text, &Part::Assistant { tool_calls: tool_calls.clone() }));
            messages.extend(tool_calls.iter().zip(&done).map(|(call, step)| answer(call, step)));
            self.steps.extend(done);
        }
        Ok(String::new())
    }

    async fn ask(&self, messages: &[Value]) -> Result<(String, Vec<Call>), ModelError> {
        let Site { turns, ws, base, .. } = self.site;
        let tools = tools::declarations(Caller::Agent);
        let mut answer = turns.model.answer(base, messages, &tools).await?;
        let mut text = String::new();
        while let Some(fragment) = answer.next().await? {
            text.push_str(&fragment);
        }
        if let Some(prompt_tokens) = answer.prompt_tokens() {
            ws.lane.publish(&Event::AgentContext {
                parent_call_id: self.call_id,
                prompt_tokens,
                context_window: turns.context_window,
            });
        }
        Ok((text, answer.into_calls()))
    }

    async fn run_all(&self, planned: &[Planned]) -> Vec<Step> {
        let items: Vec<Item<'_>> = planned.iter().map(Planned::item).collect();
        self.site.ws.lane.publish(&Event::ToolPending {
            row_id: self.row_id,
            items: &items,
            parent_call_id: Some(self.call_id),
        });
        let run = |planned| self.site.run_step(planned, self.call_id, self.row_id);
        join_all(planned.iter().map(run)).await
    }
}

/// A step as a message to the agent's model.
fn answer(call: &Call, step: &Step) -> Value {
    let part = Part::Tool {
        tool_call_id: call.id.clone(),
        name: call.name.clone(),
        is_error: step.is_error,
        agent_steps: Vec::new(),
    };
    message(&step.output, &part)
}

/// The name of an agent's call among all calls of the workstream: models use the same ids again.
fn child_id(parent: &str, run: u64, step: u64, id: &str) -> String {
    format!("{parent}::r{run}s{step}::{id}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_id_in_another_run_or_step_is_another_child() {
        assert_eq!(child_id("call_1", 2, 3, "call_1"), "call_1::r2s3::call_1");
    }
}
