//! How long each scenario takes, measured once and kept in the repository.

use std::collections::BTreeMap;
use std::{env, fs, io};

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use crate::files;
use crate::record::journal::CaseView;
use crate::record::verdict::Outcome;

/// Where the timings lie under the root of the repository.
const PLACE: &str = "ci/timings.json";

/// The version of the file's format.
const VERSION: u32 = 1;

const COMMENT: &str =
    "Seconds that each scenario and each control takes; `run --update-timings` writes this file";

/// The longest valid duration, in seconds.
const MAX_SECONDS: f64 = 1e6;

/// Seconds by the name of the scenario, or `scenario/control`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timings {
    seconds: BTreeMap<String, f64>,
}

#[derive(Serialize, Deserialize)]
struct TimingsFile {
    v: u32,
    comment: String,
    seconds: BTreeMap<String, f64>,
}

/// Timings that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum TimingsError {
    /// The file cannot be read.
    #[error(
        "cannot read the timings {path}: {source}; give --timings another file, or leave it out"
    )]
    Read {
        /// The file.
        path: Utf8PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is something else.
    #[error("{path} is not a file of timings: {what}; write it again with `run --update-timings`")]
    NotTimings {
        /// The file.
        path: Utf8PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The file cannot be written.
    #[error("cannot write the timings {path}: {source}; give --timings a file that can be written")]
    Write {
        /// The file.
        path: Utf8PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// No file was named, and there is no repository to keep it in.
    #[error(
        "the current folder is in no repository, so there is no ci/timings.json; name the file with --timings"
    )]
    NoPlace,
}

/// A run whose durations are not valid timings.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotMeasured {
    /// A case that was not ready, or was retried.
    #[error("the timings were not updated: {case} was not ready at its first attempt; run again")]
    NotReady {
        /// Its id.
        case: String,
    },
    /// All durations are equal, so something else was measured.
    #[error(
        "the timings were not updated: all cases took {tenths} tenths of a second each, so they did \
         not run the scenarios; check the node and the browser, and run again"
    )]
    Uniform {
        /// The duration, in tenths of a second.
        tenths: u64,
    },
}

/// What a missing file of timings means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// The given file must exist.
    IsAnError,
    /// There are no timings yet.
    IsEmpty,
}

/// The file of the timings: the one that was given, or the one of the repository around the current
/// folder.
pub fn place(given: Option<&Utf8Path>) -> Option<Utf8PathBuf> {
    let of_repository = || {
        let here = Utf8PathBuf::try_from(env::current_dir().ok()?).ok()?;
        let root = files::repository_root(&here)?;
        Some(root.join(PLACE))
    };
    given.map(Utf8Path::to_owned).or_else(of_repository)
}

impl Timings {
    /// The timings in the file that was given, or else in that of the repository, which need not be
    /// there.
    ///
    /// # Errors
    /// [`TimingsError`]; `missing` says whether also when the file that was given is not there.
    pub fn load(given: Option<&Utf8Path>, missing: Missing) -> Result<Self, TimingsError> {
        let Some(path) = place(given) else { return Ok(Self::default()) };
        match fs::read(&path) {
            Ok(text) => parse(&text).map_err(|what| TimingsError::NotTimings { path, what }),
            Err(source) => match (source.kind(), given, missing) {
                (io::ErrorKind::NotFound, None, _)
                | (io::ErrorKind::NotFound, _, Missing::IsEmpty) => Ok(Self::default()),
                _ => Err(TimingsError::Read { path, source }),
            },
        }
    }

    /// What the scenario or control of this name took when it was measured.
    pub fn of(&self, name: &str) -> Option<f64> {
        self.seconds.get(name).copied()
    }

    /// What each of `names` is predicted to take: the median of the others where it is not known,
    /// and nothing when none is.
    pub fn predict(&self, names: &[String]) -> Vec<Option<f64>> {
        let known: Vec<_> = names.iter().map(|name| self.of(name)).collect();
        let median = median(known.iter().flatten().copied().collect());
        known.into_iter().map(|seconds| seconds.or(median)).collect()
    }

    /// What the cases of a whole run took, by name: the median over repeats, to a tenth of a second.
    ///
    /// # Errors
    /// [`NotMeasured`].
    pub fn measured(cases: &[CaseView]) -> Result<Self, NotMeasured> {
        let mut by_name: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for CaseView { case, result, .. } in cases {
            if result.outcome != Outcome::Ready {
                return Err(NotMeasured::NotReady { case: case.id.clone() });
            }
            by_name.entry(case.name()).or_default().push(result.seconds);
        }
        let tenths = |seconds: Vec<f64>| {
            // Not zero: whatever ran took some time.
            median(seconds).map_or(0, |seconds| (seconds * 10.0).round().max(1.0) as u64)
        };
        let by_name: BTreeMap<_, _> =
            by_name.into_iter().map(|(name, seconds)| (name, tenths(seconds))).collect();
        if let Some(first) = by_name.values().next()
            && by_name.len() > 1
            && by_name.values().all(|tenths| tenths == first)
        {
            return Err(NotMeasured::Uniform { tenths: *first });
        }
        let seconds = by_name.into_iter().map(|(name, tenths)| (name, tenths as f64 / 10.0));
        Ok(Self { seconds: seconds.collect() })
    }

    /// These timings in the place of the old ones of the same kind: scenarios or controls.
    #[must_use]
    pub fn over(self, old: Self) -> Self {
        let is_control = |name: &str| name.contains('/');
        let kinds: Vec<_> = self.seconds.keys().map(|name| is_control(name)).collect();
        let kept = old.seconds.into_iter().filter(|(name, _)| !kinds.contains(&is_control(name)));
        Self { seconds: kept.chain(self.seconds).collect() }
    }

    /// Writes the file, whole or not at all, and says where it is.
    ///
    /// # Errors
    /// [`TimingsError`].
    pub fn write(self, given: Option<&Utf8Path>) -> Result<Utf8PathBuf, TimingsError> {
        let path = place(given).ok_or(TimingsError::NoPlace)?;
        let file = TimingsFile { v: VERSION, comment: COMMENT.to_owned(), seconds: self.seconds };
        let written =
            serde_json::to_vec_pretty(&file).map_err(io::Error::from).and_then(|mut text| {
                text.push(b'\n');
                path.parent().map_or(Ok(()), fs::create_dir_all)?;
                files::write_whole(&path, &text)
            });
        match written {
            Ok(()) => Ok(path),
            Err(source) => Err(TimingsError::Write { path, source }),
        }
    }
}

fn parse(text: &[u8]) -> Result<Timings, String> {
    let file: TimingsFile = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    if file.v != VERSION {
        return Err(format!("it has version {}, and this harness reads version {VERSION}", file.v));
    }
    match file.seconds.iter().find(|(_, seconds)| !(0.0..=MAX_SECONDS).contains(*seconds)) {
        Some((name, seconds)) => Err(format!("{name} cannot take {seconds} seconds")),
        None => Ok(Timings { seconds: file.seconds }),
    }
}

fn median(mut seconds: Vec<f64>) -> Option<f64> {
    seconds.sort_unstable_by(f64::total_cmp);
    let half = seconds.len() / 2;
    let upper = *seconds.get(half)?;
    let lower = if seconds.len().is_multiple_of(2) { seconds[half - 1] } else { upper };
    Some((lower + upper) / 2.0)
}

#[cfg(test)]
impl FromIterator<(String, f64)> for Timings {
    fn from_iter<I: IntoIterator<Item = (String, f64)>>(seconds: I) -> Self {
        Self { seconds: seconds.into_iter().collect() }
    }
}

#[cfg(test)]
mod tests;
