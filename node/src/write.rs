//! The write path: a prepared command goes into the log and comes back as a reply.

use bindery_directory::OpError;
use bindery_directory::command::{Command, Done, Reply};
use bindery_raft::{Cluster, ProposeError};
use tokio::time::Instant;

use crate::limits;

/// Why a write was not done, or may not have been.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The directory refused it; nothing changed.
    #[error(transparent)]
    Refused(#[from] OpError),
    /// It is not in the log and will not be, or nobody knows whether it is.
    #[error(transparent)]
    Propose(#[from] ProposeError),
}

/// A write that is done, and visible in every later view of this node.
#[derive(Debug, Clone)]
pub struct Written {
    /// What was done.
    pub done: Done,
    /// The log index of the write.
    pub index: u64,
}

/// Replicates a command. Returns after this node has applied it.
pub async fn write(cluster: &Cluster, command: &Command) -> Result<Written, WriteError> {
    let payload = command.to_payload()?;
    let proposed = cluster.propose(payload, Instant::now() + limits::WRITE_DEADLINE).await?;
    let done = Reply::from_bytes(&proposed.reply).into_result()?;
    Ok(Written { done, index: proposed.position.index })
}
