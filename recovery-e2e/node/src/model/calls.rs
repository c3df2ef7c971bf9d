//! Tool calls, put together from the pieces that a model streams.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::record::Call;

/// A piece of one call.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct CallDelta {
    index: Option<u64>,
    id: Option<String>,
    function: Option<FunctionDelta>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct FunctionDelta {
    name: Option<String>,
    arguments: Option<String>,
}

/// The calls of one answer so far, by the model's index.
#[derive(Debug, Default)]
pub struct Calls(BTreeMap<u64, Call>);

impl Calls {
    /// Adds a piece: the first id and the first name count, arguments are appended. Some models
    /// leave the index out; then a piece with an id begins a call and one without goes on.
    pub fn push(&mut self, delta: CallDelta) {
        let last = self.0.last_key_value().map(|(index, _)| *index);
        let starts = delta.id.as_ref().is_some_and(|id| !id.is_empty());
        let index = delta.index.unwrap_or(match last {
            Some(last) if starts => last.saturating_add(1),
            Some(last) => last,
            None => 0,
        });
        let empty = || Call { id: String::new(), name: String::new(), arguments: String::new() };
        let call = self.0.entry(index).or_insert_with(empty);
        let function = delta.function.unwrap_or_default();
        let fill = |field: &mut String, piece: Option<String>| {
            if field.is_empty() {
                *field = piece.unwrap_or_default();
            }
        };
        fill(&mut call.id, delta.id);
        fill(&mut call.name, function.name);
        call.arguments.push_str(&function.arguments.unwrap_or_default());
    }

    /// All calls, in the model's order. Nothing of them is checked.
    pub fn finish(self) -> Vec<Call> {
        self.0.into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn put_together(deltas: &Value) -> Vec<Call> {
        let mut calls = Calls::default();
        for delta in serde_json::from_value::<Vec<CallDelta>>(deltas.clone()).unwrap() {
            calls.push(delta);
        }
        calls.finish()
    }

    fn call(id: &str, name: &str, arguments: &str) -> Call {
        Call { id: id.into(), name: name.into(), arguments: arguments.into() }
    }

    #[test]
    fn pieces_make_up_calls_in_whatever_shape_they_come() {
        for (deltas, calls) in [
            (json!([]), vec![]),
            (
                json!([{ "index": 0, "id": "a", "function": { "name": "bash", "arguments": "{}" } }]),
                vec![call("a", "bash", "{}")],
            ),
            (
                json!([
                    { "index": 1, "id": "b", "function": { "name": "y", "arguments": "" } },
                    { "index": 0, "id": "a", "function": { "name": "x" } },
                    { "index": 1, "function": { "arguments": "{" } },
                    { "index": 0, "id": null, "function": { "name": null, "arguments": "[" } },
                    { "index": 1, "id": "", "function": { "name": "", "arguments": "}" } },
                ]),
                vec![call("a", "x", "["), call("b", "y", "{}")],
            ),
            (
                json!([
                    { "id": "a", "function": { "name": "x", "arguments": "1" } },
                    { "function": { "arguments": "2" } },
                    { "id": "b", "function": { "name": "y", "arguments": "3" } },
                ]),
                vec![call("a", "x", "12"), call("b", "y", "3")],
            ),
            (json!([{}, { "function": null }]), vec![call("", "", "")]),
            (json!([{ "index": u64::MAX, "id": "a" }, { "id": "b" }]), vec![call("a", "", "")]),
        ] {
            assert_eq!(put_together(&deltas), calls, "{deltas}");
        }
    }

    proptest! {
        /// However the pieces of several calls are cut and mixed.
        #[test]
        fn arguments_arrive_whole_however_they_are_cut_and_mixed(
            pieces in prop::collection::vec((0..4u64, "\\PC{0,5}"), 0..40),
        ) {
            let mut calls = Calls::default();
            let mut whole = BTreeMap::<u64, String>::new();
            for (index, piece) in &pieces {
                let delta = json!({ "index": index, "function": { "arguments": piece } });
                calls.push(serde_json::from_value(delta).unwrap());
                whole.entry(*index).or_default().push_str(piece);
            }
            let arguments: Vec<_> = calls.finish().into_iter().map(|c| c.arguments).collect();
            prop_assert_eq!(arguments, whole.into_values().collect::<Vec<_>>());
        }
    }
}
