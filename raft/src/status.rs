//! The cluster as one node sees it.

use crate::position::LogPosition;

/// What a node is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Looking for the other nodes; no cluster yet, or not yet admitted.
    Joining,
    /// Receives the log, does not vote.
    Learner,
    /// Votes and follows.
    Follower,
    /// Asks for votes.
    Candidate,
    /// Leads.
    Leader,
    /// Stopped.
    Stopped,
}

/// One member as this node sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberStatus {
    /// Raft id.
    pub id: u64,
    /// Configured name.
    pub name: String,
    /// gRPC address.
    pub address: String,
    /// Counts for quorums.
    pub voter: bool,
    /// Never votes.
    pub replica: bool,
    /// Highest log index known to be on that node; only the leader knows.
    pub matched: Option<u64>,
    /// Milliseconds since the leader last heard an acknowledgement; only the leader knows.
    pub last_contact_ms: Option<u64>,
}

/// See [`crate::Cluster::status`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterStatus {
    /// Cluster id in hex; `None` before the cluster has formed.
    pub cluster_id: Option<String>,
    /// This node's name.
    pub name: String,
    /// This node's Raft id; `None` before it has one.
    pub node_id: Option<u64>,
    /// What it does.
    pub role: Role,
    /// Its term.
    pub term: u64,
    /// The leader's Raft id.
    pub leader: Option<u64>,
    /// The leader's name.
    pub leader_name: Option<String>,
    /// Highest committed index known here.
    pub commit: Option<u64>,
    /// Applied here.
    pub applied: Option<LogPosition>,
    /// End of the log here.
    pub last_log: Option<u64>,
    /// Purged up to and including this index.
    pub purged: Option<u64>,
    /// The older checkpoint's index.
    pub durable: Option<u64>,
    /// All members.
    pub members: Vec<MemberStatus>,
    /// Two voter sets in force: a change is under way.
    pub joint: bool,
    /// Why this node does not serve, if so.
    pub trouble: Option<String>,
}
