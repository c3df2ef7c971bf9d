//! The tools that a model may call: what a call asks for, and the processes that do it.

mod bash;
mod keeper;
mod output;
mod plan;
#[cfg(feature = "control")]
mod processes;

use std::io;
use std::time::Duration;

use camino::Utf8PathBuf;

use crate::halt::Halted;
use crate::lane::Lane;
use bash::Bash;
use keeper::Keeper;
use output::Output;
#[cfg(feature = "control")]
use processes::{Process, Processes};

pub use bash::Ended;
pub use output::Address;
pub use plan::{Caller, Planned, Refusal, Tool, declarations, plan};

/// The limits of tools, and where they run.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder that contains the working folder of each workstream.
    pub folder: Utf8PathBuf,
    /// How long a command may run.
    pub limit: Duration,
    /// Bytes that are kept of the output of a call.
    pub output_bytes: usize,
}

/// The tools of one node.
pub struct Toolbox {
    options: Options,
    keeper: Keeper,
    #[cfg(feature = "control")]
    processes: Processes,
}

/// The result of a command.
pub struct Finished {
    /// Its output, and a note if it failed.
    pub output: String,
    /// Whether it failed.
    pub is_error: bool,
}

impl Toolbox {
    /// Tools of which none runs.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            keeper: Keeper::default(),
            #[cfg(feature = "control")]
            processes: Processes::default(),
        }
    }

    /// Runs a command in the working folder of the workstream `ws_id`, and publishes its output
    /// on `lane` while it runs. It ends within the smaller of `limit` and the limit of the node.
    pub async fn bash(
        &self,
        ws_id: &str,
        lane: &Lane,
        address: Address<'_>,
        (command, limit): (&str, Option<Duration>),
        halted: &Halted,
    ) -> Finished {
        let limit = limit.unwrap_or(Duration::MAX).min(self.options.limit);
        let mut output = Output::new(lane, address, self.options.output_bytes);
        let ended = self.run(ws_id, address.call_id, command, limit, halted, &mut output).await;
        let note = ended.unwrap_or_else(Ended::NotRun).note();
        Finished { is_error: note.is_some(), output: output.finish(note.as_deref()) }
    }

    async fn run(
        &self,
        ws_id: &str,
        #[cfg_attr(not(feature = "control"), allow(unused_variables))] call_id: &str,
        command: &str,
        limit: Duration,
        halted: &Halted,
        output: &mut Output<'_>,
    ) -> io::Result<Ended> {
        let bash = Bash::start(command, self.folder(ws_id).as_std_path())?;
        let id = bash.id();
        let _kept = id.map(|group| self.keeper.keep(group));
        #[cfg(feature = "control")]
        let _listed = id.map(|pid| self.processes.list(pid, ws_id, call_id));
        bash.finish(limit, halted, output).await
    }

    /// Deletes the files that the tools of a workstream made.
    pub async fn delete_files(&self, ws_id: &str) {
        let folder = self.folder(ws_id);
        match tokio::fs::remove_dir_all(&folder).await {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(%folder, %error, "cannot delete the files of a deleted workstream");
            }
            _ => {}
        }
    }

    /// The processes that run now.
    #[cfg(feature = "control")]
    pub fn processes(&self) -> Vec<Process> {
        self.processes.all()
    }

    fn folder(&self, ws_id: &str) -> Utf8PathBuf {
        self.options.folder.join(ws_id)
    }
}
