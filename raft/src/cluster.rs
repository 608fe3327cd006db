//! The node's handle on the replicated log.
#![allow(clippy::unimplemented)]

use std::sync::Arc;

use bytes::Bytes;
use tokio::time::Instant;

use crate::clock::{Clock, Randomness};
use crate::error::{BarrierError, ChangeError, ProposeError, StartError};
use crate::machine::Machine;
use crate::network::Network;
use crate::options::Options;
use crate::position::LogPosition;
use crate::status::ClusterStatus;

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
pub struct Cluster {}

impl Cluster {
    /// Starts this node's part. Returns once local data is open; forming or joining a cluster goes on in the
    /// background and needs [`Cluster::routes`] to be served.
    pub async fn start(
        _options: Options,
        _machine: Arc<dyn Machine>,
        _network: Arc<dyn Network>,
        _clock: Arc<dyn Clock>,
        _randomness: Arc<dyn Randomness>,
    ) -> Result<Cluster, StartError> {
        unimplemented!()
    }

    /// The gRPC services to be served at `advertise`.
    pub fn routes(&self) -> tonic::service::Routes {
        unimplemented!()
    }

    /// Replicates a command and returns after this node has applied it. On any node.
    pub async fn propose(&self, _payload: Bytes, _deadline: Instant) -> Result<Proposed, ProposeError> {
        unimplemented!()
    }

    /// Returns once this node has applied everything acknowledged before the call, with the index.
    pub async fn read_barrier(&self, _deadline: Instant) -> Result<u64, BarrierError> {
        unimplemented!()
    }

    /// Index of the last entry applied here.
    pub fn applied_index(&self) -> Option<u64> {
        unimplemented!()
    }

    /// Waits until this node has applied `index`.
    pub async fn wait_applied(&self, _index: u64, _deadline: Instant) -> Result<(), BarrierError> {
        unimplemented!()
    }

    /// The cluster as this node sees it.
    pub fn status(&self) -> ClusterStatus {
        unimplemented!()
    }

    /// Hands leadership to the named node, or to the best follower.
    pub async fn transfer_leader(&self, _to: Option<&str>, _deadline: Instant) -> Result<(), ChangeError> {
        unimplemented!()
    }

    /// Admits a node that waits to join.
    pub async fn add_member(
        &self,
        _name: &str,
        _address: &str,
        _replica: bool,
        _deadline: Instant,
    ) -> Result<u64, ChangeError> {
        unimplemented!()
    }

    /// Removes a node for good.
    pub async fn remove_member(&self, _name: &str, _deadline: Instant) -> Result<(), ChangeError> {
        unimplemented!()
    }

    /// Hands leadership over if this node leads, then stops.
    pub async fn shutdown(&self) {
        unimplemented!()
    }
}
