//! The proxy: a fault proxy, and the only origin that the browser sees.
//!
//! Every request goes `socket` → `exchange` → `upstream`, and its answer the same way back. What
//! happens to it is written by its `Entry` into the `request_log`, and all that a scenario can ask
//! (records, counters, receipts, fences) is read from there.
//!
//! No connection is used for two requests, on either side. Chromium silently sends a request
//! again when a connection that it has used before closes without an answer, and would double a
//! count; and a request that gets a connection of its own meets the state of the upstream as it
//! is now.

mod arming;
pub(crate) mod break_late;
mod class;
mod counters;
mod door;
mod exchange;
mod faults;
mod headers;
mod hold;
mod patch;
mod receipt;
mod record;
mod request_log;
mod rewrite;
mod server;
mod sever;
mod socket;
mod sse;
mod upstream;

pub use class::{Class, Route};
pub use counters::{Counters, Counts};
pub use door::Parked;
pub use faults::Standing;
pub use hold::Hold;
pub use patch::{Edit, Patch};
pub use receipt::Receipt;
pub use record::Record;
pub use server::{LocalPage, Proxy, ProxyConfig, ProxyError};

#[cfg(test)]
mod tests;
