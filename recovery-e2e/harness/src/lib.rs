//! Proves in a real Chromium that a streaming web application recovers.
//!
//! Each module imports only modules that are above it in this list; `tests/imports.rs` has the
//! allowed imports of each.

#[cfg(test)]
mod messages;
#[cfg(test)]
mod test_dir;

pub mod files;
pub mod redact;
pub mod wait;

pub mod record;

pub mod os;
pub mod proxy;

pub mod browser;

mod node;

mod scenario;

pub mod report;

pub mod run;

mod cli;

mod command;

pub use command::main;
