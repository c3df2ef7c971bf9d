//! Proves in a real Chromium that a streaming web application recovers.

mod break_late;
pub mod case;
pub mod cli;
pub mod deaths;
pub mod descendants;
pub mod edge;
pub mod files;
pub mod front;
pub mod inner;
pub mod journal;
pub mod lifeline;
pub mod list;
pub mod merge;
pub mod model;
pub mod out;
pub mod plan;
pub mod pool;
pub mod preflight;
pub mod process;
pub mod redact;
pub mod report;
pub mod scenario;
pub mod stage;
pub mod supervisor;
pub mod temp;
pub mod trace;
pub mod verdict;
