//! Ending and starting the node while the browser goes on.

use std::process::ExitStatus;

use crate::node::control_socket::ControlSocket;
use crate::node::process::Node;
use crate::node::wire::Wire;
use crate::os::children::Children;
use crate::scenario::CaseLog;
use crate::scenario::stage::{Stage, StageError};
use crate::wait::Kind;

impl Stage {
    /// Ends the node in good order, and starts it again on the same data behind the same origin.
    ///
    /// # Errors
    /// When there is none, or it does not start.
    pub async fn restart(&mut self) -> Result<(), StageError> {
        self.stop_node().await?;
        self.start_node().await
    }

    /// Ends the node in good order. Until it is started again the proxy breaks connections.
    ///
    /// # Errors
    /// When there is none.
    pub async fn stop_node(&mut self) -> Result<(), StageError> {
        let node = self.node.take().ok_or(StageError::NoNode)?;
        observe_end(&self.log, node.stop().await);
        Ok(())
    }

    /// Kills the node, waits for its death, and then kills what it left. Until it is started
    /// again the proxy breaks connections.
    ///
    /// # Errors
    /// When there is none.
    pub async fn kill_node(&mut self) -> Result<(), StageError> {
        self.node.take().ok_or(StageError::NoNode)?.kill().await;
        Ok(())
    }

    /// Starts the node again, on the same data, and renews what the harness holds of it.
    ///
    /// # Errors
    /// When it does not start.
    pub async fn start_node(&mut self) -> Result<(), StageError> {
        let node = Node::start(&self.node_config).await?;
        self.wire = Wire::new(node.address(), node.login().token());
        self.control = ControlSocket::new(node.control_socket())?;
        self.proxy.point_at(node.address());
        self.node = Some(node);
        Ok(())
    }

    /// After the node has died unasked: kills what it left, and starts it again on the same data
    /// behind the same origin. It is one of `children` then, which report the next death.
    ///
    /// # Errors
    /// When it does not start.
    pub async fn revive_node(&mut self, children: &Children) -> Result<(), StageError> {
        self.kill_node().await?;
        self.node_config.children = children.clone();
        self.start_node().await
    }

    /// The id of the node's process, which a restart changes.
    ///
    /// # Errors
    /// When there is none.
    pub fn node_pid(&self) -> Result<u32, StageError> {
        self.node()?.pid().ok_or(StageError::NoNode)
    }

    pub(super) fn node(&self) -> Result<&Node, StageError> {
        self.node.as_ref().ok_or(StageError::NoNode)
    }
}

/// Keeps how a node ended: one that had to be killed has not shown that it can end.
pub(super) fn observe_end(log: &CaseLog, status: Option<ExitStatus>) {
    let held = status.is_some_and(|status| status.success());
    let saw = status.map_or("it had to be killed".to_owned(), |status| status.to_string());
    log.observe(Kind::Need, "the node ended in good order when asked to", held, &saw);
}
