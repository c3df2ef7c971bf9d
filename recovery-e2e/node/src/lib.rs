//! The streaming node under test.
