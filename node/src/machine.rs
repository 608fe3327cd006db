//! The directory as the machine that the replicated log is applied to. The two crates do not know each
//! other: this file converts between their words and nothing more.

use std::sync::Arc;

use bindery_directory::command::{self, LogEntry};
use bindery_directory::{Directory, DirectoryError, SnapshotReader, SnapshotWriter};
use bindery_raft::{
    Applied, Body, Committed, LogPosition, Machine, MachineError, MembershipRecord, SnapshotSink, SnapshotSource,
};
use bytes::Bytes;
use parking_lot::Mutex;

/// [`Directory`] behind [`Machine`]. Keeps beside it how far it has come, since consensus asks for that at
/// moments when a store that cannot be read has no way to say so.
pub struct DirectoryMachine {
    directory: Directory,
    /// Follows every apply and install.
    applied: Arc<Mutex<Applied>>,
    /// The last answer of [`Directory::durable`]: an old answer only keeps more log.
    durable: Mutex<Applied>,
}

impl DirectoryMachine {
    /// Wraps the directory.
    ///
    /// # Errors
    /// The directory cannot say how far it has come.
    pub fn new(directory: Directory) -> Result<DirectoryMachine, DirectoryError> {
        let applied = applied_to_raft(directory.applied()?);
        let durable = directory.durable()?.map(applied_to_raft).unwrap_or_default();
        Ok(DirectoryMachine { directory, applied: Arc::new(Mutex::new(applied)), durable: Mutex::new(durable) })
    }
}

fn failed(what: &'static str) -> impl FnOnce(DirectoryError) -> MachineError {
    move |error| MachineError::caused(format!("{what}: {error}"), error)
}

fn from_raft(position: LogPosition) -> command::LogPosition {
    command::LogPosition { term: position.term, leader: position.leader, index: position.index }
}

fn to_raft(position: command::LogPosition) -> LogPosition {
    LogPosition { term: position.term, leader: position.leader, index: position.index }
}

fn applied_to_raft(applied: bindery_directory::Applied) -> Applied {
    Applied {
        position: applied.position.map(to_raft),
        membership: applied
            .membership
            .map(|(position, bytes)| MembershipRecord { position: Some(to_raft(position)), bytes }),
    }
}

fn entry_from_raft(entry: Committed) -> LogEntry {
    let body = match entry.body {
        Body::Blank => command::Body::Blank,
        Body::Membership(bytes) => command::Body::Membership(bytes),
        Body::Command { stamp, payload } => {
            command::Body::Command { stamp: command::Stamp { time_us: stamp.time_us, random: stamp.random }, payload }
        }
    };
    LogEntry { position: from_raft(entry.position), body }
}

impl Machine for DirectoryMachine {
    fn applied(&self) -> Applied {
        self.applied.lock().clone()
    }

    fn apply(&self, entries: Vec<Committed>) -> Result<Vec<Bytes>, MachineError> {
        let last = entries.last().map(|entry| entry.position);
        let membership = entries.iter().rev().find_map(|entry| match &entry.body {
            Body::Membership(bytes) => Some(MembershipRecord { position: Some(entry.position), bytes: bytes.clone() }),
            _ => None,
        });
        let entries: Vec<LogEntry> = entries.into_iter().map(entry_from_raft).collect();
        let replies = self.directory.apply(&entries).map_err(failed("apply"))?;
        let mut applied = self.applied.lock();
        applied.position = last.or(applied.position);
        if membership.is_some() {
            applied.membership = membership;
        }
        Ok(replies)
    }

    fn durable(&self) -> Applied {
        let mut known = self.durable.lock();
        match self.directory.durable() {
            Ok(durable) => *known = durable.map(applied_to_raft).unwrap_or_default(),
            Err(error) => tracing::warn!(%error, "the older checkpoint cannot be read; the log is kept"),
        }
        known.clone()
    }

    fn checkpoint(&self) -> Result<(), MachineError> {
        self.directory.checkpoint().map_err(failed("checkpoint")).map(drop)
    }

    fn needs_checkpoint(&self) -> bool {
        self.directory.needs_checkpoint()
    }

    fn snapshot(&self) -> Result<Box<dyn SnapshotSource>, MachineError> {
        let reader = self.directory.snapshot().map_err(failed("snapshot"))?;
        Ok(Box::new(Source { applied: applied_to_raft(reader.applied().clone()), reader }))
    }

    fn begin_install(&self) -> Result<Box<dyn SnapshotSink>, MachineError> {
        let writer = self.directory.begin_install().map_err(failed("snapshot"))?;
        Ok(Box::new(Sink { writer, directory: self.directory.clone(), applied: self.applied.clone() }))
    }
}

struct Source {
    reader: SnapshotReader,
    applied: Applied,
}

impl SnapshotSource for Source {
    fn applied(&self) -> Applied {
        self.applied.clone()
    }

    fn next_chunk(&mut self, max_bytes: usize) -> Result<Option<Bytes>, MachineError> {
        let chunk = self.reader.next_chunk(max_bytes).map_err(failed("snapshot"))?;
        Ok(chunk.map(Bytes::from))
    }
}

struct Sink {
    writer: SnapshotWriter,
    directory: Directory,
    applied: Arc<Mutex<Applied>>,
}

impl SnapshotSink for Sink {
    fn chunk(&mut self, bytes: &[u8]) -> Result<(), MachineError> {
        self.writer.chunk(bytes).map_err(failed("snapshot"))
    }

    fn finish(self: Box<Self>) -> Result<(), MachineError> {
        self.writer.finish().map_err(failed("snapshot"))?;
        let applied = self.directory.applied().map_err(failed("snapshot"))?;
        *self.applied.lock() = applied_to_raft(applied);
        Ok(())
    }
}
