//! The client keeps to the timers that page time shims; otherwise a frozen page would go on.

use camino::{Utf8Path, Utf8PathBuf};

/// What keeps wall time whatever the page's clock does, and what to use in its place.
const UNSHIMMED: [(&str, &str); 8] = [
    ("AbortSignal.timeout", "setTimeout with an AbortController"),
    ("requestIdleCallback", "setTimeout"),
    ("scheduler.", "setTimeout"),
    ("setImmediate", "setTimeout"),
    ("transitionend", "setTimeout"),
    ("animationend", "setTimeout"),
    (".timeStamp", "performance.now"),
    ("new Worker", "the page itself"),
];

/// Frames may coalesce paint, and only that: where rows are drawn.
const FRAMES: (&str, &str) =
    ("requestAnimationFrame", "setTimeout; only pane/ and dashboard/ may wait for paint");

/// What a source of the client says that a frozen page would not stop.
fn unshimmed(path: &Utf8Path, source: &str) -> Vec<String> {
    let paints = path.components().any(|part| ["pane", "dashboard"].contains(&part.as_str()));
    let frames = (!paints).then_some(FRAMES);
    UNSHIMMED
        .into_iter()
        .chain(frames)
        .filter(|(name, _)| source.contains(name))
        .map(|(name, instead)| {
            format!("{path} uses {name}, which page time cannot freeze; use {instead}")
        })
        .collect()
}

fn sources_below(folder: &Utf8Path) -> Vec<Utf8PathBuf> {
    let mut found = Vec::new();
    for entry in folder.read_dir_utf8().unwrap() {
        let path = entry.unwrap().into_path();
        if path.is_dir() {
            found.extend(sources_below(&path));
        } else if matches!(path.extension(), Some("js" | "html")) {
            found.push(path);
        }
    }
    found
}

#[test]
fn the_client_uses_no_timer_that_page_time_cannot_freeze() {
    let web = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../web/static");
    let sources = sources_below(&web);
    assert!(sources.len() > 10, "the client is not where it was: {sources:?}");
    let refused: Vec<String> = sources
        .iter()
        .flat_map(|path| unshimmed(path, &std::fs::read_to_string(path).unwrap()))
        .collect();
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

#[test]
fn an_unshimmed_timer_is_refused_by_file_and_name_and_a_frame_only_beyond_paint() {
    let refused = |path: &str, source: &str| unshimmed(Utf8Path::new(path), source);
    for (name, _) in UNSHIMMED {
        let said = refused("recovery/stream.js", &format!("await {name}(1)")).concat();
        assert!(said.starts_with(&format!("recovery/stream.js uses {name}, ")), "{said}");
    }
    assert_eq!(refused("recovery/stream.js", "requestAnimationFrame(redial)").len(), 1);
    for painter in ["pane/render.js", "dashboard/dashboard.js"] {
        assert!(refused(painter, "requestAnimationFrame(paint)").is_empty());
    }
    assert!(refused("api.js", "setTimeout(abort, deadlineMs)").is_empty());
}
