//! The digest of the sources, by which shards know that one build made them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::Path;

use recovery_e2e::record::build::BuildInfo;

#[path = "../build/digest.rs"]
mod digest;

/// A workspace with a file for each input.
fn workspace() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    // In no particular order: that of the folder is the file system's.
    for input in digest::INPUTS.iter().rev() {
        let is_file = Path::new(input).extension().is_some();
        let file = if is_file { (*input).to_owned() } else { format!("{input}/sub/a.rs") };
        write(root.path(), &file, &file);
    }
    root
}

fn write(root: &Path, file: &str, content: &str) {
    let path = root.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn digest_of(root: &Path) -> String {
    digest::of_sources(root).unwrap()
}

#[test]
fn the_program_contains_the_digest_of_the_sources_in_this_workspace() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    assert_eq!(BuildInfo::of_this_program().digest, digest_of(root));
}

#[test]
fn equal_sources_in_two_places_have_one_digest_whatever_else_is_beside_them() {
    let (one, two) = (workspace(), workspace());
    for beside in [
        ".git/HEAD",
        "README.md",
        "target/debug/x",
        "recovery-e2e/harness/tests/x.rs",
        "recovery-e2e/harness/src/.list.rs.pending-snap",
        "recovery-e2e/harness/src/run/snapshots/help.snap",
    ] {
        write(two.path(), beside, "x");
    }
    let time = std::time::SystemTime::UNIX_EPOCH;
    let file = fs::File::options().append(true).open(two.path().join("Cargo.lock")).unwrap();
    file.set_modified(time).unwrap();
    assert_eq!(digest_of(one.path()), digest_of(two.path()));
}

#[test]
fn a_changed_an_added_a_renamed_and_a_removed_file_each_change_the_digest_in_every_input() {
    let before = digest_of(workspace().path());
    for input in digest::INPUTS {
        let changed = workspace();
        let path = changed.path().join(input);
        if path.is_file() {
            fs::write(&path, "other").unwrap();
            assert_ne!(digest_of(changed.path()), before, "{input} changed");
            fs::remove_file(&path).unwrap();
            let error = digest::of_sources(changed.path()).unwrap_err().to_string();
            assert!(error.contains(input), "a missing input is named: {error}");
            continue;
        }
        let mut digests = vec![before.clone()];
        let mut differs = |what: &str| {
            let digest = digest_of(changed.path());
            assert!(!digests.contains(&digest), "{input} {what}");
            digests.push(digest);
        };
        fs::write(path.join("sub/a.rs"), "other").unwrap();
        differs("changed");
        fs::write(path.join("sub/b.rs"), "").unwrap();
        differs("added");
        fs::rename(path.join("sub/b.rs"), path.join("sub/c.rs")).unwrap();
        differs("renamed");
        fs::rename(path.join("sub/c.rs"), path.join("c.rs")).unwrap();
        differs("moved");
        fs::remove_file(path.join("sub/a.rs")).unwrap();
        differs("removed");
    }
}

#[test]
fn text_that_moves_from_one_file_to_the_next_changes_the_digest() {
    let (one, two) = (workspace(), workspace());
    let src = "recovery-e2e/harness/src";
    for (root, first, second) in [(&one, "ab", "c"), (&two, "a", "bc")] {
        write(root.path(), &format!("{src}/1.rs"), first);
        write(root.path(), &format!("{src}/2.rs"), second);
    }
    assert_ne!(digest_of(one.path()), digest_of(two.path()));
}
