//! Sizes and offsets of everything in the file. `DESIGN.md` draws the same picture.

use crate::error::StoreError;

/// Bytes of a block in the file and of a frame in memory.
pub const BLOCK_BYTES: usize = 4096;
/// Largest page order: 2^8 blocks = 1 MiB.
pub const MAX_ORDER: u8 = 8;
/// Number of page orders.
pub const ORDERS: usize = MAX_ORDER as usize + 1;
/// Blocks of a chunk, the unit the file grows by and the largest page.
pub const CHUNK_BLOCKS: u64 = 1 << MAX_ORDER;
/// Blocks that one bitmap block describes.
pub const REGION_BLOCKS: u64 = ((BLOCK_BYTES - BITMAP_HEADER_BYTES) * 8) as u64;
/// Bytes before the bits in a bitmap block.
pub const BITMAP_HEADER_BYTES: usize = 64;
/// Blocks at the start of each region that never hold pages: meta A, meta B, bitmap A, bitmap B.
pub const FIXED_BLOCKS: u64 = 4;
/// Largest file: what 36 bits of block number address (256 TiB); the page table packs the number in 36 bits.
pub const MAX_BLOCKS: u64 = 1 << 36;
/// Generations have 48 bits on disk.
pub const MAX_GENERATION: u64 = (1 << 48) - 1;

/// Longest key.
pub const MAX_KEY_BYTES: usize = 1024;
/// Longest value.
pub const MAX_VALUE_BYTES: usize = 1 << 30;
/// Longest label of a version.
pub const MAX_LABEL_BYTES: usize = 256;
/// Longest value kept in a leaf: a quarter of the largest leaf.
pub const MAX_INLINE_BYTES: usize = 4032;
/// Order of inner nodes: 8 KiB.
pub const INNER_ORDER: u8 = 1;
/// Largest order of a leaf: 16 KiB.
pub const MAX_LEAF_ORDER: u8 = 2;

/// Bytes of the header in front of every page.
pub const PAGE_HEADER_BYTES: usize = 40;
/// Payload of the largest page.
pub const MAX_EXTENT_PAYLOAD: usize = (BLOCK_BYTES << MAX_ORDER) - PAGE_HEADER_BYTES;

/// Bytes of an encoded pointer.
pub const POINTER_BYTES: usize = 12;
/// Bytes of one record of the roots page.
pub const ROOT_RECORD_BYTES: usize = 32;
/// Most trees: what one roots page of the largest order holds.
pub const MAX_TREES: usize = MAX_EXTENT_PAYLOAD / ROOT_RECORD_BYTES;

const _: () = assert!(REGION_BLOCKS.is_multiple_of(CHUNK_BLOCKS));
const _: () = assert!(REGION_BLOCKS == 32_256);
// A list page must be able to name every value page of the longest value.
const _: () =
    assert!(MAX_VALUE_BYTES.div_ceil(MAX_EXTENT_PAYLOAD) * POINTER_BYTES + PAGE_HEADER_BYTES <= BLOCK_BYTES << 2);
// Three cells of the largest size fit the largest leaf, so that a split always finds a place.
const _: () = assert!(3 * (MAX_KEY_BYTES + MAX_INLINE_BYTES + 10) + PAGE_HEADER_BYTES <= BLOCK_BYTES << MAX_LEAF_ORDER);

/// Where a page is, how large it is and which generation made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PagePtr {
    /// First block.
    pub block: u64,
    /// 2^order blocks.
    pub order: u8,
    /// Generation that made the page.
    pub generation: u64,
}

impl PagePtr {
    /// Encodes into 12 bytes.
    pub fn encode(self) -> [u8; POINTER_BYTES] {
        let mut out = [0; POINTER_BYTES];
        out[..5].copy_from_slice(&self.block.to_le_bytes()[..5]);
        out[5] = self.order;
        out[6..].copy_from_slice(&self.generation.to_le_bytes()[..6]);
        out
    }

    /// Decodes and bounds-checks; `at` is the block the pointer was read from, for the error.
    pub fn decode(bytes: &[u8], at: u64) -> Result<PagePtr, StoreError> {
        let corrupt = |what| StoreError::Corrupt { block: at, what };
        let bytes: &[u8; POINTER_BYTES] = bytes.try_into().map_err(|_| corrupt("pointer length"))?;
        let mut block = [0; 8];
        block[..5].copy_from_slice(&bytes[..5]);
        let mut generation = [0; 8];
        generation[..6].copy_from_slice(&bytes[6..]);
        let pointer =
            PagePtr { block: u64::from_le_bytes(block), order: bytes[5], generation: u64::from_le_bytes(generation) };
        if pointer.order > MAX_ORDER
            || pointer.block >= MAX_BLOCKS
            || !pointer.block.is_multiple_of(1 << pointer.order)
            || pointer.block % REGION_BLOCKS < FIXED_BLOCKS
        {
            return Err(corrupt("pointer out of bounds"));
        }
        Ok(pointer)
    }

    /// Bytes of the page.
    pub fn bytes(self) -> usize {
        BLOCK_BYTES << self.order
    }

    /// Blocks of the page.
    pub fn blocks(self) -> u64 {
        1 << self.order
    }

    /// Byte position in the file.
    pub fn offset(self) -> u64 {
        self.block * BLOCK_BYTES as u64
    }
}

/// Smallest order whose page holds `bytes` (header included).
pub fn order_for(bytes: usize) -> u8 {
    let blocks = bytes.div_ceil(BLOCK_BYTES).max(1);
    blocks.next_power_of_two().trailing_zeros() as u8
}

/// Reads a little-endian u16; the caller has checked that it is inside.
pub fn get_u16(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

/// Reads a little-endian u32.
pub fn get_u32(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Reads a little-endian u64.
pub fn get_u64(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

/// Writes a little-endian u16.
pub fn put_u16(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_le_bytes());
}

/// Writes a little-endian u32.
pub fn put_u32(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

/// Writes a little-endian u64.
pub fn put_u64(bytes: &mut [u8], at: usize, value: u64) {
    bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_survives_encoding() {
        let pointer = PagePtr { block: MAX_BLOCKS - 256, order: 8, generation: MAX_GENERATION };
        assert_eq!(PagePtr::decode(&pointer.encode(), 0).unwrap(), pointer);
    }

    #[test]
    fn a_misaligned_or_fixed_pointer_is_refused() {
        for (block, order) in [(5, 1), (0, 0), (3, 0), (REGION_BLOCKS + 2, 0), (8, 9)] {
            let pointer = PagePtr { block, order, generation: 1 };
            assert!(PagePtr::decode(&pointer.encode(), 0).is_err(), "{pointer:?}");
        }
    }

    #[test]
    fn orders_round_up() {
        assert_eq!(order_for(1), 0);
        assert_eq!(order_for(4096), 0);
        assert_eq!(order_for(4097), 1);
        assert_eq!(order_for(1 << 20), 8);
    }
}
