//! Proves in a real Chromium that a streaming web application recovers.
//!
//! The rooms, from the ground up; each imports only what is above it in this list, and
//! `tests/imports.rs` keeps it so.

#[cfg(test)]
mod test_dir;

pub mod redact;
pub mod wait;

pub mod record;

pub mod os;
pub mod proxy;

pub mod browser;

pub mod node;

pub mod scenario;

pub mod report;

pub mod run;

pub mod cli;
