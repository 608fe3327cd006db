//! One container: the low 16 bits of the ids of one chunk (ids that share their high 48 bits).
//!
//! Three forms, the smallest is kept: a sorted array, a bitmap, or runs. A container is never empty
//! when stored. The encoded form is read from disk, so decoding checks every property that the
//! operations rely on and returns an error otherwise.

use std::ops::RangeInclusive;

/// Above this count a bitmap (8 KiB) is smaller than an array of two bytes per id.
pub const ARRAY_MAX: usize = 4096;

const WORDS: usize = 1024;
const BITMAP_BYTES: usize = WORDS * 8;

const TAG_ARRAY: u8 = 0;
const TAG_BITMAP: u8 = 1;
const TAG_RUNS: u8 = 2;

/// Why the bytes of a container were refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ContainerError {
    /// The first byte names no known form, or the record is empty.
    #[error("unknown container form")]
    Form,
    /// The length does not fit the form.
    #[error("container length does not fit its form")]
    Length,
    /// Ids or runs are not strictly ascending.
    #[error("container ids are not ascending")]
    Order,
}

/// The set of low 16 bits of one chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Container {
    /// Ascending values, at most [`ARRAY_MAX`] once normalised.
    Array(Vec<u16>),
    /// 65,536 bits.
    Bitmap(Box<[u64; WORDS]>),
    /// Ascending ranges with a gap between neighbours.
    Runs(Vec<(u16, u16)>),
}

fn set_range(words: &mut [u64; WORDS], range: RangeInclusive<u16>) {
    let (first, last) = (usize::from(*range.start()), usize::from(*range.end()));
    let (first_word, last_word) = (first / 64, last / 64);
    let head = u64::MAX << (first % 64);
    let tail = u64::MAX >> (63 - last % 64);
    if first_word == last_word {
        words[first_word] |= head & tail;
        return;
    }
    words[first_word] |= head;
    for word in &mut words[first_word + 1..last_word] {
        *word = u64::MAX;
    }
    words[last_word] |= tail;
}

fn empty_words() -> Box<[u64; WORDS]> {
    Box::new([0; WORDS])
}

fn push_run(runs: &mut Vec<(u16, u16)>, value: u16) {
    match runs.last_mut() {
        Some((_, last)) if *last != u16::MAX && *last + 1 == value => *last = value,
        _ => runs.push((value, value)),
    }
}

impl Container {
    /// A container of ascending values without repetition.
    pub fn from_sorted(values: &[u16]) -> Container {
        debug_assert!(values.windows(2).all(|pair| pair[0] < pair[1]));
        Container::Array(values.to_vec()).normalised()
    }

    /// The number of ids, at most 65,536.
    pub fn len(&self) -> usize {
        match self {
            Container::Array(values) => values.len(),
            Container::Bitmap(words) => words.iter().map(|word| word.count_ones() as usize).sum(),
            Container::Runs(runs) => runs.iter().map(|(first, last)| usize::from(last - first) + 1).sum(),
        }
    }

    /// Whether no id is left.
    pub fn is_empty(&self) -> bool {
        match self {
            Container::Array(values) => values.is_empty(),
            Container::Bitmap(words) => words.iter().all(|word| *word == 0),
            Container::Runs(runs) => runs.is_empty(),
        }
    }

    /// Whether `value` is in the set.
    pub fn contains(&self, value: u16) -> bool {
        match self {
            Container::Array(values) => values.binary_search(&value).is_ok(),
            Container::Bitmap(words) => words[usize::from(value) / 64] >> (value % 64) & 1 == 1,
            Container::Runs(runs) => {
                let after = runs.partition_point(|(first, _)| *first <= value);
                after > 0 && runs[after - 1].1 >= value
            }
        }
    }

    /// The smallest member that is `from` or above.
    pub fn next_at_or_after(&self, from: u16) -> Option<u16> {
        match self {
            Container::Array(values) => values.get(values.partition_point(|value| *value < from)).copied(),
            Container::Bitmap(words) => {
                let start = usize::from(from) / 64;
                let masked = words[start] & (u64::MAX << (from % 64));
                if masked != 0 {
                    return Some((start * 64) as u16 + masked.trailing_zeros() as u16);
                }
                (start + 1..WORDS)
                    .find(|index| words[*index] != 0)
                    .map(|index| (index * 64) as u16 + words[index].trailing_zeros() as u16)
            }
            Container::Runs(runs) => {
                let at = runs.partition_point(|(_, last)| *last < from);
                runs.get(at).map(|(first, _)| (*first).max(from))
            }
        }
    }

    /// Calls `visit` for each member in ascending order.
    pub fn for_each(&self, mut visit: impl FnMut(u16)) {
        match self {
            Container::Array(values) => values.iter().copied().for_each(visit),
            Container::Bitmap(words) => {
                for (index, word) in words.iter().enumerate() {
                    let mut rest = *word;
                    while rest != 0 {
                        visit((index * 64) as u16 + rest.trailing_zeros() as u16);
                        rest &= rest - 1;
                    }
                }
            }
            Container::Runs(runs) => {
                for (first, last) in runs {
                    (*first..=*last).for_each(&mut visit);
                }
            }
        }
    }

    fn to_words(&self) -> Box<[u64; WORDS]> {
        match self {
            Container::Bitmap(words) => words.clone(),
            Container::Array(values) => {
                let mut words = empty_words();
                for value in values {
                    words[usize::from(*value) / 64] |= 1 << (value % 64);
                }
                words
            }
            Container::Runs(runs) => {
                let mut words = empty_words();
                for (first, last) in runs {
                    set_range(&mut words, *first..=*last);
                }
                words
            }
        }
    }

    fn run_count(&self) -> usize {
        match self {
            Container::Array(values) => {
                let joined = values.windows(2).filter(|pair| pair[0] + 1 == pair[1]).count();
                values.len() - joined
            }
            Container::Bitmap(words) => {
                let mut before = 0;
                let mut count = 0;
                for word in words.iter() {
                    count += (word & !((word << 1) | before)).count_ones() as usize;
                    before = word >> 63;
                }
                count
            }
            Container::Runs(runs) => runs.len(),
        }
    }

    /// The same set in its smallest form.
    pub fn normalised(self) -> Container {
        let count = self.len();
        let runs = self.run_count();
        let array_bytes = if count <= ARRAY_MAX { count * 2 } else { usize::MAX };
        if runs * 4 < array_bytes.min(BITMAP_BYTES) {
            if matches!(self, Container::Runs(_)) {
                return self;
            }
            let mut out = Vec::with_capacity(runs);
            self.for_each(|value| push_run(&mut out, value));
            return Container::Runs(out);
        }
        if count <= ARRAY_MAX {
            if matches!(self, Container::Array(_)) {
                return self;
            }
            let mut out = Vec::with_capacity(count);
            self.for_each(|value| out.push(value));
            return Container::Array(out);
        }
        match self {
            Container::Bitmap(_) => self,
            other => Container::Bitmap(other.to_words()),
        }
    }

    /// Members of both sets.
    pub fn and(&self, other: &Container) -> Container {
        match (self, other) {
            (Container::Array(values), set) | (set, Container::Array(values)) => {
                Container::Array(values.iter().copied().filter(|value| set.contains(*value)).collect())
            }
            (a, b) => {
                let mut words = a.to_words();
                for (word, mask) in words.iter_mut().zip(b.to_words().iter()) {
                    *word &= mask;
                }
                Container::Bitmap(words).normalised()
            }
        }
    }

    /// Members of either set.
    pub fn or(&self, other: &Container) -> Container {
        if let (Container::Array(a), Container::Array(b)) = (self, other)
            && a.len() + b.len() <= ARRAY_MAX
        {
            return Container::Array(merge(a, b));
        }
        let mut words = self.to_words();
        match other {
            Container::Array(values) => {
                for value in values {
                    words[usize::from(*value) / 64] |= 1 << (value % 64);
                }
            }
            Container::Bitmap(others) => {
                for (word, more) in words.iter_mut().zip(others.iter()) {
                    *word |= more;
                }
            }
            Container::Runs(runs) => {
                for (first, last) in runs {
                    set_range(&mut words, *first..=*last);
                }
            }
        }
        Container::Bitmap(words).normalised()
    }

    /// Members of this set that are not in `other`.
    pub fn and_not(&self, other: &Container) -> Container {
        if let Container::Array(values) = self {
            return Container::Array(values.iter().copied().filter(|value| !other.contains(*value)).collect());
        }
        let mut words = self.to_words();
        for (word, mask) in words.iter_mut().zip(other.to_words().iter()) {
            *word &= !mask;
        }
        Container::Bitmap(words).normalised()
    }

    /// Adds ascending values; returns how many were not there before.
    pub fn insert(&mut self, values: &[u16]) -> usize {
        let before = self.len();
        let grown = match self {
            // Ids are given out in ascending order, so appending is what bulk work does.
            Container::Array(own)
                if own.len() + values.len() <= ARRAY_MAX
                    && own.last().zip(values.first()).is_some_and(|(last, first)| last < first && first - last > 1) =>
            {
                own.extend_from_slice(values);
                return values.len();
            }
            _ => self.or(&Container::Array(values.to_vec())),
        };
        *self = grown.normalised();
        self.len() - before
    }

    /// Removes ascending values; returns how many were there.
    pub fn remove(&mut self, values: &[u16]) -> usize {
        let before = self.len();
        *self = self.and_not(&Container::Array(values.to_vec())).normalised();
        before - self.len()
    }

    /// Appends the stored form to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Container::Array(values) => {
                out.push(TAG_ARRAY);
                for value in values {
                    out.extend_from_slice(&value.to_le_bytes());
                }
            }
            Container::Bitmap(words) => {
                out.push(TAG_BITMAP);
                for word in words.iter() {
                    out.extend_from_slice(&word.to_le_bytes());
                }
            }
            Container::Runs(runs) => {
                out.push(TAG_RUNS);
                for (first, last) in runs {
                    out.extend_from_slice(&first.to_le_bytes());
                    out.extend_from_slice(&last.to_le_bytes());
                }
            }
        }
    }

    /// Reads the stored form.
    pub fn decode(bytes: &[u8]) -> Result<Container, ContainerError> {
        let (tag, body) = bytes.split_first().ok_or(ContainerError::Form)?;
        match *tag {
            TAG_ARRAY => decode_array(body),
            TAG_BITMAP => decode_bitmap(body),
            TAG_RUNS => decode_runs(body),
            _ => Err(ContainerError::Form),
        }
    }
}

fn decode_array(body: &[u8]) -> Result<Container, ContainerError> {
    let (pairs, rest) = body.as_chunks::<2>();
    if pairs.is_empty() || !rest.is_empty() || pairs.len() > ARRAY_MAX {
        return Err(ContainerError::Length);
    }
    let values: Vec<u16> = pairs.iter().map(|pair| u16::from_le_bytes(*pair)).collect();
    if values.windows(2).any(|pair| pair[0] >= pair[1]) {
        return Err(ContainerError::Order);
    }
    Ok(Container::Array(values))
}

fn decode_bitmap(body: &[u8]) -> Result<Container, ContainerError> {
    if body.len() != BITMAP_BYTES {
        return Err(ContainerError::Length);
    }
    let mut words = empty_words();
    for (word, bytes) in words.iter_mut().zip(body.as_chunks::<8>().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    let container = Container::Bitmap(words);
    if container.is_empty() { Err(ContainerError::Length) } else { Ok(container) }
}

fn decode_runs(body: &[u8]) -> Result<Container, ContainerError> {
    let (quads, rest) = body.as_chunks::<4>();
    if quads.is_empty() || !rest.is_empty() {
        return Err(ContainerError::Length);
    }
    let runs: Vec<(u16, u16)> = quads
        .iter()
        .map(|quad| (u16::from_le_bytes([quad[0], quad[1]]), u16::from_le_bytes([quad[2], quad[3]])))
        .collect();
    let ordered = runs.iter().all(|(first, last)| first <= last)
        && runs.windows(2).all(|pair| u32::from(pair[0].1) + 1 < u32::from(pair[1].0));
    if ordered { Ok(Container::Runs(runs)) } else { Err(ContainerError::Order) }
}

fn merge(a: &[u16], b: &[u16]) -> Vec<u16> {
    let mut out = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => {
                out.push(a[i]);
                i += 1;
            }
            std::cmp::Ordering::Greater => {
                out.push(b[j]);
                j += 1;
            }
            std::cmp::Ordering::Equal => {
                out.push(a[i]);
                i += 1;
                j += 1;
            }
        }
    }
    out.extend_from_slice(&a[i..]);
    out.extend_from_slice(&b[j..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Sets of all three shapes: sparse, dense and made of runs.
    fn values() -> impl Strategy<Value = BTreeSet<u16>> {
        let sparse = proptest::collection::btree_set(any::<u16>(), 0..200);
        let close = proptest::collection::btree_set(0u16..500, 0..200);
        let runs = proptest::collection::vec((any::<u16>(), 0u16..9000), 0..6)
            .prop_map(|runs| runs.into_iter().flat_map(|(first, len)| first..=first.saturating_add(len)).collect());
        let steps = (2u16..9, any::<u16>()).prop_map(|(step, to)| (0..to).step_by(usize::from(step)).collect());
        prop_oneof![sparse, close, runs, steps]
    }

    fn container(set: &BTreeSet<u16>) -> Container {
        Container::from_sorted(&set.iter().copied().collect::<Vec<_>>())
    }

    fn members(container: &Container) -> BTreeSet<u16> {
        let mut out = BTreeSet::new();
        container.for_each(|value| assert!(out.insert(value)));
        assert_eq!(out.len(), container.len());
        out
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn operations_agree_with_a_set(a in values(), b in values(), from in any::<u16>()) {
            let (x, y) = (container(&a), container(&b));
            prop_assert_eq!(members(&x), a.clone());
            prop_assert_eq!(members(&x.and(&y)), a.intersection(&b).copied().collect::<BTreeSet<_>>());
            prop_assert_eq!(members(&x.or(&y)), a.union(&b).copied().collect::<BTreeSet<_>>());
            prop_assert_eq!(members(&x.and_not(&y)), a.difference(&b).copied().collect::<BTreeSet<_>>());
            prop_assert_eq!(x.contains(from), a.contains(&from));
            prop_assert_eq!(x.next_at_or_after(from), a.range(from..).next().copied());
            let list: Vec<u16> = b.iter().copied().collect();
            let mut grown = x.clone();
            prop_assert_eq!(grown.insert(&list), b.difference(&a).count());
            prop_assert_eq!(members(&grown), a.union(&b).copied().collect::<BTreeSet<_>>());
            prop_assert_eq!(grown.remove(&list), b.len());
            prop_assert_eq!(members(&grown), a.difference(&b).copied().collect::<BTreeSet<_>>());
            if !a.is_empty() {
                let mut bytes = Vec::new();
                x.encode(&mut bytes);
                prop_assert!(bytes.len() <= 1 + BITMAP_BYTES);
                prop_assert_eq!(Container::decode(&bytes), Ok(x));
            }
        }

        #[test]
        fn decoding_any_bytes_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            if let Ok(container) = Container::decode(&bytes) {
                prop_assert!(!members(&container).is_empty());
            }
        }
    }
}
