//! The machine: processes and what they leave, files, temporary folders, load.

pub mod children;
pub mod claim;
pub mod deaths;
pub mod descendants;
pub mod files;
pub mod inventory;
pub mod lifeline;
pub mod log;
pub mod machine;
pub mod process;
pub mod procfs;
pub mod temp;
