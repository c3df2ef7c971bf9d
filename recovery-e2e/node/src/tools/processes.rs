//! The tools that run now, for the control socket.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;

/// A process of a tool.
#[derive(Clone, Debug, Serialize)]
pub struct Process {
    /// Its id, which is that of its group too.
    pub pid: u32,
    /// The workstream.
    pub ws_id: String,
    /// The call that it carries out.
    pub call_id: String,
    /// The tool.
    pub tool: &'static str,
    /// When it was started, in milliseconds since 1970.
    pub started_ms: u128,
}

/// All of them.
#[derive(Debug, Default)]
pub struct Processes(Mutex<BTreeMap<u32, Process>>);

/// Keeps a process on the list.
#[derive(Debug)]
pub struct Listed<'a> {
    processes: &'a Processes,
    pid: u32,
}

impl Processes {
    /// Lists a process of the shell until the answer is dropped.
    pub fn list(&self, pid: u32, ws_id: &str, call_id: &str) -> Listed<'_> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let (ws_id, call_id) = (ws_id.to_owned(), call_id.to_owned());
        let process = Process { pid, ws_id, call_id, tool: "bash", started_ms: since.as_millis() };
        self.locked().insert(pid, process);
        Listed { processes: self, pid }
    }

    /// What runs now.
    pub fn all(&self) -> Vec<Process> {
        self.locked().values().cloned().collect()
    }

    fn locked(&self) -> MutexGuard<'_, BTreeMap<u32, Process>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Listed<'_> {
    fn drop(&mut self) {
        self.processes.locked().remove(&self.pid);
    }
}
