//! Why a mutant may go undetected: `ci/mutants-accepted.json`.

use anyhow::{Context, ensure};
use serde::{Deserialize, Serialize};

use super::mutant::Mutant;

/// Where the reasons are kept.
pub const PATH: &str = "ci/mutants-accepted.json";

/// A mutant that need not fail, and why. Line numbers change too often to name it by one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accepted {
    pub file: String,
    pub within: String,
    pub what: String,
    pub text: String,
    pub reason: String,
}

impl Accepted {
    /// An entry for this mutant; its reason is for a person to write.
    pub fn of(mutant: &Mutant, reason: &str) -> Accepted {
        let Mutant { file, within, what, text, .. } = mutant.clone();
        Accepted { file, within, what, text, reason: reason.to_owned() }
    }

    /// Whether this is the mutant that is meant.
    pub fn is_of(&self, mutant: &Mutant) -> bool {
        let Accepted { file, within, what, text, .. } = self;
        *file == mutant.file
            && *within == mutant.within
            && *what == mutant.what
            && *text == mutant.text
    }
}

/// Reads the file's text; a reason must not be empty.
pub fn parse(text: &str) -> anyhow::Result<Vec<Accepted>> {
    let accepted: Vec<Accepted> =
        serde_json::from_str(text).with_context(|| format!("{PATH} cannot be read"))?;
    for entry in &accepted {
        let Accepted { file, within, text, reason, .. } = entry;
        ensure!(!reason.trim().is_empty(), "{PATH}: {file}, {within}: {text:?} has no reason");
    }
    Ok(accepted)
}

#[cfg(test)]
mod tests {
    use super::super::mutant;
    use super::*;

    #[test]
    fn an_entry_means_one_place_of_a_file_whatever_its_line_and_needs_a_reason() {
        let mutant = mutant::sample("gate.js", 9, "a || b");
        let accepted = Accepted::of(&mutant, "the right term is implied by the left one");
        assert!(accepted.is_of(&Mutant { line: 70, ..mutant.clone() }));
        assert!(!accepted.is_of(&Mutant { what: "left term dropped".into(), ..mutant.clone() }));
        assert!(!accepted.is_of(&Mutant { within: "Recovery.close".into(), ..mutant.clone() }));
        let text = |entry: &Accepted| serde_json::to_string(&[entry]).unwrap();
        assert_eq!(parse(&text(&accepted)).unwrap()[0], accepted);
        let error = parse(&text(&Accepted::of(&mutant, " "))).unwrap_err();
        assert!(error.to_string().contains("has no reason"), "{error}");
    }

    #[test]
    fn the_file_of_this_repository_can_be_read() {
        let path = camino::Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(PATH);
        // A build that takes only the sources has no such file.
        if let Ok(text) = std::fs::read_to_string(path) {
            parse(&text).unwrap();
        }
    }
}
