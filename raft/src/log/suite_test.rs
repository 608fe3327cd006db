//! openraft's own storage suite against every kind of log, with and without the writer thread.

use std::sync::Arc;

use openraft::StorageError;
use openraft::testing::log::{StoreBuilder, Suite};

use super::{LogIdentity, LogStore, StoreOptions};
use crate::core::apply::{ApplyState, StateMachine};
use crate::core::types::TC;
use crate::log::files::OsFiles;
use crate::options::{FatalHandler, LogKind};
use crate::test_machine::MemoryMachine;

struct Builder {
    kind: LogKind,
    inline: bool,
}

impl StoreBuilder<TC, LogStore, StateMachine, tempfile::TempDir> for Builder {
    async fn build(&self) -> Result<(tempfile::TempDir, LogStore, StateMachine), StorageError<TC>> {
        let directory = tempfile::tempdir().unwrap();
        let options = StoreOptions {
            kind: self.kind,
            inline: self.inline,
            files: Arc::new(OsFiles),
            sled_cache_bytes: 1 << 20,
            // Tiny, so that nearly every test crosses segments.
            segment_bytes: 100,
            tail_cache_bytes: 100,
            // The suite deletes the directory while the last job may still be running.
            fatal: FatalHandler(Arc::new(|_| {})),
        };
        let identity = LogIdentity { cluster_id: [1; 16], node_id: 1 };
        let log = LogStore::open(&directory.path().join("log"), identity, false, options).unwrap();
        // The suite applies without appending: give it a log that is durable without end.
        let (everything, durable) = tokio::sync::watch::channel(Some(u64::MAX));
        std::mem::forget(everything);
        let state = ApplyState::new(Arc::new(MemoryMachine::sparse()), true, durable);
        state.set_started();
        Ok((directory, log, StateMachine { state: Arc::new(state) }))
    }
}

async fn suite(kind: LogKind, inline: bool) {
    Suite::test_all(Builder { kind, inline }).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn suite_segmented_thread() {
    suite(LogKind::Segmented, false).await;
}

#[tokio::test]
async fn suite_segmented_inline() {
    suite(LogKind::Segmented, true).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn suite_sled_thread() {
    suite(LogKind::Sled, false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn suite_split_thread() {
    suite(LogKind::Split, false).await;
}
