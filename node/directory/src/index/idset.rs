//! Sets of entry ids in memory: what the planner intersects and the search walks.
//!
//! A set of one id, the usual outcome of an equality on a unique attribute, needs no allocation.
//! A large set costs at most one bit per id of the range it spans, however many ids it has.

use super::container::Container;
use std::collections::BTreeMap;

/// Ids per chunk, as a shift: the high 48 bits of an id name its chunk.
pub const CHUNK_SHIFT: u32 = 16;

/// Loose ids that a [`Union`] gathers before it folds them into containers (512 KiB).
const LOOSE_MAX: usize = 65_536;

/// Up to this many ids a set is a plain list: containers would cost more than they save.
pub const LIST_MAX: usize = 256;

pub(crate) fn chunk_of(id: u64) -> u64 {
    id >> CHUNK_SHIFT
}

pub(crate) fn low_of(id: u64) -> u16 {
    (id & 0xffff) as u16
}

pub(crate) fn join(chunk: u64, low: u16) -> u64 {
    chunk << CHUNK_SHIFT | u64::from(low)
}

/// A set of entry ids.
#[derive(Debug, Clone)]
pub enum IdSet {
    /// No id.
    Empty,
    /// One id.
    One(u64),
    /// Ascending ids.
    List(Vec<u64>),
    /// Containers by ascending chunk, none empty.
    Chunks(Vec<(u64, Container)>),
}

impl IdSet {
    /// The set of ascending ids without repetition.
    pub fn from_sorted(ids: Vec<u64>) -> IdSet {
        debug_assert!(ids.windows(2).all(|pair| pair[0] < pair[1]));
        match ids.len() {
            0 => IdSet::Empty,
            1 => IdSet::One(ids[0]),
            n if n <= LIST_MAX => IdSet::List(ids),
            _ => {
                let mut union = Union { loose: ids, ..Union::default() };
                union.fold();
                IdSet::Chunks(union.chunks.into_iter().collect())
            }
        }
    }

    pub(crate) fn from_chunks(chunks: Vec<(u64, Container)>) -> IdSet {
        let chunks: Vec<_> = chunks.into_iter().filter(|(_, set)| !set.is_empty()).collect();
        let count: usize = chunks.iter().map(|(_, set)| set.len()).sum();
        if count > LIST_MAX {
            return IdSet::Chunks(chunks);
        }
        let mut ids = Vec::with_capacity(count);
        for (chunk, set) in &chunks {
            set.for_each(|low| ids.push(join(*chunk, low)));
        }
        IdSet::from_sorted(ids)
    }

    fn to_chunks(&self) -> Vec<(u64, Container)> {
        match self {
            IdSet::Empty => Vec::new(),
            IdSet::One(id) => vec![(chunk_of(*id), Container::from_sorted(&[low_of(*id)]))],
            IdSet::List(ids) => {
                let mut out = Vec::new();
                for group in ids.chunk_by(|a, b| chunk_of(*a) == chunk_of(*b)) {
                    let lows: Vec<u16> = group.iter().map(|id| low_of(*id)).collect();
                    out.push((chunk_of(group[0]), Container::from_sorted(&lows)));
                }
                out
            }
            IdSet::Chunks(chunks) => chunks.clone(),
        }
    }

    /// The number of ids.
    pub fn len(&self) -> u64 {
        match self {
            IdSet::Empty => 0,
            IdSet::One(_) => 1,
            IdSet::List(ids) => ids.len() as u64,
            IdSet::Chunks(chunks) => chunks.iter().map(|(_, set)| set.len() as u64).sum(),
        }
    }

    /// Whether the set has no id.
    pub fn is_empty(&self) -> bool {
        matches!(self, IdSet::Empty)
    }

    /// Whether `id` is in the set.
    pub fn contains(&self, id: u64) -> bool {
        match self {
            IdSet::Empty => false,
            IdSet::One(own) => *own == id,
            IdSet::List(ids) => ids.binary_search(&id).is_ok(),
            IdSet::Chunks(chunks) => chunks
                .binary_search_by_key(&chunk_of(id), |(chunk, _)| *chunk)
                .is_ok_and(|at| chunks[at].1.contains(low_of(id))),
        }
    }

    /// The smallest id that is `from` or above.
    pub fn next_at_or_after(&self, from: u64) -> Option<u64> {
        match self {
            IdSet::Empty => None,
            IdSet::One(id) => (*id >= from).then_some(*id),
            IdSet::List(ids) => ids.get(ids.partition_point(|id| *id < from)).copied(),
            IdSet::Chunks(chunks) => {
                let mut at = chunks.partition_point(|(chunk, _)| *chunk < chunk_of(from));
                while let Some((chunk, set)) = chunks.get(at) {
                    let low = if *chunk == chunk_of(from) { low_of(from) } else { 0 };
                    if let Some(found) = set.next_at_or_after(low) {
                        return Some(join(*chunk, found));
                    }
                    at += 1;
                }
                None
            }
        }
    }

    /// Ids in ascending order, starting at the first that is `from` or above.
    pub fn iter_from(&self, from: u64) -> Iter<'_> {
        Iter { set: self, next: self.next_at_or_after(from) }
    }

    /// Chunks that hold at least one id, ascending.
    pub fn chunks(&self) -> Vec<u64> {
        match self {
            IdSet::Empty => Vec::new(),
            IdSet::One(id) => vec![chunk_of(*id)],
            IdSet::List(ids) => {
                let mut out: Vec<u64> = ids.iter().map(|id| chunk_of(*id)).collect();
                out.dedup();
                out
            }
            IdSet::Chunks(chunks) => chunks.iter().map(|(chunk, _)| *chunk).collect(),
        }
    }

    /// Ids in both sets.
    pub fn and(&self, other: &IdSet) -> IdSet {
        match (self, other) {
            (IdSet::Empty, _) | (_, IdSet::Empty) => IdSet::Empty,
            (IdSet::One(id), set) | (set, IdSet::One(id)) => {
                if set.contains(*id) {
                    IdSet::One(*id)
                } else {
                    IdSet::Empty
                }
            }
            (IdSet::List(ids), set) | (set, IdSet::List(ids)) => {
                IdSet::from_sorted(ids.iter().copied().filter(|id| set.contains(*id)).collect())
            }
            (IdSet::Chunks(a), IdSet::Chunks(b)) => {
                let (few, many) = if a.len() <= b.len() { (a, b) } else { (b, a) };
                let mut out = Vec::new();
                let mut start = 0;
                for (chunk, set) in few {
                    start += many[start..].partition_point(|(other, _)| other < chunk);
                    if let Some((_, mask)) = many.get(start).filter(|(other, _)| other == chunk) {
                        out.push((*chunk, set.and(mask)));
                    }
                }
                IdSet::from_chunks(out)
            }
        }
    }

    /// Ids in either set.
    pub fn or(&self, other: &IdSet) -> IdSet {
        let mut union = Union::default();
        union.add(self);
        union.add(other);
        union.finish()
    }

    /// Ids of this set that are not in `other`.
    pub fn and_not(&self, other: &IdSet) -> IdSet {
        match (self, other) {
            (IdSet::Empty, _) => IdSet::Empty,
            (set, IdSet::Empty) => set.clone(),
            (IdSet::One(id), set) => {
                if set.contains(*id) {
                    IdSet::Empty
                } else {
                    IdSet::One(*id)
                }
            }
            (IdSet::List(ids), set) => {
                IdSet::from_sorted(ids.iter().copied().filter(|id| !set.contains(*id)).collect())
            }
            (IdSet::Chunks(a), b) => {
                let b = b.to_chunks();
                let out = a
                    .iter()
                    .map(|(chunk, set)| match b.binary_search_by_key(chunk, |(other, _)| *other) {
                        Ok(at) => (*chunk, set.and_not(&b[at].1)),
                        Err(_) => (*chunk, set.clone()),
                    })
                    .collect();
                IdSet::from_chunks(out)
            }
        }
    }
}

impl PartialEq for IdSet {
    fn eq(&self, other: &IdSet) -> bool {
        self.len() == other.len() && self.iter_from(0).eq(other.iter_from(0))
    }
}

/// Ascending ids of a set; see [`IdSet::iter_from`].
pub struct Iter<'a> {
    set: &'a IdSet,
    next: Option<u64>,
}

impl Iter<'_> {
    /// Goes on at the first id that is `from` or above; never goes back.
    pub fn seek(&mut self, from: u64) {
        if self.next.is_some_and(|next| next < from) {
            self.next = self.set.next_at_or_after(from);
        }
    }
}

impl Iterator for Iter<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let id = self.next?;
        self.next = id.checked_add(1).and_then(|from| self.set.next_at_or_after(from));
        Some(id)
    }
}

/// Gathers the union of many sets, most of them small, without a pairwise merge for each.
#[derive(Debug, Default)]
pub struct Union {
    loose: Vec<u64>,
    chunks: BTreeMap<u64, Container>,
}

impl Union {
    /// Adds one id.
    pub fn add_id(&mut self, id: u64) {
        self.loose.push(id);
        if self.loose.len() >= LOOSE_MAX {
            self.fold();
        }
    }

    /// Adds one container.
    pub fn add_chunk(&mut self, chunk: u64, set: Container) {
        match self.chunks.entry(chunk) {
            std::collections::btree_map::Entry::Vacant(entry) => {
                entry.insert(set);
            }
            std::collections::btree_map::Entry::Occupied(mut entry) => {
                let both = entry.get().or(&set);
                entry.insert(both);
            }
        }
    }

    /// Adds a whole set.
    pub fn add(&mut self, set: &IdSet) {
        match set {
            IdSet::Empty => {}
            IdSet::One(id) => self.add_id(*id),
            IdSet::List(ids) => ids.iter().for_each(|id| self.add_id(*id)),
            IdSet::Chunks(chunks) => {
                chunks.iter().for_each(|(chunk, set)| self.add_chunk(*chunk, set.clone()));
            }
        }
    }

    fn fold(&mut self) {
        let mut loose = std::mem::take(&mut self.loose);
        loose.sort_unstable();
        loose.dedup();
        for group in loose.chunk_by(|a, b| chunk_of(*a) == chunk_of(*b)) {
            let lows: Vec<u16> = group.iter().map(|id| low_of(*id)).collect();
            self.add_chunk(chunk_of(group[0]), Container::from_sorted(&lows));
        }
    }

    /// The union of everything added.
    pub fn finish(mut self) -> IdSet {
        if self.chunks.is_empty() {
            self.loose.sort_unstable();
            self.loose.dedup();
            return IdSet::from_sorted(self.loose);
        }
        self.fold();
        IdSet::from_chunks(self.chunks.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn ids() -> impl Strategy<Value = BTreeSet<u64>> {
        let few = proptest::collection::btree_set(0u64..400_000, 0..5);
        let some = proptest::collection::btree_set(0u64..400_000, 0..700);
        let dense = (0u64..200_000, 0u64..5_000, 1usize..4)
            .prop_map(|(first, len, step)| (first..first + len).step_by(step).collect());
        prop_oneof![few, some, dense]
    }

    fn set(ids: &BTreeSet<u64>) -> IdSet {
        IdSet::from_sorted(ids.iter().copied().collect())
    }

    fn members(set: &IdSet) -> BTreeSet<u64> {
        let out: BTreeSet<u64> = set.iter_from(0).collect();
        assert_eq!(out.len() as u64, set.len());
        assert_eq!(out.is_empty(), set.is_empty());
        out
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn operations_agree_with_a_set(a in ids(), b in ids(), from in 0u64..400_000) {
            let (x, y) = (set(&a), set(&b));
            prop_assert_eq!(members(&x), a.clone());
            prop_assert_eq!(members(&x.and(&y)), &a & &b);
            prop_assert_eq!(members(&x.or(&y)), &a | &b);
            prop_assert_eq!(members(&x.and_not(&y)), &a - &b);
            prop_assert_eq!(x.contains(from), a.contains(&from));
            prop_assert_eq!(x.iter_from(from).collect::<Vec<_>>(), a.range(from..).copied().collect::<Vec<_>>());
            let mut iter = x.iter_from(0);
            iter.seek(from);
            prop_assert_eq!(iter.next(), a.range(from..).next().copied());
        }
    }

    /// ITS#10233: [1,3] AND [2] gave [2].
    #[test]
    fn t04_intersection_of_disjoint_lists_is_empty() {
        let a = IdSet::from_sorted(vec![1, 3]);
        let b = IdSet::from_sorted(vec![2]);
        assert!(a.and(&b).is_empty());
        assert!(b.and(&a).is_empty());
    }
}
