//! What members ask of each other beside Raft.

use std::sync::Arc;

use bindery_proto::raft as wire;
use bindery_proto::raft::peer_server::Peer as PeerService;
use tokio::time::{Duration, Instant};
use tonic::{Request, Response, Status};
use wire::propose_reply::{Applied, Outcome};

use super::inner::Inner;
use super::propose::Attempt;
use crate::codec::{MAX_COMMAND_BYTES, log_id_to_wire};
use crate::core::types::log_id;
use crate::error::BarrierError;

/// No forwarded write is waited for longer than this, whatever the sender asks.
const MAX_WAIT_MS: u64 = 600_000;

#[derive(Clone)]
pub(crate) struct PeerServer {
    pub inner: Arc<Inner>,
}

pub(crate) fn deadline(timeout_ms: u64) -> Instant {
    Instant::now() + Duration::from_millis(timeout_ms.min(MAX_WAIT_MS))
}

#[tonic::async_trait]
impl PeerService for PeerServer {
    async fn propose(&self, request: Request<wire::ProposeRequest>) -> Result<Response<wire::ProposeReply>, Status> {
        let (running, _) = self.inner.admit(&request)?;
        let request = request.into_inner();
        let attempt = if request.payload.len() > MAX_COMMAND_BYTES {
            Attempt::NotApplied("the command is too large".into())
        } else if let Ok(_place) = self.inner.proposals.try_acquire() {
            self.inner.propose_here(&running, request.payload, deadline(request.timeout_ms)).await
        } else {
            Attempt::NotApplied("too many writes are waiting on the leader".into())
        };
        let outcome = match attempt {
            Attempt::Done(proposed) => Outcome::Applied(Applied {
                position: Some(log_id_to_wire(&log_id(&proposed.position))),
                reply: proposed.reply,
            }),
            Attempt::NotApplied(why) => Outcome::NotApplied(why),
            Attempt::Unknown(why) => Outcome::Unknown(why),
        };
        Ok(Response::new(wire::ProposeReply { outcome: Some(outcome) }))
    }

    async fn read_index(&self, request: Request<wire::Empty>) -> Result<Response<wire::ReadIndexReply>, Status> {
        use wire::read_index_reply::Result as Reply;
        let (running, _) = self.inner.admit(&request)?;
        let result = match running.read_index_here().await {
            Ok(index) => Reply::Index(index),
            Err(BarrierError::NoQuorum { why }) => Reply::NoQuorum(why),
            Err(error) => Reply::NoLeader(error.to_string()),
        };
        Ok(Response::new(wire::ReadIndexReply { result: Some(result) }))
    }

    async fn change(&self, request: Request<wire::ChangeRequest>) -> Result<Response<wire::ChangeReply>, Status> {
        let (running, _) = self.inner.admit(&request)?;
        let request = request.into_inner();
        let result = self.inner.change_here(&running, request.change, deadline(request.timeout_ms)).await;
        Ok(Response::new(wire::ChangeReply { result: Some(result) }))
    }
}
