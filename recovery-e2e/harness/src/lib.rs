//! Proves in a real Chromium that a streaming web application recovers.

pub mod edge;
pub mod files;
pub mod front;
pub mod journal;
pub mod model;
pub mod out;
pub mod redact;
pub mod report;
pub mod trace;
pub mod verdict;
