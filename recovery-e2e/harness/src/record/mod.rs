//! What is recorded of a run: the journal, verdicts, stamps and request events. Every other room may use it.

pub mod build;
pub mod class;
pub mod counters;
pub mod event;
pub mod journal;
pub mod ledger;
pub mod request;
pub mod requests;
pub mod settings;
pub mod stamp;
pub mod trace;
pub mod verdict;
