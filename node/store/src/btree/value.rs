//! Values that do not fit in a leaf.

use super::node::{CellValue, REFERENCE_BYTES, ValueKind, decode_reference, encode_reference};
use super::pages::TxnPages;
use super::search::{with_page, with_page_for};
use crate::cache::{Cache, Claimant, Loaded};
use crate::error::StoreError;
use crate::layout::{
    MAX_EXTENT_PAYLOAD, MAX_INLINE_BYTES, MAX_VALUE_BYTES, PAGE_HEADER_BYTES, POINTER_BYTES, PagePtr, order_for,
};
use crate::page::{self, PageKind};

/// A value made ready to be put into a leaf.
pub enum Prepared<'a> {
    /// Small enough to lie there itself.
    Inline(&'a [u8]),
    /// Pages have been written; this refers to them.
    Reference(ValueKind, [u8; REFERENCE_BYTES]),
}

impl Prepared<'_> {
    /// As a cell holds it.
    pub fn cell(&self) -> CellValue<'_> {
        match self {
            Prepared::Inline(bytes) => CellValue { kind: ValueKind::Inline, bytes },
            Prepared::Reference(kind, bytes) => CellValue { kind: *kind, bytes },
        }
    }
}

/// Writes what must lie outside the leaf.
pub fn prepare<'a>(pages: &mut TxnPages, tree: u32, value: &'a [u8]) -> Result<Prepared<'a>, StoreError> {
    if value.len() <= MAX_INLINE_BYTES {
        return Ok(Prepared::Inline(value));
    }
    if value.len() <= MAX_EXTENT_PAYLOAD {
        let pointer = write_extent(pages, tree, value)?;
        return Ok(Prepared::Reference(ValueKind::Extent, encode_reference(value.len(), pointer)));
    }
    let mut list = Vec::with_capacity(value.len().div_ceil(MAX_EXTENT_PAYLOAD) * POINTER_BYTES);
    for part in value.chunks(MAX_EXTENT_PAYLOAD) {
        list.extend_from_slice(&write_direct(pages, tree, part)?.encode());
    }
    let (pointer, mut owned) = pages.create(order_for(PAGE_HEADER_BYTES + list.len()), PageKind::List, tree)?;
    page::set_payload(pages.cache().bytes_mut(&mut owned), &list);
    Ok(Prepared::Reference(ValueKind::Chain, encode_reference(value.len(), pointer)))
}

fn write_extent(pages: &mut TxnPages, tree: u32, value: &[u8]) -> Result<PagePtr, StoreError> {
    let order = order_for(PAGE_HEADER_BYTES + value.len());
    if !pages.cache().caches(order) {
        return write_direct(pages, tree, value);
    }
    let (pointer, mut owned) = pages.create(order, PageKind::Value, tree)?;
    page::set_payload(pages.cache().bytes_mut(&mut owned), value);
    Ok(pointer)
}

/// Writes a value page to its block at once, past the cache.
fn write_direct(pages: &mut TxnPages, tree: u32, value: &[u8]) -> Result<PagePtr, StoreError> {
    let pointer = pages.extent(order_for(PAGE_HEADER_BYTES + value.len()))?;
    let mut bytes = vec![0; pointer.bytes()];
    page::stamp(&mut bytes, pointer, PageKind::Value, tree);
    page::set_payload(&mut bytes, value);
    page::seal(&mut bytes);
    pages.shared().file.write(pointer.offset(), &bytes)?;
    Ok(pointer)
}

fn payload_of(bytes: &[u8], pointer: PagePtr, kind: PageKind) -> Result<&[u8], StoreError> {
    if page::kind(bytes) != Some(kind) {
        return Err(StoreError::Corrupt { block: pointer.block, what: "not the kind of page its reference says" });
    }
    Ok(page::payload(bytes))
}

/// Pointers of a chain of `length` bytes.
pub fn chain_pages(cache: &Cache, pointer: PagePtr, length: usize) -> Result<Vec<PagePtr>, StoreError> {
    let corrupt = || StoreError::Corrupt { block: pointer.block, what: "list page length" };
    if length > MAX_VALUE_BYTES {
        return Err(corrupt());
    }
    with_page(cache, pointer, |bytes| {
        let list = payload_of(bytes, pointer, PageKind::List)?;
        if list.len() != length.div_ceil(MAX_EXTENT_PAYLOAD) * POINTER_BYTES {
            return Err(corrupt());
        }
        list.chunks(POINTER_BYTES).map(|part| PagePtr::decode(part, pointer.block)).collect()
    })?
}

/// Calls `read` with a value that lies outside the leaf.
pub fn with_outside<R>(
    cache: &Cache,
    claimant: Claimant<'_>,
    kind: ValueKind,
    length: usize,
    pointer: PagePtr,
    mut read: impl FnMut(&[u8]) -> R,
) -> Result<R, StoreError> {
    let corrupt = |block| StoreError::Corrupt { block, what: "value length" };
    if kind == ValueKind::Extent {
        return with_page_for(cache, pointer, claimant, |bytes| {
            let payload = payload_of(bytes, pointer, PageKind::Value)?;
            if payload.len() == length { Ok(read(payload)) } else { Err(corrupt(pointer.block)) }
        })?;
    }
    let parts = chain_pages(cache, pointer, length)?;
    let mut value = Vec::with_capacity(length);
    for part in parts {
        // Read past the cache: one long value must not push everything else out.
        let Loaded::Private(bytes) = cache.read_private(part)? else { return Err(corrupt(part.block)) };
        let payload = payload_of(&bytes, part, PageKind::Value)?;
        if value.len() + payload.len() > length {
            return Err(corrupt(part.block));
        }
        value.extend_from_slice(payload);
    }
    if value.len() != length {
        return Err(corrupt(pointer.block));
    }
    Ok(read(&value))
}

/// Frees the pages of a replaced or deleted value.
pub fn free(pages: &mut TxnPages, kind: ValueKind, reference: &[u8], at: u64) -> Result<(), StoreError> {
    if kind == ValueKind::Inline {
        return Ok(());
    }
    let (length, pointer) = decode_reference(reference, at)?;
    if kind == ValueKind::Chain {
        for part in chain_pages(pages.cache(), pointer, length)? {
            pages.free(part);
        }
    }
    pages.free(pointer);
    Ok(())
}
