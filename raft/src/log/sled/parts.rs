//! An entry as sled records: parts of at most 64 KiB, whole only with the last.

use bytes::Bytes;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Data bytes in one record: with key and header below sled's limit for inline values.
pub(super) const PART_BYTES: usize = (16 << 10) - 64;
const HEADER_BYTES: usize = 16;
/// Bounds what a damaged header can make us gather: the largest entry there can be.
const MAX_ENTRY_BYTES: usize = crate::codec::MAX_MESSAGE_BYTES;

pub(super) fn key(index: u64, part: u16) -> [u8; 10] {
    let mut key = [0; 10];
    key[..8].copy_from_slice(&index.to_be_bytes());
    key[8..].copy_from_slice(&part.to_be_bytes());
    key
}

fn parse_key(key: &[u8]) -> Option<(u64, u16)> {
    let index = u64::from_be_bytes(key.get(..8)?.try_into().ok()?);
    let part = u16::from_be_bytes(key.get(8..)?.try_into().ok()?);
    Some((index, part))
}

/// The seed ties a value to its key, so that a misplaced one is noticed.
fn checksum(index: u64, part: u16, total: u32, data: &[u8]) -> u64 {
    xxh3_64_with_seed(data, index.rotate_left(17) ^ (u64::from(part) << 40) ^ u64::from(total))
}

/// The records of one entry, in order.
pub(super) fn split(index: u64, bytes: &[u8]) -> impl Iterator<Item = ([u8; 10], Vec<u8>)> + '_ {
    let total = u32::try_from(bytes.len()).expect("an entry is below 24 MiB, checked when it was proposed");
    let count = bytes.len().div_ceil(PART_BYTES).max(1);
    (0..count).map(move |n| {
        let part = u16::try_from(n).expect("24 MiB are fewer than 65,536 parts");
        let data = &bytes[n * PART_BYTES..bytes.len().min((n + 1) * PART_BYTES)];
        let mut value = Vec::with_capacity(HEADER_BYTES + data.len());
        value.extend_from_slice(&total.to_be_bytes());
        value.extend_from_slice(&[0; 4]);
        value.extend_from_slice(&checksum(index, part, total, data).to_be_bytes());
        value.extend_from_slice(data);
        (key(index, part), value)
    })
}

/// Puts records together to entries.
#[derive(Default)]
pub(super) struct Joiner {
    index: Option<u64>,
    next_part: u16,
    total: usize,
    data: Vec<u8>,
}

impl Joiner {
    /// The next record in key order; returns an entry once it is whole.
    pub fn push(&mut self, key: &[u8], value: &[u8]) -> Result<Option<(u64, Bytes)>, String> {
        let (index, part) = parse_key(key).ok_or("a key has a bad length")?;
        if value.len() < HEADER_BYTES {
            return Err(format!("record {index}/{part} is too short"));
        }
        let (header, data) = value.split_at(HEADER_BYTES);
        let total = u32::from_be_bytes(header[..4].try_into().map_err(|_| "header")?);
        let stored = u64::from_be_bytes(header[8..16].try_into().map_err(|_| "header")?);
        if checksum(index, part, total, data) != stored {
            return Err(format!("record {index}/{part} has a bad checksum"));
        }
        let total = total as usize;
        if total > MAX_ENTRY_BYTES {
            return Err(format!("entry {index} claims {total} bytes"));
        }
        if part == 0 {
            if self.index.is_some() {
                return Err(format!("the entry before {index} is incomplete"));
            }
            *self = Joiner { index: Some(index), next_part: 0, total, data: Vec::new() };
        }
        if self.index != Some(index) || self.next_part != part || self.total != total {
            return Err(format!("record {index}/{part} does not continue the one before it"));
        }
        self.data.extend_from_slice(data);
        self.next_part = part.checked_add(1).ok_or("too many parts")?;
        if self.data.len() > self.total {
            return Err(format!("entry {index} is longer than it says"));
        }
        if self.data.len() < self.total {
            return Ok(None);
        }
        let whole = std::mem::take(self);
        Ok(Some((index, whole.data.into())))
    }

    /// The entry of which only the first parts have come.
    pub fn incomplete(&self) -> Option<u64> {
        self.index
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_whole_only_with_its_last_part() {
        for length in [0, 1, PART_BYTES - 1, PART_BYTES, PART_BYTES + 1, 5 * PART_BYTES + 7] {
            let bytes: Vec<u8> = (0..length).map(|i| (i % 251) as u8).collect();
            let records: Vec<_> = split(7, &bytes).collect();
            let mut joiner = Joiner::default();
            for (n, (key, value)) in records.iter().enumerate() {
                assert!(value.len() + key.len() <= 64 << 10);
                let got = joiner.push(key, value).unwrap();
                if n + 1 < records.len() {
                    assert!(got.is_none());
                    assert_eq!(joiner.incomplete(), Some(7));
                } else {
                    assert_eq!(got.unwrap(), (7, Bytes::from(bytes.clone())));
                    assert_eq!(joiner.incomplete(), None);
                }
            }
        }
    }

    #[test]
    fn damage_is_noticed() {
        let (key, value) = split(3, b"hello").next().unwrap();
        for at in 0..value.len() {
            if (4..8).contains(&at) {
                continue; // reserved
            }
            let mut bad = value.clone();
            bad[at] ^= 1;
            assert!(Joiner::default().push(&key, &bad).is_err(), "byte {at}");
        }
        assert!(Joiner::default().push(&super::key(4, 0), &value).is_err());
        assert!(Joiner::default().push(&key, &value[..10]).is_err());
    }
}
