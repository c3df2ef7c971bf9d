//! The scripted model server: a chat-completions endpoint that answers from a script.
//!
//! Everything about it is real (HTTP, streaming, refusals, broken connections) but the model's
//! judgement: the k-th call of a workstream gets the k-th reply of its script.

mod script;
mod server;
mod wire;

pub use script::{Reply, Script, ToolCall};
pub use server::{ModelError, ModelServer};

#[cfg(test)]
mod tests;
