//! Which build of the program made a plan or a run.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How many digits of a digest or a commit are shown to a person: enough to distinguish any two.
const SHOWN_DIGITS: usize = 16;

/// The sources that a harness was built from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildInfo {
    /// SHA-256 over the sources of node, client and harness, in hexadecimal digits. Builds on
    /// several machines have the same digest exactly when they have the same sources.
    pub digest: String,
    /// The git commit at which these sources were built, where it is known.
    pub commit: Option<String>,
    /// Whether the sources contained changes that are not in that commit.
    pub dirty: bool,
}

impl BuildInfo {
    /// The build of this program.
    pub fn of_this_program() -> BuildInfo {
        BuildInfo {
            digest: env!("E2E_BUILD_DIGEST").to_owned(),
            commit: Some(env!("E2E_BUILD_COMMIT").to_owned()).filter(|commit| !commit.is_empty()),
            dirty: env!("E2E_BUILD_DIRTY") == "true",
        }
    }
}

impl fmt::Display for BuildInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let commit = self.commit.as_deref().unwrap_or("unknown");
        let dirty = if self.dirty { ", dirty" } else { "" };
        write!(f, "digest {}, commit {}{dirty}", short(&self.digest), short(commit))
    }
}

/// The first digits of a hash, as they are shown to a person.
pub fn short(hash: &str) -> &str {
    hash.get(..SHOWN_DIGITS).unwrap_or(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_is_shown_with_short_hashes_and_says_when_it_is_dirty_or_of_no_known_commit() {
        let digest = "0123456789abcdef0123456789abcdef".to_owned();
        let commit = "fedcba9876543210fedcba9876543210".to_owned();
        let build = BuildInfo { digest, commit: Some(commit), dirty: true };
        assert_eq!(build.to_string(), "digest 0123456789abcdef, commit fedcba9876543210, dirty");
        let build = BuildInfo { commit: None, dirty: false, ..build };
        assert_eq!(build.to_string(), "digest 0123456789abcdef, commit unknown");
    }

    #[test]
    fn this_program_knows_the_digest_of_its_sources() {
        let BuildInfo { digest, .. } = BuildInfo::of_this_program();
        assert!(digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit()));
    }
}
