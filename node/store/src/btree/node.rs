//! One B+tree node as bytes: prefix and sorted slots in front, cells from the end. `DESIGN.md` draws it.
//!
//! Slots carry the first four bytes of the key behind the prefix, so that most comparisons are of one integer.
//! The prefix is shared by all keys of the node; a key that does not share it sorts before or after all of them.

use std::cmp::Ordering;

use crate::error::StoreError;
use crate::layout::{
    MAX_INLINE_BYTES, MAX_KEY_BYTES, PAGE_HEADER_BYTES, POINTER_BYTES, PagePtr, get_u16, get_u32, put_u16, put_u32,
};
use crate::page::{self, PageKind};

const LEVEL_AT: usize = 28;
const COUNT_AT: usize = 30;
const PREFIX_AT: usize = 32;
const HEAP_AT: usize = 34;
const GARBAGE_AT: usize = 36;
/// Bytes of a slot.
pub const SLOT_BYTES: usize = 8;
/// Bytes of a cell besides suffix and value.
pub const CELL_HEADER_BYTES: usize = 2;
/// Value bytes of a cell that refers to pages: length and pointer.
pub const REFERENCE_BYTES: usize = 4 + POINTER_BYTES;

/// What a cell's value is; the two high bits of its length word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub enum ValueKind {
    /// The bytes themselves (in inner nodes: a pointer).
    Inline = 0,
    /// Length and pointer of one value page.
    Extent = 0x4000,
    /// Length and pointer of a list page.
    Chain = 0x8000,
}

const LENGTH_MASK: u16 = 0x3fff;

/// A value as a leaf holds it.
#[derive(Debug, Clone, Copy)]
pub struct CellValue<'a> {
    /// How to read `bytes`.
    pub kind: ValueKind,
    /// The value, or a reference to it.
    pub bytes: &'a [u8],
}

/// A reference to a value outside the leaf: length and page.
pub fn decode_reference(bytes: &[u8], at: u64) -> Result<(usize, PagePtr), StoreError> {
    if bytes.len() != REFERENCE_BYTES {
        return Err(StoreError::Corrupt { block: at, what: "value reference" });
    }
    Ok((get_u32(bytes, 0) as usize, PagePtr::decode(&bytes[4..], at)?))
}

/// Encodes a reference.
pub fn encode_reference(length: usize, pointer: PagePtr) -> [u8; REFERENCE_BYTES] {
    let mut out = [0; REFERENCE_BYTES];
    out[..4].copy_from_slice(&(length as u32).to_le_bytes());
    out[4..].copy_from_slice(&pointer.encode());
    out
}

/// First four bytes of a suffix as a number that compares like them.
fn head_of(suffix: &[u8]) -> u32 {
    let mut head = [0; 4];
    let length = suffix.len().min(4);
    head[..length].copy_from_slice(&suffix[..length]);
    u32::from_be_bytes(head)
}

/// Where the slots begin: behind the prefix, which is behind the header.
fn slots_at(bytes: &[u8]) -> usize {
    PAGE_HEADER_BYTES + get_u16(bytes, PREFIX_AT) as usize
}

/// A node to read.
#[derive(Clone, Copy)]
pub struct Node<'a> {
    bytes: &'a [u8],
}

impl<'a> Node<'a> {
    /// Looks at verified bytes.
    pub fn new(bytes: &'a [u8]) -> Node<'a> {
        Node { bytes }
    }

    /// Level above the leaves.
    pub fn level(self) -> u8 {
        self.bytes[LEVEL_AT]
    }

    /// Whether it is a leaf.
    pub fn is_leaf(self) -> bool {
        self.bytes[14] == PageKind::Leaf as u8
    }

    /// Number of cells.
    pub fn count(self) -> usize {
        get_u16(self.bytes, COUNT_AT) as usize
    }

    /// What every key begins with.
    pub fn prefix(self) -> &'a [u8] {
        &self.bytes[PAGE_HEADER_BYTES..slots_at(self.bytes)]
    }

    fn slot(self, index: usize) -> (usize, usize, u32) {
        let at = slots_at(self.bytes) + index * SLOT_BYTES;
        let slot = &self.bytes[at..at + SLOT_BYTES];
        (get_u16(slot, 0) as usize, get_u16(slot, 2) as usize, get_u32(slot, 4))
    }

    /// The key of a cell behind the prefix.
    pub fn suffix(self, index: usize) -> &'a [u8] {
        let (offset, length, _) = self.slot(index);
        &self.bytes[offset + CELL_HEADER_BYTES..offset + CELL_HEADER_BYTES + length]
    }

    /// Appends the whole key of a cell.
    pub fn append_key(self, index: usize, out: &mut Vec<u8>) {
        out.extend_from_slice(self.prefix());
        out.extend_from_slice(self.suffix(index));
    }

    /// The value of a cell.
    pub fn value(self, index: usize) -> CellValue<'a> {
        let (offset, length, _) = self.slot(index);
        let word = get_u16(self.bytes, offset);
        let start = offset + CELL_HEADER_BYTES + length;
        let bytes = &self.bytes[start..start + (word & LENGTH_MASK) as usize];
        let kind = match word & !LENGTH_MASK {
            0 => ValueKind::Inline,
            0x4000 => ValueKind::Extent,
            _ => ValueKind::Chain,
        };
        CellValue { kind, bytes }
    }

    /// The child of an inner cell.
    pub fn child(self, index: usize) -> Result<PagePtr, StoreError> {
        PagePtr::decode(self.value(index).bytes, 0)
    }

    /// Position of `key` among cells from `first` on: Ok where it is, Err where it would be.
    fn search_from(self, key: &[u8], first: usize) -> Result<usize, usize> {
        let prefix = self.prefix();
        let count = self.count();
        if !prefix.is_empty() {
            let shared = prefix.len().min(key.len());
            match key[..shared].cmp(&prefix[..shared]) {
                Ordering::Less => return Err(first),
                Ordering::Greater => return Err(count),
                Ordering::Equal if key.len() < prefix.len() => return Err(first),
                Ordering::Equal => {}
            }
        }
        let suffix = &key[prefix.len()..];
        let head = head_of(suffix);
        let (mut low, mut high) = (first, count);
        while low < high {
            let middle = (low + high) / 2;
            let order = match self.slot(middle).2.cmp(&head) {
                Ordering::Equal => self.suffix(middle).cmp(suffix),
                other => other,
            };
            match order {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return Ok(middle),
            }
        }
        Err(low)
    }

    /// In a leaf: Ok(where the key is) or Err(where it would be inserted).
    pub fn search(self, key: &[u8]) -> Result<usize, usize> {
        self.search_from(key, 0)
    }

    /// In an inner node: the child whose range has the key. The key of cell 0 counts as lowest of all.
    pub fn child_index(self, key: &[u8]) -> usize {
        match self.search_from(key, 1) {
            Ok(index) => index,
            Err(index) => index - 1,
        }
    }

    /// Bytes in use: header, slots, live cells, prefix.
    pub fn used_bytes(self) -> usize {
        let heap = get_u16(self.bytes, HEAP_AT) as usize;
        let slots = slots_at(self.bytes) + self.count() * SLOT_BYTES;
        slots + self.bytes.len() - heap - get_u16(self.bytes, GARBAGE_AT) as usize
    }
}

/// Makes `bytes` an empty node; `stamp` has been done.
pub fn format(bytes: &mut [u8], level: u8) {
    let length = bytes.len();
    bytes[LEVEL_AT] = level;
    bytes[LEVEL_AT + 1] = 0;
    put_u16(bytes, COUNT_AT, 0);
    put_u16(bytes, PREFIX_AT, 0);
    put_u16(bytes, HEAP_AT, length as u16);
    put_u16(bytes, GARBAGE_AT, 0);
    put_u16(bytes, 38, 0);
}

/// Sets the prefix of an empty node.
pub fn set_prefix(bytes: &mut [u8], prefix: &[u8]) {
    bytes[PAGE_HEADER_BYTES..PAGE_HEADER_BYTES + prefix.len()].copy_from_slice(prefix);
    put_u16(bytes, PREFIX_AT, prefix.len() as u16);
}

/// Inserts a cell at `index` if the contiguous free space holds it.
pub fn insert(bytes: &mut [u8], index: usize, suffix: &[u8], value: CellValue<'_>) -> bool {
    let count = get_u16(bytes, COUNT_AT) as usize;
    let heap = get_u16(bytes, HEAP_AT) as usize;
    let size = CELL_HEADER_BYTES + suffix.len() + value.bytes.len();
    let slots = slots_at(bytes);
    let slots_end = slots + (count + 1) * SLOT_BYTES;
    if slots_end + size > heap {
        return false;
    }
    let offset = heap - size;
    put_u16(bytes, offset, value.bytes.len() as u16 | value.kind as u16);
    let key_at = offset + CELL_HEADER_BYTES;
    bytes[key_at..key_at + suffix.len()].copy_from_slice(suffix);
    bytes[key_at + suffix.len()..heap].copy_from_slice(value.bytes);
    let slot = slots + index * SLOT_BYTES;
    bytes.copy_within(slot..slots + count * SLOT_BYTES, slot + SLOT_BYTES);
    put_u16(bytes, slot, offset as u16);
    put_u16(bytes, slot + 2, suffix.len() as u16);
    put_u32(bytes, slot + 4, head_of(suffix));
    put_u16(bytes, COUNT_AT, count as u16 + 1);
    put_u16(bytes, HEAP_AT, offset as u16);
    true
}

/// Removes a cell.
pub fn remove(bytes: &mut [u8], index: usize) {
    let node = Node::new(bytes);
    let count = node.count();
    let (offset, length, _) = node.slot(index);
    let size = CELL_HEADER_BYTES + length + node.value(index).bytes.len();
    let heap = get_u16(bytes, HEAP_AT) as usize;
    let slots = slots_at(bytes);
    let slot = slots + index * SLOT_BYTES;
    bytes.copy_within(slot + SLOT_BYTES..slots + count * SLOT_BYTES, slot);
    put_u16(bytes, COUNT_AT, count as u16 - 1);
    if offset == heap {
        put_u16(bytes, HEAP_AT, (heap + size) as u16);
    } else {
        let garbage = get_u16(bytes, GARBAGE_AT) as usize + size;
        put_u16(bytes, GARBAGE_AT, garbage as u16);
    }
}

/// Overwrites the value of a cell with one of the same length; false when the lengths differ.
pub fn overwrite(bytes: &mut [u8], index: usize, value: CellValue<'_>) -> bool {
    let node = Node::new(bytes);
    let (offset, length, _) = node.slot(index);
    if node.value(index).bytes.len() != value.bytes.len() {
        return false;
    }
    put_u16(bytes, offset, value.bytes.len() as u16 | value.kind as u16);
    let start = offset + CELL_HEADER_BYTES + length;
    bytes[start..start + value.bytes.len()].copy_from_slice(value.bytes);
    true
}

/// Whether the shape of a node read from the file is sound, so that nothing above can index outside it.
pub fn check(bytes: &[u8]) -> Result<(), &'static str> {
    let leaf = page::kind(bytes) == Some(PageKind::Leaf);
    let count = get_u16(bytes, COUNT_AT) as usize;
    let prefix = get_u16(bytes, PREFIX_AT) as usize;
    let heap = get_u16(bytes, HEAP_AT) as usize;
    if prefix > MAX_KEY_BYTES || bytes.len() > 1 << 15 {
        return Err("node header");
    }
    let heap_end = bytes.len();
    let slots = PAGE_HEADER_BYTES + prefix;
    if slots + count * SLOT_BYTES > heap || heap > heap_end {
        return Err("node space");
    }
    if leaf != (bytes[LEVEL_AT] == 0) || (!leaf && count == 0) {
        return Err("node level");
    }
    let mut live = 0;
    for index in 0..count {
        let at = slots + index * SLOT_BYTES;
        let (offset, length) = (get_u16(bytes, at) as usize, get_u16(bytes, at + 2) as usize);
        if offset < heap || offset + CELL_HEADER_BYTES > heap_end || prefix + length > MAX_KEY_BYTES {
            return Err("slot");
        }
        let word = get_u16(bytes, offset);
        let value = (word & LENGTH_MASK) as usize;
        let size = CELL_HEADER_BYTES + length + value;
        let reference = word & !LENGTH_MASK;
        let sound = if leaf {
            (reference == 0 && value <= MAX_INLINE_BYTES)
                || ((reference == 0x4000 || reference == 0x8000) && value == REFERENCE_BYTES)
        } else {
            reference == 0 && value == POINTER_BYTES
        };
        if offset + size > heap_end || !sound {
            return Err("cell");
        }
        live += size;
    }
    if live + get_u16(bytes, GARBAGE_AT) as usize != heap_end - heap {
        return Err("garbage count");
    }
    Ok(())
}

/// Checks what reading relies on but `check` leaves out: order and heads. For `verify`.
pub fn check_order(bytes: &[u8]) -> Result<(), &'static str> {
    let node = Node::new(bytes);
    let first = usize::from(!node.is_leaf());
    for index in first..node.count() {
        if node.slot(index).2 != head_of(node.suffix(index)) {
            return Err("key head");
        }
        if index > first && node.suffix(index - 1) >= node.suffix(index) {
            return Err("key order");
        }
    }
    Ok(())
}
