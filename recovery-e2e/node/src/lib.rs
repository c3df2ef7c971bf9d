//! A small streaming agent node: workstreams over HTTP and SSE, every row durable.
//!
//! Each module is a room that imports only rooms above it in this list; `tests/imports.rs` has
//! the list of allowed imports.
//!
//! - `units`, `metrics`, `halt`, `faults`: values that several rooms use
//! - `record`: rows, and the ids of rows and events
//! - `store`: SQLite
//! - `lane`: the ordered events of one workstream, and the replay decision (pure)
//! - `model`: the HTTP client of the model
//! - `tools`: the processes that a call starts
//! - `workstream`: what is committed before it is published
//! - `turn`: asks the model and runs its calls
//! - `registry`: the loaded workstreams
//! - `http`: the wire
//! - `settings`, `serve`, `cli`: flags, start and stop
//! - `control`: the control socket of `recovery-node-control`

#[cfg(test)]
#[cfg(feature = "control")]
mod messages;

pub mod cli;
#[cfg(feature = "control")]
pub mod control;
#[cfg(feature = "control")]
mod faults;
mod halt;
mod http;
mod lane;
mod metrics;
mod model;
mod record;
mod registry;
mod serve;
mod settings;
mod store;
mod tools;
mod turn;
mod units;
mod workstream;
