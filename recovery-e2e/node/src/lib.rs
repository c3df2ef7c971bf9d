//! A small streaming agent node: workstreams over HTTP and SSE, every row durable.
//!
//! Read it in this order: `replay` (what a reconnecting pane is answered, pure), `lane` (the
//! ordered events of one workstream and the lock around them), `workstream` (what is committed
//! before it is published), `turn` (one answer of the model), `http` (the wire), `serve`
//! (start and stop).

mod auth;
mod batch;
pub mod cli;
#[cfg(feature = "control")]
pub mod control;
mod cursor;
mod event;
#[cfg(feature = "control")]
mod faults;
mod feed;
mod flight;
mod history;
mod http;
mod lane;
mod listener;
mod metrics;
mod model;
mod node;
mod origin;
mod replay;
mod ring;
mod roster;
mod serve;
mod store;
mod turn;
mod workstream;
