//! The page table: block -> frame, open addressing, of a size fixed by the arena and not by the database.
//!
//! Lookups take no lock. Changes are made under the cache lock; deletion shifts later entries back, during which a
//! lookup can miss an entry that is there (a false miss, which the loader notices under the lock) but never find a wrong one,
//! since block and frame are one word.

use std::sync::atomic::{AtomicU64, Ordering};

const FRAME_BITS: u32 = 28;
const FRAME_MASK: u64 = (1 << FRAME_BITS) - 1;
const EMPTY: u64 = u64::MAX;

/// Most frames an arena may have (1 TiB).
pub const MAX_FRAMES: u32 = (1 << FRAME_BITS) - 1;

/// The table.
pub struct Table {
    slots: Box<[AtomicU64]>,
    mask: usize,
}

fn hash(block: u64) -> usize {
    // Fibonacci hashing; the high bits are the mixed ones.
    (block.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20) as usize
}

impl Table {
    /// A table for at most `frames` entries, at most half full.
    pub fn new(frames: u32) -> Table {
        let size = (frames as usize * 2).next_power_of_two().max(16);
        Table { slots: (0..size).map(|_| AtomicU64::new(EMPTY)).collect(), mask: size - 1 }
    }

    /// Frame of the page at `block`, if mapped.
    pub fn find(&self, block: u64) -> Option<u32> {
        let mut at = hash(block) & self.mask;
        loop {
            let word = self.slots[at].load(Ordering::Acquire);
            if word == EMPTY {
                return None;
            }
            if word >> FRAME_BITS == block {
                return Some((word & FRAME_MASK) as u32);
            }
            at = (at + 1) & self.mask;
        }
    }

    /// Maps `block`, which must not be mapped. Under the cache lock.
    pub fn insert(&self, block: u64, frame: u32) {
        let mut at = hash(block) & self.mask;
        loop {
            let word = self.slots[at].load(Ordering::Relaxed);
            if word == EMPTY {
                break;
            }
            assert!(word >> FRAME_BITS != block, "block {block} is mapped twice");
            at = (at + 1) & self.mask;
        }
        self.slots[at].store(block << FRAME_BITS | u64::from(frame), Ordering::Release);
    }

    /// Unmaps `block`. Under the cache lock.
    pub fn remove(&self, block: u64) {
        let mut hole = hash(block) & self.mask;
        loop {
            let word = self.slots[hole].load(Ordering::Relaxed);
            assert!(word != EMPTY, "block {block} is not mapped");
            if word >> FRAME_BITS == block {
                break;
            }
            hole = (hole + 1) & self.mask;
        }
        let mut at = hole;
        loop {
            at = (at + 1) & self.mask;
            let word = self.slots[at].load(Ordering::Relaxed);
            if word == EMPTY {
                break;
            }
            let home = hash(word >> FRAME_BITS) & self.mask;
            // The entry may move into the hole unless its home lies cyclically in (hole, at].
            if (at.wrapping_sub(home) & self.mask) >= (at.wrapping_sub(hole) & self.mask) {
                self.slots[hole].store(word, Ordering::Release);
                hole = at;
            }
        }
        self.slots[hole].store(EMPTY, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn the_table_matches_a_map(steps in proptest::collection::vec((0u64..40, any::<bool>()), 1..300)) {
            let table = Table::new(40);
            let mut model = BTreeMap::new();
            for (i, (block, insert)) in steps.into_iter().enumerate() {
                let block = block * 0x1_0001;
                if insert && !model.contains_key(&block) {
                    table.insert(block, i as u32);
                    model.insert(block, i as u32);
                } else if !insert && model.remove(&block).is_some() {
                    table.remove(block);
                }
                for b in 0..40 {
                    let b = b * 0x1_0001;
                    prop_assert_eq!(table.find(b), model.get(&b).copied());
                }
            }
        }
    }
}
