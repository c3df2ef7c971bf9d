//! The catalogue: one file a story. A story of both panes is one file with two entries.

mod await_window_gate;
mod coord_heal_midturn;
mod coord_joined_flight;
mod coord_orphan_rewind;
mod destroy_invalidation;
mod fail_refetch;
mod handoff_repair_budget;
mod hidden_retry;
mod reconnect_in_await;
mod restart;
mod rewind_failed_window;
mod rewind_window;
mod roster_restart;
mod roster_restart_native;
mod stale_backstop;
mod stale_ref_reload;
mod storm;
mod tool_turn_two_pane;
mod user_turn_two_pane;

use super::Scenario;

/// All scenarios, in the order of the catalogue.
pub const REGISTRY: [&Scenario; 25] = [
    &storm::SCENARIO,
    &restart::INTERACTIVE,
    &restart::COORDINATOR,
    &fail_refetch::SCENARIO,
    &stale_ref_reload::SCENARIO,
    &rewind_window::INTERACTIVE,
    &rewind_failed_window::INTERACTIVE,
    &stale_backstop::INTERACTIVE,
    &hidden_retry::INTERACTIVE,
    &await_window_gate::SCENARIO,
    &destroy_invalidation::SCENARIO,
    &reconnect_in_await::SCENARIO,
    &rewind_window::COORDINATOR,
    &rewind_failed_window::COORDINATOR,
    &stale_backstop::COORDINATOR,
    &coord_heal_midturn::SCENARIO,
    &hidden_retry::COORDINATOR,
    &coord_orphan_rewind::SCENARIO,
    &coord_joined_flight::SCENARIO,
    &handoff_repair_budget::INTERACTIVE,
    &handoff_repair_budget::COORDINATOR,
    &user_turn_two_pane::SCENARIO,
    &tool_turn_two_pane::SCENARIO,
    &roster_restart::SCENARIO,
    &roster_restart_native::SCENARIO,
];

#[cfg(test)]
mod tests;
