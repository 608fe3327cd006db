//! Where an entry stands in the replicated log, and what its proposer stamped on it.

use std::fmt;

/// The identity of one log entry. Ordered as Raft orders entries: term, then leader, then index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogPosition {
    /// Term of the leader that created the entry.
    pub term: u64,
    /// Raft id of that leader.
    pub leader: u64,
    /// Place in the log; the first entry has index 0.
    pub index: u64,
}

impl fmt::Display for LogPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.term, self.leader, self.index)
    }
}

/// Time and randomness of a command, chosen once by the leader that proposes it, so that every node
/// applies the same values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// Microseconds since 1970-01-01T00:00:00Z. Never goes back within one leader's reign.
    pub time_us: u64,
    /// Fresh random bytes.
    pub random: [u8; 16],
}
