//! The header in front of every page: what it is, where it belongs, and its checksum.

use xxhash_rust::xxh3::xxh3_64;

use crate::btree::node;
use crate::error::StoreError;
use crate::layout::{BLOCK_BYTES, PAGE_HEADER_BYTES, PagePtr, get_u32, get_u64, put_u32, put_u64};

/// What a page holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum PageKind {
    /// B+tree leaf.
    Leaf = 1,
    /// B+tree inner node.
    Inner = 2,
    /// Bytes of one value.
    Value = 3,
    /// Pointers of the value pages of one long value.
    List = 4,
    /// Roots of all trees of a checkpoint.
    Roots = 5,
}

impl PageKind {
    fn from_byte(byte: u8) -> Option<PageKind> {
        [PageKind::Leaf, PageKind::Inner, PageKind::Value, PageKind::List, PageKind::Roots]
            .into_iter()
            .find(|kind| *kind as u8 == byte)
    }
}

const TREE_AT: usize = 24;
const PAYLOAD_LENGTH_AT: usize = 32;

/// Writes the identity of a page; the checksum is put in by [`seal`] when it is written out.
pub fn stamp(bytes: &mut [u8], pointer: PagePtr, kind: PageKind, tree: u32) {
    put_u64(bytes, 8, pointer.block | u64::from(pointer.order) << 40 | (kind as u64) << 48);
    put_u64(bytes, 16, pointer.generation);
    put_u32(bytes, TREE_AT, tree);
}

/// Changes where a copied page belongs.
pub fn restamp(bytes: &mut [u8], pointer: PagePtr) {
    let word = get_u64(bytes, 8);
    put_u64(bytes, 8, pointer.block | u64::from(pointer.order) << 40 | (word >> 48) << 48);
    put_u64(bytes, 16, pointer.generation);
}

/// Whether the header of a page in memory is that of `pointer`.
pub fn is(bytes: &[u8], pointer: PagePtr) -> bool {
    get_u64(bytes, 8) & ((1 << 48) - 1) == (pointer.block | u64::from(pointer.order) << 40)
        && get_u64(bytes, 16) == pointer.generation
}

/// Which kind a verified page is.
pub fn kind(bytes: &[u8]) -> Option<PageKind> {
    PageKind::from_byte(bytes[14])
}

/// Tree of a verified page.
pub fn tree(bytes: &[u8]) -> u32 {
    get_u32(bytes, TREE_AT)
}

/// The payload of a value, list or roots page.
pub fn payload(bytes: &[u8]) -> &[u8] {
    let length = get_u32(bytes, PAYLOAD_LENGTH_AT) as usize;
    // Checked by `verify` when the page came from the file, by `set_payload` when it was made.
    &bytes[PAGE_HEADER_BYTES..PAGE_HEADER_BYTES + length]
}

/// Fills the payload of a value, list or roots page.
pub fn set_payload(bytes: &mut [u8], payload: &[u8]) {
    put_u32(bytes, PAYLOAD_LENGTH_AT, payload.len() as u32);
    let (used, rest) = bytes[PAGE_HEADER_BYTES..].split_at_mut(payload.len());
    used.copy_from_slice(payload);
    rest.fill(0);
}

/// Puts the checksum into a copy that is about to be written.
pub fn seal(bytes: &mut [u8]) {
    let sum = xxh3_64(&bytes[8..]);
    put_u64(bytes, 0, sum);
}

/// Checks that bytes read from the file are the page that `pointer` names and are well formed.
pub fn verify(bytes: &[u8], pointer: PagePtr) -> Result<(), StoreError> {
    let corrupt = |what| StoreError::Corrupt { block: pointer.block, what };
    if bytes.len() != BLOCK_BYTES << pointer.order {
        return Err(corrupt("page size"));
    }
    if get_u64(bytes, 0) != xxh3_64(&bytes[8..]) {
        return Err(corrupt("checksum"));
    }
    let word = get_u64(bytes, 8);
    if word & ((1 << 40) - 1) != pointer.block || bytes[13] != pointer.order {
        return Err(corrupt("page belongs elsewhere"));
    }
    if get_u64(bytes, 16) != pointer.generation {
        return Err(corrupt("generation"));
    }
    match kind(bytes).ok_or(corrupt("page kind"))? {
        PageKind::Leaf | PageKind::Inner => node::check(bytes).map_err(corrupt),
        PageKind::Value | PageKind::List | PageKind::Roots => {
            let room = bytes.len() - PAGE_HEADER_BYTES;
            if get_u32(bytes, PAYLOAD_LENGTH_AT) as usize > room {
                return Err(corrupt("payload length"));
            }
            Ok(())
        }
    }
}
