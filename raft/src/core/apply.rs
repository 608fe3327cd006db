//! openraft's state machine over [`Machine`].

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bytes::Bytes;
use futures_util::{FutureExt, Stream, StreamExt};
use openraft::storage::{ApplyResponder, EntryResponder, RaftSnapshotBuilder, RaftStateMachine};
use openraft::{EntryPayload, OptionalSend};
use prost::Message;
use tokio::sync::watch;

use super::block::block;
use super::snapshot::{Pins, SnapshotData};
use super::types::{LogId, Reply, Snapshot, SnapshotMeta, StoredMembership, TC, log_id, position};
use super::waiters::AppliedWaiters;
use crate::codec::{membership_from_wire, membership_to_wire};
use crate::machine::{Applied, Body, Committed, Machine, MachineError};

/// Entries in one batch for the machine: enough to share a transaction, few enough to answer soon.
const MAX_BATCH_ENTRIES: usize = 1024;
/// Payload bytes in one batch.
const MAX_BATCH_BYTES: usize = 4 << 20;
/// Pieces while a snapshot is copied on this node.
const COPY_BYTES: usize = 1 << 20;

/// What the rest of the crate needs to know about applying.
pub(crate) struct ApplyState {
    pub machine: Arc<dyn Machine>,
    pub applied: AppliedWaiters,
    pub pins: Arc<Pins>,
    /// Newest stamp applied, microseconds.
    pub newest_time_us: AtomicU64,
    /// Command bytes applied since the start.
    pub applied_bytes: AtomicU64,
    inline: bool,
    /// Before the core runs, openraft asks for the snapshot only to learn its position.
    started: AtomicBool,
    durable_log: watch::Receiver<Option<u64>>,
}

impl ApplyState {
    pub fn new(machine: Arc<dyn Machine>, inline: bool, durable_log: watch::Receiver<Option<u64>>) -> Self {
        let state = ApplyState {
            machine,
            applied: AppliedWaiters::default(),
            pins: Arc::default(),
            newest_time_us: AtomicU64::new(0),
            applied_bytes: AtomicU64::new(0),
            inline,
            started: AtomicBool::new(false),
            durable_log,
        };
        if let Some(position) = state.machine.applied().position {
            state.applied.advance(position.index);
        }
        state
    }

    /// From now on a snapshot is asked for to be sent.
    pub fn set_started(&self) {
        self.started.store(true, Ordering::Release);
    }
}

/// What openraft drives.
#[derive(Clone)]
pub(crate) struct StateMachine {
    pub state: Arc<ApplyState>,
}

fn machine_error(error: MachineError) -> io::Error {
    io::Error::other(error)
}

/// A machine's position as openraft wants it.
fn openraft_state(applied: &Applied) -> io::Result<(Option<LogId>, StoredMembership)> {
    let membership = match &applied.membership {
        None => StoredMembership::default(),
        Some(record) => {
            let wire = bindery_proto::raft::Membership::decode(record.bytes.clone()).map_err(io::Error::other)?;
            StoredMembership::new(record.position.as_ref().map(log_id), membership_from_wire(wire)?)
        }
    };
    Ok((applied.position.as_ref().map(log_id), membership))
}

fn meta_of(applied: &Applied) -> io::Result<SnapshotMeta> {
    let (last_log_id, last_membership) = openraft_state(applied)?;
    Ok(SnapshotMeta { last_log_id, last_membership })
}

impl StateMachine {
    async fn apply_batch(&self, batch: Vec<EntryResponder<TC>>) -> io::Result<()> {
        let Some(last) = batch.last().map(|(entry, _)| entry.log_id.index) else { return Ok(()) };
        let (mut entries, mut responders) = (Vec::with_capacity(batch.len()), Vec::with_capacity(batch.len()));
        let (mut time_us, mut bytes) = (0, 0u64);
        for (entry, responder) in batch {
            let body = match entry.payload {
                EntryPayload::Blank => Body::Blank,
                EntryPayload::Membership(m) => Body::Membership(membership_to_wire(&m).encode_to_vec().into()),
                EntryPayload::Normal(command) => {
                    time_us = time_us.max(command.time_us);
                    bytes += command.payload.len() as u64;
                    Body::Command { stamp: command.stamp(), payload: command.payload }
                }
            };
            entries.push(Committed { position: position(&entry.log_id), body });
            responders.push(responder);
        }
        // No checkpoint may ever contain an entry that a crash could take from the local log.
        let mut durable = self.state.durable_log.clone();
        durable.wait_for(|index| *index >= Some(last)).await.map_err(|_| io::Error::other("the log has ended"))?;
        let machine = self.state.machine.clone();
        let replies = block(self.state.inline, move || machine.apply(entries)).await.map_err(machine_error)?;
        if replies.len() != responders.len() {
            return Err(io::Error::other("the machine gave a wrong number of replies"));
        }
        self.state.newest_time_us.fetch_max(time_us, Ordering::Relaxed);
        self.state.applied_bytes.fetch_add(bytes, Ordering::Relaxed);
        self.state.applied.advance(last);
        for (responder, reply) in responders.into_iter().zip(replies) {
            respond(responder, reply);
        }
        Ok(())
    }

    async fn copy(&self, mut source: Box<dyn crate::machine::SnapshotSource>) -> io::Result<()> {
        let machine = self.state.machine.clone();
        block(self.state.inline, move || {
            let mut sink = machine.begin_install()?;
            while let Some(chunk) = source.next_chunk(COPY_BYTES)? {
                sink.chunk(&chunk)?;
            }
            sink.finish()
        })
        .await
        .map_err(machine_error)
    }
}

fn respond(responder: Option<ApplyResponder<TC>>, reply: Bytes) {
    if let Some(responder) = responder {
        responder.send(Reply(reply));
    }
}

impl RaftSnapshotBuilder<TC> for StateMachine {
    type SnapshotData = SnapshotData;

    /// Builds nothing: reports what the older checkpoint holds.
    async fn build_snapshot(&mut self) -> io::Result<Snapshot> {
        let machine = self.state.machine.clone();
        let durable = block(self.state.inline, move || machine.durable()).await;
        Ok(Snapshot { meta: meta_of(&durable)?, snapshot: SnapshotData::Marker })
    }
}

impl RaftStateMachine<TC> for StateMachine {
    type SnapshotData = SnapshotData;
    type SnapshotBuilder = Self;

    async fn applied_state(&mut self) -> io::Result<(Option<LogId>, StoredMembership)> {
        openraft_state(&self.state.machine.applied())
    }

    async fn apply<S>(&mut self, mut entries: S) -> io::Result<()>
    where
        S: Stream<Item = Result<EntryResponder<TC>, io::Error>> + Unpin + OptionalSend,
    {
        while let Some(first) = entries.next().await {
            let mut batch = vec![first?];
            let mut bytes = payload_bytes(&batch[0]);
            while batch.len() < MAX_BATCH_ENTRIES
                && bytes < MAX_BATCH_BYTES
                && let Some(Some(next)) = entries.next().now_or_never()
            {
                let next = next?;
                bytes += payload_bytes(&next);
                batch.push(next);
            }
            self.apply_batch(batch).await?;
        }
        Ok(())
    }

    async fn get_snapshot_builder(&mut self) -> Self {
        self.clone()
    }

    async fn install_snapshot(&mut self, meta: &SnapshotMeta, snapshot: SnapshotData) -> io::Result<()> {
        match snapshot {
            SnapshotData::Marker => return Err(io::Error::other("a position alone cannot be installed")),
            SnapshotData::Outgoing { source, .. } => self.copy(source).await?,
            SnapshotData::Incoming(sink) => {
                block(self.state.inline, move || sink.finish()).await.map_err(machine_error)?;
            }
        }
        let installed = self.state.machine.applied().position.as_ref().map(log_id);
        if installed != meta.last_log_id {
            return Err(io::Error::other(format!(
                "the snapshot was announced as {:?} but contains {installed:?}",
                meta.last_log_id
            )));
        }
        if let Some(last) = installed {
            self.state.applied.advance(last.index);
        }
        Ok(())
    }

    async fn get_current_snapshot(&mut self) -> io::Result<Option<Snapshot>> {
        let machine = self.state.machine.clone();
        if !self.state.started.load(Ordering::Acquire) {
            let meta = meta_of(&block(self.state.inline, move || machine.durable()).await)?;
            return Ok(meta.last_log_id.is_some().then_some(Snapshot { meta, snapshot: SnapshotData::Marker }));
        }
        let source = block(self.state.inline, move || machine.snapshot()).await.map_err(machine_error)?;
        let meta = meta_of(&source.applied())?;
        let Some(last) = &meta.last_log_id else { return Ok(None) };
        let pin = self.state.pins.pin(last.index);
        Ok(Some(Snapshot { meta, snapshot: SnapshotData::Outgoing { source, pin } }))
    }
}

fn payload_bytes(item: &EntryResponder<TC>) -> usize {
    match &item.0.payload {
        EntryPayload::Normal(command) => command.payload.len(),
        _ => 0,
    }
}
