//! Names to numbers without regard to case, without allocation.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Names up to this length are folded on the stack; longer ones are not stored.
pub(super) const MAX_NAME_BYTES: usize = 128;

/// A map from lower-case names to numbers.
#[derive(Debug, Clone)]
pub(super) struct NameMap<Id>(HashMap<Box<[u8]>, Id, BuildHasherDefault<NameHasher>>);

impl<Id> Default for NameMap<Id> {
    fn default() -> Self {
        Self(HashMap::default())
    }
}

impl<Id: Copy> NameMap<Id> {
    /// Looks a name up in any case.
    pub(super) fn get(&self, name: &[u8]) -> Option<Id> {
        let mut folded = [0; MAX_NAME_BYTES];
        let folded = folded.get_mut(..name.len())?;
        for (to, from) in folded.iter_mut().zip(name) {
            *to = from.to_ascii_lowercase();
        }
        self.0.get(&*folded).copied()
    }

    /// Stores a name, at most [`MAX_NAME_BYTES`] long.
    pub(super) fn insert(&mut self, name: &str, id: Id) {
        self.0.insert(name.to_ascii_lowercase().into_bytes().into_boxed_slice(), id);
    }

    /// Forgets a name.
    pub(super) fn remove(&mut self, name: &str) {
        self.0.remove(name.to_ascii_lowercase().as_bytes());
    }
}

/// A multiplying hash over eight bytes at a time. Only administrators choose what is in the map, so nobody can
/// make its chains long by what they look up.
#[derive(Debug, Clone, Default)]
pub(super) struct NameHasher(u64);

impl NameHasher {
    fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

impl Hasher for NameHasher {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.mix(u64::from_le_bytes(word));
        }
    }

    fn write_usize(&mut self, value: usize) {
        self.mix(value as u64);
    }
}
