//! The proxy: a fault proxy, and the only origin that the browser sees.
//!
//! Every request goes `socket` → `exchange` → `upstream`, and its answer the same way back. What
//! happens to it is written as events by its `Entry` into the `request_log`; records and
//! counters are folded from these events.
//!
//! No connection is used for two requests, on either side. Chromium silently sends a request
//! again when a connection that it has used before closes without an answer, and would double a
//! count; and a request that gets a connection of its own meets the state of the upstream as it
//! is now.

mod arming;
mod arrival;
mod break_late;
mod door;
mod exchange;
mod faults;
mod headers;
mod hold;
mod patch;
mod receipt;
mod request_log;
mod rewrite;
mod route;
mod server;
mod sever;
mod socket;
mod sse;
mod upstream;

pub use door::Parked;
pub use faults::Standing;
pub use hold::Hold;
pub use patch::{Edit, Patch};
pub use receipt::Receipt;
pub use route::Route;
pub use server::{LocalPage, Proxy, ProxyConfig, ProxyError};

// What a scenario asks of a proxy.
pub use crate::record::class::Class;
pub use crate::record::counters::{Counters, Counts};
pub use crate::record::request::Record;

#[cfg(test)]
mod tests;
