//! Merging the shards of a plan that ran on several machines.

use std::path::Component;
use std::{fs, io};

use camino::{Utf8Path, Utf8PathBuf};

use crate::files;
use crate::record::build::BuildInfo;
use crate::record::journal::{
    self, AppendError, CaseView, Event, Journal, JournalError, JournalView, Part, RunFinished,
    RunInfo, RunStarted, ShardRun,
};
use crate::redact::Redactor;
use crate::report::{self, ReportError, Summary};
use crate::run::out::{self, OutError};

/// Shards that are not merged. Nothing has been written then, except for the last three.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// A journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A folder of another run.
    #[error("{dir} does not belong to this run: {what}; merge the shards of one run only")]
    Foreign {
        /// The folder.
        dir: Utf8PathBuf,
        /// What does not fit.
        what: String,
    },
    /// A shard of another build.
    #[error(
        "{shard} was made by another build ({build}) than {first_shard} ({first_build}); \
         run every shard with a harness built from the same sources"
    )]
    OtherBuild {
        /// The shard and its folder.
        shard: String,
        /// What made it.
        build: Box<BuildInfo>,
        /// The shard that it is compared with, and its folder.
        first_shard: String,
        /// What made that one.
        first_build: Box<BuildInfo>,
    },
    /// A shard that is there twice.
    #[error(
        "shard {shard}/{shards} is given twice, in {first} and in {second}; remove one of them"
    )]
    Doubled {
        /// Which one, counted from 1.
        shard: u32,
        /// How many the plan has.
        shards: u32,
        /// A folder that holds it.
        first: Utf8PathBuf,
        /// Another one.
        second: Utf8PathBuf,
    },
    /// Shards that are not there.
    #[error(
        "shard {} missing; give the folder of each, or --partial to report the shards that exist",
        named(missing, *shards)
    )]
    Missing {
        /// Which ones, counted from 1.
        missing: Vec<u32>,
        /// How many the plan has.
        shards: u32,
    },
    /// No folder of a shard at all.
    #[error("there is no shard to merge; give the output folders of the shards")]
    Nothing,
    /// The merged folder is one of those that are merged, or lies around or within one.
    #[error("{out} and {dir} overlap; give --out a folder outside of the shards")]
    Overlap {
        /// The merged folder.
        out: Utf8PathBuf,
        /// The folder of a shard.
        dir: Utf8PathBuf,
    },
    /// The merged folder cannot be used.
    #[error(transparent)]
    Out(#[from] OutError),
    /// An artifact cannot be copied.
    #[error(
        "cannot copy {path}: {source}; free disk space or give --out another folder, and merge again"
    )]
    Copy {
        /// What was to be copied.
        path: Utf8PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The merged journal cannot be written.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// The reports cannot be written.
    #[error(transparent)]
    Report(#[from] ReportError),
}

impl MergeError {
    /// Whether the shards are valid, and the merged folder cannot be written.
    pub fn is_environment(&self) -> bool {
        use MergeError::{Append, Copy, Out, Overlap, Report};
        matches!(self, Overlap { .. } | Out(_) | Copy { .. } | Append(_) | Report(_))
    }
}

/// A shard that ran somewhere, and the folder that it left.
struct Source {
    dir: Utf8PathBuf,
    shard: u32,
    view: JournalView,
}

impl Source {
    /// The shard and where it is: `shard 2/4 in out-2`.
    fn name(&self) -> String {
        format!("shard {}/{} in {}", self.shard, self.view.run.plan.shards, self.dir)
    }
}

/// Joins the runs in `dirs` in the folder `out`: artifacts, one journal, and the reports of all.
///
/// With `partial`, shards that are not there are troubles of the merged run, and so its exit code
/// is 1 all the same.
///
/// # Errors
/// [`MergeError`] for a missing, a doubled or a foreign shard, with nothing written.
pub fn merge(dirs: &[Utf8PathBuf], out: &Utf8Path, partial: bool) -> Result<Summary, MergeError> {
    let mut sources = Vec::new();
    for dir in dirs {
        match journal::read(&dir.join(journal::FILE_NAME)) {
            Ok(view) => sources.push(source(dir, view)?),
            Err(JournalError::Read { source, .. })
                if partial && source.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
    }
    fit(&sources, partial)?;
    apart(&sources, out)?;
    let _claim = out::prepare(out)?;
    write(sources, out)?;
    Ok(report::write_all(out)?)
}

fn source(dir: &Utf8Path, view: JournalView) -> Result<Source, MergeError> {
    let foreign = |what: &str| MergeError::Foreign { dir: dir.to_owned(), what: what.to_owned() };
    let Part::Shard(shard) = view.run.part else {
        return Err(foreign("it is a merged run already"));
    };
    // A journal from another machine must not choose where files are written here.
    let is_inside = |case: &CaseView| {
        let mut parts = case.case.dir.as_std_path().components();
        parts.all(|part| matches!(part, Component::Normal(_)))
    };
    if !view.cases.iter().all(is_inside) {
        return Err(foreign("the folder of a case is outside of it"));
    }
    if view.cases.iter().any(|case| case.case.shard != shard) {
        return Err(foreign("it contains a case of another shard"));
    }
    Ok(Source { dir: dir.to_owned(), shard, view })
}

/// Whether the sources are the shards of one plan, each once, and all there unless `partial`.
fn fit(sources: &[Source], partial: bool) -> Result<(), MergeError> {
    let first = sources.first().ok_or(MergeError::Nothing)?;
    let shards = first.view.run.plan.shards;
    for (at, source) in sources.iter().enumerate() {
        let (build, first_build) = (&source.view.run.build, &first.view.run.build);
        if build.digest != first_build.digest {
            return Err(MergeError::OtherBuild {
                shard: source.name(),
                build: Box::new(build.clone()),
                first_shard: first.name(),
                first_build: Box::new(first_build.clone()),
            });
        }
        if let Some(what) = difference(first, source).or_else(|| way_out(source)) {
            return Err(MergeError::Foreign { dir: source.dir.clone(), what });
        }
        if let Some(twin) = sources[..at].iter().find(|other| other.shard == source.shard) {
            let (first, second) = (twin.dir.clone(), source.dir.clone());
            return Err(MergeError::Doubled { shard: source.shard, shards, first, second });
        }
    }
    let is_there = |shard: &u32| sources.iter().any(|source| source.shard == *shard);
    let missing: Vec<u32> = (1..=shards).filter(|shard| !is_there(shard)).collect();
    if missing.is_empty() || partial {
        return Ok(());
    }
    Err(MergeError::Missing { missing, shards })
}

/// How `other` differs from the run that it should belong to.
fn difference(first: &Source, other: &Source) -> Option<String> {
    let facts = |run: &RunInfo| {
        [
            ("plan", run.plan.hash.clone()),
            ("number of shards", run.plan.shards.to_string()),
            ("harness", run.harness_version.clone()),
            ("browser", run.browser.version.clone()),
            ("clock", run.clock.label().to_owned()),
            ("isolation", run.isolation.label().to_owned()),
        ]
    };
    let (ours, theirs) = (facts(&first.view.run), facts(&other.view.run));
    let differing = ours.into_iter().zip(theirs).find(|(ours, theirs)| ours != theirs);
    differing.map(|((fact, ours), (_, theirs))| {
        format!("its {fact} is {theirs}, and that of {} is {ours}", first.dir)
    })
}

/// A case whose folder lies elsewhere: its files are not the shard's.
fn way_out(Source { dir, view, .. }: &Source) -> Option<String> {
    // A folder that cannot be read is reported by the copy.
    let is_outside = |at: Utf8PathBuf| files::lies_below(dir, &at).is_ok_and(|is_below| !is_below);
    let seen = view.cases.iter().find(|seen| is_outside(dir.join(&seen.case.dir)))?;
    Some(format!("the folder of {} leads out of it", seen.case.id))
}

/// Whether `out` can be replaced without touching a source.
fn apart(sources: &[Source], out: &Utf8Path) -> Result<(), MergeError> {
    let Ok(real_out) = out.canonicalize_utf8() else { return Ok(()) };
    for Source { dir, .. } in sources {
        let copy = |source| MergeError::Copy { path: dir.clone(), source };
        let real = dir.canonicalize_utf8().map_err(copy)?;
        if real.starts_with(&real_out) || real_out.starts_with(&real) {
            return Err(MergeError::Overlap { out: out.to_owned(), dir: dir.clone() });
        }
    }
    Ok(())
}

fn write(mut sources: Vec<Source>, out: &Utf8Path) -> Result<(), MergeError> {
    sources.sort_by_key(|source| source.shard);
    let cases = || sources.iter().flat_map(|source| &source.view.cases);
    let begin = RunStarted {
        run: joined(&sources)?,
        cases: cases().map(|seen| seen.case.clone()).collect(),
    };
    // Each text was cleaned where its secrets were known.
    let path = out.join(journal::FILE_NAME);
    let journal = Journal::create(&path, Redactor::default(), begin)?;
    for Source { dir, view, .. } in &sources {
        for CaseView { case, .. } in &view.cases {
            copy(&dir.join(&case.dir), &out.join(&case.dir))?;
        }
    }
    for CaseView { result, earlier, .. } in cases() {
        for result in earlier.iter().chain([result]) {
            journal.append(&Event::Finished(result.clone()))?;
        }
    }
    // The machines ran side by side.
    let finished = sources.iter().filter_map(|source| source.view.finished.as_ref());
    let seconds = finished.map(|finished| finished.seconds).fold(0.0, f64::max);
    Ok(journal.append(&Event::RunFinished(RunFinished {
        seconds,
        stopped: None,
        leaks: vec![],
    }))?)
}

/// What the shards have in common, and each of them.
fn joined(sources: &[Source]) -> Result<RunInfo, MergeError> {
    let runs: Vec<_> = sources
        .iter()
        .map(|Source { view, .. }| ShardRun {
            run: view.run.clone(),
            finished: view.finished.clone(),
        })
        .collect();
    let first = sources.first().ok_or(MergeError::Nothing)?.view.run.clone();
    let ids: Vec<_> = runs.iter().map(|shard| shard.run.run_id.as_str()).collect();
    let started = runs.iter().map(|shard| shard.run.started_at).min();
    Ok(RunInfo {
        run_id: ids.join("+"),
        started_at: started.unwrap_or(first.started_at),
        args: Vec::new(),
        part: Part::Merged(runs),
        ..first
    })
}

/// Copies the files below `from`; what is no file or folder is left behind, and a case that never
/// began has nothing to copy.
fn copy(from: &Utf8Path, to: &Utf8Path) -> Result<(), MergeError> {
    let failed = |source| MergeError::Copy { path: from.to_owned(), source };
    let entries = match from.read_dir_utf8() {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    fs::create_dir_all(to).map_err(failed)?;
    for entry in entries {
        let entry = entry.map_err(failed)?;
        let kind = entry.file_type().map_err(failed)?;
        let to = to.join(entry.file_name());
        if kind.is_dir() {
            copy(entry.path(), &to)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), &to).map_err(failed)?;
        }
    }
    Ok(())
}

fn named(missing: &[u32], shards: u32) -> String {
    let names: Vec<_> = missing.iter().map(|shard| format!("{shard}/{shards}")).collect();
    format!("{} {}", names.join(", "), if missing.len() == 1 { "is" } else { "are" })
}

#[cfg(test)]
mod tests;
