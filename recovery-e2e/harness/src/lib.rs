//! Proves in a real Chromium that a streaming web application recovers.

pub mod edge;
pub mod redact;
