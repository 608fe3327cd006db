//! Receiving a snapshot: each chunk goes straight to the machine.

use bindery_proto::raft as wire;
use bindery_proto::raft::snapshot_frame::Frame;
use openraft::async_runtime::WatchReceiver;
use tonic::{Status, Streaming};

use super::snapshot_send::{CHUNK_BYTES, IDLE_TIMEOUT, chain, checksum};
use super::validate;
use crate::cluster::running::Running;
use crate::codec::{snapshot_head_from_wire, vote_to_wire};
use crate::core::block::block;
use crate::core::snapshot::SnapshotData;
use crate::core::types::Snapshot;
use crate::machine::{MachineError, SnapshotSink};

async fn next(stream: &mut Streaming<wire::SnapshotFrame>) -> Result<Frame, Status> {
    match tokio::time::timeout(IDLE_TIMEOUT, stream.message()).await {
        Err(_) => Err(Status::deadline_exceeded("the snapshot stopped coming")),
        Ok(frame) => frame?.and_then(|f| f.frame).ok_or_else(|| Status::invalid_argument("the snapshot ended early")),
    }
}

fn refused(error: MachineError) -> Status {
    tracing::warn!(%error, "a snapshot could not be taken");
    Status::internal(error.to_string())
}

pub(super) async fn receive(
    running: &Running,
    from: u64,
    mut stream: Streaming<wire::SnapshotFrame>,
) -> Result<wire::SnapshotResponse, Status> {
    // One at a time: the machine builds one state beside its present one.
    let _one = running.receiving.try_lock().map_err(|_| Status::unavailable("another snapshot is being received"))?;
    let Frame::Head(head) = next(&mut stream).await? else {
        return Err(Status::invalid_argument("a snapshot begins with its head"));
    };
    let (vote, meta) = snapshot_head_from_wire(head)?;
    let (committed, own_vote) = {
        let metrics = running.raft.metrics();
        let metrics = metrics.borrow_watched();
        (metrics.local_committed, metrics.vote)
    };
    validate::snapshot(&vote, &meta, committed, from, running.id)?;
    if own_vote > vote {
        // A leader of the past: openraft would refuse it after the transfer.
        return Ok(wire::SnapshotResponse { vote: Some(vote_to_wire(&own_vote)) });
    }
    let inline = running.inline;
    let machine = running.apply.machine.clone();
    tracing::info!(last = ?meta.last_log_id, "receiving a snapshot");
    let mut sink: Box<dyn SnapshotSink> = block(inline, move || machine.begin_install()).await.map_err(refused)?;
    let (mut chunks, mut bytes, mut digest) = (0u64, 0u64, 0u64);
    loop {
        match next(&mut stream).await? {
            Frame::Head(_) => return Err(Status::invalid_argument("a second head")),
            Frame::Chunk(chunk) => {
                let sum = checksum(chunks, &chunk.data);
                if chunk.sequence != chunks || chunk.checksum != sum || chunk.data.len() > CHUNK_BYTES {
                    return Err(Status::data_loss("a chunk of the snapshot is damaged"));
                }
                chunks += 1;
                bytes += chunk.data.len() as u64;
                digest = chain(digest, sum);
                let result;
                (sink, result) = block(inline, move || {
                    let result = sink.chunk(&chunk.data);
                    (sink, result)
                })
                .await;
                result.map_err(refused)?;
            }
            Frame::End(end) => {
                if (end.chunks, end.bytes, end.digest) != (chunks, bytes, digest) {
                    return Err(Status::data_loss("the snapshot is incomplete"));
                }
                break;
            }
        }
    }
    tracing::info!(bytes, "snapshot received, installing");
    let snapshot = Snapshot { meta, snapshot: SnapshotData::Incoming(sink) };
    let response = running
        .raft
        .install_full_snapshot(vote, snapshot)
        .await
        .map_err(|fatal| Status::unavailable(fatal.to_string()))?;
    Ok(wire::SnapshotResponse { vote: Some(vote_to_wire(&response.vote)) })
}
