//! Proves in a real Chromium that a streaming web application recovers.

pub mod admission;
mod break_late;
pub mod case;
pub mod children;
pub mod claim;
pub mod cli;
pub mod deaths;
pub mod defect;
pub mod descendants;
pub mod edge;
pub mod files;
pub mod front;
pub mod hygiene;
pub mod inner;
pub mod journal;
pub mod lifeline;
pub mod list;
pub mod machine;
pub mod merge;
pub mod model;
pub mod out;
pub mod plan;
pub mod pool;
pub mod preflight;
pub mod process;
pub mod procfs;
pub mod redact;
pub mod report;
pub mod scenario;
pub mod serve;
pub mod stage;
pub mod supervisor;
pub mod temp;
pub mod trace;
pub mod verdict;
pub mod watching;

/// The code in the README is compiled.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
