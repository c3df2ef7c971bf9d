//! Which module of the harness may import which: the layers of the crate, kept by a test.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;
use std::fs;
use std::iter::Peekable;
use std::path::{Path, PathBuf};
use std::str::Chars;

/// The top-level modules from the ground up, and what each may import: only modules above it, so
/// that there is no circle.
const ALLOWED: &[(&str, &[&str])] = &[
    ("test_dir", &[]),
    ("redact", &[]),
    ("wait", &[]),
    ("files", &["redact"]),
    ("record", &["files", "redact", "test_dir", "wait"]),
    ("os", &["files", "record", "redact", "test_dir", "wait"]),
    ("proxy", &["record", "redact", "wait"]),
    ("browser", &["os", "proxy", "record", "redact", "wait"]),
    ("node", &["browser", "os", "proxy", "redact", "test_dir", "wait"]),
    ("scenario", &["browser", "node", "os", "proxy", "record", "redact", "wait"]),
    ("report", &["files", "record", "redact", "test_dir"]),
    (
        "run",
        &[
            "browser", "files", "node", "os", "proxy", "record", "redact", "report", "scenario",
            "test_dir", "wait",
        ],
    ),
    ("cli", &["os", "record", "report", "run"]),
    (
        "messages",
        &["browser", "node", "os", "proxy", "record", "report", "run", "scenario", "wait"],
    ),
    ("command", &["cli", "record", "report", "run"]),
    ("main", &[]),
];

/// The most files directly in `src`.
const MAX_FLAT_FILES: usize = 14;

/// An import of a top-level module.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Import {
    line: usize,
    module: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    /// `::`
    Path,
    Other(char),
}

/// The tokens of a source text with their lines, without comments and literals.
fn tokens(source: &str) -> Vec<(usize, Token)> {
    let mut tokens = Vec::new();
    let mut line = 1;
    let mut rest = source.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\n' => line += 1,
            '/' if rest.peek() == Some(&'/') => while rest.next_if(|c| *c != '\n').is_some() {},
            '/' if rest.peek() == Some(&'*') => skip_comment(&mut rest, &mut line),
            '"' => skip_string(&mut rest, &mut line),
            '\'' => skip_char(&mut rest),
            ':' if rest.next_if_eq(&':').is_some() => tokens.push((line, Token::Path)),
            'r' | 'b' if skip_raw_string(c, &mut rest, &mut line) => {}
            _ if is_of_word(c) => {
                let mut word = String::from(c);
                while let Some(c) = rest.next_if(|c| is_of_word(*c)) {
                    word.push(c);
                }
                tokens.push((line, Token::Word(word)));
            }
            _ if c.is_whitespace() => {}
            _ => tokens.push((line, Token::Other(c))),
        }
    }
    tokens
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Skips a comment, which may contain others, behind its first slash.
fn skip_comment(rest: &mut Peekable<Chars<'_>>, line: &mut usize) {
    let (mut depth, mut before) = (0, '/');
    for c in rest.by_ref() {
        match (before, c) {
            ('/', '*') => depth += 1,
            ('*', '/') => depth -= 1,
            _ => {}
        }
        *line += usize::from(c == '\n');
        // A sign is part of one mark only: `/*/` does not end what it begins.
        before = if matches!((before, c), ('/', '*') | ('*', '/')) { ' ' } else { c };
        if depth == 0 {
            return;
        }
    }
}

/// Skips a string behind its first quote.
fn skip_string(rest: &mut Peekable<Chars<'_>>, line: &mut usize) {
    while let Some(c) = rest.next() {
        let skipped = if c == '\\' { rest.next() } else { None };
        *line += usize::from(c == '\n' || skipped == Some('\n'));
        if c == '"' {
            return;
        }
    }
}

/// Skips a character literal behind its first quote; leaves a lifetime alone.
fn skip_char(rest: &mut Peekable<Chars<'_>>) {
    let mut ahead = rest.clone();
    match (ahead.next(), ahead.next()) {
        (Some('\\'), Some(_)) => {
            rest.nth(1);
            while rest.next().is_some_and(|c| c != '\'') {}
        }
        (Some(_), Some('\'')) => {
            rest.nth(1);
        }
        _ => {}
    }
}

/// Skips a raw string behind its `r` or `b`; false when none begins here.
fn skip_raw_string(first: char, rest: &mut Peekable<Chars<'_>>, line: &mut usize) -> bool {
    let mut ahead = rest.clone();
    if first == 'b' && ahead.next() != Some('r') {
        return false;
    }
    let mut hashes = 0;
    while ahead.next_if_eq(&'#').is_some() {
        hashes += 1;
    }
    if ahead.next() != Some('"') {
        return false;
    }
    while let Some(c) = ahead.next() {
        *line += usize::from(c == '\n');
        if c == '"' && ahead.clone().take(hashes).filter(|c| *c == '#').count() == hashes {
            ahead.by_ref().take(hashes).for_each(drop);
            break;
        }
    }
    *rest = ahead;
    true
}

/// The top-level modules that a source imports or names, by `crate::`, by the crate's name, or by
/// more `super::` than its module is deep. `depth` is 1 for a file such as `src/run/mod.rs`.
fn imports(source: &str, depth: usize) -> BTreeSet<Import> {
    let tokens = tokens(source);
    let word = |at: usize| match tokens.get(at) {
        Some((_, Token::Word(word))) => word.as_str(),
        _ => "",
    };
    let is_path = |at: usize| tokens.get(at).is_some_and(|(_, token)| *token == Token::Path);
    let mut found = BTreeSet::new();
    // For each open brace, whether it is that of an inline module.
    let mut braces = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at].1 {
            Token::Other('{') => braces.push(at >= 2 && word(at - 2) == "mod"),
            Token::Other('}') => drop(braces.pop()),
            Token::Word(first) if is_path(at + 1) && (at == 0 || !is_path(at - 1)) => {
                let depth = depth + braces.iter().filter(|is_module| **is_module).count();
                let (mut climbed, mut next) = (0, at);
                while word(next) == "super" && is_path(next + 1) {
                    climbed += 1;
                    next += 2;
                }
                let from_root = match first.as_str() {
                    "crate" | "recovery_e2e" => Some(at + 2),
                    "super" if climbed >= depth => Some(next),
                    _ => None,
                };
                for at in from_root.map(|at| heads(&tokens, at)).unwrap_or_default() {
                    let module = word(at).to_owned();
                    found.insert(Import { line: tokens[at].0, module });
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// The first words of the use-tree at `at`: one, or those of its branches.
fn heads(tokens: &[(usize, Token)], at: usize) -> Vec<usize> {
    match tokens.get(at).map(|(_, token)| token) {
        Some(Token::Word(_)) => vec![at],
        Some(Token::Other('{')) => {
            let mut heads = Vec::new();
            let (mut depth, mut is_first) = (0, true);
            for (at, (_, token)) in tokens.iter().enumerate().skip(at) {
                match token {
                    Token::Other('{') => depth += 1,
                    Token::Other('}') => depth -= 1,
                    Token::Other(',') if depth == 1 => is_first = true,
                    Token::Word(_) if depth == 1 && is_first => {
                        heads.push(at);
                        is_first = false;
                    }
                    _ => {}
                }
                if depth == 0 {
                    break;
                }
            }
            heads
        }
        _ => Vec::new(),
    }
}

fn source_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            files.extend(source_files(&entry));
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            files.push(entry);
        }
    }
    files.sort();
    files
}

/// The names of the modules that lead to a file: `run`, `merge`, `tests`.
fn module_of(file: &Path) -> Vec<String> {
    let path = file.with_extension("");
    let names = path.iter().map(|name| name.to_str().unwrap().to_owned());
    names.filter(|name| name != "mod").collect()
}

#[test]
fn each_module_imports_only_what_it_may_and_every_allowance_is_used() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut unused: BTreeSet<(&str, &str)> = ALLOWED
        .iter()
        .flat_map(|(module, allowed)| allowed.iter().map(|other| (*module, *other)))
        .collect();
    let mut violations = Vec::new();
    for file in source_files(&src) {
        let name = file.strip_prefix(&src).unwrap();
        let module = module_of(name);
        if module == ["lib"] {
            continue;
        }
        let Some((top, allowed)) = ALLOWED.iter().find(|(top, _)| *top == module[0]) else {
            violations.push(format!("src/{}: add {} to ALLOWED", name.display(), module[0]));
            continue;
        };
        for Import { line, module: imported } in
            imports(&fs::read_to_string(&file).unwrap(), module.len())
        {
            unused.retain(|(module, other)| (*module, *other) != (*top, imported.as_str()));
            if imported != *top && !allowed.contains(&imported.as_str()) {
                let at = format!("src/{}:{line}", name.display());
                violations.push(format!("{at}: imports {imported}, which {top} may not import"));
            }
        }
    }
    let unused = unused.into_iter().map(|(module, other)| {
        format!("{module} may import {other}, and does not: remove it from ALLOWED")
    });
    violations.extend(unused);
    assert!(violations.is_empty(), "\n{}", violations.join("\n"));
}

#[test]
fn the_allowed_imports_lead_upwards_in_the_list_and_so_form_no_circle() {
    for (at, (module, allowed)) in ALLOWED.iter().enumerate() {
        for other in *allowed {
            let is_above = ALLOWED[..at].iter().any(|(above, _)| above == other);
            assert!(is_above, "{module} may import {other}, which is not above it in ALLOWED");
        }
    }
}

#[test]
fn few_files_are_directly_in_src() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = source_files(&src).into_iter().filter(|file| file.parent() == Some(&src));
    let flat: Vec<_> = files.collect();
    assert!(flat.len() <= MAX_FLAT_FILES, "group them in modules: {flat:#?}");
}

#[test]
fn every_form_of_an_import_is_found_and_nothing_in_comments_or_literals() {
    for (source, depth, expected) in [
        ("use crate::os::temp;", 1, &[(1, "os")][..]),
        (
            "pub(crate) use crate::{\n  os::{a, b::c},\n  run, wait::*,\n};",
            1,
            &[(2, "os"), (3, "run"), (3, "wait")],
        ),
        ("fn f() -> crate::os::A { x(crate::run::B::new()) }", 1, &[(1, "os"), (1, "run")]),
        ("use recovery_e2e::cli::Cli;", 1, &[(1, "cli")]),
        ("use super::os;", 1, &[(1, "os")]),
        ("use super::os;", 2, &[]),
        ("mod tests {\n use super::x; use super::super::os::y; }", 1, &[(2, "os")]),
        ("mod tests { } use super::{os, run};", 1, &[(1, "os"), (1, "run")]),
        ("// crate::a::b\n/* crate::a /* crate::b */ crate::c::d */ crate::e::f", 1, &[(2, "e")]),
        (
            "\"crate::a::\\\" crate::b::\"; r#\"crate::c::\"#; b'\"'; '\"'; '\\''; crate::e::f",
            1,
            &[(1, "e")],
        ),
        ("fn f<'a>(x: &'a crate::os::A) {}", 1, &[(1, "os")]),
        ("use std::crate_like::x; other::crate::os::y", 1, &[]),
    ] {
        let found: Vec<_> =
            imports(source, depth).into_iter().map(|it| (it.line, it.module)).collect();
        let found: Vec<_> = found.iter().map(|(line, module)| (*line, module.as_str())).collect();
        assert_eq!(found, expected, "{source}");
    }
}
