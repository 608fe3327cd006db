//! Making room: the clock.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::desc::FrameState;
use super::{Cache, Claimant, Inner, Owned};
use crate::error::StoreError;

/// Frames dropped at once, so that the wait for readers is shared.
const DROP_FRAMES: u32 = 16;
/// Dirty pages written at once.
const WRITE_PAGES: usize = 64;
/// Pages the hand passes in one sweep; after them, warm pages go too.
const SWEEP_PAGES: u32 = 4096;
/// Descriptors that a scan's search for cold pages passes.
const SCAN_STEPS: u32 = 1024;
/// Looks at the epochs before a reader gives up waiting and reads past the cache.
const READER_ROUNDS: u32 = 6;
/// Rounds of the writer before it calls the arena too small: at 50 µs each, several seconds in which
/// readers' loads and write-outs must have ended.
const WRITER_ROUNDS: u32 = 200_000;

/// Share (1/n) of the frames that may wait for readers to leave, about 3 %; beyond it nothing more is dropped, so that one
/// reader held up by the scheduler does not empty the cache.
const RETIRED_SHARE: u32 = 32;

/// What a sweep of the clock found.
enum Swept {
    /// Pages were unmapped.
    Dropped,
    /// Only dirty ones could go; they must be written first.
    MustWrite(Vec<u32>),
    /// Nothing may go.
    Nothing,
}

/// Lets others run; longer when that did not help.
fn wait(round: u32) {
    if round < READER_ROUNDS {
        std::thread::yield_now();
    } else {
        std::thread::sleep(Duration::from_micros(50));
    }
}

impl Cache {
    /// Takes frames for a page of `order`, making room when needed. None when a reader should read past the cache.
    /// The caller is in no epoch.
    pub fn allocate(&self, order: u8, claimant: Claimant<'_>) -> Result<Option<Owned>, StoreError> {
        let mut round = 0;
        let mut inner = self.inner.lock();
        loop {
            if let Some(frame) = inner.allocator.allocate(order) {
                self.take(frame, order);
                return Ok(Some(Owned::new(frame, order)));
            }
            if self.reclaim(&mut inner) {
                continue;
            }
            self.file.usable()?;
            round += 1;
            match claimant {
                Claimant::Reader if round > READER_ROUNDS => return Ok(None),
                Claimant::Scan if round > 1 || !self.sweep_cold(&mut inner) => return Ok(None),
                Claimant::Scan => continue,
                Claimant::Writer(_) if round > WRITER_ROUNDS => return Err(StoreError::NoFrames),
                _ => {}
            }
            if inner.retired_frames >= (self.frame_count / RETIRED_SHARE).max(DROP_FRAMES).max(1 << order) {
                drop(inner);
                wait(round);
                inner = self.inner.lock();
                continue;
            }
            if order > 0 && round > 1 {
                // Enough may be free, but scattered.
                drop(inner);
                if let Some(owned) = self.empty_window(order, claimant)? {
                    return Ok(Some(owned));
                }
                inner = self.inner.lock();
            }
            match self.sweep(&mut inner, order, claimant) {
                Swept::Dropped => {}
                Swept::MustWrite(frames) => {
                    let batch = self.start_writing(&mut inner, &frames);
                    drop(inner);
                    self.count_write_backs(frames.len());
                    self.finish_writing(batch)?;
                    inner = self.inner.lock();
                    // They stay mapped and cold: drop them now, before they are found again by the hand.
                    for frame in frames {
                        if self.desc(frame).state() == FrameState::Clean {
                            self.evict(&mut inner, frame);
                        }
                    }
                }
                Swept::Nothing => {
                    drop(inner);
                    // Everything is in somebody's hands for the moment: loads, writes, readers in epochs.
                    wait(READER_ROUNDS);
                    inner = self.inner.lock();
                }
            }
            if !inner.retired.is_empty() && !self.reclaim(&mut inner) {
                drop(inner);
                std::thread::yield_now();
                inner = self.inner.lock();
            }
        }
    }

    pub(super) fn evict(&self, inner: &mut Inner, frame: u32) {
        self.counters.evictions.fetch_add(1, Ordering::Relaxed);
        self.retire(inner, frame);
    }

    /// Whether `claimant` may have this dirty page written and dropped.
    pub(super) fn may_write(&self, frame: u32, claimant: Claimant<'_>) -> bool {
        if !self.is_unpublished(self.desc(frame).pointer()) {
            return true;
        }
        match claimant {
            Claimant::Reader | Claimant::Scan => false,
            Claimant::Writer(held) => !held.contains(&frame),
        }
    }

    /// For scans: drops clean pages that are cold as they are, without cooling others; false when there is none near.
    fn sweep_cold(&self, inner: &mut Inner) -> bool {
        let frames = self.frames.len() as u32;
        let mut dropped = 0;
        for _ in 0..SCAN_STEPS.min(frames) {
            let frame = inner.hand;
            inner.hand = if frame + 1 >= frames { 0 } else { frame + 1 };
            if self.desc(frame).state() == FrameState::Clean && self.frequency(frame).warmth() == 0 {
                dropped += 1 << self.desc(frame).pointer().order;
                self.evict(inner, frame);
                if dropped >= DROP_FRAMES {
                    break;
                }
            }
        }
        dropped > 0
    }

    /// Moves the hand and drops cold clean pages, enough for `order`; collects cold dirty ones on the way.
    fn sweep(&self, inner: &mut Inner, order: u8, claimant: Claimant<'_>) -> Swept {
        let wanted = DROP_FRAMES.max(1 << order).min(self.frame_count / 8 + 1);
        let (mut dropped, mut seen) = (0, 0);
        let mut dirty: Vec<u32> = Vec::new();
        let frames = self.frames.len() as u32;
        // Two turns at most: the first may only cool.
        for _ in 0..frames.saturating_mul(2) {
            if dropped >= wanted || dirty.len() >= WRITE_PAGES {
                break;
            }
            let frame = inner.hand;
            inner.hand = if frame + 1 >= frames { 0 } else { frame + 1 };
            let desc = self.desc(frame);
            let state = desc.state();
            if !matches!(state, FrameState::Clean | FrameState::Dirty) {
                continue;
            }
            seen += 1;
            let cold = self.frequency(frame).cool();
            if !cold && seen < SWEEP_PAGES {
                continue;
            }
            if state == FrameState::Clean {
                dropped += 1 << desc.pointer().order;
                self.evict(inner, frame);
            } else if self.may_write(frame, claimant) && !dirty.contains(&frame) {
                dirty.push(frame);
            }
        }
        if dropped > 0 {
            Swept::Dropped
        } else if !dirty.is_empty() {
            Swept::MustWrite(dirty)
        } else {
            Swept::Nothing
        }
    }
}
