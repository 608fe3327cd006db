//! The read levels: what a view must contain before an answer is taken from it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use bindery_directory::{Directory, ReadView};
use bindery_raft::{BarrierError, Cluster};
use tokio::time::Instant;

use crate::limits;

/// How fresh an answer must be. [`ReadLevel::Prefer`] unless the request says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadLevel {
    /// Linearizable, or refused.
    Strict,
    /// Linearizable while a quorum can be reached; the last applied state when not.
    Prefer,
}

/// Views at a level. Cheap to clone; shared by all connections.
#[derive(Clone)]
pub struct Reads {
    cluster: Cluster,
    directory: Directory,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    /// The quorum was lost at the last try: `prefer` reads do not wait until a try succeeds.
    cut_off: AtomicBool,
    /// When the next try is due; one reader at a time makes it.
    next_try: Mutex<Option<Instant>>,
    /// Reads served without a barrier although their level prefers one.
    fallbacks: AtomicU64,
}

impl Reads {
    /// Reads of this node.
    pub fn new(cluster: Cluster, directory: Directory) -> Reads {
        Reads { cluster, directory, state: Arc::default() }
    }

    /// A view that satisfies `level` for a request that has arrived, and that contains `at_least` (the index
    /// of the connection's own last acknowledged write).
    pub async fn view(&self, level: ReadLevel, at_least: u64) -> Result<ReadView, BarrierError> {
        match level {
            ReadLevel::Strict => {
                self.cluster.read_barrier(Instant::now() + limits::STRICT_BARRIER).await?;
            }
            ReadLevel::Prefer => self.prefer().await,
        }
        let view = self.directory.view();
        if view.applied_index() >= at_least {
            return Ok(view);
        }
        self.cluster.wait_applied(at_least, Instant::now() + limits::STRICT_BARRIER).await?;
        Ok(self.directory.view())
    }

    /// Waits for the barrier, at most once for [`limits::PREFER_BARRIER`] after the quorum is lost.
    async fn prefer(&self) {
        if self.state.cut_off.load(Ordering::Acquire) && !self.try_is_due() {
            self.state.fallbacks.fetch_add(1, Ordering::Relaxed);
            return;
        }
        match self.cluster.read_barrier(Instant::now() + limits::PREFER_BARRIER).await {
            Ok(_) => self.state.cut_off.store(false, Ordering::Release),
            Err(_) => {
                self.state.cut_off.store(true, Ordering::Release);
                *self.lock_next_try() = Some(Instant::now() + limits::BARRIER_RETRY);
                self.state.fallbacks.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Whether this reader is to make the next try; claims it.
    fn try_is_due(&self) -> bool {
        let now = Instant::now();
        let mut next = self.lock_next_try();
        match *next {
            Some(at) if now < at => false,
            _ => {
                *next = Some(now + limits::BARRIER_RETRY);
                true
            }
        }
    }

    fn lock_next_try(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.state.next_try.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Reads served from the last applied state because no quorum could be reached.
    pub fn fallbacks(&self) -> u64 {
        self.state.fallbacks.load(Ordering::Relaxed)
    }

    /// Whether `prefer` reads are answered without a quorum at this moment.
    pub fn cut_off(&self) -> bool {
        self.state.cut_off.load(Ordering::Acquire)
    }

    /// The newest version applied here, for preparing writes: apply decides again.
    pub fn latest(&self) -> ReadView {
        self.directory.view()
    }
}
