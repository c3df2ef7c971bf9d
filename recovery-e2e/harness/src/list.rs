//! What `list` prints.

use std::fmt::Write;

use crate::scenario::REGISTRY;

/// Every scenario with what it proves, its success, and its controls with their stamps.
pub fn text() -> String {
    let mut text = String::new();
    for scenario in REGISTRY {
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{:<3} {:<22} {:<12} {}\n    ready    {}",
            scenario.id, scenario.name, scenario.family, scenario.proves, scenario.success
        );
        for control in scenario.controls {
            let _ = writeln!(text, "    control  {} under {}", control.predicted, control.name);
        }
    }
    text
}
