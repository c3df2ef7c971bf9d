//! What turns may take: of tools, of the model, and of time.

use std::ops::RangeInclusive;
use std::time::Duration;

use clap::Args;

use super::{positive, range};
use crate::model::{Backoff, Patience};

/// The flags of turns. Defaults are those of the protocol, where it has one.
#[derive(Args, Clone, Debug)]
pub struct TurnSettings {
    /// Bytes kept of what a tool writes; the rest is counted.
    #[arg(long, default_value_t = 10 << 20, value_name = "N")]
    pub tool_output_bytes: usize,
    /// Milliseconds that a tool may run.
    #[arg(long, default_value = "600000", value_name = "MS", value_parser = positive)]
    pub tool_limit_ms: u64,
    /// Milliseconds between SIGTERM and SIGKILL for the tools of a cancelled turn.
    #[arg(long, default_value = "10000", value_name = "MS")]
    pub cancel_grace_ms: u64,
    /// How often a model is asked again that answered 429 or 5xx.
    #[arg(long, default_value_t = 4, value_name = "N")]
    pub model_retries: u32,
    /// Milliseconds before the first of these tries, and at most before any.
    #[arg(long, default_value = "500..30000", value_name = "A..B", value_parser = range)]
    pub model_backoff_ms: RangeInclusive<u32>,
    /// Milliseconds that a model may send nothing.
    #[arg(long, default_value = "120000", value_name = "MS", value_parser = positive)]
    pub model_silence_ms: u64,
    /// Tokens that the model can take, for people to see how full an agent's context is.
    #[arg(long, default_value_t = 32_768, value_name = "N")]
    pub context_window: u64,
}

impl TurnSettings {
    /// How long a tool may run.
    pub fn tool_limit(&self) -> Duration {
        Duration::from_millis(self.tool_limit_ms)
    }

    /// How long the tools of a cancelled turn may take to end.
    pub fn cancel_grace(&self) -> Duration {
        Duration::from_millis(self.cancel_grace_ms)
    }

    /// How much a model may try the node's patience.
    pub fn patience(&self) -> Patience {
        let ms = |ms: &u32| Duration::from_millis(u64::from(*ms));
        let (first, cap) = (ms(self.model_backoff_ms.start()), ms(self.model_backoff_ms.end()));
        Patience {
            retries: self.model_retries,
            backoff: Backoff { first, cap },
            silence: Duration::from_millis(self.model_silence_ms),
        }
    }
}
