//! A run: the plan, the workers, each case from an empty folder to its verdict, and the merge.

pub mod admission;
pub mod case;
pub mod defect;
pub mod inner;
pub mod list;
pub mod merge;
pub mod out;
pub mod plan;
pub mod pool;
pub mod preflight;
pub mod serve;
pub mod settings;
pub mod supervisor;
pub mod watching;
