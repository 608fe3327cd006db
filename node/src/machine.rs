//! The directory as the machine that the replicated log is applied to. The two crates do not know each
//! other: this file converts between their words and nothing more.

use bindery_directory::command::{self, LogEntry};
use bindery_directory::{Directory, DirectoryError, SnapshotReader, SnapshotWriter};
use bindery_raft::{
    Applied, Body, Committed, LogPosition, Machine, MachineError, MembershipRecord, SnapshotSink, SnapshotSource,
};
use bytes::Bytes;

/// [`Directory`] behind [`Machine`].
pub struct DirectoryMachine {
    directory: Directory,
}

impl DirectoryMachine {
    /// Wraps the directory.
    pub fn new(directory: Directory) -> DirectoryMachine {
        DirectoryMachine { directory }
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
            .map(|m| MembershipRecord { position: m.position.map(to_raft), bytes: m.bytes }),
    }
}

fn entry_from_raft(entry: Committed) -> LogEntry {
    let body = match entry.body {
        Body::Blank => command::Body::Blank,
        Body::Membership(bytes) => command::Body::Membership(bytes),
        Body::Command { stamp, payload } => command::Body::Command {
            stamp: command::Stamp { time_us: stamp.time_us, random: stamp.random },
            payload,
        },
    };
    LogEntry { position: from_raft(entry.position), body }
}

impl Machine for DirectoryMachine {
    fn applied(&self) -> Applied {
        applied_to_raft(self.directory.applied())
    }

    fn apply(&self, entries: Vec<Committed>) -> Result<Vec<Bytes>, MachineError> {
        let entries: Vec<LogEntry> = entries.into_iter().map(entry_from_raft).collect();
        self.directory.apply(&entries).map_err(failed("apply"))
    }

    fn durable(&self) -> Applied {
        applied_to_raft(self.directory.durable())
    }

    fn checkpoint(&self) -> Result<(), MachineError> {
        self.directory.checkpoint().map_err(failed("checkpoint")).map(drop)
    }

    fn needs_checkpoint(&self) -> bool {
        self.directory.needs_checkpoint()
    }

    fn snapshot(&self) -> Result<Box<dyn SnapshotSource>, MachineError> {
        let reader = self.directory.snapshot().map_err(failed("snapshot"))?;
        Ok(Box::new(Source { reader }))
    }

    fn begin_install(&self) -> Result<Box<dyn SnapshotSink>, MachineError> {
        let writer = self.directory.begin_install().map_err(failed("snapshot"))?;
        Ok(Box::new(Sink { writer }))
    }
}

struct Source {
    reader: SnapshotReader,
}

impl SnapshotSource for Source {
    fn applied(&self) -> Applied {
        applied_to_raft(self.reader.applied())
    }

    fn next_chunk(&mut self, max_bytes: usize) -> Result<Option<Bytes>, MachineError> {
        let chunk = self.reader.next_chunk(max_bytes).map_err(failed("snapshot"))?;
        Ok(chunk.map(Bytes::from))
    }
}

struct Sink {
    writer: SnapshotWriter,
}

impl SnapshotSink for Sink {
    fn chunk(&mut self, bytes: &[u8]) -> Result<(), MachineError> {
        self.writer.chunk(bytes).map_err(failed("snapshot"))
    }

    fn finish(self: Box<Self>) -> Result<(), MachineError> {
        self.writer.finish().map_err(failed("snapshot"))
    }
}
