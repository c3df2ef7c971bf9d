//! What knows our own node and its client: another application is put in here.

pub mod client;
pub mod control_socket;
pub mod error;
pub mod model;
pub mod pages;
pub mod process;
pub mod routes;
pub mod tool_gate;
pub mod wire;
