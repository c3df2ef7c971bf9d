//! What the model may call, and what each call asks for.

use std::collections::HashSet;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::lane::Item;
use crate::record::Call;

/// Characters of a call's preview.
const PREVIEW: usize = 400;

/// Who calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// The model of the workstream's turn.
    Turn,
    /// An agent, which has no agents itself.
    Agent,
}

/// Something to run.
#[derive(Clone, Debug, PartialEq)]
pub enum Tool {
    /// A command of the shell.
    Bash {
        /// The command.
        command: String,
        /// The most time that the model gives it.
        limit: Option<Duration>,
    },
    /// A task for an agent.
    TaskAgent {
        /// The task.
        task: String,
    },
}

/// Why a call is not run. The model reads it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// It has no id.
    #[error("the call has no id; nothing was run, call again with a unique id")]
    NoId,
    /// Others have its id.
    #[error("several calls have the id {0:?}; none of them was run, call again with unique ids")]
    SharedId(String),
    /// There is no such tool.
    #[error("there is no tool {0:?}; nothing was run, use one of the declared tools")]
    Unknown(String),
    /// The arguments are not what the tool takes.
    #[error("invalid arguments of {name}: {error}; nothing was run, correct them and call again")]
    Arguments {
        /// The tool.
        name: String,
        /// What is wrong.
        error: String,
    },
}

/// A call and what it runs, before anything has run.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// The call, with an id that no other of its row has.
    pub call: Call,
    /// What to run, or why not.
    pub tool: Result<Tool, Refusal>,
    /// What it is asked to do, capped.
    pub preview: String,
}

impl Planned {
    /// Its item in events.
    pub fn item(&self) -> Item<'_> {
        let name = &self.call.name;
        Item { call_id: &self.call.id, name, header: self.header(), preview: &self.preview }
    }

    /// A short title.
    pub fn header(&self) -> &str {
        match &self.tool {
            Ok(Tool::Bash { .. }) => "bash",
            Ok(Tool::TaskAgent { .. }) => "agent",
            Err(_) => &self.call.name,
        }
    }
}

/// Reads the calls of one answer.
pub fn plan(calls: Vec<Call>, caller: Caller) -> Vec<Planned> {
    let ids: Vec<String> = calls.iter().map(|call| call.id.clone()).collect();
    let mut taken: HashSet<String> = ids.iter().cloned().collect();
    let mut seen = HashSet::new();
    let plan = |mut call: Call| {
        let tool = match ids.iter().filter(|id| **id == call.id).count() {
            _ if call.id.trim().is_empty() => Err(Refusal::NoId),
            1 => read(&call, caller),
            _ => Err(Refusal::SharedId(call.id.clone())),
        };
        // Rows, results and cards find each other by the id, so every call must have its own.
        if call.id.trim().is_empty() || !seen.insert(call.id.clone()) {
            call.id = unlike(&taken, &call.id);
            taken.insert(call.id.clone());
        }
        let preview = match &tool {
            Ok(Tool::Bash { command, .. }) => cap(command),
            Ok(Tool::TaskAgent { task }) => cap(task),
            Err(_) => cap(&call.arguments),
        };
        Planned { call, tool, preview }
    };
    calls.into_iter().map(plan).collect()
}

fn read(call: &Call, caller: Caller) -> Result<Tool, Refusal> {
    #[derive(Deserialize)]
    struct Bash {
        command: String,
        timeout_s: Option<f64>,
    }
    #[derive(Deserialize)]
    struct TaskAgent {
        task: String,
    }
    let wrong = |error: String| Refusal::Arguments { name: call.name.clone(), error };
    let unreadable = |error: serde_json::Error| wrong(error.to_string());
    match call.name.as_str() {
        "bash" => {
            let Bash { command, timeout_s } =
                serde_json::from_str(&call.arguments).map_err(unreadable)?;
            let limit = timeout_s.map(Duration::try_from_secs_f64).transpose();
            let limit = limit.map_err(|error| wrong(format!("timeout_s: {error}")))?;
            // The kernel could not be given it.
            if command.contains('\0') {
                return Err(wrong("the command contains a NUL".to_owned()));
            }
            Ok(Tool::Bash { command, limit })
        }
        "task_agent" if caller == Caller::Turn => {
            let TaskAgent { task } = serde_json::from_str(&call.arguments).map_err(unreadable)?;
            Ok(Tool::TaskAgent { task })
        }
        other => Err(Refusal::Unknown(other.to_owned())),
    }
}

/// An id that no call has.
fn unlike(taken: &HashSet<String>, id: &str) -> String {
    let stem = if id.trim().is_empty() { "unnamed" } else { id };
    (2_u32..).map(|n| format!("{stem}.{n}")).find(|id| !taken.contains(id)).unwrap_or_default()
}

fn cap(text: &str) -> String {
    match text.char_indices().nth(PREVIEW) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The tools as a request declares them.
pub fn declarations(caller: Caller) -> Value {
    let function = |name: &str, description: &str, properties: Value, required: &str| {
        json!({ "type": "function", "function": {
            "name": name,
            "description": description,
            "parameters": {
                "type": "object", "properties": properties, "required": [required],
            },
        } })
    };
    let bash = function(
        "bash",
        "Runs a command with bash in the working folder of the conversation and gives back what \
         it wrote. What it leaves in the background ends with it.",
        json!({
            "command": { "type": "string" },
            "timeout_s": { "type": "number", "description": "The most time it may take." },
        }),
        "command",
    );
    let agent = function(
        "task_agent",
        "Gives a task to an agent with the same shell and no knowledge of this conversation; \
         gives back its answer.",
        json!({ "task": { "type": "string", "description": "All that it needs to know." } }),
        "task",
    );
    match caller {
        Caller::Turn => json!([bash, agent]),
        Caller::Agent => json!([bash]),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn call(id: &str, name: &str, arguments: &str) -> Call {
        Call { id: id.into(), name: name.into(), arguments: arguments.into() }
    }

    fn bash(command: &str, limit: Option<Duration>) -> Result<Tool, Refusal> {
        Ok(Tool::Bash { command: command.into(), limit })
    }

    #[test]
    fn a_call_is_read_or_refused_with_a_reason() {
        for (name, arguments, tool) in [
            ("bash", r#"{"command":"ls"}"#, bash("ls", None)),
            (
                "bash",
                r#"{"command":"ls","timeout_s":1.5,"why":"?"}"#,
                bash("ls", Some(Duration::from_millis(1500))),
            ),
            ("task_agent", r#"{"task":"t"}"#, Ok(Tool::TaskAgent { task: "t".into() })),
            ("rm", "{}", Err(Refusal::Unknown("rm".into()))),
            ("", "", Err(Refusal::Unknown(String::new()))),
        ] {
            assert_eq!(read(&call("a", name, arguments), Caller::Turn), tool, "{name} {arguments}");
        }
        for arguments in [
            "",
            "{",
            "[]",
            "null",
            "{}",
            r#"{"command":1}"#,
            r#"{"command":"ls","timeout_s":-1}"#,
            r#"{"command":"ls","timeout_s":1e300}"#,
            r#"{"command":"ls","timeout_s":"1"}"#,
            r#"{"command":"a\u0000b"}"#,
        ] {
            let refused = read(&call("a", "bash", arguments), Caller::Turn);
            assert!(matches!(refused, Err(Refusal::Arguments { .. })), "{arguments}: {refused:?}");
        }
        let nested = read(&call("a", "task_agent", r#"{"task":"t"}"#), Caller::Agent);
        assert_eq!(nested, Err(Refusal::Unknown("task_agent".into())));
    }

    #[test]
    fn calls_with_the_same_id_are_all_refused() {
        let calls = ["a", "", "b", "a", " "].map(|id| call(id, "bash", r#"{"command":"ls"}"#));
        let planned = plan(calls.into(), Caller::Turn);
        let tools: Vec<_> = planned.iter().map(|planned| planned.tool.clone()).collect();
        let shared = || Err(Refusal::SharedId("a".into()));
        let none = || Err(Refusal::NoId);
        assert_eq!(tools, [shared(), none(), bash("ls", None), shared(), none()]);
        let ids: Vec<_> = planned.iter().map(|planned| planned.call.id.as_str()).collect();
        assert_eq!(ids, ["a", "unnamed.2", "b", "a.2", "unnamed.3"]);
    }

    #[test]
    fn a_preview_is_capped_between_characters() {
        assert_eq!(cap(&"ä".repeat(PREVIEW)), "ä".repeat(PREVIEW));
        assert_eq!(cap(&"ä".repeat(PREVIEW + 1)), "ä".repeat(PREVIEW) + "…");
    }

    proptest! {
        #[test]
        fn whatever_the_model_calls_every_call_gets_an_id_of_its_own(
            ids in prop::collection::vec("[ab. 23]{0,3}", 0..9), name in "bash|x",
            arguments in "\\PC{0,9}",
        ) {
            let calls: Vec<_> = ids.iter().map(|id| call(id, &name, &arguments)).collect();
            let planned = plan(calls, Caller::Turn);
            let unique: HashSet<_> = planned.iter().map(|planned| &planned.call.id).collect();
            prop_assert_eq!(unique.len(), ids.len());
            prop_assert!(unique.iter().all(|id| !id.trim().is_empty()));
            for (planned, id) in planned.iter().zip(&ids) {
                let alone = ids.iter().filter(|other| *other == id).count() == 1;
                if alone && !id.trim().is_empty() {
                    prop_assert_eq!(&planned.call.id, id);
                } else {
                    prop_assert!(planned.tool.is_err());
                }
            }
        }
    }
}
