//! A node that is a member.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use openraft::Instant as _;
use openraft::async_runtime::WatchReceiver;
use tokio::sync::{Mutex, mpsc};

use super::barrier::Waiter;
use super::proposer::Proposal;
use crate::clock::{Clock, Randomness, random_16};
use crate::core::apply::ApplyState;
use crate::core::types::{Command, Raft, TC};
use crate::log::LogStore;

pub(crate) struct Running {
    pub id: u64,
    pub cluster_id: [u8; 16],
    pub raft: Raft,
    pub log: LogStore,
    pub apply: Arc<ApplyState>,
    pub inline: bool,
    /// Reads waiting for a barrier.
    pub barriers: mpsc::Sender<Waiter>,
    /// Commands on their way into the log.
    pub proposer: mpsc::Sender<Proposal>,
    /// Held while a snapshot is received.
    pub receiving: Mutex<()>,
    /// Held while the membership is changed from here.
    pub changes: Mutex<()>,
    pub last_stamp_us: AtomicU64,
}

pub(crate) type Metrics = openraft::RaftMetrics<TC>;

/// Time since the leader last had an acknowledgement from a member; `None` = not yet, or not leading.
pub(crate) fn last_contact(metrics: &Metrics, id: u64) -> Option<std::time::Duration> {
    let at = metrics.heartbeat.as_ref()?.get(&id).copied().flatten()?;
    Some(at.elapsed())
}

impl Running {
    /// The core's metrics, cloned: holding the guard would block the core.
    pub fn metrics(&self) -> Metrics {
        self.raft.metrics().borrow_watched().clone()
    }

    /// A command with time and randomness. Time never goes back behind what this node has seen.
    pub fn stamp(&self, payload: bytes::Bytes, clock: &dyn Clock, randomness: &dyn Randomness) -> Command {
        let seen = self.log.newest_time_us().max(self.apply.newest_time_us.load(Ordering::Relaxed));
        let now = clock.now_us().max(seen);
        let time_us = self.last_stamp_us.fetch_max(now, Ordering::Relaxed).max(now);
        Command { time_us, random: random_16(randomness), payload }
    }
}
