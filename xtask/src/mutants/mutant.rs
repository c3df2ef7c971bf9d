//! A mutant of the client, as `recovery-e2e/web/tools/mutants.js --list` prints it.

use anyhow::{Context, ensure};
use serde::Deserialize;
use serde_json::Value;

/// One guard or reset of a module is lost.
#[derive(Debug, Clone, Deserialize)]
pub struct Mutant {
    /// The module's name and a hash of the edits: it does not depend on the line number.
    pub id: String,
    /// The module below `static/recovery`.
    pub file: String,
    pub line: u32,
    /// The function that loses it; empty at the top of the module.
    pub within: String,
    /// What kind of loss it is, such as `guard dropped`.
    pub what: String,
    /// What is lost.
    pub text: String,
    /// The content of the harness's `--defect` file.
    pub edits: Value,
}

impl Mutant {
    /// Whether a glob (`*`, `?`) matches the id or the module's name.
    pub fn matches(&self, glob: &str) -> bool {
        is_match(glob.as_bytes(), self.id.as_bytes())
            || is_match(glob.as_bytes(), self.file.as_bytes())
    }

    /// File, line and loss in one line of text.
    pub fn title(&self) -> String {
        let Mutant { file, line, what, .. } = self;
        format!("{file}:{line} {what}: {}", self.first_line())
    }

    /// The first line of what is lost.
    pub fn first_line(&self) -> &str {
        self.text.lines().next().unwrap_or_default()
    }
}

/// Reads the lines of `--list`.
pub fn parse(lines: &str) -> anyhow::Result<Vec<Mutant>> {
    let mutants = lines
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<Vec<Mutant>, _>>()
        .context("tools/mutants.js --list printed a line that is not a mutant")?;
    ensure!(!mutants.is_empty(), "tools/mutants.js --list printed no mutant");
    Ok(mutants)
}

fn is_match(glob: &[u8], text: &[u8]) -> bool {
    match (glob.first(), text.first()) {
        (None, None) => true,
        (Some(b'*'), _) => {
            is_match(&glob[1..], text) || !text.is_empty() && is_match(glob, &text[1..])
        }
        (Some(b'?'), Some(_)) => is_match(&glob[1..], &text[1..]),
        (Some(wanted), Some(found)) => wanted == found && is_match(&glob[1..], &text[1..]),
        _ => false,
    }
}

/// A mutant for tests, with an id of its file and its line.
#[cfg(test)]
pub fn sample(file: &str, line: u32, text: &str) -> Mutant {
    Mutant {
        id: format!("{}-{line}", file.trim_end_matches(".js")),
        file: file.to_owned(),
        line,
        within: "Recovery.open".to_owned(),
        what: "guard dropped".to_owned(),
        text: text.to_owned(),
        edits: Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_matches_the_whole_id_or_the_whole_name_of_the_module() {
        let mutant = sample("gate.js", 9, "a || b");
        for glob in ["gate.js", "gate*", "*.js", "gate-9", "g?te-?", "*"] {
            assert!(mutant.matches(glob), "{glob}");
        }
        for glob in ["gate", "ate.js", "gate-", "gate-9?", "", "core*"] {
            assert!(!mutant.matches(glob), "{glob}");
        }
    }

    #[test]
    fn a_line_that_is_not_a_mutant_is_an_error_and_so_is_an_empty_list() {
        let line = r#"{"id":"gate-1","file":"gate.js","line":9,"within":"rowsGated","what":"right term dropped","text":"a || b","edits":[]}"#;
        assert_eq!(parse(&format!("{line}\n{line}\n")).unwrap().len(), 2);
        assert!(parse(&format!("{line}\nnonsense\n")).is_err());
        assert!(parse("").is_err());
    }
}
