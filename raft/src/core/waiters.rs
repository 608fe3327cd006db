//! Waiting until an index is applied, without waking everyone at every batch.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use tokio::sync::oneshot;

#[derive(Default)]
struct State {
    /// Applied entries: the index of the last plus one.
    applied: u64,
    next_id: u64,
    waiting: BTreeMap<(u64, u64), oneshot::Sender<()>>,
    closed: bool,
}

/// The applied index, and who waits for it.
#[derive(Default)]
pub(crate) struct AppliedWaiters {
    state: Mutex<State>,
}

impl AppliedWaiters {
    pub fn applied(&self) -> Option<u64> {
        self.state.lock().applied.checked_sub(1)
    }

    /// Moves forward and wakes whom it concerns.
    pub fn advance(&self, index: u64) {
        let ready = {
            let mut state = self.state.lock();
            state.applied = state.applied.max(index + 1);
            let later = state.waiting.split_off(&(index + 1, 0));
            std::mem::replace(&mut state.waiting, later)
        };
        for waiter in ready.into_values() {
            // It may have given up.
            let _ = waiter.send(());
        }
    }

    /// No more will be applied: all waiters fail.
    pub fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        state.waiting.clear();
    }

    /// Waits until `index` is applied; `false` = it never will be, here.
    pub async fn wait(&self, index: u64) -> bool {
        let receiver = {
            let mut state = self.state.lock();
            if state.applied > index {
                return true;
            }
            if state.closed {
                return false;
            }
            let (sender, receiver) = oneshot::channel();
            let id = state.next_id;
            state.next_id += 1;
            // Waiters that gave up leave their senders behind until the index passes.
            state.waiting.insert((index, id), sender);
            receiver
        };
        receiver.await.is_ok()
    }
}
