//! Ends the tools of a node that dies: a process that outlives the node by a moment.
//!
//! Linux can signal a child when its parent dies, but only a direct child, and only of the
//! *thread* that made it. A pipe is exact: however the node ends, its end of the pipe closes.

use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// Notes the groups that run, and kills those that are left when its input ends. What ends a
/// node politely is for the node; this waits for the pipe.
const SCRIPT: &str = r#"
trap '' HUP INT TERM
declare -A groups
while read -r change group; do
    case $change in
        begin) groups[$group]=1 ;;
        end) unset "groups[$group]" ;;
    esac
done
for group in "${!groups[@]}"; do kill -KILL -- "-$group"; done
"#;

/// The process, once there was a tool to keep.
#[derive(Debug, Default)]
pub struct Keeper(Mutex<Option<ChildStdin>>);

/// A group that is killed when the node dies before this is dropped.
#[derive(Debug)]
pub struct Kept<'a> {
    keeper: &'a Keeper,
    group: u32,
}

impl Keeper {
    /// Keeps a group. Where that cannot be done it runs all the same, and would outlive the node.
    pub fn keep(&self, group: u32) -> Kept<'_> {
        if let Err(error) = self.write("begin", group) {
            tracing::warn!(%error, group, "cannot watch a tool; it would survive a crash of the node");
        }
        Kept { keeper: self, group }
    }

    fn write(&self, change: &str, group: u32) -> io::Result<()> {
        let mut pipe = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let pipe = match &mut *pipe {
            Some(pipe) => pipe,
            none => none.insert(start()?),
        };
        // In one piece: a line cut short would name another group.
        pipe.write_all(format!("{change} {group}\n").as_bytes())
    }
}

impl Drop for Kept<'_> {
    fn drop(&mut self) {
        // Without its keeper the group is not on any list.
        let _ = self.keeper.write("end", self.group);
    }
}

fn start() -> io::Result<ChildStdin> {
    let mut child = Command::new("bash")
        .args(["-c", SCRIPT])
        .env_remove(crate::model::KEY_VARIABLE)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()?;
    child.stdin.take().ok_or_else(|| io::Error::other("the keeper process has no standard input"))
}
