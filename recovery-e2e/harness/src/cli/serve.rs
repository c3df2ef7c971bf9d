//! What `serve` takes.

use camino::Utf8PathBuf;
use clap::Args;

use super::program_of_node;

/// A stage for a person.
#[derive(Clone, Debug, Args)]
pub struct ServeArgs {
    /// Serve at this port of 127.0.0.1 until Ctrl-C; 0 takes a free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub keep_open: u16,

    /// The node [default: the recovery-node-control beside this program]
    #[arg(long, value_name = "PATH", env = "E2E_NODE")]
    node: Option<Utf8PathBuf>,
}

impl ServeArgs {
    /// The node's program.
    pub fn node(&self) -> Utf8PathBuf {
        program_of_node(self.node.as_deref())
    }
}
