//! Epochs: while a reader is in one, a frame that it can reach is not given to another page.
//!
//! A reader announces the current epoch in a slot, then looks pages up. Whoever takes a frame away first unmaps
//! it, then advances the epoch, then waits until every announced epoch is a later one. The two fences below make one of
//! them certain to see the other: either the reader's announcement is seen, or the reader sees the frame unmapped.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};

use crate::error::StoreError;

/// Threads that can be inside an epoch of one store at the same moment; more wait for microseconds.
const SLOTS: usize = 128;
/// A free slot.
const IDLE: u64 = 0;

#[repr(align(64))] // One cache line each, so that readers do not slow each other down.
struct Slot(AtomicU64);

/// The epoch clock and the readers' slots.
pub struct Epochs {
    current: AtomicU64,
    slots: Box<[Slot]>,
}

static NEXT_HINT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static HINT: Cell<usize> = Cell::new(NEXT_HINT.fetch_add(1, Ordering::Relaxed) % SLOTS);
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Proof of being inside an epoch; not Send, since leaving must happen on the thread that entered.
pub struct Inside<'a> {
    slot: &'a AtomicU64,
    not_send: std::marker::PhantomData<*const ()>,
}

impl Epochs {
    /// A clock with all slots idle.
    pub fn new() -> Epochs {
        Epochs { current: AtomicU64::new(1), slots: (0..SLOTS).map(|_| Slot(AtomicU64::new(IDLE))).collect() }
    }

    /// Enters. Refused inside another epoch on the same thread: a miss there would wait for itself.
    pub fn enter(&self) -> Result<Inside<'_>, StoreError> {
        if INSIDE.replace(true) {
            return Err(StoreError::Reentrant);
        }
        let hint = HINT.get();
        let mut attempt = 0;
        loop {
            let index = (hint + attempt) % SLOTS;
            let slot = &self.slots[index].0;
            let epoch = self.current.load(Ordering::SeqCst);
            if slot.compare_exchange(IDLE, epoch, Ordering::SeqCst, Ordering::Relaxed).is_ok() {
                if attempt > 0 {
                    HINT.set(index);
                }
                fence(Ordering::SeqCst);
                return Ok(Inside { slot, not_send: std::marker::PhantomData });
            }
            attempt += 1;
            if attempt.is_multiple_of(SLOTS) {
                std::thread::yield_now();
            }
        }
    }

    /// Advances the clock after frames were unmapped; answers the tag to wait for.
    pub fn retire(&self) -> u64 {
        fence(Ordering::SeqCst);
        self.current.fetch_add(1, Ordering::SeqCst)
    }

    /// The oldest epoch that a reader is in; what was retired with an earlier tag is seen by nobody.
    pub fn oldest(&self) -> u64 {
        fence(Ordering::SeqCst);
        let epochs = self.slots.iter().map(|slot| slot.0.load(Ordering::SeqCst));
        epochs.filter(|epoch| *epoch != IDLE).min().unwrap_or(u64::MAX)
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.slot.store(IDLE, Ordering::Release);
        INSIDE.set(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_holds_back_what_was_retired_while_it_was_inside() {
        let epochs = Epochs::new();
        let inside = epochs.enter().unwrap();
        let tag = epochs.retire();
        assert!(tag >= epochs.oldest());
        drop(inside);
        assert!(tag < epochs.oldest());
        let later = epochs.enter().unwrap();
        assert!(tag < epochs.oldest(), "a reader that came later cannot have seen it");
        drop(later);
    }

    #[test]
    fn entering_twice_on_one_thread_is_refused() {
        let epochs = Epochs::new();
        let inside = epochs.enter().unwrap();
        assert!(matches!(epochs.enter(), Err(StoreError::Reentrant)));
        drop(inside);
        assert!(epochs.enter().is_ok());
    }
}
