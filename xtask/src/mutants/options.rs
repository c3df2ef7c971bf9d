//! The arguments of `cargo xtask mutants`.

use std::str::FromStr;

use anyhow::ensure;
use camino::Utf8PathBuf;
use pico_args::Arguments;

/// What `cargo xtask mutants --help` prints.
pub const HELP: &str = "\
Runs the end-to-end scenarios on mutants of the browser client, and reports which mutants they detect.

Usage: cargo xtask mutants [OPTIONS]
       cargo xtask mutants --report [FILE…]

Each mutant removes one guard or one reset of recovery-e2e/web/static/recovery/*.js. The scenarios of
its family run on it until one fails. The outcome of a mutant is `failed` (detected), `error`,
`inconclusive` or `survived`. A mutant that did not fail needs a reason in ci/mutants-accepted.json.

Results are appended to target/mutants/results.jsonl. Ctrl-C stops the run; the next one continues
with the mutants that have no result for this client and this harness.

Options:
  --only GLOB|ID             only mutants with this id or in this module; may be repeated
  --shard I/N                only every N-th mutant, beginning with the I-th
  --jobs N                   how many scenarios run at a time [default: the harness decides]
  --fresh                    delete all results first
  --list                     print the mutants and run nothing
  --report [FILE…]           run nothing, report these results, such as those of several shards
                             [default: target/mutants/results.jsonl]
  --keep                     also write docs/mutants.md; not with --only or --shard
  --browser nix|system|PATH  the browser to run [default: E2E_BROWSER, else the pinned one if Nix
                             is installed, else the first one on PATH]
  --require-pinned           fail unless the browser is the one that flake.nix pins
  --no-install               do not install missing programs with apt
  -h, --help                 print this help

Files: target/mutants/report.md   every mutant, and what changes each field of each stamp
       target/mutants/kept/ID/    artifacts of the inconclusive and error cases of a mutant
       target/mutants/run.log     what the harness printed last

Examples:
  cargo xtask mutants                            # all mutants, or those that are left
  cargo xtask mutants --only gate.js --jobs 1    # the mutants of one module
  cargo xtask mutants --only core-1a2b3c4d       # one mutant
  cargo xtask mutants --report a.jsonl b.jsonl   # two shards as one report

Exit: 0 ok; 1 at least one mutant did not fail and has no reason, or has no result; for a whole run
also: a reason matches no mutant, or fewer than 90 % of the mutants failed; 2 bad arguments or a
broken environment.
";

/// The arguments, but for those that choose the browser.
pub struct Options {
    pub only: Vec<String>,
    pub shard: Option<Shard>,
    pub jobs: Option<u32>,
    pub fresh: bool,
    pub list: bool,
    pub keep: bool,
    /// Files to report instead of a run.
    pub report: Option<Vec<Utf8PathBuf>>,
}

/// Part `index` of `count`; the first is 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    index: usize,
    count: usize,
}

impl Options {
    pub fn take(mut args: Arguments) -> anyhow::Result<Options> {
        let is_report = args.contains("--report");
        let mut options = Options {
            only: args.values_from_str("--only")?,
            shard: args.opt_value_from_str("--shard")?,
            jobs: args.opt_value_from_str("--jobs")?,
            fresh: args.contains("--fresh"),
            list: args.contains("--list"),
            keep: args.contains("--keep"),
            report: None,
        };
        let rest = args.finish();
        let is_flag = |arg: &&std::ffi::OsString| arg.to_string_lossy().starts_with('-');
        if let Some(unknown) = rest.iter().find(|arg| !is_report || is_flag(arg)) {
            anyhow::bail!(
                "`mutants` has no argument {unknown:?}; see `cargo xtask mutants --help`"
            );
        }
        if is_report {
            let files =
                rest.into_iter().map(|file| Utf8PathBuf::try_from(std::path::PathBuf::from(file)));
            options.report = Some(files.collect::<Result<_, _>>()?);
        }
        ensure!(
            options.is_whole() || !options.keep,
            "--keep writes a report of all mutants; leave out --only and --shard"
        );
        Ok(options)
    }

    /// Whether all mutants are meant.
    pub fn is_whole(&self) -> bool {
        self.only.is_empty() && self.shard.is_none()
    }
}

impl Shard {
    /// Whether the item at this index, from 0, belongs to this part.
    pub fn has(self, item: usize) -> bool {
        item % self.count == self.index - 1
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let numbers = text.split_once('/').and_then(|(index, count)| {
            Some(Shard { index: index.parse().ok()?, count: count.parse().ok()? })
        });
        numbers
            .filter(|shard| (1..=shard.count).contains(&shard.index))
            .ok_or_else(|| format!("{text:?} is no shard; give one such as 2/4"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(args: &[&str]) -> anyhow::Result<Options> {
        Options::take(Arguments::from_vec(args.iter().map(Into::into).collect()))
    }

    #[test]
    fn every_item_belongs_to_exactly_one_shard() {
        let shards: Vec<Shard> = (1..=3).map(|i| format!("{i}/3").parse().unwrap()).collect();
        for item in 0..10 {
            assert_eq!(shards.iter().filter(|shard| shard.has(item)).count(), 1, "{item}");
        }
        for text in ["0/3", "4/3", "1", "1/0", "a/3", "1/3/3", ""] {
            assert!(text.parse::<Shard>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn files_need_report_and_keep_needs_all_mutants() {
        let options = take(&["--report", "a.jsonl", "b.jsonl", "--keep"]).unwrap();
        assert_eq!(options.report.unwrap(), ["a.jsonl", "b.jsonl"]);
        assert_eq!(take(&["--report"]).unwrap().report.unwrap(), [] as [&str; 0]);
        assert_eq!(take(&["--only", "a", "--only", "b"]).unwrap().only, ["a", "b"]);
        for args in [
            &["a.jsonl"][..],
            &["--report", "--nonsense"],
            &["--keep", "--shard", "1/2"],
            &["--keep", "--only", "core.js"],
        ] {
            assert!(take(args).is_err(), "{args:?}");
        }
    }
}
