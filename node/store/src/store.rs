//! The handles users hold: the store and its views.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwap;
use parking_lot::{Condvar, Mutex};

use crate::alloc::AllocatorKind;
use crate::btree::cursor::Cursor;
use crate::btree::search;
use crate::btree::verify;
use crate::cache::Cache;
use crate::checkpoint::{self, CheckpointInfo, Durable};
use crate::error::StoreError;
use crate::file::FileSystem;
use crate::layout::{BLOCK_BYTES, MAX_KEY_BYTES};
use crate::open;
use crate::space::{ReleasedVersions, Space};
use crate::stats::StoreStats;
use crate::store_file::StoreFile;
use crate::txn::WriteTxn;
use crate::version::Version;

pub use crate::btree::verify::{TreeSize, VerifyReport};

/// A checkpoint is due when this share (1/n) of the frames is dirty.
const DIRTY_CEILING_SHARE: u64 = 4;

/// Below this much deferred space (64 MiB) no checkpoint is due for its sake.
const DEFERRED_CEILING_BLOCKS: u64 = 1 << 14;

/// Names one tree. A tree exists from its first `put` until its last record is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreeId(pub u32);

/// How a store is opened.
#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// Memory for page frames, in bytes; rounded down to whole frames. At least [`StoreOptions::MIN_ARENA_BYTES`]; in
    /// products at least 4 MiB.
    pub arena_bytes: usize,
    /// Allocator of the arena.
    pub allocator: AllocatorKind,
}

impl StoreOptions {
    /// The writer's pages of one operation, their splits, and some readers' pages fit in this.
    pub const MIN_ARENA_BYTES: usize = 64 * BLOCK_BYTES;
}

impl Default for StoreOptions {
    fn default() -> Self {
        StoreOptions { arena_bytes: 64 << 20, allocator: AllocatorKind::Buddy }
    }
}

/// The lock of the single writer, held by a value instead of a scope.
#[derive(Default)]
pub struct WriterLock {
    busy: Mutex<bool>,
    freed: Condvar,
}

impl WriterLock {
    fn acquire(&self) {
        let mut busy = self.busy.lock();
        while *busy {
            self.freed.wait(&mut busy);
        }
        *busy = true;
    }

    /// Lets the next writer in.
    pub fn release(&self) {
        *self.busy.lock() = false;
        self.freed.notify_one();
    }
}

/// What all handles share.
pub struct Shared {
    /// The file.
    pub file: Arc<StoreFile>,
    /// The pages in memory.
    pub cache: Arc<Cache>,
    /// The blocks of the file.
    pub space: Mutex<Space>,
    /// The newest published version.
    pub current: ArcSwap<Version>,
    /// Held by the WriteTxn.
    pub writer: WriterLock,
    /// Held by a running checkpoint.
    pub checkpoint: Mutex<Durable>,
    /// Labels of the durable checkpoints, older first; apart, so that asking does not wait for a running one.
    pub labels: Mutex<Vec<Vec<u8>>>,
    /// The last generation given to a transaction.
    pub last_generation: AtomicU64,
    /// Versions let go of.
    pub released: ReleasedVersions,
}

/// A store; clones share it. Many threads may read, one writes.
#[derive(Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

impl Store {
    /// Opens the store in the file `path`, or creates it. After a crash this is the newest whole checkpoint.
    pub fn open(files: Arc<dyn FileSystem>, path: &Path, options: StoreOptions) -> Result<Store, StoreError> {
        if options.arena_bytes < StoreOptions::MIN_ARENA_BYTES {
            return Err(StoreError::Options("arena_bytes is below the minimum"));
        }
        Ok(Store { shared: Arc::new(open::open(&*files, path, &options)?) })
    }

    /// The newest published version.
    pub fn view(&self) -> View {
        View::new(Arc::clone(&self.shared), self.shared.current.load_full())
    }

    /// Starts the write transaction; waits while another is open.
    pub fn begin(&self) -> WriteTxn {
        self.shared.writer.acquire();
        let generation = self.shared.last_generation.fetch_add(1, Ordering::Relaxed) + 1;
        let roots = self.shared.current.load().roots.clone();
        WriteTxn::new(Arc::clone(&self.shared), generation, roots)
    }

    /// Makes the newest published version durable. May run beside readers and the writer; a second one waits. Nothing
    /// is written when that version is durable already.
    pub fn checkpoint(&self) -> Result<CheckpointInfo, StoreError> {
        checkpoint::checkpoint(&self.shared)
    }

    /// Labels of the two durable checkpoints: older (None before the second checkpoint), newer.
    pub fn checkpoint_labels(&self) -> (Option<Vec<u8>>, Option<Vec<u8>>) {
        let labels = self.shared.labels.lock();
        let older = if labels.len() == 2 { labels.first().cloned() } else { None };
        (older, labels.last().cloned())
    }

    /// Counters; walks the descriptors of all frames.
    pub fn stats(&self) -> StoreStats {
        StoreStats::gather(&self.shared)
    }

    /// Whether a checkpoint is due: a quarter of the frames is dirty, or much space waits for one.
    pub fn needs_checkpoint(&self) -> bool {
        if self.shared.cache.dirty_frames() * DIRTY_CEILING_SHARE > self.shared.cache.frame_count() {
            return true;
        }
        let space = self.shared.space.lock().counts();
        space.deferred > DEFERRED_CEILING_BLOCKS && space.deferred * DIRTY_CEILING_SHARE > space.used
    }

    /// Walks everything that the newest version reaches and accounts for every block of the file. Reads clean pages
    /// from the file again. Readers and the writer may go on.
    pub fn verify(&self) -> Result<VerifyReport, StoreError> {
        verify::verify(&self.shared)
    }
}

/// One published version: cheap to take and to clone. Keeps its blocks in the file from reuse, but no memory.
#[derive(Clone)]
pub struct View {
    shared: Arc<Shared>,
    version: Arc<Version>,
}

impl View {
    pub(crate) fn new(shared: Arc<Shared>, version: Arc<Version>) -> View {
        View { shared, version }
    }

    /// The label given at commit.
    pub fn label(&self) -> Vec<u8> {
        self.version.label.clone()
    }

    /// Number of the version; later ones are greater, also across restarts.
    pub fn generation(&self) -> u64 {
        self.version.generation
    }

    /// Calls `read` with the value of `key`. The closure runs inside an epoch: it must not block, nor read from the
    /// store (`Reentrant`).
    pub fn get<R>(&self, tree: TreeId, key: &[u8], read: impl FnMut(&[u8]) -> R) -> Result<Option<R>, StoreError> {
        self.shared.file.usable()?;
        if key.is_empty() || key.len() > MAX_KEY_BYTES {
            return Err(StoreError::KeySize(key.len()));
        }
        search::get(&self.shared.cache, self.version.root(tree.0), key, read)
    }

    /// A copy of the value of `key`.
    pub fn get_vec(&self, tree: TreeId, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        self.get(tree, key, <[u8]>::to_vec)
    }

    /// A cursor, not yet positioned. Finds nothing in a tree that does not exist.
    pub fn cursor(&self, tree: TreeId) -> Cursor<'_> {
        Cursor::new(&self.shared.cache, self.version.root(tree.0))
    }

    /// The trees of this version, in order.
    pub fn trees(&self) -> Result<Vec<TreeId>, StoreError> {
        Ok(self.version.roots.iter().map(|root| TreeId(root.tree)).collect())
    }

    /// Records of a tree; 0 when it does not exist.
    pub fn records(&self, tree: TreeId) -> u64 {
        let index = self.version.roots.binary_search_by_key(&tree.0, |root| root.tree);
        index.map_or(0, |index| self.version.roots[index].records)
    }
}
