//! What a node is started with.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::log::files::{LogFiles, OsFiles};

/// Told once, with the reason, that this node can no longer write its log or checkpoint. The default writes
/// the reason to the log and ends the process: a failed sync must never be retried.
#[derive(Clone)]
pub struct FatalHandler(pub Arc<dyn Fn(&str) + Send + Sync>);

impl Default for FatalHandler {
    fn default() -> Self {
        FatalHandler(Arc::new(|why| {
            tracing::error!(why, "this node cannot go on");
            std::process::abort();
        }))
    }
}

impl fmt::Debug for FatalHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FatalHandler")
    }
}

/// Which implementation keeps the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum LogKind {
    /// Entries in preallocated segment files, metadata in a sled.
    #[default]
    Split,
    /// All in sleds: one directory for each stretch of log. Its memory is not bounded.
    Sled,
    /// All in preallocated files.
    Segmented,
}

/// Another node as configured.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Peer {
    /// Its configured name.
    pub name: String,
    /// Where its gRPC services answer, `host:port`.
    pub address: String,
}

/// Start options. `Default` gives the product's defaults; `name`, `data_dir` and `advertise` must be set.
#[derive(Clone, Debug)]
pub struct Options {
    /// This node's configured name, unique in the cluster.
    pub name: String,
    /// Directory for log and identity; created if absent.
    pub data_dir: PathBuf,
    /// `host:port` at which the other nodes reach this node's gRPC services.
    pub advertise: String,
    /// All configured nodes; whether this node is listed does not matter.
    pub peers: Vec<Peer>,
    /// How many nodes form the cluster at first: the first `expect` names in sorted order of `peers` and
    /// this node.
    pub expect: usize,
    /// Heartbeat interval, milliseconds.
    pub heartbeat_ms: u64,
    /// Election timeout range, milliseconds.
    pub election_ms: (u64, u64),
    /// Which log.
    pub log: LogKind,
    /// Everything on the caller's tasks, no threads: for simulation.
    pub inline: bool,
    /// sled's cache for each open sled, bytes.
    pub sled_cache_bytes: u64,
    /// Decoded recent entries kept in memory for replication, bytes.
    pub tail_cache_bytes: usize,
    /// A stretch of log is closed when it holds this many bytes; purging deletes whole stretches.
    pub segment_bytes: u64,
    /// Log bytes kept behind the older checkpoint, so that a short restart needs no snapshot.
    pub retain_log_bytes: u64,
    /// Time between checkpoints of the machine.
    pub checkpoint_interval: Duration,
    /// A checkpoint is made early once this many log bytes were applied since the last.
    pub checkpoint_log_bytes: u64,
    /// Proposals waiting at once on this node.
    pub max_pending_proposals: usize,
    /// How long a proposal waits for a leader before it is refused as not applied.
    pub write_wait: Duration,
    /// This node is a replica that never votes (used when it joins).
    pub replica: bool,
    /// Files of the segmented log.
    pub files: Arc<dyn LogFiles>,
    /// Called when the node cannot go on.
    pub fatal: FatalHandler,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            name: String::new(),
            data_dir: PathBuf::new(),
            advertise: String::new(),
            peers: Vec::new(),
            expect: 1,
            heartbeat_ms: 100,
            election_ms: (250, 500),
            log: LogKind::Split,
            inline: false,
            sled_cache_bytes: 4 << 20,
            tail_cache_bytes: 8 << 20,
            segment_bytes: 64 << 20,
            retain_log_bytes: 64 << 20,
            checkpoint_interval: Duration::from_secs(60),
            checkpoint_log_bytes: 64 << 20,
            max_pending_proposals: 4096,
            write_wait: Duration::from_secs(5),
            replica: false,
            files: Arc::new(OsFiles),
            fatal: FatalHandler::default(),
        }
    }
}
