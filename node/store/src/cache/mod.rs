//! The page cache: which pages are in memory, and the only way to them.

mod access;
mod arena;
mod desc;
mod epoch;
mod evict;
mod load;
mod table;
mod window;
mod write_out;

pub use access::Owned;
pub use load::Loaded;
pub use table::MAX_FRAMES;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Condvar, Mutex};

use crate::alloc::{Allocator, AllocatorKind, AllocatorStats};
use crate::error::StoreError;
use crate::layout::{MAX_ORDER, PagePtr};
use crate::store_file::StoreFile;
use arena::Arena;
use desc::{FrameDesc, FrameState, Frequency};
use epoch::Epochs;
use table::Table;

/// A page larger than this share of the arena is never cached, so that a small arena always has other windows.
const LARGEST_CACHED_SHARE: u32 = 8;

/// Retired pages that are let wait before somebody looks whether their readers have left: few enough to be reused while the
/// processor's caches still know them.
const RECLAIM_PAGES: usize = 32;

/// Frames by what they hold, and what has happened so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CacheCounts {
    /// Frames in the arena.
    pub frames: u64,
    /// Free frames.
    pub free: u64,
    /// Frames of clean pages.
    pub clean: u64,
    /// Frames of dirty pages, those being written included.
    pub dirty: u64,
    /// Frames waiting for readers to leave.
    pub retired: u64,
    /// Frames being loaded or built.
    pub taken: u64,
    /// How the free ones are cut up.
    pub allocator: AllocatorStats,
    /// Pages read from the file.
    pub page_ins: u64,
    /// Pages written before a checkpoint to make room.
    pub write_backs: u64,
    /// Clean pages dropped to make room.
    pub evictions: u64,
    /// Windows emptied for pages of a higher order.
    pub window_evictions: u64,
    /// Pages read past the cache because no frame could be had.
    pub private_reads: u64,
}

/// Counters that only grow.
#[derive(Default)]
struct Counters {
    page_ins: AtomicU64,
    write_backs: AtomicU64,
    evictions: AtomicU64,
    window_evictions: AtomicU64,
    private_reads: AtomicU64,
}

/// A page taken out of the table, whose frames readers may still be looking at.
struct Retired {
    frame: u32,
    order: u8,
    tag: u64,
}

/// What the cache lock protects.
struct Inner {
    allocator: Box<dyn Allocator>,
    retired: Vec<Retired>,
    /// Length of `retired` at which it is looked through.
    reclaim_at: usize,
    /// Frames of `retired`.
    retired_frames: u32,
    /// Blocks being loaded: at most one loader each.
    loading: HashSet<u64>,
    /// Where the clock stands.
    hand: u32,
    /// Write-outs in flight, by ticket.
    writing: Vec<u64>,
    next_ticket: u64,
    /// Frames of dirty pages, and of pages being written.
    dirty_frames: u32,
}

/// The cache of one store.
pub struct Cache {
    arena: Arena,
    epochs: Epochs,
    table: Table,
    /// By frame number; more than `frame_count` when the allocator numbers frames sparsely.
    frames: Box<[FrameDesc]>,
    /// Frames of memory.
    frame_count: u32,
    frequencies: Box<[Frequency]>,
    inner: Mutex<Inner>,
    /// A load ended.
    loaded: Condvar,
    /// A write-out ended.
    written: Condvar,
    file: Arc<StoreFile>,
    /// Generation of the newest published version: pages of later ones belong to the writer.
    published: AtomicU64,
    counters: Counters,
}

/// On whose behalf frames are wanted.
#[derive(Clone, Copy)]
pub enum Claimant<'a> {
    /// A reader: may not touch unpublished pages.
    Reader,
    /// A reader that will hardly come back: may drop pages that are cold already, and cools none.
    Scan,
    /// The writer: may spill its own pages except those it holds (by first frame).
    Writer(&'a [u32]),
}

impl Cache {
    /// A cache of `arena_bytes` over `file`.
    pub fn new(arena_bytes: usize, kind: AllocatorKind, file: Arc<StoreFile>) -> Result<Cache, StoreError> {
        let frames = u32::try_from(arena_bytes / crate::layout::BLOCK_BYTES)
            .ok()
            .filter(|frames| *frames <= MAX_FRAMES)
            .ok_or(StoreError::Options("the arena is larger than this build can address"))?;
        let frame_count = frames;
        let allocator = kind.build(frames);
        let frames = allocator.span();
        if frames > MAX_FRAMES {
            return Err(StoreError::Options("the allocator numbers more frames than this build can address"));
        }
        let arena = Arena::new(frames).map_err(|source| StoreError::Io { what: "map the arena", source })?;
        Ok(Cache {
            arena,
            frame_count,
            epochs: Epochs::new(),
            table: Table::new(frames),
            frames: (0..frames).map(|_| FrameDesc::default()).collect(),
            frequencies: (0..frames).map(|_| Frequency::default()).collect(),
            inner: Mutex::new(Inner {
                allocator,
                retired: Vec::new(),
                reclaim_at: RECLAIM_PAGES,
                retired_frames: 0,
                loading: HashSet::new(),
                hand: 0,
                writing: Vec::new(),
                next_ticket: 0,
                dirty_frames: 0,
            }),
            loaded: Condvar::new(),
            written: Condvar::new(),
            file,
            published: AtomicU64::new(0),
            counters: Counters::default(),
        })
    }

    /// Whether pages of this order go through the arena.
    pub fn caches(&self, order: u8) -> bool {
        order <= MAX_ORDER && (1u32 << order) <= (self.frame_count / LARGEST_CACHED_SHARE).max(4)
    }

    /// Says that all pages up to this generation are published. Called by commit under the space lock, after the last
    /// change to any of them.
    pub fn publish(&self, generation: u64) {
        let _ordered = self.inner.lock();
        self.published.store(generation, Ordering::Release);
    }

    fn is_unpublished(&self, pointer: PagePtr) -> bool {
        pointer.generation > self.published.load(Ordering::Acquire)
    }

    fn desc(&self, frame: u32) -> &FrameDesc {
        &self.frames[frame as usize]
    }

    fn frequency(&self, frame: u32) -> &Frequency {
        &self.frequencies[frame as usize]
    }

    /// Marks frames just allocated as one taken page.
    fn take(&self, frame: u32, order: u8) {
        self.desc(frame).set_order(order);
        self.desc(frame).set_state(FrameState::Taken);
        for interior in frame + 1..frame + (1 << order) {
            self.desc(interior).set_interior(frame);
        }
    }

    /// Gives frames back to the allocator.
    fn release(&self, inner: &mut Inner, frame: u32, order: u8) {
        for part in frame..frame + (1 << order) {
            self.desc(part).set_state(FrameState::Free);
        }
        inner.allocator.free(frame, order);
    }

    /// Unmaps a page that is Clean or Dirty; its frames wait for the readers.
    fn retire(&self, inner: &mut Inner, frame: u32) {
        let desc = self.desc(frame);
        let pointer = desc.pointer();
        if desc.state() == FrameState::Dirty {
            inner.dirty_frames -= 1 << pointer.order;
        }
        self.table.remove(pointer.block);
        desc.set_state(FrameState::Retired);
        let tag = self.epochs.retire();
        inner.retired_frames += 1 << pointer.order;
        inner.retired.push(Retired { frame, order: pointer.order, tag });
        if inner.retired.len() >= inner.reclaim_at {
            self.reclaim(inner);
            // Should readers hold many back, do not look through all of them each time.
            inner.reclaim_at = (inner.retired.len() * 2).max(RECLAIM_PAGES);
        }
    }

    /// Frees retired frames whose readers have left; answers whether any was freed.
    fn reclaim(&self, inner: &mut Inner) -> bool {
        let before = inner.retired.len();
        if before == 0 {
            return false;
        }
        let oldest = self.epochs.oldest();
        let mut kept = 0;
        for at in 0..before {
            let Retired { frame, order, tag } = inner.retired[at];
            if tag < oldest {
                inner.retired_frames -= 1 << order;
                self.release(inner, frame, order);
            } else {
                inner.retired.swap(kept, at);
                kept += 1;
            }
        }
        inner.retired.truncate(kept);
        kept < before
    }

    /// Maps owned frames as the page `pointer`, dirty. From then on they are an unpublished page of the writer.
    pub fn map_dirty(&self, owned: &Owned, pointer: PagePtr, frequency: u8) {
        let mut inner = self.inner.lock();
        let desc = self.desc(owned.frame());
        desc.assign(pointer);
        self.frequency(owned.frame()).set(frequency);
        desc.set_state(FrameState::Dirty);
        inner.dirty_frames += 1 << pointer.order;
        self.table.insert(pointer.block, owned.frame());
    }

    /// The writer's hold on a page of its own generation, if it is in memory; a spilled one becomes dirty again.
    pub fn own_unpublished(&self, pointer: PagePtr) -> Option<Owned> {
        // Only the writer takes its dirty pages away, and the writer is here: no lock is needed to look.
        let frame = self.table.find(pointer.block)?;
        let desc = self.desc(frame);
        if desc.state() != FrameState::Dirty {
            let mut inner = self.inner.lock();
            // Between the look and the lock a clean page may have been evicted.
            if self.table.find(pointer.block) != Some(frame) || desc.state() != FrameState::Clean {
                return None;
            }
            desc.set_state(FrameState::Dirty);
            inner.dirty_frames += 1 << pointer.order;
        }
        assert!(desc.pointer() == pointer, "block {} holds another page than the transaction's", pointer.block);
        self.frequency(frame).touch();
        Some(Owned::new(frame, pointer.order))
    }

    /// Forgets the page at a block that is about to be free. False while it is being written: ask again later.
    pub fn discard(&self, block: u64) -> bool {
        let mut inner = self.inner.lock();
        let Some(frame) = self.table.find(block) else { return true };
        if self.desc(frame).state() == FrameState::Writing {
            return false;
        }
        self.retire(&mut inner, frame);
        true
    }

    /// Gives back frames that never became a page.
    pub fn give_back(&self, owned: Owned) {
        let mut inner = self.inner.lock();
        self.release(&mut inner, owned.frame(), owned.order());
    }

    /// Frames of dirty pages.
    pub fn dirty_frames(&self) -> u64 {
        u64::from(self.inner.lock().dirty_frames)
    }

    /// Frames in all.
    pub fn frame_count(&self) -> u64 {
        u64::from(self.frame_count)
    }

    /// Counts frames by state; walks all descriptors.
    pub fn counts(&self) -> CacheCounts {
        let mut counts = CacheCounts { frames: self.frame_count(), ..CacheCounts::default() };
        for desc in &self.frames {
            let frames = 1u64 << desc.pointer().order;
            match desc.state() {
                FrameState::Free | FrameState::Interior => {}
                FrameState::Taken => counts.taken += frames,
                FrameState::Clean => counts.clean += frames,
                FrameState::Dirty | FrameState::Writing => counts.dirty += frames,
                FrameState::Retired => counts.retired += frames,
            }
        }
        counts.allocator = AllocatorStats::of(&*self.inner.lock().allocator);
        counts.free = u64::from(counts.allocator.free_frames);
        counts.page_ins = self.counters.page_ins.load(Ordering::Relaxed);
        counts.write_backs = self.counters.write_backs.load(Ordering::Relaxed);
        counts.evictions = self.counters.evictions.load(Ordering::Relaxed);
        counts.window_evictions = self.counters.window_evictions.load(Ordering::Relaxed);
        counts.private_reads = self.counters.private_reads.load(Ordering::Relaxed);
        counts
    }
}
