//! One call of a tool, from its begin to its row.

use std::time::Duration;

use super::{Turns, agent};
use crate::halt::Halted;
use crate::lane::Event;
use crate::record::{Part, Row, RowId, Step};
use crate::store::StoreError;
use crate::tools::{Address, Finished, Planned, Refusal, Tool};
use crate::workstream::Workstream;

/// Where calls are run.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    /// What runs turns.
    pub turns: &'a Turns,
    /// The workstream.
    pub ws: &'a Workstream,
    /// The base URL of its model.
    pub base: &'a str,
    /// Whether the turn is to end.
    pub halted: &'a Halted,
}

/// The result of a call.
pub struct Done {
    /// What it gave back.
    pub output: String,
    /// Whether it failed.
    pub is_error: bool,
    /// What an agent did on its way.
    pub steps: Vec<Step>,
}

impl Done {
    /// A call that could not do what it was asked.
    pub fn failed(error: impl ToString) -> Self {
        Self { output: error.to_string(), is_error: true, steps: Vec::new() }
    }
}

impl Site<'_> {
    /// Runs a call of the turn, and stores its row.
    ///
    /// # Errors
    /// When the row cannot be stored; panes have seen that the call has ended.
    pub async fn run(&self, planned: &Planned) -> Result<(), StoreError> {
        let row_id = self.ws.lane.name_row();
        let call = &planned.call;
        let address = Address { call_id: &call.id, row_id: &row_id, parent_call_id: None };
        let done = match &planned.tool {
            Ok(Tool::Bash { command, limit }) => self.bash(address, command, *limit).await,
            Ok(Tool::TaskAgent { task }) => agent::run(self, &call.id, &row_id, task).await,
            Err(refusal) => Done::failed(refusal),
        };
        self.receipt(address, &call.name, &done);
        let part = Part::Tool {
            tool_call_id: call.id.clone(),
            name: call.name.clone(),
            is_error: done.is_error,
            agent_steps: done.steps,
        };
        self.ws.finish_call(Row { content: done.output, row_id, part }).await
    }

    /// Runs a call of an agent, which is a step on its way and no row.
    pub async fn run_step(&self, planned: &Planned, parent: &str, row_id: &RowId) -> Step {
        let call = &planned.call;
        let address = Address { call_id: &call.id, row_id, parent_call_id: Some(parent) };
        let done = match &planned.tool {
            Ok(Tool::Bash { command, limit }) => self.bash(address, command, *limit).await,
            Ok(Tool::TaskAgent { .. }) => Done::failed(Refusal::Unknown(call.name.clone())),
            Err(refusal) => Done::failed(refusal),
        };
        self.receipt(address, &call.name, &done);
        Step {
            call_id: call.id.clone(),
            name: call.name.clone(),
            header: planned.header().to_owned(),
            preview: planned.preview.clone(),
            output: done.output,
            is_error: done.is_error,
        }
    }

    async fn bash(&self, address: Address<'_>, command: &str, limit: Option<Duration>) -> Done {
        let Self { turns, ws, halted, .. } = self;
        let command = (command, limit);
        let finished = turns.tools.bash(&ws.ws_id, &ws.lane, address, command, halted).await;
        let Finished { output, is_error } = finished;
        Done { output, is_error, steps: Vec::new() }
    }

    fn receipt(&self, address: Address<'_>, name: &str, done: &Done) {
        let Address { call_id, row_id, parent_call_id } = address;
        self.ws.lane.publish(&Event::ToolResult {
            call_id,
            name,
            output: &done.output,
            is_error: done.is_error,
            accepted: false,
            row_id,
            parent_call_id,
        });
    }
}
