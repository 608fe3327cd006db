//! What openraft carries around as a snapshot: a handle, never the data.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::machine::{SnapshotSink, SnapshotSource};

/// A snapshot.
pub(crate) enum SnapshotData {
    /// Only a position: the machine's older checkpoint.
    Marker,
    /// The machine's newest state, pinned, to be sent.
    Outgoing { source: Box<dyn SnapshotSource>, pin: Pin },
    /// A state received whole, to be switched to.
    Incoming(Box<dyn SnapshotSink>),
}

/// Indexes that snapshots being sent start from: the log behind them must stay.
#[derive(Default)]
pub(crate) struct Pins {
    state: Mutex<(u64, BTreeMap<u64, u64>)>,
}

/// Keeps one index until dropped.
pub(crate) struct Pin {
    pins: Arc<Pins>,
    id: u64,
}

impl Pins {
    pub fn pin(self: &Arc<Self>, index: u64) -> Pin {
        let mut state = self.state.lock();
        state.0 += 1;
        let id = state.0;
        state.1.insert(id, index);
        Pin { pins: self.clone(), id }
    }

    /// The lowest pinned index.
    pub fn lowest(&self) -> Option<u64> {
        self.state.lock().1.values().min().copied()
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        self.pins.state.lock().1.remove(&self.id);
    }
}
