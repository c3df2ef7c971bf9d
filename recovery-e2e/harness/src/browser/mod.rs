//! Chromium: its process, what a case has of it, its pages, and the time that they keep.

pub mod chromium;
pub mod clock;
pub mod page;
pub mod session;
pub mod tab;
