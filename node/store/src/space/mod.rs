//! Space in the file: what is used, and when what was freed may be used again.

pub mod map;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::cache::Cache;
use crate::error::StoreError;
use crate::layout::{BLOCK_BYTES, CHUNK_BLOCKS, MAX_BLOCKS, PagePtr};
use crate::store_file::StoreFile;
use map::SpaceMap;

/// The file grows by an eighth of itself, within these bounds, in chunks of 1 MiB.
const LEAST_GROWTH_CHUNKS: u64 = 1;
const MOST_GROWTH_CHUNKS: u64 = 64;

/// Room for extents of a transaction that is kept for the next one.
const KEPT_UNCOMMITTED: usize = 1 << 14;

/// Ripe extents made free by one commit or checkpoint (each is one look at the page table): a version that much waited for
/// must not stall the writer when it goes. All are, before the file grows.
const RIPE_PORTION: usize = 4096;

/// Versions whose last View went away, until the space lock's next holder takes note.
pub type ReleasedVersions = Arc<Mutex<Vec<u64>>>;

/// An extent reachable in the versions born..freed only.
#[derive(Debug, Clone, Copy)]
struct Deferred {
    block: u64,
    order: u8,
    born: u64,
    freed: u64,
}

/// Everything behind the space lock.
pub struct Space {
    map: SpaceMap,
    /// Freed extents by their oldest holder.
    deferred: BTreeMap<u64, Vec<Deferred>>,
    deferred_blocks: u64,
    /// Freed extents that no holder needs, to be made free in portions; one whose page is being written stays a while.
    ripe: Vec<Deferred>,
    /// Extents of the open transaction.
    uncommitted: HashMap<u64, u8>,
    /// Roots pages of checkpoints not yet superseded, which no tree reaches.
    staged: Vec<PagePtr>,
    /// Published versions with a View (the newest always has one).
    live: BTreeSet<u64>,
    /// Durable checkpoints, older first, and the one being written.
    durable: Vec<u64>,
    in_progress: Option<u64>,
    released: ReleasedVersions,
    file: Arc<StoreFile>,
    cache: Arc<Cache>,
}

/// Counts of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SpaceCounts {
    /// Blocks of the file.
    pub blocks: u64,
    /// Blocks in use, deferred ones included.
    pub used: u64,
    /// Blocks freed but still needed by a holder.
    pub deferred: u64,
}

/// A consistent picture for `verify`.
pub struct SpaceSnapshot {
    /// Used bits.
    pub used: Vec<u64>,
    /// Extents freed and waiting.
    pub deferred: Vec<(u64, u8)>,
    /// Extents of the open transaction.
    pub uncommitted: Vec<(u64, u8)>,
    /// Roots pages.
    pub staged: Vec<PagePtr>,
}

impl Space {
    /// Space as found at open; `durable` older first.
    pub fn new(
        map: SpaceMap,
        durable: Vec<u64>,
        file: Arc<StoreFile>,
        cache: Arc<Cache>,
        released: ReleasedVersions,
    ) -> Space {
        Space {
            map,
            deferred: BTreeMap::new(),
            deferred_blocks: 0,
            ripe: Vec::new(),
            uncommitted: HashMap::new(),
            staged: Vec::new(),
            live: BTreeSet::new(),
            durable,
            in_progress: None,
            released,
            file,
            cache,
        }
    }

    /// Takes an extent for the open transaction.
    pub fn allocate(&mut self, order: u8) -> Result<u64, StoreError> {
        let block = self.take(order)?;
        self.uncommitted.insert(block, order);
        Ok(block)
    }

    fn take(&mut self, order: u8) -> Result<u64, StoreError> {
        if let Some(block) = self.map.allocate(order) {
            return Ok(block);
        }
        self.release_unheld();
        if let Some(block) = self.map.allocate(order) {
            return Ok(block);
        }
        let chunks = self.map.blocks() / CHUNK_BLOCKS;
        let wanted = (chunks / 8).clamp(LEAST_GROWTH_CHUNKS, MOST_GROWTH_CHUNKS);
        match self.grow(wanted) {
            Err(StoreError::Full) if wanted > LEAST_GROWTH_CHUNKS => self.grow(LEAST_GROWTH_CHUNKS)?,
            result => result?,
        }
        // A fresh region's first chunk has no run of the largest order; the next one has.
        match self.map.allocate(order) {
            Some(block) => Ok(block),
            None => self.take(order),
        }
    }

    fn grow(&mut self, chunks: u64) -> Result<(), StoreError> {
        let blocks = self.map.blocks() + chunks * CHUNK_BLOCKS;
        if blocks > MAX_BLOCKS {
            return Err(StoreError::Full);
        }
        // Synced with the pages, before the meta that mentions it.
        self.file.set_len(blocks * BLOCK_BYTES as u64)?;
        self.map.extend(chunks);
        Ok(())
    }

    /// Frees an extent of the open transaction: nobody else ever saw it.
    pub fn free_uncommitted(&mut self, block: u64) {
        let order = self.uncommitted.remove(&block).expect("the transaction frees only what it allocated");
        self.reuse_or_wait(Deferred { block, order, born: u64::MAX, freed: u64::MAX });
    }

    /// Undoes the open transaction.
    pub fn abort(&mut self) {
        for (block, order) in std::mem::take(&mut self.uncommitted) {
            self.reuse_or_wait(Deferred { block, order, born: u64::MAX, freed: u64::MAX });
        }
    }

    /// Makes an extent free unless a write to it is in flight.
    fn reuse_or_wait(&mut self, extent: Deferred) {
        if self.cache.discard(extent.block) {
            self.map.free(extent.block, extent.order);
        } else {
            self.deferred_blocks += 1 << extent.order;
            self.ripe.push(extent);
        }
    }

    /// The open transaction becomes version `generation`: what it allocated is reachable, what it freed is deferred.
    /// `publish` makes the version visible and lets go of the one before.
    pub fn commit(&mut self, generation: u64, freed: &[PagePtr], publish: impl FnOnce()) {
        self.uncommitted.clear();
        self.uncommitted.shrink_to(KEPT_UNCOMMITTED);
        self.live.insert(generation);
        publish();
        self.note_released();
        for pointer in freed {
            self.defer(Deferred {
                block: pointer.block,
                order: pointer.order,
                born: pointer.generation,
                freed: generation,
            });
        }
        self.free_ripe(RIPE_PORTION);
    }

    /// Notes the version found at open.
    pub fn set_first_version(&mut self, generation: u64) {
        self.live.insert(generation);
    }

    /// Defers extents that only the older checkpoint needs, found at open.
    pub fn defer_at_open(&mut self, extents: &[(u64, u8)], older: u64) {
        for &(block, order) in extents {
            self.defer(Deferred { block, order, born: older, freed: older + 1 });
        }
    }

    fn oldest_holder(&self, born: u64, freed: u64) -> Option<u64> {
        let holds = |version: &u64| (born..freed).contains(version);
        let fixed = self.durable.iter().chain(&self.in_progress).copied().filter(holds).min();
        let live = self.live.range(born..freed).next().copied();
        match (fixed, live) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    fn defer(&mut self, extent: Deferred) {
        match self.oldest_holder(extent.born, extent.freed) {
            Some(holder) => {
                self.deferred_blocks += 1 << extent.order;
                self.deferred.entry(holder).or_default().push(extent);
            }
            None => self.reuse_or_wait(extent),
        }
    }

    fn note_released(&mut self) {
        let released = std::mem::take(&mut *self.released.lock());
        for version in released {
            self.live.remove(&version);
            self.reconsider(version);
        }
    }

    /// Looks again at what waited for `version`, unless it is still held otherwise.
    fn reconsider(&mut self, version: u64) {
        if self.live.contains(&version) || self.durable.contains(&version) || self.in_progress == Some(version) {
            return;
        }
        for extent in self.deferred.remove(&version).unwrap_or_default() {
            match self.oldest_holder(extent.born, extent.freed) {
                Some(holder) => self.deferred.entry(holder).or_default().push(extent),
                None => self.ripe.push(extent),
            }
        }
    }

    /// Makes up to `limit` ripe extents free.
    fn free_ripe(&mut self, limit: usize) {
        let portion = self.ripe.split_off(self.ripe.len().saturating_sub(limit));
        for extent in portion {
            self.deferred_blocks -= 1 << extent.order;
            self.reuse_or_wait(extent);
        }
    }

    /// Frees all that became free since the last look.
    pub fn release_unheld(&mut self) {
        self.note_released();
        self.free_ripe(usize::MAX);
    }

    /// Starts checkpoint of `version`: it becomes a holder. Answers the extent for its roots page and the bits of
    /// everything that it reaches.
    pub fn freeze(&mut self, version: u64, roots_order: u8) -> Result<(u64, Vec<u64>), StoreError> {
        assert!(self.in_progress.is_none(), "one checkpoint at a time");
        self.note_released();
        let roots = self.take(roots_order)?;
        self.in_progress = Some(version);
        let pointer = PagePtr { block: roots, order: roots_order, generation: version };
        let mut words = self.map.words().to_vec();
        for extent in self.deferred.values().flatten().chain(&self.ripe) {
            map::write_bits(&mut words, extent.block, extent.order, false);
        }
        for (block, order) in &self.uncommitted {
            map::write_bits(&mut words, *block, *order, false);
        }
        for old in &self.staged {
            map::write_bits(&mut words, old.block, old.order, false);
        }
        self.staged.push(pointer);
        Ok((roots, words))
    }

    /// Notes the roots page of a checkpoint found at open.
    pub fn stage_at_open(&mut self, pointer: PagePtr) {
        self.staged.push(pointer);
    }

    /// The checkpoint of `version` is durable: the oldest of three durable versions is no longer one.
    pub fn checkpoint_done(&mut self, version: u64) {
        assert!(self.in_progress == Some(version), "the checkpoint that ends is the one that was started");
        self.in_progress = None;
        let dropped = if self.durable.len() == 2 { Some(self.durable.remove(0)) } else { None };
        // Its predecessors' roots pages now belong to older versions only.
        let current = self.staged.pop().expect("freeze staged it");
        self.durable.push(version);
        for old in std::mem::replace(&mut self.staged, vec![current]) {
            self.defer(Deferred {
                block: old.block,
                order: old.order,
                born: old.generation,
                freed: old.generation + 1,
            });
        }
        if let Some(version) = dropped {
            self.reconsider(version);
        }
        self.note_released();
        self.free_ripe(RIPE_PORTION);
    }

    /// Counts.
    pub fn counts(&self) -> SpaceCounts {
        SpaceCounts { blocks: self.map.blocks(), used: self.map.used(), deferred: self.deferred_blocks }
    }

    /// A picture for `verify`.
    pub fn snapshot(&mut self) -> SpaceSnapshot {
        self.note_released();
        SpaceSnapshot {
            used: self.map.words().to_vec(),
            deferred: self.deferred.values().flatten().chain(&self.ripe).map(|e| (e.block, e.order)).collect(),
            uncommitted: self.uncommitted.iter().map(|(block, order)| (*block, *order)).collect(),
            staged: self.staged.clone(),
        }
    }
}
