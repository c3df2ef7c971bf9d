//! What is changed in an answer of the upstream before the browser gets it.

use serde_json::{Map, Value};

use super::patch::{Misfit, Patch};
use crate::record::event::FaultKind;

/// A change of an answer's text.
#[derive(Clone, Debug)]
pub(super) enum Rewrite {
    /// A defect put into an asset.
    Patch(Patch),
    /// A history without its handoff token.
    WithoutToken,
}

impl Rewrite {
    /// The kind of fault that it is.
    pub(super) fn kind(&self) -> FaultKind {
        match self {
            Rewrite::Patch(_) => FaultKind::Patch,
            Rewrite::WithoutToken => FaultKind::Tokenless,
        }
    }

    /// The changed text.
    pub(super) fn apply(&self, text: &str) -> Result<String, Misfit> {
        match self {
            Rewrite::Patch(patch) => patch.apply(text),
            Rewrite::WithoutToken => without_token(text),
        }
    }
}

/// Only the token's value goes: the client is to read its absence as the node would say it.
fn without_token(history: &str) -> Result<String, Misfit> {
    let mut history: Map<String, Value> =
        serde_json::from_str(history).map_err(|_| Misfit::NoToken)?;
    match history.get_mut("handoff_token") {
        Some(token) if token.is_string() => *token = Value::Null,
        _ => return Err(Misfit::NoToken),
    }
    Ok(Value::Object(history).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_loses_its_token_and_nothing_else() {
        let history = r#"{"cursor":null,"handoff_token":"t1","messages":[{"row_id":"r1"}]}"#;
        let expected = history.replace(r#""t1""#, "null");
        assert_eq!(Rewrite::WithoutToken.apply(history), Ok(expected));
    }

    #[test]
    fn what_has_no_token_to_lose_does_not_fit() {
        for text in [r#"{"messages":[]}"#, r#"{"handoff_token":null}"#, "[]", "no JSON", ""] {
            assert_eq!(Rewrite::WithoutToken.apply(text), Err(Misfit::NoToken), "{text}");
        }
    }
}
