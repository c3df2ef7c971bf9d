//! What is recorded of a run: the journal, verdicts, stamps and traces. Every other room may use it.

pub mod build;
pub mod journal;
pub mod ledger;
pub mod settings;
pub mod stamp;
pub mod trace;
pub mod verdict;
