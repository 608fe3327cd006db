//! What the replicated log is applied to. Consensus knows it only through these traits.

use bytes::Bytes;

use crate::position::{LogPosition, Stamp};

/// Why a machine could not apply, checkpoint, read or install. Always an I/O or corruption condition: a
/// command that is refused is a reply, never an error.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct MachineError {
    /// What failed, for the log.
    pub message: String,
    /// The cause, if there is one.
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl MachineError {
    /// An error without a deeper cause.
    pub fn new(message: impl Into<String>) -> Self {
        MachineError { message: message.into(), source: None }
    }

    /// An error with its cause.
    pub fn caused(message: impl Into<String>, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        MachineError { message: message.into(), source: Some(Box::new(source)) }
    }
}

/// The newest membership a machine has seen: opaque bytes, given to it in a [`Body::Membership`] entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MembershipRecord {
    /// The entry that carried it.
    pub position: Option<LogPosition>,
    /// The bytes of that entry.
    pub bytes: Bytes,
}

/// How far a state of the machine has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// The last entry contained; `None` = nothing was ever applied.
    pub position: Option<LogPosition>,
    /// The newest membership contained.
    pub membership: Option<MembershipRecord>,
}

/// What a committed entry asks of the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// Nothing; only the position advances.
    Blank,
    /// Remember these bytes as the membership; they come back in [`Applied::membership`].
    Membership(Bytes),
    /// A command as given to [`crate::Cluster::propose`].
    Command {
        /// Chosen by the proposing leader.
        stamp: Stamp,
        /// The bytes proposed.
        payload: Bytes,
    },
}

/// One committed entry, in log order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// Where it stands.
    pub position: LogPosition,
    /// What it asks.
    pub body: Body,
}

/// The replicated state. All calls may block; none is made from a thread that drives I/O (except in
/// inline mode, which exists for simulation).
pub trait Machine: Send + Sync + 'static {
    /// How far the newest (in memory) state is.
    fn applied(&self) -> Applied;

    /// Applies entries in order, as one batch. Returns one reply for each entry (empty for those that are
    /// not commands). Deterministic: reads no clock, no randomness.
    fn apply(&self, entries: Vec<Committed>) -> Result<Vec<Bytes>, MachineError>;

    /// What the OLDER of the two durable checkpoints contains; the log may be purged up to there.
    /// `None` position = nothing is durable yet.
    fn durable(&self) -> Applied;

    /// Makes the newest state durable. May run beside `apply` and readers; never called twice at once.
    fn checkpoint(&self) -> Result<(), MachineError>;

    /// Whether so much is dirty that a checkpoint should not wait for its interval.
    fn needs_checkpoint(&self) -> bool;

    /// Pins the newest state for streaming to another node.
    fn snapshot(&self) -> Result<Box<dyn SnapshotSource>, MachineError>;

    /// Starts to receive a whole state beside the present one. Nothing changes before
    /// [`SnapshotSink::finish`]; dropping the sink abandons it.
    fn begin_install(&self) -> Result<Box<dyn SnapshotSink>, MachineError>;
}

/// A pinned state being read.
pub trait SnapshotSource: Send {
    /// What the pinned state contains.
    fn applied(&self) -> Applied;

    /// The next piece, of at most `max_bytes` and at least one byte; `None` at the end.
    fn next_chunk(&mut self, max_bytes: usize) -> Result<Option<Bytes>, MachineError>;
}

/// A state being received.
pub trait SnapshotSink: Send {
    /// Takes the next piece, cut as the source cut it.
    fn chunk(&mut self, bytes: &[u8]) -> Result<(), MachineError>;

    /// Verifies the whole, makes it durable and switches to it atomically. After `Ok`, `applied` and
    /// `durable` answer for the new state; after `Err`, the old state is in force.
    fn finish(self: Box<Self>) -> Result<(), MachineError>;
}
