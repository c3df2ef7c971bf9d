//! The client of our own node, as a scenario sees and moves it in the browser.

pub mod condition;
mod dashboard;
mod driven;
mod pane;
mod state;
mod timing;
mod two_panes;

pub use condition::{Condition, Flag, Quantity};
pub use dashboard::{Dashboard, Loaded};
pub use driven::{Driven, unmet};
pub use pane::{Held, Pane, PaneKind};
pub use timing::Timing;
pub use two_panes::{Transcript, TwoPanes};
