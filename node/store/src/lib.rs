//! The page store of Bindery: copy-on-write B+trees of byte keys and values in one file, with a bounded memory
//! arena, a buddy allocator and checkpoints. It knows bytes, not directories. `DESIGN.md` beside this crate says
//! how it works and which invariants it keeps.
#![allow(clippy::unimplemented, unused_variables, dead_code)]

mod error;
mod file;

pub use error::StoreError;
pub use file::{File, FileSystem, OsFiles};

use std::path::Path;
use std::sync::Arc;

/// Names one tree. A tree exists from its first `put`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreeId(pub u32);

/// Which allocator carves the frame arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AllocatorKind {
    /// Power-of-two buddies, O(1).
    #[default]
    Buddy,
    /// One address-ordered list of free runs, searched from its start: the classic, kept for comparison.
    FirstFit,
}

/// How a store is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreOptions {
    /// Memory for page frames, in bytes; rounded down to whole frames.
    pub arena_bytes: usize,
    /// Allocator of the arena.
    pub allocator: AllocatorKind,
}

impl Default for StoreOptions {
    fn default() -> Self {
        StoreOptions { arena_bytes: 64 << 20, allocator: AllocatorKind::Buddy }
    }
}

/// What a checkpoint did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CheckpointInfo {
    /// Generation of the version that is durable now.
    pub generation: u64,
    /// Its label.
    pub label: Vec<u8>,
    /// Pages written by this call (zero when nothing had changed).
    pub pages_written: u64,
    /// Bytes written by this call, bitmaps and meta included.
    pub bytes_written: u64,
}

/// Counters of one store.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StoreStats {
    /// Frames of the arena.
    pub frames: u64,
}

/// What `verify` counted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VerifyReport {
    /// Trees walked.
    pub trees: u64,
    /// Records found.
    pub records: u64,
}

/// A store; clones share it.
#[derive(Clone)]
pub struct Store(Arc<()>);

/// One published version.
#[derive(Clone)]
pub struct View(Arc<()>);

/// The write transaction.
pub struct WriteTxn(Arc<()>);

/// An ordered position in one tree.
pub struct Cursor<'a>(&'a ());

type Result<T> = std::result::Result<T, StoreError>;

impl Store {
    /// Opens or creates the store in the file `path`.
    pub fn open(files: Arc<dyn FileSystem>, path: &Path, options: StoreOptions) -> Result<Store> {
        unimplemented!()
    }
    /// The newest published version.
    pub fn view(&self) -> View {
        unimplemented!()
    }
    /// Starts the write transaction; waits while another is open.
    pub fn begin(&self) -> WriteTxn {
        unimplemented!()
    }
    /// Makes the newest published version durable.
    pub fn checkpoint(&self) -> Result<CheckpointInfo> {
        unimplemented!()
    }
    /// Labels of the two durable checkpoints: older, newer.
    pub fn checkpoint_labels(&self) -> (Option<Vec<u8>>, Option<Vec<u8>>) {
        unimplemented!()
    }
    /// Counters.
    pub fn stats(&self) -> StoreStats {
        unimplemented!()
    }
    /// Whether the dirty ceiling is reached.
    pub fn needs_checkpoint(&self) -> bool {
        unimplemented!()
    }
    /// Structural check of everything.
    pub fn verify(&self) -> Result<VerifyReport> {
        unimplemented!()
    }
}

impl View {
    /// The label given at commit.
    pub fn label(&self) -> Vec<u8> {
        unimplemented!()
    }
    /// Calls `read` with the value of `key`. The closure must not block nor read from the store.
    pub fn get<R>(&self, tree: TreeId, key: &[u8], read: impl FnMut(&[u8]) -> R) -> Result<Option<R>> {
        unimplemented!()
    }
    /// A copy of the value of `key`.
    pub fn get_vec(&self, tree: TreeId, key: &[u8]) -> Result<Option<Vec<u8>>> {
        unimplemented!()
    }
    /// A cursor, not yet positioned.
    pub fn cursor(&self, tree: TreeId) -> Cursor<'_> {
        unimplemented!()
    }
    /// The trees of this version.
    pub fn trees(&self) -> Result<Vec<TreeId>> {
        unimplemented!()
    }
}

impl Cursor<'_> {
    /// Moves to the first key >= `key`.
    pub fn seek(&mut self, key: &[u8]) -> Result<bool> {
        unimplemented!()
    }
    /// Moves to the last key < `key`.
    pub fn seek_last_before(&mut self, key: &[u8]) -> Result<bool> {
        unimplemented!()
    }
    /// Moves to the first key.
    pub fn seek_first(&mut self) -> Result<bool> {
        unimplemented!()
    }
    /// Moves to the last key.
    pub fn seek_last(&mut self) -> Result<bool> {
        unimplemented!()
    }
    /// Whether the cursor stands on a record.
    pub fn valid(&self) -> bool {
        unimplemented!()
    }
    /// The key; empty when not valid.
    pub fn key(&self) -> &[u8] {
        unimplemented!()
    }
    /// The value; empty when not valid.
    pub fn value(&self) -> &[u8] {
        unimplemented!()
    }
    /// Moves to the next record.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<bool> {
        unimplemented!()
    }
    /// Moves to the record before.
    pub fn prev(&mut self) -> Result<bool> {
        unimplemented!()
    }
}

impl WriteTxn {
    /// As [`View::get`], seeing this transaction's writes.
    pub fn get<R>(&self, tree: TreeId, key: &[u8], read: impl FnMut(&[u8]) -> R) -> Result<Option<R>> {
        unimplemented!()
    }
    /// As [`View::get_vec`], seeing this transaction's writes.
    pub fn get_vec(&self, tree: TreeId, key: &[u8]) -> Result<Option<Vec<u8>>> {
        unimplemented!()
    }
    /// As [`View::cursor`], seeing this transaction's writes.
    pub fn cursor(&self, tree: TreeId) -> Cursor<'_> {
        unimplemented!()
    }
    /// Inserts or replaces.
    pub fn put(&mut self, tree: TreeId, key: &[u8], value: &[u8]) -> Result<()> {
        unimplemented!()
    }
    /// Removes; answers whether the key was there.
    pub fn delete(&mut self, tree: TreeId, key: &[u8]) -> Result<bool> {
        unimplemented!()
    }
    /// Removes a whole tree.
    pub fn delete_tree(&mut self, tree: TreeId) -> Result<()> {
        unimplemented!()
    }
    /// Publishes in memory; not durable.
    pub fn commit(self, label: &[u8]) -> Result<View> {
        unimplemented!()
    }
}
