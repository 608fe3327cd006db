//! openraft's type parameters, chosen once.

use std::fmt;

use bytes::Bytes;
use openraft::type_config::alias;
use serde::{Deserialize, Serialize};

use crate::position::{LogPosition, Stamp};

/// A command in the log: what was proposed, and what the leader stamped on it.
///
/// The serde bounds are openraft's wish; nothing is ever serialized through them: disk and wire use the
/// messages of `proto/bindery/raft.proto`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Command {
    pub time_us: u64,
    pub random: [u8; 16],
    #[serde(with = "bytes_as_vec")]
    pub payload: Bytes,
}

impl Command {
    pub fn stamp(&self) -> Stamp {
        Stamp { time_us: self.time_us, random: self.random }
    }
}

// Payloads may hold secrets and be large: never print them.
impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "command of {} bytes", self.payload.len())
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// What the machine answered to a command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reply(#[serde(with = "bytes_as_vec")] pub Bytes);

/// A node as the membership knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Member {
    pub name: String,
    pub address: String,
    pub incarnation: [u8; 16],
    /// Never votes.
    pub replica: bool,
}

mod bytes_as_vec {
    use bytes::Bytes;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(value: &Bytes, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(value)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
        Vec::<u8>::deserialize(deserializer).map(Bytes::from)
    }
}

openraft::declare_raft_types!(
    pub(crate) TypeConfig:
        D = Command,
        R = Reply,
        NodeId = u64,
        Node = Member,
        AsyncRuntime = crate::core::runtime::Runtime,
);

pub(crate) type TC = TypeConfig;
pub(crate) type LogId = alias::LogIdOf<TC>;
pub(crate) type LeaderId = alias::LeaderIdOf<TC>;
pub(crate) type Vote = alias::VoteOf<TC>;
pub(crate) type Entry = alias::EntryOf<TC>;
pub(crate) type Membership = openraft::Membership<u64, Member>;
pub(crate) type StoredMembership = alias::StoredMembershipOf<TC>;
pub(crate) type SnapshotMeta = alias::SnapshotMetaOf<TC>;
pub(crate) type Snapshot = alias::SnapshotOf<TC, crate::core::snapshot::SnapshotData>;
pub(crate) type Raft = openraft::Raft<TC, crate::core::apply::StateMachine>;

/// openraft's log id as this crate's callers see it.
pub(crate) fn position(id: &LogId) -> LogPosition {
    LogPosition { term: id.leader_id.term, leader: id.leader_id.node_id, index: id.index }
}

/// The reverse of [`position`].
pub(crate) fn log_id(position: &LogPosition) -> LogId {
    make_log_id(position.term, position.leader, position.index)
}

/// A log id from its parts.
pub(crate) fn make_log_id(term: u64, leader: u64, index: u64) -> LogId {
    LogId::new(LeaderId { term, node_id: leader }, index)
}
