//! Proves in a real Chromium that a streaming web application recovers.

mod break_late;
pub mod edge;
pub mod front;
pub mod model;
pub mod redact;
pub mod trace;
