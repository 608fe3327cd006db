//! Window eviction: making one aligned run of 2^order frames free when free frames are scattered.
//!
//! Evicting pages at random would have to empty about half the arena before one large run appears. Here one
//! window is chosen, the free frames in it are claimed so that nobody takes them meanwhile, and its pages are dropped.

use std::sync::atomic::Ordering;

use super::desc::FrameState;
use super::{Cache, Claimant, Inner, Owned};
use crate::error::StoreError;

/// Windows compared before one is chosen.
const SAMPLE: u32 = 8;
/// Windows tried in one call before the caller does something else.
const ATTEMPTS: u32 = 3;
/// Looks at the epochs before a window is given up.
const EPOCH_LOOKS: u32 = 200;
/// What writing a dirty page out costs, against the warmth 0..=3 of clean ones.
const DIRTY_COST: u32 = 4;

impl Cache {
    /// Empties one window of `order` and takes it. None when every window looked at is blocked for the moment.
    pub(super) fn empty_window(&self, order: u8, claimant: Claimant<'_>) -> Result<Option<Owned>, StoreError> {
        for _ in 0..ATTEMPTS {
            let mut inner = self.inner.lock();
            let Some(start) = self.choose_window(&mut inner, order, claimant) else { return Ok(None) };
            let end = start + (1 << order);
            let mut claimed: Vec<u32> = Vec::new();
            self.claim_free(&mut inner, start, end, &mut claimed);
            let dirty: Vec<u32> = self
                .pages_in(start, end)
                .into_iter()
                .filter(|frame| self.desc(*frame).state() == FrameState::Dirty && self.may_write(*frame, claimant))
                .collect();
            if !dirty.is_empty() {
                let batch = self.start_writing(&mut inner, &dirty);
                drop(inner);
                self.count_write_backs(dirty.len());
                let result = self.finish_writing(batch);
                inner = self.inner.lock();
                if let Err(error) = result {
                    self.release_claimed(&mut inner, &claimed);
                    return Err(error);
                }
            }
            self.claim_free(&mut inner, start, end, &mut claimed);
            for frame in self.pages_in(start, end) {
                if self.desc(frame).state() == FrameState::Clean {
                    self.evict(&mut inner, frame);
                }
            }
            let owned = self.take_window(&mut inner, order, start, &mut claimed);
            self.release_claimed(&mut inner, &claimed);
            if owned.is_some() {
                self.counters.window_evictions.fetch_add(1, Ordering::Relaxed);
                return Ok(owned);
            }
        }
        Ok(None)
    }

    /// Waits for the readers of the window's retired pages, then frees and takes it in one step under the lock.
    fn take_window(&self, inner: &mut Inner, order: u8, start: u32, claimed: &mut Vec<u32>) -> Option<Owned> {
        let end = start + (1 << order);
        for _ in 0..EPOCH_LOOKS {
            // Readers inside an epoch never wait for this lock, so they leave while it is held.
            self.reclaim(inner);
            self.claim_free(inner, start, end, claimed);
            if claimed.len() == 1 << order {
                self.release_claimed(inner, claimed);
                claimed.clear();
                let frame = inner.allocator.allocate(order)?;
                self.take(frame, order);
                return Some(Owned::new(frame, order));
            }
            if self.pages_in(start, end).iter().any(|frame| self.desc(*frame).state() != FrameState::Retired) {
                return None;
            }
            std::thread::yield_now();
        }
        None
    }

    fn claim_free(&self, inner: &mut Inner, start: u32, end: u32, claimed: &mut Vec<u32>) {
        for frame in start..end {
            if self.desc(frame).state() == FrameState::Free {
                assert!(inner.allocator.claim(frame), "frame {frame} is free but not in the allocator");
                self.take(frame, 0);
                claimed.push(frame);
            }
        }
    }

    fn release_claimed(&self, inner: &mut Inner, claimed: &[u32]) {
        for &frame in claimed {
            self.release(inner, frame, 0);
        }
    }

    /// First frames of the pages that overlap a window, claimed and free frames left out.
    fn pages_in(&self, start: u32, end: u32) -> Vec<u32> {
        let mut pages = Vec::new();
        for frame in start..end {
            let head = match self.desc(frame).state() {
                FrameState::Free | FrameState::Taken => continue,
                FrameState::Interior if frame == start => self.desc(frame).head(),
                FrameState::Interior => continue,
                _ => frame,
            };
            pages.push(head);
        }
        pages
    }

    /// The coldest of a few windows that can be emptied.
    fn choose_window(&self, inner: &mut Inner, order: u8, claimant: Claimant<'_>) -> Option<u32> {
        let size = 1u32 << order;
        let windows = self.frames.len() as u32 / size;
        let first = inner.hand / size;
        let mut best: Option<(u32, u32)> = None;
        let mut seen = 0;
        for step in 0..windows {
            let start = (first + step) % windows * size;
            let Some(cost) = self.window_cost(start, start + size, claimant) else { continue };
            if best.is_none_or(|(least, _)| cost < least) {
                best = Some((cost, start));
            }
            seen += 1;
            if seen >= SAMPLE {
                break;
            }
        }
        let (_, start) = best?;
        inner.hand = (start + size) % self.frames.len() as u32;
        Some(start)
    }

    fn window_cost(&self, start: u32, end: u32, claimant: Claimant<'_>) -> Option<u32> {
        let mut cost = 0;
        for frame in start..end {
            let head = match self.desc(frame).state() {
                FrameState::Interior if frame == start => self.desc(frame).head(),
                FrameState::Interior | FrameState::Free => continue,
                _ => frame,
            };
            cost += match self.desc(head).state() {
                FrameState::Clean => self.frequency(head).warmth(),
                FrameState::Dirty if self.may_write(head, claimant) => DIRTY_COST,
                FrameState::Retired => 0,
                _ => return None,
            };
        }
        Some(cost)
    }
}
