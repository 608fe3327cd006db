//! Records of a segment file: a header of 40 bytes, then the entry, padded to 8 bytes.
//!
//! `synced` is the highest index known to be durable when the record was written: a bad record is damage
//! if a good one behind it says that the bad one's index was durable, and the torn end of the log if not.
//! `generation` grows with every truncation: records that a truncation left behind the new end have an
//! older one than their predecessor and so are not taken for entries.

use xxhash_rust::xxh3::Xxh3;

pub(super) const HEADER_BYTES: usize = 40;
pub(super) const ALIGN: u64 = 8;
const MAGIC: u32 = 0x4c44_4e42;
/// Bounds what a damaged header can make us read.
const MAX_ENTRY_BYTES: u32 = crate::codec::MAX_MESSAGE_BYTES as u32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub length: u32,
    pub index: u64,
    /// Highest durable index plus one; 0 = none.
    pub synced: u64,
    pub generation: u64,
    checksum: u64,
}

impl Header {
    pub fn new(index: u64, synced: u64, generation: u64, data: &[u8]) -> Header {
        let length = u32::try_from(data.len()).expect("an entry is below 24 MiB, checked when it was proposed");
        let mut header = Header { length, index, synced, generation, checksum: 0 };
        header.checksum = header.sum(data);
        header
    }

    fn sum(&self, data: &[u8]) -> u64 {
        let mut hash = Xxh3::new();
        hash.update(&self.length.to_le_bytes());
        hash.update(&self.index.to_le_bytes());
        hash.update(&self.synced.to_le_bytes());
        hash.update(&self.generation.to_le_bytes());
        hash.update(data);
        hash.digest()
    }

    pub fn write(&self, data: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(&MAGIC.to_le_bytes());
        out.extend_from_slice(&self.length.to_le_bytes());
        out.extend_from_slice(&self.index.to_le_bytes());
        out.extend_from_slice(&self.synced.to_le_bytes());
        out.extend_from_slice(&self.generation.to_le_bytes());
        out.extend_from_slice(&self.checksum.to_le_bytes());
        out.extend_from_slice(data);
        out.resize(out.len().next_multiple_of(ALIGN as usize), 0);
    }

    /// `None` if these bytes cannot be a header.
    pub fn parse(bytes: &[u8; HEADER_BYTES]) -> Option<Header> {
        let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let half = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let header =
            Header { length: half(4), index: word(8), synced: word(16), generation: word(24), checksum: word(32) };
        (half(0) == MAGIC && header.length <= MAX_ENTRY_BYTES && header.index < u64::MAX).then_some(header)
    }

    pub fn matches(&self, data: &[u8]) -> bool {
        data.len() == self.length as usize && self.sum(data) == self.checksum
    }

    /// Bytes of the whole record.
    pub fn record_bytes(&self) -> u64 {
        record_bytes(self.length as usize)
    }
}

pub(super) fn record_bytes(length: usize) -> u64 {
    (HEADER_BYTES as u64 + length as u64).next_multiple_of(ALIGN)
}
