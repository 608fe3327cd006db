//! Sending openraft's requests.

use std::future::Future;
use std::time::Duration;

use bindery_proto::raft::raft_client::RaftClient;
use futures_util::{Stream, StreamExt};
use openraft::OptionalSend;
use openraft::base::{BoxFuture, BoxStream};
use openraft::errors::{NetworkError, RPCError, ReplicationClosed, StreamingError, Unreachable};
use openraft::network::{
    Backoff, NetBackoff, NetSnapshot, NetStreamAppend, NetTransferLeader, NetVote, RPCOption, RaftNetworkFactory,
};
use openraft::raft::{
    AppendEntriesRequest, SnapshotResponse, StreamAppendResult, TransferLeaderRequest, TransferLeaderResponse,
    VoteRequest, VoteResponse,
};
use tonic::Status;
use tonic::transport::Channel;

use super::channels::{Channels, Purpose};
use super::envelope::Envelope;
use super::snapshot_send;
use crate::codec::{self, MAX_MESSAGE_BYTES};
use crate::core::snapshot::SnapshotData;
use crate::core::types::{Member, Snapshot, TC, Vote};

type Rpc<T> = Result<T, RPCError<TC>>;

/// Time for the peer to accept a stream; a dead one is otherwise noticed by keepalive.
const SETUP_TIMEOUT: Duration = Duration::from_secs(2);
/// Shortest deadline of a vote request: openraft's own suggestion (three quarters of a heartbeat) is less
/// than one sync of a slow disk.
const MIN_VOTE_TIMEOUT: Duration = Duration::from_millis(200);
/// Pause between attempts to reach a peer that is down.
const BACKOFF: Duration = Duration::from_millis(100);

/// Makes connections to members.
#[derive(Clone)]
pub(crate) struct Dialer {
    pub channels: Channels,
    pub cluster_id: [u8; 16],
    pub me: u64,
    pub inline: bool,
}

/// A connection to one member for one purpose.
pub(crate) struct Connection {
    dialer: Dialer,
    envelope: Envelope,
    address: String,
    purpose: Purpose,
}

impl Dialer {
    fn connection(&self, target: u64, member: &Member, purpose: Purpose) -> Connection {
        let envelope = Envelope { cluster_id: self.cluster_id, from: self.me, to: target };
        Connection { dialer: self.clone(), envelope, address: member.address.clone(), purpose }
    }
}

impl RaftNetworkFactory<TC> for Dialer {
    type Network = Connection;

    async fn new_client(&mut self, target: u64, member: &Member) -> Connection {
        self.connection(target, member, Purpose::Append)
    }

    async fn new_heartbeat_client(&mut self, target: u64, member: &Member) -> Connection {
        self.connection(target, member, Purpose::Heartbeat)
    }

    async fn new_snapshot_client(&mut self, target: u64, member: &Member) -> Connection {
        self.connection(target, member, Purpose::Snapshot)
    }
}

/// Every failure of a call backs off at once: an error that openraft would retry immediately (ten times)
/// comes from a peer that is starting, stopping or not the one addressed.
fn lost(status: &Status) -> RPCError<TC> {
    RPCError::Unreachable(Unreachable::new(status))
}

fn bad(error: &codec::CodecError) -> RPCError<TC> {
    RPCError::Network(NetworkError::new(error))
}

async fn within<T>(limit: Duration, call: impl Future<Output = Result<T, Status>>) -> Rpc<T> {
    match tokio::time::timeout(limit, call).await {
        Ok(result) => result.map_err(|s| lost(&s)),
        Err(elapsed) => Err(RPCError::Unreachable(Unreachable::new(&elapsed))),
    }
}

impl Connection {
    fn client(&self, purpose: Purpose) -> Rpc<RaftClient<Channel>> {
        let channel = self
            .dialer
            .channels
            .get(&self.address, purpose)
            .map_err(|e| RPCError::Unreachable(Unreachable::new(&e)))?;
        Ok(RaftClient::new(channel)
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES))
    }
}

impl NetStreamAppend<TC> for Connection {
    fn stream_append<'s, S>(
        &'s mut self,
        mut input: S,
        _option: RPCOption,
    ) -> BoxFuture<'s, Rpc<BoxStream<'s, Rpc<StreamAppendResult<TC>>>>>
    where
        S: Stream<Item = AppendEntriesRequest<TC>> + OptionalSend + Unpin + 'static,
    {
        Box::pin(async move {
            // openraft sleeps its backoff inside the request stream, before each item. Dialing a dead peer
            // fails without touching the stream and would be repeated at once, for ever: so the first
            // request comes first.
            let Some(first) = input.next().await else {
                return Ok(Box::pin(futures_util::stream::empty()) as BoxStream<'s, _>);
            };
            let mut client = self.client(self.purpose)?;
            let requests = futures_util::stream::iter([first]).chain(input).map(|r| codec::append_to_wire(&r));
            let responses = within(SETUP_TIMEOUT, client.append(self.envelope.wrap(requests))).await?.into_inner();
            let responses = responses.map(|response| {
                let response = response.map_err(|s| lost(&s))?;
                codec::append_result_from_wire(response).map_err(|e| bad(&e))
            });
            Ok(Box::pin(responses) as BoxStream<'s, _>)
        })
    }
}

impl NetVote<TC> for Connection {
    async fn vote(&mut self, request: VoteRequest<TC>, option: RPCOption) -> Rpc<VoteResponse<TC>> {
        let mut client = self.client(Purpose::Control)?;
        let call = client.vote(self.envelope.wrap(codec::vote_request_to_wire(&request)));
        let response = within(option.hard_ttl().max(MIN_VOTE_TIMEOUT), call).await?.into_inner();
        codec::vote_response_from_wire(response).map_err(|e| bad(&e))
    }

    async fn pre_vote(&mut self, request: VoteRequest<TC>, option: RPCOption) -> Rpc<VoteResponse<TC>> {
        let mut client = self.client(Purpose::Control)?;
        let call = client.pre_vote(self.envelope.wrap(codec::vote_request_to_wire(&request)));
        let response = within(option.hard_ttl().max(MIN_VOTE_TIMEOUT), call).await?.into_inner();
        codec::vote_response_from_wire(response).map_err(|e| bad(&e))
    }
}

impl NetTransferLeader<TC> for Connection {
    async fn transfer_leader(
        &mut self,
        request: TransferLeaderRequest<TC>,
        _option: RPCOption,
    ) -> Rpc<TransferLeaderResponse<TC>> {
        let mut client = self.client(Purpose::Control)?;
        let call = client.transfer_leader(self.envelope.wrap(codec::transfer_to_wire(&request)));
        let response = within(SETUP_TIMEOUT, call).await?.into_inner();
        codec::transfer_result_from_wire(response).map_err(|e| bad(&e))
    }
}

impl NetBackoff<TC> for Connection {
    fn backoff(&self) -> Option<Backoff> {
        Some(Backoff::new(std::iter::repeat(BACKOFF)))
    }
}

impl NetSnapshot<TC> for Connection {
    type SnapshotData = SnapshotData;

    async fn full_snapshot(
        &mut self,
        vote: Vote,
        snapshot: Snapshot,
        cancel: impl Future<Output = ReplicationClosed> + OptionalSend + 'static,
        _option: RPCOption,
    ) -> Result<SnapshotResponse<TC>, StreamingError<TC>> {
        let client = self.client(self.purpose)?;
        let send = snapshot_send::send(client, self.envelope, self.dialer.inline, vote, snapshot);
        tokio::select! {
            biased;
            closed = cancel => Err(closed.into()),
            result = send => match result {
                Ok(vote) => Ok(SnapshotResponse::new(vote)),
                Err(status) => Err(lost(&status).into()),
            },
        }
    }
}
