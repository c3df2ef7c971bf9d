//! What most scenarios are made of.

pub use hyper::StatusCode;

pub use super::stage::{Stage, StageError};
pub use super::steps::*;
pub use super::{Check, Control, Defect, Edit, Field, Read, Scenario, Show, claim, field, need};
pub use crate::node::client::{Condition, Flag, PaneKind, Quantity, Timing};
pub use crate::node::model::{Reply, ToolCall};
pub use crate::proxy::Class;
