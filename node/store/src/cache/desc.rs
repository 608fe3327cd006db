//! Side descriptors of frames: everything known about a page in memory that is not its bytes.

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

use crate::layout::PagePtr;

/// What a frame is used for. Changed under the cache lock; may be looked at without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum FrameState {
    /// In the allocator.
    Free = 0,
    /// Taken, not mapped: being loaded, built, or claimed for a window.
    Taken = 1,
    /// Mapped; the file holds the same.
    Clean = 2,
    /// Mapped; newer than the file.
    Dirty = 3,
    /// Mapped; being written out.
    Writing = 4,
    /// Unmapped, waiting for readers to leave.
    Retired = 5,
    /// Not the first frame of its page.
    Interior = 6,
}

const STATES: [FrameState; 7] = [
    FrameState::Free,
    FrameState::Taken,
    FrameState::Clean,
    FrameState::Dirty,
    FrameState::Writing,
    FrameState::Retired,
    FrameState::Interior,
];

/// Frequency of a page that was loaded and not looked at since.
const FRESH: u8 = 0x80;
/// Saturation of the frequency (two bits).
const MAX_FREQUENCY: u8 = 3;

/// One frame's descriptor; the first frame of a page speaks for all of it.
#[derive(Default)]
pub struct FrameDesc {
    block: AtomicU64,
    generation: AtomicU64,
    head: AtomicU32,
    state: AtomicU8,
    order: AtomicU8,
}

impl FrameDesc {
    /// The state.
    pub fn state(&self) -> FrameState {
        STATES[self.state.load(Ordering::Acquire) as usize]
    }

    /// Sets the state. Under the cache lock.
    pub fn set_state(&self, state: FrameState) {
        self.state.store(state as u8, Ordering::Release);
    }

    /// Makes this frame part of the page that starts at `head`.
    pub fn set_interior(&self, head: u32) {
        self.head.store(head, Ordering::Relaxed);
        self.set_state(FrameState::Interior);
    }

    /// First frame of the page that an interior frame belongs to.
    pub fn head(&self) -> u32 {
        self.head.load(Ordering::Relaxed)
    }

    /// Says which page the frames hold.
    pub fn assign(&self, pointer: PagePtr) {
        self.block.store(pointer.block, Ordering::Relaxed);
        self.generation.store(pointer.generation, Ordering::Relaxed);
        self.order.store(pointer.order, Ordering::Relaxed);
    }

    /// Sets the order of a page that is taken but not yet assigned.
    pub fn set_order(&self, order: u8) {
        self.order.store(order, Ordering::Relaxed);
    }

    /// The page held.
    pub fn pointer(&self) -> PagePtr {
        PagePtr {
            block: self.block.load(Ordering::Relaxed),
            order: self.order.load(Ordering::Relaxed),
            generation: self.generation.load(Ordering::Relaxed),
        }
    }
}

/// How often a page was looked at lately. Apart from the descriptors and dense, so that counting a look at a page does not
/// cost a cache miss of its own.
#[derive(Default)]
pub struct Frequency(AtomicU8);

impl Frequency {
    /// Marks as just loaded: the next look counts as the first.
    pub fn set_fresh(&self) {
        self.0.store(FRESH, Ordering::Relaxed);
    }

    /// Sets the frequency.
    pub fn set(&self, frequency: u8) {
        self.0.store(frequency, Ordering::Relaxed);
    }

    /// Counts a look; stores only when that changes something, so that hot pages stay shared between caches.
    pub fn touch(&self) {
        let frequency = self.0.load(Ordering::Relaxed);
        if frequency == FRESH {
            self.0.store(0, Ordering::Relaxed);
        } else if frequency < MAX_FREQUENCY {
            self.0.store(frequency + 1, Ordering::Relaxed);
        }
    }

    /// The clock hand passes: answers whether the page was cold, and cools it.
    pub fn cool(&self) -> bool {
        match self.0.load(Ordering::Relaxed) {
            0 => true,
            FRESH => {
                self.0.store(0, Ordering::Relaxed);
                false
            }
            frequency => {
                self.0.store(frequency - 1, Ordering::Relaxed);
                false
            }
        }
    }

    /// Warmth for comparing windows.
    pub fn warmth(&self) -> u32 {
        match self.0.load(Ordering::Relaxed) {
            FRESH => u32::from(MAX_FREQUENCY),
            frequency => u32::from(frequency),
        }
    }
}
