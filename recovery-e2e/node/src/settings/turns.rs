//! The limits of turns: of tools, of the model, and of time.

use std::ops::RangeInclusive;
use std::time::Duration;

use clap::Args;

use crate::model::{Backoff, Patience};
use crate::units::{bytes, duration, duration_or_zero, millis_range};

/// The flags of turns. Defaults are those of the protocol, where it has one.
#[derive(Args, Clone, Debug)]
pub struct TurnSettings {
    /// Maximum size of the output that is kept of a tool call; the rest is only counted.
    #[arg(long, default_value = "10MiB", value_name = "SIZE", value_parser = bytes)]
    pub tool_output_bytes: usize,
    /// Maximum run time of a tool call.
    #[arg(
        long,
        alias = "tool-limit-ms",
        default_value = "10m",
        value_name = "TIME",
        value_parser = duration
    )]
    pub tool_limit: Duration,
    /// Time between SIGTERM and SIGKILL for the tools of a cancelled turn; 0 kills them at once.
    #[arg(
        long,
        alias = "cancel-grace-ms",
        default_value = "10s",
        value_name = "TIME",
        value_parser = duration_or_zero
    )]
    pub cancel_grace: Duration,
    /// Maximum number of retries of a model request that got status 429 or 5xx.
    #[arg(long, default_value_t = 4, value_name = "N")]
    pub model_retries: u32,
    /// Time before the first of these retries, and the maximum before any; it doubles in between.
    #[arg(
        long,
        alias = "model-backoff-ms",
        default_value = "500ms..30s",
        value_name = "A..B",
        value_parser = millis_range
    )]
    pub model_backoff: RangeInclusive<u32>,
    /// Time without a byte from the model after which a request fails.
    #[arg(
        long,
        alias = "model-silence-ms",
        default_value = "2m",
        value_name = "TIME",
        value_parser = duration
    )]
    pub model_silence: Duration,
    /// Size of the model's context in tokens; only shown, never enforced.
    #[arg(long, default_value_t = 32_768, value_name = "N")]
    pub context_window: u64,
}

impl TurnSettings {
    /// How the model client retries, and how long it waits.
    pub fn patience(&self) -> Patience {
        let ms = |ms: &u32| Duration::from_millis(u64::from(*ms));
        let (first, cap) = (ms(self.model_backoff.start()), ms(self.model_backoff.end()));
        Patience {
            retries: self.model_retries,
            backoff: Backoff { first, cap },
            silence: self.model_silence,
        }
    }
}
