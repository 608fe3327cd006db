//! Proposing: on the leader into the log, elsewhere through the leader.

use bytes::Bytes;
use tokio::sync::oneshot;
use tokio::time::{Duration, Instant};

use super::handle::Proposed;
use super::inner::Inner;
use super::leader::Leader;
use super::proposer::Proposal;
use super::running::Running;
use crate::codec::MAX_COMMAND_BYTES;
use crate::error::ProposeError;

/// Pause before looking for a leader again.
const LEADER_PAUSE: Duration = Duration::from_millis(10);

/// What one attempt came to.
pub(crate) enum Attempt {
    Done(Proposed),
    /// Certainly in no log: may be tried again.
    NotApplied(String),
    Unknown(String),
}

impl Inner {
    /// See [`crate::Cluster::propose`].
    pub async fn propose(&self, payload: Bytes, deadline: Instant) -> Result<Proposed, ProposeError> {
        if payload.len() > MAX_COMMAND_BYTES {
            return Err(ProposeError::NotApplied { why: format!("a command of {} bytes is too large", payload.len()) });
        }
        let Ok(_place) = self.proposals.try_acquire() else {
            return Err(ProposeError::NotApplied { why: "too many writes are waiting on this node".into() });
        };
        let give_up = deadline.min(Instant::now() + self.options.write_wait);
        loop {
            let running = self.wait_running(give_up).await.map_err(|why| ProposeError::NotApplied { why })?;
            let attempt = match running.leader() {
                Leader::Me => self.propose_here(&running, payload.clone(), deadline).await,
                Leader::Other { id, address } => self.forward(&running, id, &address, payload.clone(), deadline).await,
                Leader::Unknown => Attempt::NotApplied("no leader".into()),
            };
            match attempt {
                Attempt::Done(proposed) => return self.applied_here(&running, proposed, deadline).await,
                Attempt::Unknown(why) => return Err(ProposeError::Unknown { why }),
                Attempt::NotApplied(why) if Instant::now() + LEADER_PAUSE >= give_up => {
                    return Err(ProposeError::NotApplied { why });
                }
                Attempt::NotApplied(_) => tokio::time::sleep(LEADER_PAUSE).await,
            }
        }
    }

    /// A client reads its own writes on this node: wait until it has applied this one.
    async fn applied_here(
        &self,
        running: &Running,
        proposed: Proposed,
        deadline: Instant,
    ) -> Result<Proposed, ProposeError> {
        match tokio::time::timeout_at(deadline, running.apply.applied.wait(proposed.position.index)).await {
            Ok(true) => Ok(proposed),
            Ok(false) => Err(ProposeError::Unknown { why: "this node stopped before it had applied the write".into() }),
            Err(_) => Err(ProposeError::Unknown { why: "this node has not yet applied the write".into() }),
        }
    }

    /// One attempt on this node as leader.
    pub(super) async fn propose_here(&self, running: &Running, payload: Bytes, deadline: Instant) -> Attempt {
        let (answer, answered) = oneshot::channel();
        let submitted = async {
            running.proposer.send(Proposal { payload, answer }).await.ok()?;
            answered.await.ok()
        };
        match tokio::time::timeout_at(deadline, submitted).await {
            Ok(Some(attempt)) => attempt,
            Ok(None) => Attempt::Unknown("this node is stopping".into()),
            Err(_) => Attempt::Unknown("the deadline passed while the write was being replicated".into()),
        }
    }
}
