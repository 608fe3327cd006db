//! Which blocks of the file are used: one bit each, and per order the set of chunks that have a free aligned run.

use crate::layout::{CHUNK_BLOCKS, FIXED_BLOCKS, MAX_ORDER, ORDERS, REGION_BLOCKS};

const WORDS_PER_CHUNK: usize = (CHUNK_BLOCKS / 64) as usize;
/// Bits of a word where an aligned run of 2^k may start, for k = 0..=6.
const STARTS: [u64; 7] = [
    u64::MAX,
    0x5555_5555_5555_5555,
    0x1111_1111_1111_1111,
    0x0101_0101_0101_0101,
    0x0001_0001_0001_0001,
    0x0000_0001_0000_0001,
    1,
];

/// A set of chunks with a hint where its lowest member may be.
#[derive(Default, Clone)]
struct ChunkSet {
    words: Vec<u64>,
    lowest: usize,
}

impl ChunkSet {
    fn set(&mut self, chunk: usize, member: bool) {
        let (word, bit) = (chunk / 64, 1u64 << (chunk % 64));
        if member {
            self.words[word] |= bit;
            self.lowest = self.lowest.min(word);
        } else {
            self.words[word] &= !bit;
        }
    }

    fn first(&mut self) -> Option<usize> {
        while let Some(word) = self.words.get(self.lowest) {
            if *word != 0 {
                return Some(self.lowest * 64 + word.trailing_zeros() as usize);
            }
            self.lowest += 1;
        }
        None
    }
}

/// The map of used blocks.
#[derive(Default, Clone)]
pub struct SpaceMap {
    words: Vec<u64>,
    has_run: [ChunkSet; ORDERS],
    used: u64,
}

/// Starts of free aligned runs of 2^k (k <= 6) in a word of used bits.
fn runs_in_word(used: u64, order: u8) -> u64 {
    let mut free = !used;
    for step in 0..order {
        free &= free >> (1u32 << step);
    }
    free & STARTS[order as usize]
}

impl SpaceMap {
    /// Blocks in all.
    pub fn blocks(&self) -> u64 {
        self.words.len() as u64 * 64
    }

    /// Used blocks, the fixed ones included.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// The bits, 64 blocks a word.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Appends free chunks; the fixed blocks of a new region are used at once.
    pub fn extend(&mut self, chunks: u64) {
        for _ in 0..chunks {
            let first = self.blocks();
            self.words.extend([0; WORDS_PER_CHUNK]);
            if first.is_multiple_of(REGION_BLOCKS) {
                let at = (first / 64) as usize;
                self.words[at] = (1 << FIXED_BLOCKS) - 1;
                self.used += FIXED_BLOCKS;
            }
            let chunk = (first / CHUNK_BLOCKS) as usize;
            for set in &mut self.has_run {
                set.words.resize(chunk / 64 + 1, 0);
            }
            self.refresh(chunk);
        }
    }

    fn chunk_words(&self, chunk: usize) -> &[u64] {
        &self.words[chunk * WORDS_PER_CHUNK..(chunk + 1) * WORDS_PER_CHUNK]
    }

    /// First block of a free aligned run in a chunk, as an offset within it.
    fn run_in_chunk(words: &[u64], order: u8) -> Option<u64> {
        match order {
            0..=6 => words.iter().enumerate().find_map(|(at, word)| {
                let runs = runs_in_word(*word, order);
                (runs != 0).then(|| at as u64 * 64 + u64::from(runs.trailing_zeros()))
            }),
            _ => {
                let span = 1usize << (order - 6);
                words.chunks(span).position(|part| part.iter().all(|word| *word == 0)).map(|at| (at * span * 64) as u64)
            }
        }
    }

    fn refresh(&mut self, chunk: usize) {
        let words = self.chunk_words(chunk);
        let mut orders = 0;
        while orders < ORDERS && Self::run_in_chunk(words, orders as u8).is_some() {
            orders += 1;
        }
        for (order, set) in self.has_run.iter_mut().enumerate() {
            set.set(chunk, order < orders);
        }
    }

    /// Takes the lowest free aligned run of 2^order blocks.
    pub fn allocate(&mut self, order: u8) -> Option<u64> {
        let chunk = self.has_run[order as usize].first()?;
        let offset = Self::run_in_chunk(self.chunk_words(chunk), order).expect("the chunk set says it has a run");
        let block = chunk as u64 * CHUNK_BLOCKS + offset;
        self.mark(block, order, true);
        Some(block)
    }

    /// Frees an extent. Panics if a block of it is free: the map would be wrong already.
    pub fn free(&mut self, block: u64, order: u8) {
        self.mark(block, order, false);
    }

    /// Marks an extent used that was free, or free that was used.
    pub fn mark(&mut self, block: u64, order: u8, used: bool) {
        assert!(order <= MAX_ORDER && block.is_multiple_of(1 << order) && block + (1 << order) <= self.blocks());
        let at = (block / 64) as usize;
        if order >= 6 {
            for word in &mut self.words[at..at + (1 << (order - 6))] {
                assert!(*word == if used { 0 } else { u64::MAX }, "blocks at {block} change to what they were");
                *word = if used { u64::MAX } else { 0 };
            }
        } else {
            let bits = ((1u64 << (1u32 << order)) - 1) << (block % 64);
            let word = &mut self.words[at];
            assert!(*word & bits == if used { 0 } else { bits }, "blocks at {block} change to what they were");
            *word ^= bits;
        }
        if used {
            self.used += 1 << order;
        } else {
            self.used -= 1 << order;
        }
        self.refresh((block / CHUNK_BLOCKS) as usize);
    }

    /// A map with these bits (from a bitmap read at open); the fixed blocks must be set in them.
    pub fn from_words(words: Vec<u64>) -> SpaceMap {
        let chunks = words.len() / WORDS_PER_CHUNK;
        let used = words.iter().map(|word| u64::from(word.count_ones())).sum();
        let mut map = SpaceMap { words, has_run: Default::default(), used };
        for set in &mut map.has_run {
            set.words.resize(chunks / 64 + 1, 0);
        }
        for chunk in 0..chunks {
            map.refresh(chunk);
        }
        map
    }
}

/// Sets or clears the bits of an extent in plain words, whatever they were.
pub fn write_bits(words: &mut [u64], block: u64, order: u8, value: bool) {
    for b in (block..block + (1 << order)).step_by(64.min(1 << order)) {
        let bits = if order >= 6 { u64::MAX } else { ((1u64 << (1u32 << order)) - 1) << (b % 64) };
        let word = &mut words[(b / 64) as usize];
        if value {
            *word |= bits;
        } else {
            *word &= !bits;
        }
    }
}

/// Cuts the set bits into aligned extents of the largest orders.
pub fn extents_of(words: &[u64]) -> Vec<(u64, u8)> {
    let mut extents = Vec::new();
    for (at, &word) in words.iter().enumerate() {
        if word == u64::MAX {
            extents.push((at as u64 * 64, 6));
            continue;
        }
        let mut rest = word;
        while rest != 0 {
            let start = rest.trailing_zeros();
            let mut order = if start == 0 { 5 } else { start.trailing_zeros().min(5) };
            loop {
                let bits = ((1u64 << (1u32 << order)) - 1) << start;
                if rest & bits == bits {
                    rest &= !bits;
                    break;
                }
                order -= 1;
            }
            extents.push((at as u64 * 64 + u64::from(start), order as u8));
        }
    }
    extents
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_map_matches_the_model(steps in proptest::collection::vec((0u8..=8, any::<usize>(), any::<bool>()), 1..300)) {
            let mut map = SpaceMap::default();
            map.extend(4);
            let mut used = vec![false; 1024];
            used[..4].fill(true);
            let mut live: Vec<(u64, u8)> = Vec::new();
            for (order, pick, allocate) in steps {
                if allocate {
                    let size = 1usize << order;
                    let lowest = (0..1024).step_by(size).find(|s| used[*s..s + size].iter().all(|u| !u));
                    let got = map.allocate(order);
                    if let Some(block) = got {
                        prop_assert_eq!(block % size as u64, 0);
                        prop_assert!(used[block as usize..block as usize + size].iter().all(|u| !u));
                        used[block as usize..block as usize + size].fill(true);
                        live.push((block, order));
                    }
                    prop_assert_eq!(got, lowest.map(|l| l as u64));
                } else if !live.is_empty() {
                    let (block, order) = live.swap_remove(pick % live.len());
                    map.free(block, order);
                    used[block as usize..block as usize + (1 << order)].fill(false);
                }
                prop_assert_eq!(map.used(), used.iter().filter(|u| **u).count() as u64);
            }
            let rebuilt = SpaceMap::from_words(map.words().to_vec());
            prop_assert_eq!(rebuilt.used(), map.used());
            let mut covered = vec![false; 1024];
            for (block, order) in extents_of(map.words()) {
                prop_assert_eq!(block % (1 << order), 0);
                for b in block..block + (1 << order) {
                    prop_assert!(!std::mem::replace(&mut covered[b as usize], true));
                }
            }
            prop_assert_eq!(covered, used);
        }
    }
}
