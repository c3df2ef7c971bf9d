//! Arguments of `serve`.

use camino::Utf8PathBuf;
use clap::Args;

use super::{BROWSER, program_of_node};

/// Arguments of `serve`.
#[derive(Clone, Debug, Args)]
pub struct ServeArgs {
    /// Serve at this port of 127.0.0.1; 0 for a free one
    #[arg(long, value_name = "PORT", default_value_t = 0, help_heading = BROWSER)]
    pub keep_open: u16,

    /// The node to start [default: the recovery-node-control beside this program]
    #[arg(long, value_name = "PATH", env = "E2E_NODE", hide_env_values = true, help_heading = BROWSER)]
    node: Option<Utf8PathBuf>,
}

impl ServeArgs {
    /// The node's program.
    pub fn node(&self) -> Utf8PathBuf {
        program_of_node(self.node.as_deref())
    }
}
