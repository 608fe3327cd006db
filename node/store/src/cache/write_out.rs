//! Writing pages to their blocks, in block order and in large pieces.

use std::sync::atomic::Ordering;

use super::desc::FrameState;
use super::{Cache, Inner};
use crate::error::StoreError;
use crate::layout::PagePtr;
use crate::page;

/// Most bytes joined into one write.
const JOINED_WRITE_BYTES: usize = 1 << 20;

/// Pages marked Writing under the cache lock, to be written without it.
pub(super) struct Batch {
    pages: Vec<(PagePtr, u32)>,
    ticket: u64,
}

/// What a checkpoint wrote.
#[derive(Debug, Clone, Copy, Default)]
pub struct Flushed {
    /// Pages.
    pub pages: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Cache {
    /// Marks dirty pages as being written. The state Writing keeps them mapped and their blocks from reuse.
    pub(super) fn start_writing(&self, inner: &mut Inner, frames: &[u32]) -> Batch {
        let ticket = inner.next_ticket;
        inner.next_ticket += 1;
        inner.writing.push(ticket);
        let mut pages: Vec<(PagePtr, u32)> = Vec::with_capacity(frames.len());
        for &frame in frames {
            let desc = self.desc(frame);
            assert!(desc.state() == FrameState::Dirty, "only dirty pages are written");
            desc.set_state(FrameState::Writing);
            pages.push((desc.pointer(), frame));
        }
        pages.sort_unstable();
        Batch { pages, ticket }
    }

    /// Writes a batch and marks its pages clean (dirty again when the file refused).
    pub(super) fn finish_writing(&self, batch: Batch) -> Result<(), StoreError> {
        let result = self.write_pages(&batch.pages);
        let mut inner = self.inner.lock();
        for &(pointer, frame) in &batch.pages {
            if result.is_ok() {
                self.desc(frame).set_state(FrameState::Clean);
                inner.dirty_frames -= 1 << pointer.order;
            } else {
                self.desc(frame).set_state(FrameState::Dirty);
            }
        }
        inner.writing.retain(|ticket| *ticket != batch.ticket);
        drop(inner);
        self.written.notify_all();
        result
    }

    fn write_pages(&self, pages: &[(PagePtr, u32)]) -> Result<(), StoreError> {
        let mut staging: Vec<u8> = Vec::new();
        let mut start = 0;
        for &(pointer, frame) in pages {
            let joins = start + staging.len() as u64 == pointer.offset()
                && staging.len() + pointer.bytes() <= JOINED_WRITE_BYTES
                && !staging.is_empty();
            if !joins {
                if !staging.is_empty() {
                    self.file.write(start, &staging)?;
                    staging.clear();
                }
                start = pointer.offset();
            }
            let at = staging.len();
            self.copy_for_write(frame, pointer.order, &mut staging);
            page::seal(&mut staging[at..]);
        }
        if !staging.is_empty() {
            self.file.write(start, &staging)?;
        }
        Ok(())
    }

    /// Writes every dirty page of generations up to `generation`, then waits for writes that others had begun: after
    /// this and a sync, all of that version is durable.
    pub fn flush(&self, generation: u64) -> Result<Flushed, StoreError> {
        // A dirty published page keeps its frame until it is written, so this walk without the lock misses none.
        let mut dirty: Vec<(PagePtr, u32)> = Vec::new();
        for (frame, desc) in self.frames.iter().enumerate() {
            if desc.state() == FrameState::Dirty && desc.pointer().generation <= generation {
                dirty.push((desc.pointer(), frame as u32));
            }
        }
        dirty.sort_unstable();
        let mut flushed = Flushed::default();
        let mut rest = &dirty[..];
        while !rest.is_empty() {
            let mut bytes = 0;
            let take = rest.iter().take_while(|(pointer, _)| {
                bytes += pointer.bytes();
                bytes <= JOINED_WRITE_BYTES
            });
            let (now, later) = rest.split_at(take.count().max(1));
            rest = later;
            let batch = {
                let mut inner = self.inner.lock();
                let still: Vec<u32> = now
                    .iter()
                    .filter(|(pointer, frame)| {
                        self.desc(*frame).state() == FrameState::Dirty && self.desc(*frame).pointer() == *pointer
                    })
                    .map(|(_, frame)| *frame)
                    .collect();
                self.start_writing(&mut inner, &still)
            };
            flushed.pages += batch.pages.len() as u64;
            flushed.bytes += batch.pages.iter().map(|(pointer, _)| pointer.bytes() as u64).sum::<u64>();
            self.finish_writing(batch)?;
        }
        let mut inner = self.inner.lock();
        let limit = inner.next_ticket;
        while inner.writing.iter().any(|ticket| *ticket < limit) {
            self.written.wait(&mut inner);
        }
        drop(inner);
        self.file.usable()?;
        Ok(flushed)
    }

    /// Counts pages written to make room.
    pub(super) fn count_write_backs(&self, pages: usize) {
        self.counters.write_backs.fetch_add(pages as u64, Ordering::Relaxed);
    }
}
