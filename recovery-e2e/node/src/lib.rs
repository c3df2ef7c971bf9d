//! A small streaming agent node: workstreams over HTTP and SSE, every row durable.
//!
//! Read it in this order: `replay` (what a reconnecting pane is answered, pure), `lane` (the
//! ordered events of one workstream and the lock around them), `workstream` (what is committed
//! before it is published), `turn` (the model is asked, what it
//! calls is run), `http` (the wire), `serve`
//! (start and stop).

mod accept;
mod agent;
mod auth;
mod bash;
mod batch;
mod call;
pub mod cli;
mod config;
#[cfg(feature = "control")]
pub mod control;
mod cursor;
mod event;
#[cfg(feature = "control")]
mod faults;
mod feed;
mod flight;
mod halt;
mod history;
mod http;
mod keeper;
mod kind;
mod lane;
mod listener;
mod metrics;
mod model;
mod node;
mod origin;
mod output;
#[cfg(feature = "control")]
mod processes;
mod replay;
mod ring;
mod roster;
mod row;
mod serve;
mod store;
mod task;
mod tool;
mod turn;
mod units;
mod workstream;
