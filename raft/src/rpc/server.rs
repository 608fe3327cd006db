//! Answering openraft's requests.

use std::pin::Pin;
use std::sync::Arc;

use bindery_proto::raft as wire;
use bindery_proto::raft::raft_server::Raft as RaftService;
use futures_util::{Stream, StreamExt};
use openraft::raft::AppendEntriesRequest;
use parking_lot::Mutex;
use tonic::{Request, Response, Status, Streaming};

use super::envelope::{Envelope, refusal};
use super::{snapshot_receive, validate};
use crate::cluster::inner::Inner;
use crate::cluster::running::Running;
use crate::codec;
use crate::core::types::TC;

/// The service; clones share the node.
#[derive(Clone)]
pub(crate) struct RaftServer {
    pub inner: Arc<Inner>,
}

impl Inner {
    /// The running node, if the request is for it, and the sender.
    pub(crate) fn admit<T>(&self, request: &Request<T>) -> Result<(Arc<Running>, u64), Status> {
        let running = self.running().ok_or_else(|| refusal("this node is not a member yet"))?;
        let from = Envelope::check(request.metadata(), &running.cluster_id, running.id)?;
        Ok((running, from))
    }
}

fn stopped(error: impl std::fmt::Display) -> Status {
    Status::unavailable(error.to_string())
}

type Responses = Pin<Box<dyn Stream<Item = Result<wire::AppendResponse, Status>> + Send>>;

/// Decodes until the first request that is wrong: skipping one would leave a hole.
fn decode_requests(
    input: Streaming<wire::AppendRequest>,
    from: u64,
    me: u64,
    failure: Arc<Mutex<Option<Status>>>,
) -> impl Stream<Item = AppendEntriesRequest<TC>> + Send {
    futures_util::stream::unfold(input, move |mut input| {
        let failure = failure.clone();
        async move {
            let request = match input.message().await {
                Ok(request) => request?,
                // The connection broke; there is nobody to tell.
                Err(_) => return None,
            };
            let decoded = codec::append_from_wire(request).and_then(|r| validate::append(&r, from, me).map(|()| r));
            match decoded {
                Ok(request) => Some((request, input)),
                Err(error) => {
                    tracing::warn!(from, %error, "refused entries");
                    *failure.lock() = Some(error.into());
                    None
                }
            }
        }
    })
}

#[tonic::async_trait]
impl RaftService for RaftServer {
    type AppendStream = Responses;

    async fn append(&self, request: Request<Streaming<wire::AppendRequest>>) -> Result<Response<Responses>, Status> {
        let (running, from) = self.inner.admit(&request)?;
        let failure = Arc::new(Mutex::new(None));
        let requests = decode_requests(request.into_inner(), from, running.id, failure.clone());
        let responses = running.raft.stream_append(requests).map(|result| match result {
            Ok(result) => Ok(codec::append_result_to_wire(&result)),
            Err(fatal) => Err(stopped(fatal)),
        });
        let end = futures_util::stream::once(async move { failure.lock().take() })
            .filter_map(|failure| std::future::ready(failure.map(Err)));
        Ok(Response::new(Box::pin(responses.chain(end))))
    }

    async fn vote(&self, request: Request<wire::VoteRequest>) -> Result<Response<wire::VoteResponse>, Status> {
        let (running, from) = self.inner.admit(&request)?;
        let request = codec::vote_request_from_wire(request.into_inner())?;
        validate::vote(&request, from, running.id)?;
        let response = running.raft.vote(request).await.map_err(stopped)?;
        Ok(Response::new(codec::vote_response_to_wire(&response)))
    }

    async fn pre_vote(&self, request: Request<wire::VoteRequest>) -> Result<Response<wire::VoteResponse>, Status> {
        let (running, from) = self.inner.admit(&request)?;
        let request = codec::vote_request_from_wire(request.into_inner())?;
        validate::vote(&request, from, running.id)?;
        let response = running.raft.pre_vote(request).await.map_err(stopped)?;
        Ok(Response::new(codec::vote_response_to_wire(&response)))
    }

    async fn snapshot(
        &self,
        request: Request<Streaming<wire::SnapshotFrame>>,
    ) -> Result<Response<wire::SnapshotResponse>, Status> {
        let (running, from) = self.inner.admit(&request)?;
        snapshot_receive::receive(&running, from, request.into_inner()).await.map(Response::new)
    }

    async fn transfer_leader(
        &self,
        request: Request<wire::TransferRequest>,
    ) -> Result<Response<wire::TransferResponse>, Status> {
        let (running, from) = self.inner.admit(&request)?;
        let request = codec::transfer_from_wire(request.into_inner())?;
        if request.from_leader().leader_id.node_id != from {
            return Err(Status::invalid_argument("the vote is not the sender's own"));
        }
        let result = running.raft.handle_transfer_leader(request).await.map_err(stopped)?;
        Ok(Response::new(codec::transfer_result_to_wire(&result)))
    }
}
