//! Finding one key, and looking at one page.

use super::node::{Node, ValueKind, decode_reference};
use super::value;
use crate::cache::Loaded;
use crate::cache::{Cache, Claimant};
use crate::error::StoreError;
use crate::layout::PagePtr;
use crate::page::{self, PageKind};

/// Deeper than any tree of 2^36 blocks with a fan-out of 7; more is a cycle.
pub const MAX_DEPTH: usize = 16;

/// Looks at verified bytes as a node.
pub fn node_of(bytes: &[u8], pointer: PagePtr) -> Result<Node<'_>, StoreError> {
    match page::kind(bytes) {
        Some(PageKind::Leaf | PageKind::Inner) => Ok(Node::new(bytes)),
        _ => Err(StoreError::Corrupt { block: pointer.block, what: "not a node" }),
    }
}

/// Calls `look` with a page, loading it when needed. Inside an epoch: `look` must not block.
pub fn with_page<R>(cache: &Cache, pointer: PagePtr, look: impl FnMut(&[u8]) -> R) -> Result<R, StoreError> {
    with_page_for(cache, pointer, Claimant::Reader, look)
}

/// As [`with_page`], saying for whom the page is loaded.
pub fn with_page_for<R>(
    cache: &Cache,
    pointer: PagePtr,
    claimant: Claimant<'_>,
    mut look: impl FnMut(&[u8]) -> R,
) -> Result<R, StoreError> {
    loop {
        if cache.caches(pointer.order) {
            let reading = cache.read()?;
            if let Some(bytes) = reading.page(pointer)? {
                return Ok(look(bytes));
            }
        }
        if let Loaded::Private(bytes) = cache.load(pointer, claimant)? {
            return Ok(look(&bytes));
        }
    }
}

/// One step down.
enum Step<R> {
    Child(PagePtr),
    Found(R),
    Outside(ValueKind, usize, PagePtr),
    Absent,
}

fn step<R>(
    bytes: &[u8],
    pointer: PagePtr,
    key: &[u8],
    read: &mut impl FnMut(&[u8]) -> R,
) -> Result<Step<R>, StoreError> {
    let node = node_of(bytes, pointer)?;
    if !node.is_leaf() {
        return Ok(Step::Child(node.child(node.child_index(key))?));
    }
    let Ok(index) = node.search(key) else { return Ok(Step::Absent) };
    let value = node.value(index);
    if value.kind == ValueKind::Inline {
        return Ok(Step::Found(read(value.bytes)));
    }
    let (length, page) = decode_reference(value.bytes, pointer.block)?;
    Ok(Step::Outside(value.kind, length, page))
}

/// Calls `read` with the value of `key`.
pub fn get<R>(
    cache: &Cache,
    root: Option<PagePtr>,
    key: &[u8],
    mut read: impl FnMut(&[u8]) -> R,
) -> Result<Option<R>, StoreError> {
    let Some(mut pointer) = root else { return Ok(None) };
    let mut reading = cache.read()?;
    let mut depth = 0;
    while depth < MAX_DEPTH {
        let next = match reading.page(pointer)? {
            Some(bytes) => step(bytes, pointer, key, &mut read)?,
            None => {
                // The version is immutable: after the load, go on from this very pointer.
                drop(reading);
                let loaded = cache.load(pointer, Claimant::Reader)?;
                reading = cache.read()?;
                match loaded {
                    Loaded::Cached => continue,
                    Loaded::Private(bytes) => step(&bytes, pointer, key, &mut read)?,
                }
            }
        };
        match next {
            Step::Child(child) => pointer = child,
            Step::Found(result) => return Ok(Some(result)),
            Step::Absent => return Ok(None),
            Step::Outside(kind, length, page) => {
                drop(reading);
                return value::with_outside(cache, Claimant::Reader, kind, length, page, read).map(Some);
            }
        }
        depth += 1;
    }
    Err(StoreError::Corrupt { block: pointer.block, what: "tree deeper than possible" })
}
