//! The two meta blocks and the bitmap blocks: what a checkpoint is known by.

use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use crate::error::StoreError;
use crate::layout::{
    BITMAP_HEADER_BYTES, BLOCK_BYTES, CHUNK_BLOCKS, MAX_BLOCKS, MAX_GENERATION, MAX_LABEL_BYTES, MAX_TREES,
    POINTER_BYTES, PagePtr, REGION_BLOCKS, get_u16, get_u32, get_u64, put_u16, put_u32, put_u64,
};

const META_MAGIC: &[u8; 8] = b"BINDERY\x01";
const BITMAP_MAGIC: &[u8; 8] = b"BINDMAP\x01";
const FORMAT_VERSION: u32 = 1;
const POINTER_AT: usize = 56;
const TREES_AT: usize = 68;
const LABEL_AT: usize = 72;

/// One durable checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meta {
    /// Number of the checkpoint; its parity is its slot.
    pub number: u64,
    /// Version it made durable.
    pub generation: u64,
    /// Blocks of the file.
    pub blocks: u64,
    /// Roots page; None only in the checkpoint that creates the store.
    pub roots: Option<PagePtr>,
    /// Trees in the roots page.
    pub trees: u32,
    /// Label of the version.
    pub label: Vec<u8>,
}

impl Meta {
    /// Encodes into one block.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![0; BLOCK_BYTES];
        bytes[16..24].copy_from_slice(META_MAGIC);
        put_u32(&mut bytes, 24, FORMAT_VERSION);
        put_u16(&mut bytes, 28, self.label.len() as u16);
        put_u64(&mut bytes, 32, self.number);
        put_u64(&mut bytes, 40, self.generation);
        put_u64(&mut bytes, 48, self.blocks);
        if let Some(roots) = self.roots {
            bytes[POINTER_AT..POINTER_AT + POINTER_BYTES].copy_from_slice(&roots.encode());
        }
        put_u32(&mut bytes, TREES_AT, self.trees);
        bytes[LABEL_AT..LABEL_AT + self.label.len()].copy_from_slice(&self.label);
        let sum = xxh3_128(&bytes[16..]);
        bytes[..16].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Decodes and checks the meta block of `slot`.
    pub fn decode(bytes: &[u8], slot: u64) -> Result<Meta, StoreError> {
        let corrupt = |what| StoreError::Corrupt { block: slot, what };
        if bytes.len() != BLOCK_BYTES || bytes[..16] != xxh3_128(&bytes[16..]).to_le_bytes() {
            return Err(corrupt("meta checksum"));
        }
        if &bytes[16..24] != META_MAGIC {
            return Err(StoreError::Format("no store file"));
        }
        if get_u32(bytes, 24) != FORMAT_VERSION {
            return Err(StoreError::Format("another format version"));
        }
        let length = get_u16(bytes, 28) as usize;
        let trees = get_u32(bytes, TREES_AT);
        let pointer = &bytes[POINTER_AT..POINTER_AT + POINTER_BYTES];
        let meta = Meta {
            number: get_u64(bytes, 32),
            generation: get_u64(bytes, 40),
            blocks: get_u64(bytes, 48),
            roots: if pointer.iter().all(|byte| *byte == 0) { None } else { Some(PagePtr::decode(pointer, slot)?) },
            trees,
            label: bytes.get(LABEL_AT..LABEL_AT + length).ok_or(corrupt("meta label"))?.to_vec(),
        };
        let sound = length <= MAX_LABEL_BYTES
            && meta.number & 1 == slot
            && meta.generation <= MAX_GENERATION
            && meta.blocks <= MAX_BLOCKS
            && meta.blocks >= CHUNK_BLOCKS
            && meta.blocks.is_multiple_of(CHUNK_BLOCKS)
            && trees as usize <= MAX_TREES
            && (meta.roots.is_some() || trees == 0);
        if sound { Ok(meta) } else { Err(corrupt("meta fields")) }
    }

    /// Block of this checkpoint's bitmap of a region.
    pub fn bitmap_block(&self, region: u64) -> u64 {
        region * REGION_BLOCKS + 2 + (self.number & 1)
    }
}

/// Regions of a file of this many blocks.
pub fn regions(blocks: u64) -> u64 {
    blocks.div_ceil(REGION_BLOCKS)
}

/// Encodes the bitmap block of one region; `words` are the bits of the whole file.
pub fn encode_bitmap(meta: &Meta, region: u64, words: &[u64]) -> Vec<u8> {
    let mut bytes = vec![0; BLOCK_BYTES];
    bytes[8..16].copy_from_slice(BITMAP_MAGIC);
    put_u64(&mut bytes, 16, meta.number);
    put_u64(&mut bytes, 24, meta.generation);
    put_u64(&mut bytes, 32, region);
    let per_region = (REGION_BLOCKS / 64) as usize;
    for (index, word) in words.iter().skip(region as usize * per_region).take(per_region).enumerate() {
        put_u64(&mut bytes, BITMAP_HEADER_BYTES + index * 8, *word);
    }
    let sum = xxh3_64(&bytes[8..]);
    put_u64(&mut bytes, 0, sum);
    bytes
}

/// Appends the words of a region's bitmap block after checking it.
pub fn decode_bitmap(bytes: &[u8], meta: &Meta, region: u64, words: &mut Vec<u64>) -> Result<(), StoreError> {
    let corrupt = |what| StoreError::Corrupt { block: meta.bitmap_block(region), what };
    if get_u64(bytes, 0) != xxh3_64(&bytes[8..]) || &bytes[8..16] != BITMAP_MAGIC {
        return Err(corrupt("bitmap checksum"));
    }
    if (get_u64(bytes, 16), get_u64(bytes, 24), get_u64(bytes, 32)) != (meta.number, meta.generation, region) {
        return Err(corrupt("bitmap of another checkpoint"));
    }
    let left = meta.blocks - region * REGION_BLOCKS;
    for index in 0..(left.min(REGION_BLOCKS) / 64) as usize {
        words.push(get_u64(bytes, BITMAP_HEADER_BYTES + index * 8));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meta() -> Meta {
        let roots = Some(PagePtr { block: 8, order: 3, generation: 77 });
        Meta { number: 5, generation: 77, blocks: 512, roots, trees: 3, label: vec![7; MAX_LABEL_BYTES] }
    }

    #[test]
    fn a_meta_survives_encoding_and_every_flipped_byte_is_found() {
        let bytes = meta().encode();
        assert_eq!(Meta::decode(&bytes, 1).unwrap(), meta());
        assert!(Meta::decode(&bytes, 0).is_err(), "it belongs into the other slot");
        for at in 0..bytes.len() {
            let mut bad = bytes.clone();
            bad[at] ^= 1;
            assert!(Meta::decode(&bad, 1).is_err(), "byte {at}");
        }
    }

    #[test]
    fn a_bitmap_of_another_checkpoint_or_region_is_refused() {
        let words: Vec<u64> = (0..8).collect();
        let bytes = encode_bitmap(&meta(), 0, &words);
        let mut read = Vec::new();
        decode_bitmap(&bytes, &meta(), 0, &mut read).unwrap();
        assert_eq!(read, words);
        let later = Meta { number: 7, ..meta() };
        assert!(decode_bitmap(&bytes, &later, 0, &mut Vec::new()).is_err());
        let other = Meta { generation: 78, ..meta() };
        assert!(decode_bitmap(&bytes, &other, 0, &mut Vec::new()).is_err());
    }
}
