//! The node's handle on the replicated log.

use std::sync::Arc;

use bindery_proto::raft::meeting_server::MeetingServer;
use bindery_proto::raft::peer_server::PeerServer as PeerServiceServer;
use bindery_proto::raft::raft_server::RaftServer as RaftServiceServer;
use bytes::Bytes;
use openraft::async_runtime::WatchReceiver;
use tokio::time::{Duration, Instant};

use super::inner::{Inner, Phase};
use super::peer_server::PeerServer;
use super::start;
use crate::clock::{Clock, Randomness};
use crate::codec::MAX_MESSAGE_BYTES;
use crate::error::{BarrierError, ChangeError, ProposeError, StartError};
use crate::machine::Machine;
use crate::member::meeting::Meeting;
use crate::network::Network;
use crate::options::Options;
use crate::position::LogPosition;
use crate::rpc::server::RaftServer;
use crate::status::ClusterStatus;

/// A graceful stop hands leadership over within this, or stops without.
const HANDOVER_TIMEOUT: Duration = Duration::from_secs(2);

/// A proposal's outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposed {
    /// Where the command stands in the log.
    pub position: LogPosition,
    /// The machine's reply.
    pub reply: Bytes,
}

/// One node's part in the cluster. Cheap to clone.
#[derive(Clone)]
pub struct Cluster {
    inner: Arc<Inner>,
}

impl Cluster {
    /// Starts this node's part. Returns once local data is open; forming or joining a cluster goes on in the
    /// background and needs [`Cluster::routes`] to be served at `options.advertise`.
    pub async fn start(
        options: Options,
        machine: Arc<dyn Machine>,
        network: Arc<dyn Network>,
        clock: Arc<dyn Clock>,
        randomness: Arc<dyn Randomness>,
    ) -> Result<Cluster, StartError> {
        let inner = start::start(options, machine, network, clock, randomness).await?;
        Ok(Cluster { inner })
    }

    /// The gRPC services to be served at `advertise`.
    pub fn routes(&self) -> tonic::service::Routes {
        let raft = RaftServiceServer::new(RaftServer { inner: self.inner.clone() })
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES);
        let peer = PeerServiceServer::new(PeerServer { inner: self.inner.clone() })
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES);
        let meeting = MeetingServer::new(Meeting { inner: self.inner.clone() });
        tonic::service::Routes::new(raft).add_service(peer).add_service(meeting)
    }

    /// Replicates a command and returns after this node has applied it. On any node: a follower passes it on
    /// to the leader.
    pub async fn propose(&self, payload: Bytes, deadline: Instant) -> Result<Proposed, ProposeError> {
        self.inner.propose(payload, deadline).await
    }

    /// Returns once this node has applied everything acknowledged before the call, with the index.
    pub async fn read_barrier(&self, deadline: Instant) -> Result<u64, BarrierError> {
        self.inner.read_barrier(deadline).await
    }

    /// Index of the last entry applied here.
    pub fn applied_index(&self) -> Option<u64> {
        match self.inner.running() {
            Some(running) => running.apply.applied.applied(),
            None => self.inner.machine.applied().position.map(|p| p.index),
        }
    }

    /// Waits until this node has applied `index`.
    pub async fn wait_applied(&self, index: u64, deadline: Instant) -> Result<(), BarrierError> {
        let running = self.inner.wait_running(deadline).await.map_err(|_| BarrierError::NotMember)?;
        match tokio::time::timeout_at(deadline, running.apply.applied.wait(index)).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(BarrierError::Stopped),
            Err(_) => Err(BarrierError::Deadline),
        }
    }

    /// Waits until this node is a member of a cluster.
    pub async fn wait_member(&self, deadline: Instant) -> Result<(), BarrierError> {
        self.inner.wait_running(deadline).await.map(|_| ()).map_err(|_| BarrierError::NotMember)
    }

    /// The cluster as this node sees it.
    pub fn status(&self) -> ClusterStatus {
        self.inner.status()
    }

    /// Hands leadership to the named node, or to the best follower. On any node.
    pub async fn transfer_leader(&self, to: Option<&str>, deadline: Instant) -> Result<(), ChangeError> {
        self.inner.transfer_leader(to.unwrap_or_default(), deadline).await
    }

    /// Admits a blank node that runs at `address`. On any node. Returns its id.
    pub async fn add_member(
        &self,
        name: &str,
        address: &str,
        replica: bool,
        deadline: Instant,
    ) -> Result<u64, ChangeError> {
        self.inner.add_member(name, address, replica, deadline).await
    }

    /// Removes a node for good. On any node.
    pub async fn remove_member(&self, name: &str, deadline: Instant) -> Result<(), ChangeError> {
        self.inner.remove_member(name, deadline).await
    }

    /// Resolves, with the reason, when consensus on this node has ended without [`Cluster::shutdown`]: the
    /// process should end too.
    pub async fn failed(&self) -> String {
        let mut phases = self.inner.phase.subscribe();
        loop {
            let phase = phases.borrow_and_update().clone();
            match phase {
                Phase::Failed(why) => return why,
                Phase::Running(running) => {
                    let mut metrics = running.raft.metrics();
                    tokio::select! {
                        biased;
                        _ = phases.changed() => {}
                        why = async {
                            loop {
                                if let Err(fatal) = &metrics.borrow_watched().running_state {
                                    return fatal.to_string();
                                }
                                if metrics.changed().await.is_err() {
                                    return "the consensus core ended".into();
                                }
                            }
                        } => {
                            if !matches!(*self.inner.phase.borrow(), Phase::Stopped) {
                                return why;
                            }
                        }
                    }
                }
                Phase::Joining(_) => {
                    let _ = phases.changed().await;
                }
                Phase::Stopped => std::future::pending().await,
            }
        }
    }

    /// Hands leadership over if this node leads, then stops. What was acknowledged is durable.
    pub async fn shutdown(&self) {
        if let Some(running) = self.inner.running()
            && running.metrics().current_leader == Some(running.id)
        {
            let deadline = Instant::now() + HANDOVER_TIMEOUT;
            if let Err(error) = self.inner.transfer_leader("", deadline).await {
                tracing::info!(%error, "stopping without handing leadership over");
            }
        }
        let before = self.inner.phase.send_replace(Phase::Stopped);
        for task in self.inner.tasks.lock().drain(..) {
            task.abort();
        }
        if let Phase::Running(running) = before {
            let _ = running.raft.shutdown().await;
            running.apply.applied.close();
            let _ = running.log.close().await;
        }
    }
}
