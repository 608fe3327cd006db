//! Errors of this crate's public calls, one type for each call's caller.

use std::path::PathBuf;

/// Why a node cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The options contradict each other.
    #[error("configuration: {0}")]
    Options(String),
    /// The directory belongs to another node.
    #[error("{dir}: this directory belongs to node {found:?}, but this node is configured as {configured:?}; give each node its own directory", dir = dir.display())]
    OtherNode {
        /// The data directory.
        dir: PathBuf,
        /// Name stored there.
        found: String,
        /// Name configured.
        configured: String,
    },
    /// Identity or log is damaged or lost.
    #[error("{dir}: {why}; this node must be rebuilt: stop it, empty the directory and start it again, and the cluster will replace it", dir = dir.display())]
    Damaged {
        /// The data directory.
        dir: PathBuf,
        /// What was found.
        why: String,
    },
    /// The operating system refused.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// What was touched.
        path: PathBuf,
        /// The refusal.
        #[source]
        source: std::io::Error,
    },
    /// The consensus core ended while starting.
    #[error("consensus did not start: {0}")]
    Core(String),
}

/// Why a proposal has no reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProposeError {
    /// Certainly not applied, now or later: proposing again is safe.
    #[error("not applied: {why}")]
    NotApplied {
        /// For the diagnostic.
        why: String,
    },
    /// May have been applied, or may yet be.
    #[error("outcome unknown: {why}")]
    Unknown {
        /// For the diagnostic.
        why: String,
    },
}

/// Why a read barrier was not passed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BarrierError {
    /// This node is not yet part of a cluster.
    #[error("this node is not yet part of a cluster")]
    NotMember,
    /// No leader is known or reachable.
    #[error("no leader: {why}")]
    NoLeader {
        /// For the diagnostic.
        why: String,
    },
    /// The leader cannot confirm its leadership with a quorum.
    #[error("no quorum: {why}")]
    NoQuorum {
        /// For the diagnostic.
        why: String,
    },
    /// The deadline came first.
    #[error("deadline passed before the read barrier")]
    Deadline,
    /// This node is stopping, or its core has ended.
    #[error("this node is stopping")]
    Stopped,
}

/// Why an administrative change was not made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChangeError {
    /// No leader is known or reachable.
    #[error("no leader: {why}")]
    NoLeader {
        /// For the diagnostic.
        why: String,
    },
    /// The change was refused as it stands.
    #[error("refused: {why}")]
    Refused {
        /// For the diagnostic.
        why: String,
    },
    /// The deadline came first; the change may still happen.
    #[error("outcome unknown: {why}")]
    Unknown {
        /// For the diagnostic.
        why: String,
    },
}
