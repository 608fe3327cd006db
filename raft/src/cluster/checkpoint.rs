//! Checkpoints of the machine, and purging the log behind them.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use openraft::async_runtime::WatchReceiver;
use tokio::time::{Duration, Instant};

use super::inner::Inner;
use super::running::Running;
use crate::core::block::block;

/// How often it is looked at whether a checkpoint is due.
const TICK: Duration = Duration::from_millis(250);
/// openraft learns of a checkpoint within microseconds; this only bounds the wait.
const REPORT_TIMEOUT: Duration = Duration::from_secs(5);

pub(super) fn spawn(inner: &Arc<Inner>, running: &Arc<Running>) {
    let (weak_inner, weak_running) = (Arc::downgrade(inner), Arc::downgrade(running));
    inner.spawn(async move {
        let mut last = Instant::now();
        let (mut last_bytes, mut last_index) = (0, None);
        loop {
            tokio::time::sleep(TICK).await;
            let (Some(inner), Some(running)) = (weak_inner.upgrade(), weak_running.upgrade()) else { return };
            let bytes = running.apply.applied_bytes.load(Ordering::Relaxed);
            let index = running.apply.applied.applied();
            let due = last.elapsed() >= inner.options.checkpoint_interval
                || bytes - last_bytes >= inner.options.checkpoint_log_bytes
                || inner.machine.needs_checkpoint();
            if !due || index == last_index {
                continue;
            }
            (last, last_bytes, last_index) = (Instant::now(), bytes, index);
            if !checkpoint(&inner, &running).await {
                return;
            }
        }
    });
}

/// Makes one checkpoint and purges. Returns whether to go on.
async fn checkpoint(inner: &Inner, running: &Running) -> bool {
    let machine = inner.machine.clone();
    let result = block(running.inline, move || machine.checkpoint().map(|()| machine.durable())).await;
    let durable = match result {
        Ok(durable) => durable,
        Err(error) => {
            // A failed sync must not be retried: what it lost may look written afterwards.
            (inner.options.fatal.0)(&format!("the checkpoint failed: {error}"));
            return false;
        }
    };
    let Some(durable) = durable.position else { return true };
    // Tell openraft how far the older checkpoint reaches; it allows purging up to there.
    if running.raft.trigger().snapshot().await.is_err() {
        return false;
    }
    let mut metrics = running.raft.metrics();
    let reported = async {
        while metrics.borrow_watched().snapshot.is_none_or(|id| id.index < durable.index) {
            if metrics.changed().await.is_err() {
                break;
            }
        }
    };
    if tokio::time::timeout(REPORT_TIMEOUT, reported).await.is_err() {
        return true;
    }
    let limit = running.apply.pins.lowest().map_or(durable.index, |pinned| durable.index.min(pinned));
    if let Some(upto) = running.log.purge_boundary(limit, inner.options.retain_log_bytes) {
        tracing::debug!(upto, "purging the log");
        return running.raft.trigger().purge_log(upto).await.is_ok();
    }
    true
}
