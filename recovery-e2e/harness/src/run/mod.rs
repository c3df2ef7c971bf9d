//! A run: the plan, the workers, each case from an empty folder to its verdict, and the merge.

pub(crate) mod admission;
pub(crate) mod case;
pub(crate) mod defect;
pub(crate) mod inner;
pub(crate) mod list;
pub(crate) mod merge;
pub(crate) mod out;
pub(crate) mod plan;
pub(crate) mod pool;
pub mod preflight;
pub(crate) mod serve;
pub(crate) mod settings;
pub(crate) mod supervisor;
pub(crate) mod watching;
