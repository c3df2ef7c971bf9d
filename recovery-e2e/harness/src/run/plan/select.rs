//! Which scenarios a selection contains.

use globset::{Glob, GlobSetBuilder};

use crate::scenario::Scenario;

/// Names for more than one scenario.
const GROUPS: [(&str, &[&str]); 2] = [("both", &["storm", "restart"]), ("all", &["*"])];

/// A selection that cannot be planned.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// A pattern that no scenario's name matches.
    #[error("no scenario matches {pattern}; the scenarios are: {}", names.join(", "))]
    NoSuchScenario {
        /// The pattern.
        pattern: String,
        /// The scenarios.
        names: Vec<&'static str>,
    },
    /// A pattern that is not a glob.
    #[error(
        "--scenario {pattern} is not valid: {source}; give a name, or a glob such as 'coord-*'"
    )]
    BadPattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        source: globset::Error,
    },
    /// The selection contains no case.
    #[error(
        "the selection contains no case; select other scenarios, or remove --controls or --last-failed"
    )]
    NothingLeft,
}

/// The scenarios that `patterns` select, in the order of the registry; no pattern selects all.
/// A pattern is a name, a glob, or the name of a group: `both` or `all`.
///
/// # Errors
/// When a pattern is not a glob, or matches no scenario.
pub fn select(
    registry: &[&'static Scenario],
    patterns: &[String],
) -> Result<Vec<&'static Scenario>, PlanError> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns.iter().flat_map(|pattern| members(pattern)) {
        let glob = Glob::new(pattern)
            .map_err(|source| PlanError::BadPattern { pattern: pattern.to_owned(), source })?;
        let matcher = glob.compile_matcher();
        if !registry.iter().any(|scenario| matcher.is_match(scenario.name)) {
            let names = registry.iter().map(|scenario| scenario.name).collect();
            return Err(PlanError::NoSuchScenario { pattern: pattern.to_owned(), names });
        }
        set.add(glob);
    }
    let set = set
        .build()
        .map_err(|source| PlanError::BadPattern { pattern: patterns.join(" "), source })?;
    let wanted = |name| patterns.is_empty() || set.is_match(name);
    Ok(registry.iter().copied().filter(|scenario| wanted(scenario.name)).collect())
}

/// The patterns of a name: those of its group, or the name itself.
fn members(pattern: &str) -> Vec<&str> {
    let group = GROUPS.iter().find(|(name, _)| *name == pattern);
    group.map_or_else(|| vec![pattern], |(_, members)| members.to_vec())
}
