//! Streaming a snapshot out: one chunk is read when the last was taken, so that at most two are in memory.

use std::time::Duration;

use bindery_proto::raft as wire;
use bindery_proto::raft::raft_client::RaftClient;
use bindery_proto::raft::snapshot_frame::{Chunk, End, Frame};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Status;
use tonic::transport::Channel;

use super::envelope::Envelope;
use crate::codec::{need, snapshot_head_to_wire, vote_from_wire};
use crate::core::block::block;
use crate::core::snapshot::SnapshotData;
use crate::core::types::{Snapshot, Vote};
use crate::machine::{MachineError, SnapshotSource};

/// Largest piece of a snapshot.
pub(super) const CHUNK_BYTES: usize = 1 << 20;
/// Chunks read ahead of the network.
const READ_AHEAD: usize = 1;
/// Without a frame taken or a response for this long, the peer is given up. Long, because the receiver
/// makes everything durable before it responds.
pub(super) const IDLE_TIMEOUT: Duration = Duration::from_secs(120);

/// Checksum of one chunk.
pub(super) fn checksum(sequence: u64, data: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64_with_seed(data, sequence)
}

/// Digest over all chunks, from the digest over those before.
pub(super) fn chain(digest: u64, checksum: u64) -> u64 {
    xxhash_rust::xxh3::xxh3_64_with_seed(&checksum.to_le_bytes(), digest)
}

fn frame(frame: Frame) -> wire::SnapshotFrame {
    wire::SnapshotFrame { frame: Some(frame) }
}

/// Reads one chunk; the source comes back for the next.
async fn next_chunk(
    inline: bool,
    mut source: Box<dyn SnapshotSource>,
) -> (Box<dyn SnapshotSource>, Result<Option<bytes::Bytes>, MachineError>) {
    block(inline, move || {
        let chunk = source.next_chunk(CHUNK_BYTES);
        (source, chunk)
    })
    .await
}

/// Sends all frames, then waits for the receiver's vote.
pub(super) async fn send(
    mut client: RaftClient<Channel>,
    envelope: Envelope,
    inline: bool,
    vote: Vote,
    snapshot: Snapshot,
) -> Result<Vote, Status> {
    let SnapshotData::Outgoing { mut source, pin } = snapshot.snapshot else {
        return Err(Status::internal("only a pinned state can be sent"));
    };
    let head = snapshot_head_to_wire(&vote, &snapshot.meta);
    let (sender, receiver) = mpsc::channel(READ_AHEAD);
    let feed = async move {
        let put = async |f: Frame| match tokio::time::timeout(IDLE_TIMEOUT, sender.send(frame(f))).await {
            Ok(Ok(())) => Ok(true),
            Ok(Err(_)) => Ok(false),
            Err(_) => Err(Status::deadline_exceeded("the peer takes no more of the snapshot")),
        };
        let (mut chunks, mut bytes, mut digest) = (0, 0, 0);
        if !put(Frame::Head(head)).await? {
            return Ok(());
        }
        loop {
            let chunk;
            (source, chunk) = next_chunk(inline, source).await;
            let chunk = chunk.map_err(|e| Status::internal(format!("snapshot cannot be read: {e}")))?;
            let Some(data) = chunk else { break };
            let sum = checksum(chunks, &data);
            digest = chain(digest, sum);
            bytes += data.len() as u64;
            if !put(Frame::Chunk(Chunk { sequence: chunks, checksum: sum, data })).await? {
                return Ok(());
            }
            chunks += 1;
        }
        put(Frame::End(End { chunks, bytes, digest })).await?;
        Ok::<(), Status>(())
    };
    let call = async {
        let response = client.snapshot(envelope.wrap(ReceiverStream::new(receiver))).await?.into_inner();
        Ok::<_, Status>(vote_from_wire(need(response.vote, "vote")?))
    };
    let (fed, answer) = futures_util::future::join(feed, call).await;
    drop(pin);
    fed?;
    answer
}
