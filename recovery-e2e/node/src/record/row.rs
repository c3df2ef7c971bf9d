//! The rows of a conversation, as they are stored and as a history gives them.

use serde::{Deserialize, Serialize};

use super::cursor::RowId;

/// One row of a conversation; also a message of a history on the wire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Its text.
    pub content: String,
    /// Its name.
    pub row_id: RowId,
    /// Who wrote it, and what only such a row has.
    #[serde(flatten)]
    pub part: Part,
}

/// What distinguishes the rows of a user, of the model and of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Part {
    /// A person.
    User {
        /// The sends that it answers.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        client_send_ids: Vec<String>,
    },
    /// The model.
    Assistant {
        /// What it wants done, each under an id of its own.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<Call>,
    },
    /// The result of a call.
    Tool {
        /// The call.
        tool_call_id: String,
        /// The tool.
        name: String,
        /// Whether it failed.
        is_error: bool,
        /// What an agent did on its way.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        agent_steps: Vec<Step>,
    },
}

/// A call of a tool, as the model wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Call {
    /// Its id, unique in its row.
    pub id: String,
    /// The tool.
    pub name: String,
    /// A JSON object, or what the model took for one.
    pub arguments: String,
}

/// A call that an agent made, with its result.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Step {
    /// The call's id among all calls of the workstream.
    pub call_id: String,
    /// The tool.
    pub name: String,
    /// A short title.
    pub header: String,
    /// What it was asked to do, capped.
    pub preview: String,
    /// What it gave back.
    pub output: String,
    /// Whether it failed.
    pub is_error: bool,
}

impl Row {
    /// A row of a person.
    pub fn user(content: String, row_id: RowId, send_id: Option<String>) -> Self {
        Self {
            content,
            row_id,
            part: Part::User { client_send_ids: send_id.into_iter().collect() },
        }
    }
}

impl Part {
    /// The sends that a row answers.
    pub fn client_send_ids(&self) -> &[String] {
        match self {
            Self::User { client_send_ids } => client_send_ids,
            Self::Assistant { .. } | Self::Tool { .. } => &[],
        }
    }
}

/// The calls that no tool row answers, among the rows since the last user row.
///
/// A turn leaves none, so these were interrupted by the node's death, or could not be stored.
pub fn unanswered<'a>(parts: impl IntoIterator<Item = &'a Part>) -> Vec<&'a Call> {
    let mut open: Vec<&Call> = Vec::new();
    for part in parts {
        match part {
            Part::User { .. } => open.clear(),
            Part::Assistant { tool_calls } => open.extend(tool_calls),
            Part::Tool { tool_call_id, .. } => {
                if let Some(at) = open.iter().position(|call| call.id == *tool_call_id) {
                    open.remove(at);
                }
            }
        }
    }
    open
}

#[cfg(test)]
pub mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An assistant's row with calls of these ids.
    pub fn calls(ids: &[&str]) -> Part {
        let call =
            |id: &&str| Call { id: (*id).into(), name: "bash".into(), arguments: "{}".into() };
        Part::Assistant { tool_calls: ids.iter().map(call).collect() }
    }

    /// The result of a call.
    pub fn result(id: &str) -> Part {
        Part::Tool {
            tool_call_id: id.into(),
            name: "bash".into(),
            is_error: false,
            agent_steps: Vec::new(),
        }
    }

    #[test]
    fn a_call_is_unanswered_until_a_later_row_answers_it_or_a_user_speaks() {
        let user = || Part::User { client_send_ids: Vec::new() };
        for (parts, open) in [
            (vec![], vec![]),
            (vec![user(), calls(&[])], vec![]),
            (vec![user(), calls(&["a", "b"])], vec!["a", "b"]),
            (vec![user(), calls(&["a", "b"]), result("b")], vec!["a"]),
            (vec![user(), calls(&["a"]), result("a"), calls(&["a"])], vec!["a"]),
            (vec![user(), calls(&["a"]), result("a"), calls(&["a"]), result("a")], vec![]),
            (vec![user(), result("a"), calls(&["a"])], vec!["a"]),
            (vec![user(), calls(&["a"]), user()], vec![]),
        ] {
            let found: Vec<_> = unanswered(&parts).iter().map(|call| call.id.as_str()).collect();
            assert_eq!(found, open, "{parts:?}");
        }
    }

    #[test]
    fn a_part_without_extras_has_only_its_role() {
        let text = serde_json::to_string(&calls(&[])).unwrap();
        assert_eq!(text, r#"{"role":"assistant"}"#);
        assert_eq!(serde_json::from_str::<Part>(&text).unwrap(), calls(&[]));
    }

    proptest! {
        #[test]
        fn a_part_is_read_back_as_it_was_stored(id in "\\PC{0,9}", is_error: bool) {
            let step = Step {
                call_id: id.clone(), name: id.clone(), header: id.clone(), preview: id.clone(),
                output: id.clone(), is_error,
            };
            for part in [
                Part::User { client_send_ids: vec![id.clone()] },
                calls(&[&id]),
                Part::Tool {
                    tool_call_id: id.clone(), name: id.clone(), is_error, agent_steps: vec![step],
                },
            ] {
                let text = serde_json::to_string(&part).unwrap();
                prop_assert_eq!(serde_json::from_str::<Part>(&text).unwrap(), part);
            }
        }
    }
}
