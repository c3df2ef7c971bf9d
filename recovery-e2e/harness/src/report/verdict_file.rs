//! `verdict.json`: what a case came to, beside its screenshots and its trace.

use std::fs;

use camino::Utf8Path;
use serde::Serialize;

use super::{ReportError, write};
use crate::files;
use crate::journal::{BrowserInfo, Case, CaseResult};
use crate::redact::Redactor;

/// The file's name in the folder of the case.
pub const VERDICT_FILE: &str = "verdict.json";

/// The version of the file's format.
pub const VERDICT_VERSION: u32 = 1;

#[derive(Serialize)]
struct VerdictFile<'a, P> {
    v: u32,
    case: &'a Case,
    result: &'a CaseResult,
    browser: &'a BrowserInfo,
    page: &'a P,
}

/// Writes [`VERDICT_FILE`] into the folder of the case's artifacts, whole and without secrets.
///
/// `page` are the settings that the page ran with. A case that broke before it left anything has
/// no folder yet, so it is made.
///
/// # Errors
/// [`ReportError::Encode`] or [`ReportError::Write`].
pub fn write_verdict_file(
    dir: &Utf8Path,
    (case, result): (&Case, &CaseResult),
    browser: &BrowserInfo,
    page: &impl Serialize,
    redactor: &Redactor,
) -> Result<(), ReportError> {
    let told = VerdictFile { v: VERDICT_VERSION, case, result, browser, page };
    let content = serde_json::to_vec_pretty(&files::redacted(&told, redactor)?)?;
    let path = dir.join(VERDICT_FILE);
    fs::create_dir_all(dir).map_err(|source| ReportError::Write { path: path.clone(), source })?;
    write(&path, &content)
}
