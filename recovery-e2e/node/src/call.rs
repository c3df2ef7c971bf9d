//! One call of a tool, from its begin to its row.

use std::time::Duration;

use crate::agent;
use crate::bash::Bash;
use crate::cursor::RowId;
use crate::event::Event;
use crate::halt::Halted;
use crate::node::Node;
use crate::output::{Address, Output};
use crate::row::{Part, Row, Step};
use crate::store::StoreError;
use crate::tool::{Planned, Tool};
use crate::workstream::Workstream;

/// Where calls are run.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    /// The node.
    pub node: &'a Node,
    /// The workstream.
    pub ws: &'a Workstream,
    /// The base URL of its model.
    pub base: &'a str,
    /// Whether the turn is to end.
    pub halted: &'a Halted,
}

/// What a call came to.
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
        self.ws.finish_call(&self.node.store, Row { content: done.output, row_id, part }).await
    }

    /// Runs a call of an agent, which is a step on its way and no row.
    pub async fn run_step(&self, planned: &Planned, parent: &str, row_id: &RowId) -> Step {
        let call = &planned.call;
        let address = Address { call_id: &call.id, row_id, parent_call_id: Some(parent) };
        let done = match &planned.tool {
            Ok(Tool::Bash { command, limit }) => self.bash(address, command, *limit).await,
            Ok(Tool::TaskAgent { .. }) => Done::failed("an agent has no agents"),
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
        let settings = &self.node.settings;
        let limit = limit.unwrap_or(Duration::MAX).min(settings.turns.tool_limit);
        let mut output = Output::new(&self.ws.lane, address, settings.turns.tool_output_bytes);
        let ended = async {
            let bash = Bash::start(command, settings.work_dir(&self.ws.ws_id).as_std_path())?;
            let id = bash.id();
            let _kept = id.map(|group| self.node.keeper.keep(group));
            #[cfg(feature = "control")]
            let _listed =
                id.map(|pid| self.node.processes.list(pid, &self.ws.ws_id, address.call_id));
            bash.finish(limit, self.halted, &mut output).await
        }
        .await;
        let note = match ended {
            Ok(ended) => ended.note(),
            Err(error) => Some(format!("cannot run a command: {error}; see to the node's machine")),
        };
        Done { is_error: note.is_some(), output: output.finish(note.as_deref()), steps: Vec::new() }
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
