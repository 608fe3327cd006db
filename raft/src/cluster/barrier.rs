//! The read barrier: one read index in flight, shared by all that waited when it started.

use std::sync::{Arc, Weak};

use bindery_proto::raft as wire;
use openraft::ReadPolicy;
use openraft::errors::{LinearizableReadError, RaftError};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Duration, Instant};
use wire::read_index_reply::Result as Reply;

use super::inner::Inner;
use super::leader::Leader;
use super::running::Running;
use crate::error::BarrierError;

/// Reads that may wait for the next barrier.
pub(super) const MAX_WAITING: usize = 1 << 16;
/// One round's time: more than an election, so that it fails for want of a quorum and not of patience.
const ROUND_TIMEOUT: Duration = Duration::from_secs(2);
/// Pause before a read without a leader tries again.
const RETRY_PAUSE: Duration = Duration::from_millis(10);

/// One read.
pub(crate) type Waiter = oneshot::Sender<Result<u64, BarrierError>>;

/// Serves waiting reads for as long as the node lives.
pub(super) async fn serve(inner: Weak<Inner>, running: Weak<Running>, mut waiting: mpsc::Receiver<Waiter>) {
    let mut round = Vec::new();
    while waiting.recv_many(&mut round, MAX_WAITING).await > 0 {
        round.retain(|waiter: &Waiter| !waiter.is_closed());
        let (Some(inner), Some(running)) = (inner.upgrade(), running.upgrade()) else { return };
        if round.is_empty() {
            continue;
        }
        let result = match tokio::time::timeout(ROUND_TIMEOUT, inner.read_index(&running)).await {
            Ok(result) => result,
            Err(_) => Err(BarrierError::NoQuorum { why: "the read index was not confirmed in time".into() }),
        };
        for waiter in round.drain(..) {
            // It may have given up.
            let _ = waiter.send(result.clone());
        }
    }
}

impl Running {
    /// The read index, on the leader.
    pub(super) async fn read_index_here(&self) -> Result<u64, BarrierError> {
        match self.raft.get_read_log_id(ReadPolicy::ReadIndex).await {
            Ok((id, _)) => Ok(id.index()),
            Err(RaftError::APIError(LinearizableReadError::ForwardToLeader(_))) => {
                Err(BarrierError::NoLeader { why: "this node does not lead".into() })
            }
            Err(RaftError::APIError(error)) => Err(BarrierError::NoQuorum { why: error.to_string() }),
            Err(RaftError::Fatal(_)) => Err(BarrierError::Stopped),
        }
    }
}

impl Inner {
    /// The read index, wherever the leader is.
    async fn read_index(&self, running: &Running) -> Result<u64, BarrierError> {
        match running.leader() {
            Leader::Unknown => Err(BarrierError::NoLeader { why: "none is known".into() }),
            Leader::Me => running.read_index_here().await,
            Leader::Other { id, address } => {
                let no_leader = |why: String| BarrierError::NoLeader { why };
                let mut client = self.peer(&address).map_err(no_leader)?;
                let reply = client
                    .read_index(running.envelope(id).wrap(wire::Empty {}))
                    .await
                    .map_err(|status| no_leader(status.message().to_owned()))?;
                match reply.into_inner().result {
                    Some(Reply::Index(index)) => Ok(index),
                    Some(Reply::NoQuorum(why)) => Err(BarrierError::NoQuorum { why }),
                    Some(Reply::NoLeader(why)) => Err(no_leader(why)),
                    None => Err(no_leader("empty answer".into())),
                }
            }
        }
    }

    /// See [`crate::Cluster::read_barrier`].
    pub async fn read_barrier(&self, deadline: Instant) -> Result<u64, BarrierError> {
        let running = self.wait_running(deadline).await.map_err(|_| BarrierError::NotMember)?;
        loop {
            let (sender, receiver) = oneshot::channel();
            let asked = async {
                running.barriers.send(sender).await.map_err(|_| BarrierError::Stopped)?;
                receiver.await.map_err(|_| BarrierError::Stopped)?
            };
            let answer = match tokio::time::timeout_at(deadline, asked).await {
                Ok(answer) => answer,
                Err(_) => return Err(BarrierError::Deadline),
            };
            match answer {
                Ok(index) => {
                    return match tokio::time::timeout_at(deadline, running.apply.applied.wait(index)).await {
                        Ok(true) => Ok(index),
                        Ok(false) => Err(BarrierError::Stopped),
                        Err(_) => Err(BarrierError::Deadline),
                    };
                }
                // An election may be under way: a read waits for its end as a write does.
                Err(BarrierError::NoLeader { .. } | BarrierError::NoQuorum { .. })
                    if Instant::now() + RETRY_PAUSE < deadline =>
                {
                    tokio::time::sleep(RETRY_PAUSE).await;
                }
                Err(error) => return Err(error),
            }
        }
    }
}

/// Starts the task; the handle goes into [`Running`].
pub(super) fn queue() -> (mpsc::Sender<Waiter>, mpsc::Receiver<Waiter>) {
    mpsc::channel(MAX_WAITING)
}

pub(super) fn spawn(inner: &Arc<Inner>, running: &Arc<Running>, waiting: mpsc::Receiver<Waiter>) {
    inner.spawn(serve(Arc::downgrade(inner), Arc::downgrade(running), waiting));
}
