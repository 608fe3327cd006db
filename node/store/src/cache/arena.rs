//! The frame arena: one anonymous mapping. Frames are known by number; addresses stay in this file.
#![allow(unsafe_code)]

use std::io;
use std::ptr::NonNull;

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

use crate::layout::BLOCK_BYTES;

/// The mapping, for the life of the store.
pub struct Arena {
    base: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the mapping is plain memory owned by this value until drop; who may touch which bytes when is the
// contract of `page` and `page_mut`, which hold across threads.
unsafe impl Send for Arena {}
// SAFETY: as above; `&Arena` gives no access except through the unsafe functions below.
unsafe impl Sync for Arena {}

impl Arena {
    /// Maps `frames` zeroed frames. Pages are touched first when used, so an idle store costs little.
    pub fn new(frames: u32) -> io::Result<Arena> {
        let bytes = frames as usize * BLOCK_BYTES;
        // SAFETY: a new private anonymous mapping at an address of the kernel's choice overlaps nothing.
        let base = unsafe {
            mmap_anonymous(std::ptr::null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)?
        };
        // Huge pages save a quarter of the cost of random access; refused is no harm.
        // SAFETY: the range is the mapping just made; this advice does not change its content.
        let _ = unsafe { madvise(base, bytes, Advice::LinuxHugepage) };
        let base = NonNull::new(base.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Arena { base, bytes })
    }

    fn range(&self, frame: u32, order: u8) -> (usize, usize) {
        let start = frame as usize * BLOCK_BYTES;
        let length = BLOCK_BYTES << order;
        assert!(start + length <= self.bytes, "frame {frame} of order {order} is outside the arena");
        (start, length)
    }

    /// The bytes of a page, for reading.
    ///
    /// # Safety
    /// Until the returned slice is gone no thread may write these frames.
    pub unsafe fn page(&self, frame: u32, order: u8) -> &[u8] {
        let (start, length) = self.range(frame, order);
        // SAFETY: inside the mapping (checked), initialised (zeroed by the kernel), unaliased by writers (caller).
        unsafe { std::slice::from_raw_parts(self.base.as_ptr().add(start), length) }
    }

    /// The bytes of a page, for writing.
    ///
    /// # Safety
    /// Until the returned slice is gone no other reference to these frames may exist.
    #[allow(clippy::mut_from_ref)] // Exclusive by the contract above, frame by frame.
    pub unsafe fn page_mut(&self, frame: u32, order: u8) -> &mut [u8] {
        let (start, length) = self.range(frame, order);
        // SAFETY: inside the mapping (checked), initialised, and exclusive (caller).
        unsafe { std::slice::from_raw_parts_mut(self.base.as_ptr().add(start), length) }
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new` with this length and no slice outlives `self`.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.bytes) };
    }
}
