//! The tasks that the turns of a workstream have given to agents, read from its rows.

use serde::Serialize;

use crate::record::{Part, Row, RowId};
use crate::tools::{self, Caller, Tool};

/// One task.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Task<'a> {
    /// The row that gave it.
    pub row_id: &'a RowId,
    /// The call in that row.
    pub call_id: String,
    /// What was asked for, capped.
    pub task: String,
    /// Its state.
    pub state: State,
    /// How many calls the agent has made; known when it has ended.
    pub steps: usize,
}

/// The state of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// An agent works on it.
    Running,
    /// It has its answer.
    Done,
    /// It has an error.
    Failed,
    /// It will have no answer: the node died over it.
    Interrupted,
}

/// The tasks given in `rows`, the newest first; `busy`: a turn runs.
pub fn tasks(rows: &[Row], busy: bool) -> Vec<Task<'_>> {
    let mut tasks: Vec<Task<'_>> = Vec::new();
    for Row { row_id, part, .. } in rows {
        match part {
            Part::User { .. } => interrupt(&mut tasks),
            Part::Assistant { tool_calls } => {
                let planned = tools::plan(tool_calls.clone(), Caller::Turn).into_iter();
                let given = planned.filter(|call| matches!(call.tool, Ok(Tool::TaskAgent { .. })));
                tasks.extend(given.map(|planned| Task {
                    row_id,
                    call_id: planned.call.id,
                    task: planned.preview,
                    state: State::Running,
                    steps: 0,
                }));
            }
            Part::Tool { tool_call_id, is_error, agent_steps, .. } => {
                let open = |task: &&mut Task<'_>| {
                    task.state == State::Running && task.call_id == *tool_call_id
                };
                if let Some(task) = tasks.iter_mut().find(open) {
                    task.state = if *is_error { State::Failed } else { State::Done };
                    task.steps = agent_steps.len();
                }
            }
        }
    }
    if !busy {
        interrupt(&mut tasks);
    }
    tasks.reverse();
    tasks
}

/// The turn is over: what has no answer by now gets none.
fn interrupt(tasks: &mut [Task<'_>]) {
    for task in tasks.iter_mut().filter(|task| task.state == State::Running) {
        task.state = State::Interrupted;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Call;
    use crate::record::tests::{calls, epoch, result};

    fn given(ids: &[&str]) -> Part {
        let call = |id: &&str| Call {
            id: (*id).into(),
            name: "task_agent".into(),
            arguments: format!(r#"{{"task":"of {id}"}}"#),
        };
        Part::Assistant { tool_calls: ids.iter().map(call).collect() }
    }

    fn failure(id: &str) -> Part {
        match result(id) {
            Part::Tool { tool_call_id, name, agent_steps, .. } => {
                Part::Tool { tool_call_id, name, is_error: true, agent_steps }
            }
            other => other,
        }
    }

    #[test]
    fn a_task_runs_until_it_is_answered_or_its_turn_is_over() {
        use State::{Done, Failed, Interrupted, Running};
        let user = || Part::User { client_send_ids: Vec::new() };
        for (parts, busy, states) in [
            (vec![], true, vec![]),
            (vec![user(), calls(&["a"])], true, vec![]),
            (vec![user(), given(&["a", "b"])], true, vec![("b", Running), ("a", Running)]),
            (vec![user(), given(&["a"])], false, vec![("a", Interrupted)]),
            (vec![user(), given(&["a"]), result("a")], false, vec![("a", Done)]),
            (vec![user(), given(&["a"]), failure("a")], true, vec![("a", Failed)]),
            (vec![given(&["a"]), user(), result("a")], true, vec![("a", Interrupted)]),
            (
                vec![user(), given(&["a"]), result("a"), user(), given(&["a"])],
                true,
                vec![("a", Running), ("a", Done)],
            ),
            (
                vec![user(), given(&["a"]), user(), given(&["a"]), result("a")],
                true,
                vec![("a", Done), ("a", Interrupted)],
            ),
        ] {
            let rows: Vec<Row> = (1..)
                .zip(parts)
                .map(|(n, part)| Row {
                    content: String::new(),
                    row_id: RowId::new(epoch(1), n),
                    part,
                })
                .collect();
            let tasks = tasks(&rows, busy);
            let found: Vec<_> =
                tasks.iter().map(|task| (task.call_id.as_str(), task.state)).collect();
            assert_eq!(found, states, "{rows:?}");
            assert!(tasks.iter().all(|task| task.task == format!("of {}", task.call_id)));
        }
    }
}
