//! Proves in a real Chromium that a streaming web application recovers.

pub mod edge;
pub mod files;
pub mod journal;
pub mod out;
pub mod redact;
pub mod report;
pub mod verdict;
