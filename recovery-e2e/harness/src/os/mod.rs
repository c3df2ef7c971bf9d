//! The operating system: processes and their leftovers, temporary folders, logs, load.

pub mod children;
pub mod claim;
pub mod deaths;
pub mod descendants;
pub mod inventory;
pub mod lifeline;
pub mod log;
pub mod machine;
pub mod process;
pub mod procfs;
pub mod temp;
