//! Which part of a plan a machine runs.

use std::fmt;
use std::str::FromStr;

use crate::record::journal::MAX_SHARDS;

/// One shard of a plan; rendered and read as `2/4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: u32,
    total: u32,
}

/// What `--shard` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShardArg {
    /// `2/4`.
    Given(Shard),
    /// `auto`: as the CI says.
    Auto,
}

/// A shard that is not valid, or cannot be determined.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShardError {
    /// Not two numbers.
    #[error("{text:?} is not a shard; give one such as 2/4, or auto")]
    NotAShard {
        /// What was given.
        text: String,
    },
    /// No such shard, or too many.
    #[error(
        "there is no shard {index} of {total}; shards count from 1, and a plan has at most {MAX_SHARDS}"
    )]
    OutOfRange {
        /// The shard, counted from 1.
        index: u64,
        /// How many there are to be.
        total: u64,
    },
    /// None of the known CIs has set its variables.
    #[error(
        "--shard auto found none of these pairs of variables: {}; give the shard, such as --shard 2/4",
        pairs().join(", ")
    )]
    NoCi,
    /// One variable of a pair is there without the other.
    #[error(
        "--shard auto found {set} but not {missing}; set both, or give the shard, such as --shard 2/4"
    )]
    HalfSet {
        /// The variable that is there.
        set: &'static str,
        /// The one that is not.
        missing: &'static str,
    },
    /// A variable that is not a number.
    #[error(
        "--shard auto found {name}={value:?}, which is not a number; give the shard, such as --shard 2/4"
    )]
    NotANumber {
        /// The variable.
        name: &'static str,
        /// What it says.
        value: String,
    },
}

/// The variables in which a CI gives a job its index and the number of jobs.
struct Ci {
    index: &'static str,
    total: &'static str,
    /// What it calls its first job.
    first: u64,
}

/// As GitLab, Buildkite and CircleCI document them.
const CIS: [Ci; 3] = [
    Ci { index: "CI_NODE_INDEX", total: "CI_NODE_TOTAL", first: 1 },
    Ci { index: "BUILDKITE_PARALLEL_JOB", total: "BUILDKITE_PARALLEL_JOB_COUNT", first: 0 },
    Ci { index: "CIRCLE_NODE_INDEX", total: "CIRCLE_NODE_TOTAL", first: 0 },
];

fn pairs() -> Vec<String> {
    CIS.iter().map(|ci| format!("{}/{}", ci.index, ci.total)).collect()
}

impl Shard {
    /// All of the plan.
    pub const WHOLE: Shard = Shard { index: 1, total: 1 };

    fn new(index: u64, total: u64) -> Result<Shard, ShardError> {
        match (u32::try_from(index), u32::try_from(total)) {
            (Ok(index @ 1..), Ok(total @ ..=MAX_SHARDS)) if index <= total => {
                Ok(Shard { index, total })
            }
            _ => Err(ShardError::OutOfRange { index, total }),
        }
    }

    /// Which one it is, counted from 1.
    pub fn index(self) -> u32 {
        self.index
    }

    /// How many there are.
    pub fn total(self) -> u32 {
        self.total
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.total)
    }
}

impl FromStr for ShardArg {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        if text == "auto" {
            return Ok(ShardArg::Auto);
        }
        let numbers = text
            .split_once('/')
            .and_then(|(index, total)| Some((index.parse().ok()?, total.parse().ok()?)));
        let (index, total) =
            numbers.ok_or_else(|| ShardError::NotAShard { text: text.to_owned() })?;
        Shard::new(index, total).map(ShardArg::Given)
    }
}

impl ShardArg {
    /// The shard that is meant; `env` reads a variable of the environment.
    ///
    /// # Errors
    /// When it is to be found in the environment and is not there.
    pub fn resolve(self, env: impl Fn(&str) -> Option<String>) -> Result<Shard, ShardError> {
        match self {
            ShardArg::Given(shard) => Ok(shard),
            ShardArg::Auto => of_ci(env),
        }
    }
}

fn of_ci(env: impl Fn(&str) -> Option<String>) -> Result<Shard, ShardError> {
    for Ci { index, total, first } in CIS {
        let number = |name: &'static str, value: String| {
            value.parse::<u64>().map_err(|_| ShardError::NotANumber { name, value })
        };
        match (env(index), env(total)) {
            (Some(i), Some(n)) => {
                let (i, n) = (number(index, i)?, number(total, n)?);
                // One below the first becomes 0, which is out of range.
                return Shard::new(i.saturating_add(1).saturating_sub(first), n);
            }
            // GitLab sets only the total for a job that is not split.
            (None, Some(n)) if n == "1" => return Ok(Shard::WHOLE),
            (None, Some(_)) => return Err(ShardError::HalfSet { set: total, missing: index }),
            (Some(_), None) => return Err(ShardError::HalfSet { set: index, missing: total }),
            (None, None) => {}
        }
    }
    Err(ShardError::NoCi)
}

#[cfg(test)]
mod tests;
