//! The import wall: each room of `src` imports only the rooms that `ROOMS` allows. A room is a
//! module of the crate root, whether it is a file or a folder.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

type Rooms<'a> = [(&'a str, &'a [&'a str])];

/// Each room, and the rooms that it may import. Those must be above it, so there is no circle.
const ROOMS: &Rooms<'_> = &[
    ("units", &[]),
    ("metrics", &[]),
    ("halt", &[]),
    ("faults", &[]),
    ("record", &[]),
    ("store", &["record"]),
    ("lane", &["metrics", "record"]),
    ("model", &["record"]),
    ("tools", &["halt", "lane", "model", "record"]),
    ("workstream", &["faults", "halt", "lane", "metrics", "record", "store"]),
    ("turn", &["halt", "lane", "metrics", "model", "record", "store", "tools", "workstream"]),
    ("registry", &["lane", "record", "store", "turn", "workstream"]),
    (
        "http",
        &[
            "faults",
            "lane",
            "metrics",
            "model",
            "record",
            "registry",
            "store",
            "tools",
            "turn",
            "workstream",
        ],
    ),
    ("settings", &["http", "lane", "model", "tools", "units"]),
    (
        "serve",
        &[
            "faults",
            "http",
            "lane",
            "metrics",
            "model",
            "registry",
            "settings",
            "store",
            "tools",
            "turn",
            "workstream",
        ],
    ),
    ("cli", &["serve", "settings"]),
    ("control", &["cli", "http", "lane", "record", "serve", "settings"]),
    (
        "messages",
        &[
            "cli", "halt", "http", "model", "registry", "serve", "settings", "store", "tools",
            "turn",
        ],
    ),
];

/// The first name of each path of an import: one, or all of a `{group}`.
fn heads(path: &str) -> Vec<&str> {
    let name =
        |path: &str| path.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(path.len());
    let Some(group) = path.strip_prefix('{') else { return vec![&path[..name(path)]] };
    let (mut depth, mut start, mut heads) = (0, 0, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            ',' | '}' if depth == 0 => {
                let path = group[start..at].trim_start();
                heads.push(&path[..name(path)]);
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
    }
    heads.retain(|head| !head.is_empty());
    heads
}

/// The lines of a file that name something of another module of the crate root, and its name.
fn imports(file: &Path, text: &str) -> Vec<(usize, String)> {
    let depth = file.components().count() - usize::from(file.ends_with("mod.rs"));
    let (mut found, mut offset, mut inline) = (Vec::new(), 0, 0);
    for (line, code) in (1..).zip(text.split_inclusive('\n')) {
        if !code.starts_with(' ') && code.contains("mod ") && code.trim_end().ends_with('{') {
            inline = 1;
        } else if code.starts_with('}') {
            inline = 0;
        }
        let mut at = if code.trim_start().starts_with("//") { code.len() } else { 0 };
        while let Some(next) =
            code[at..].find("crate::").into_iter().chain(code[at..].find("super::")).min()
        {
            let path = &text[offset + at + next..];
            let (root, rest) = match path.strip_prefix("crate::") {
                Some(rest) => (true, rest),
                None => {
                    let rest = path.trim_start_matches("super::");
                    ((path.len() - rest.len()) / "super::".len() == depth + inline, rest)
                }
            };
            at += next + path.len() - rest.len();
            let heads = heads(rest).into_iter().filter(|head| root && !head.is_empty());
            found.extend(heads.map(|head| (line, head.to_owned())));
        }
        offset += code.len();
    }
    found
}

/// What is wrong with the imports of these files, or with the list.
fn violations(files: &[(PathBuf, String)], rooms: &Rooms<'_>) -> Vec<String> {
    let (mut wrong, mut used) = (Vec::new(), BTreeSet::new());
    let place = |name: &str| rooms.iter().position(|(room, _)| *room == name);
    for (file, text) in files {
        let first = Path::new(file.components().next().unwrap().as_os_str());
        let room = first.file_stem().unwrap().to_str().unwrap();
        let Some(own) = place(room) else {
            wrong.push(format!("{}: the room {room} is not in the list", file.display()));
            continue;
        };
        for (line, import) in imports(file, text).into_iter().filter(|(_, import)| import != room) {
            if !rooms[own].1.contains(&import.as_str()) {
                wrong.push(format!("{}:{line}: {room} must not import {import}", file.display()));
            }
            used.insert((room.to_owned(), import));
        }
    }
    for (own, (room, allowed)) in rooms.iter().enumerate() {
        for import in *allowed {
            if place(import).is_none_or(|place| place >= own) {
                wrong
                    .push(format!("the list: {import} must be above {room}, or there is a circle"));
            }
            if !used.contains(&((*room).to_owned(), (*import).to_owned())) {
                wrong.push(format!("the list: {room} does not import {import}; remove it"));
            }
        }
    }
    wrong
}

fn sources(folder: &Path, root: &Path, files: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, root, files);
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            files.push((path.strip_prefix(root).unwrap().to_owned(), text));
        }
    }
}

#[test]
fn a_room_imports_only_what_the_list_allows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &root, &mut files);
    // The roots of the crates, which are no rooms.
    files.retain(|(file, _)| !["lib.rs", "main.rs"].map(Path::new).contains(&file.as_path()));
    files.retain(|(file, _)| !file.starts_with("bin"));
    files.sort();
    let wrong = violations(&files, ROOMS);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_way_to_break_the_wall_is_reported() {
    let check = |file: &str, text: &str| {
        violations(&[(file.into(), text.into())], &[("low", &[]), ("high", &["low"])])
    };
    let unused = "the list: high does not import low; remove it";
    for text in ["use crate::low::X;", "use crate::{high::{A, B},\n low};", "use super::low;"] {
        assert_eq!(check("high/mod.rs", text), [""; 0], "{text}");
    }
    assert_eq!(check("high/x.rs", "use super::super::low;\nuse super::up;"), [""; 0]);
    assert_eq!(check("high/x.rs", "mod tests {\n use super::super::low;\n}"), [unused]);
    assert_eq!(check("high.rs", "// crate::up::X\n"), [unused]);
    assert_eq!(
        check("high.rs", "\nlet x = crate::low::f(crate::up::X);"),
        ["high.rs:2: high must not import up"]
    );
    assert_eq!(
        check("low.rs", "use super::{high};"),
        ["low.rs:1: low must not import high", unused]
    );
    assert_eq!(check("cellar.rs", ""), ["cellar.rs: the room cellar is not in the list", unused]);
    assert_eq!(
        violations(&[("a.rs".into(), "use crate::b;".into())], &[("a", &["b"]), ("b", &[])]),
        ["the list: b must be above a, or there is a circle"]
    );
}
