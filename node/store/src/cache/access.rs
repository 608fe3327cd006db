//! The only place where bytes of frames are reached. The rules that make it sound are the states of frames:
//! published pages never change; unpublished and taken frames belong to one thread.
#![allow(unsafe_code)]

use super::Cache;
use super::epoch::Inside;
use crate::error::StoreError;
use crate::layout::PagePtr;
use crate::page;

/// A reader inside an epoch. Slices it gives live no longer than it.
pub struct Reading<'a> {
    cache: &'a Cache,
    _inside: Inside<'a>,
}

/// Frames that only the holder of this token touches: taken and not mapped, or an unpublished page in the writer's
/// hands. Not `Clone`: one token, one user.
#[derive(Debug)]
pub struct Owned {
    frame: u32,
    order: u8,
}

impl Owned {
    /// Makes the token for frames that have just become the caller's alone.
    pub(super) fn new(frame: u32, order: u8) -> Owned {
        Owned { frame, order }
    }

    /// First frame.
    pub fn frame(&self) -> u32 {
        self.frame
    }

    /// Order.
    pub fn order(&self) -> u8 {
        self.order
    }
}

impl Cache {
    /// Enters an epoch.
    pub fn read(&self) -> Result<Reading<'_>, StoreError> {
        Ok(Reading { cache: self, _inside: self.epochs.enter()? })
    }

    /// The bytes of owned frames.
    pub fn bytes<'a>(&'a self, owned: &'a Owned) -> &'a [u8] {
        // SAFETY: only the token's holder writes these frames, and it is borrowed for the life of the slice.
        unsafe { self.arena.page(owned.frame, owned.order) }
    }

    /// The bytes of owned frames, to change.
    pub fn bytes_mut<'a>(&'a self, owned: &'a mut Owned) -> &'a mut [u8] {
        // SAFETY: the token is unique and borrowed mutably. No reader reaches the frames: they are unmapped, or hold an
        // unpublished page, whose pointer no published page contains and which the transaction does not read meanwhile
        // (its changing calls take `&mut self`). Write-out of unpublished pages is done by the writer itself.
        unsafe { self.arena.page_mut(owned.frame, owned.order) }
    }

    /// Appends a copy of a page that the caller has put into the state Writing (or owns) to `out`.
    pub(super) fn copy_for_write(&self, frame: u32, order: u8, out: &mut Vec<u8>) {
        // SAFETY: a page is Writing only if it is published, hence immutable, or if this thread is the writer that
        // would change it. A page in that state is not unmapped, so the frames keep their content.
        out.extend_from_slice(unsafe { self.arena.page(frame, order) });
    }
}

impl Reading<'_> {
    /// The page, if it is in memory. Err when memory holds another page under this block: a pointer that lies.
    pub fn page(&self, pointer: PagePtr) -> Result<Option<&[u8]>, StoreError> {
        let Some(frame) = self.cache.table.find(pointer.block) else {
            return Ok(None);
        };
        // SAFETY: as below; whatever the order, a mapped page has at least this one frame.
        let head = unsafe { self.cache.arena.page(frame, 0) };
        // The header says what the page is, and is looked at next anyway; the descriptor would be one more cache miss.
        if !page::is(head, pointer) {
            return Err(StoreError::Corrupt { block: pointer.block, what: "pointer to a page of another generation" });
        }
        self.cache.frequencies[frame as usize].touch();
        // SAFETY: the frame was mapped after this epoch was entered, so it is not reused before the epoch is left,
        // which `self` outlives the slice for. Its content is immutable (published), or the writer's own, whom `&self`
        // of the transaction keeps from changing it.
        Ok(Some(unsafe { self.cache.arena.page(frame, pointer.order) }))
    }
}
