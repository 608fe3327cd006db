//! Bringing pages in.

use std::sync::atomic::Ordering;

use super::desc::FrameState;
use super::{Cache, Claimant, Owned};
use crate::error::StoreError;
use crate::layout::PagePtr;
use crate::page::{self, PageKind};

/// Warmth of an inner node when it is loaded: it will be needed again.
const INNER_FREQUENCY: u8 = 2;

/// How a page was brought in.
pub enum Loaded {
    /// It is (or was a moment ago) in memory: look again.
    Cached,
    /// No frame could be had; here is the caller's own copy.
    Private(Vec<u8>),
}

impl Cache {
    /// Loads a page that was not found. The caller is in no epoch, and a version it holds reaches the page.
    pub fn load(&self, pointer: PagePtr, claimant: Claimant<'_>) -> Result<Loaded, StoreError> {
        if !self.caches(pointer.order) {
            return self.read_private(pointer);
        }
        {
            let mut inner = self.inner.lock();
            loop {
                self.file.usable()?;
                if self.table.find(pointer.block).is_some() {
                    return Ok(Loaded::Cached);
                }
                if inner.loading.insert(pointer.block) {
                    break;
                }
                self.loaded.wait(&mut inner);
            }
        }
        let result = self.load_alone(pointer, claimant);
        self.inner.lock().loading.remove(&pointer.block);
        self.loaded.notify_all();
        result
    }

    fn load_alone(&self, pointer: PagePtr, claimant: Claimant<'_>) -> Result<Loaded, StoreError> {
        let Some(mut owned) = self.allocate(pointer.order, claimant)? else {
            return self.read_private(pointer);
        };
        if let Err(error) = self.fill(&mut owned, pointer) {
            self.give_back(owned);
            return Err(error);
        }
        let inner_node = page::kind(self.bytes(&owned)) == Some(PageKind::Inner);
        let _inner = self.inner.lock();
        let desc = self.desc(owned.frame());
        desc.assign(pointer);
        if inner_node {
            self.frequency(owned.frame()).set(INNER_FREQUENCY);
        } else {
            self.frequency(owned.frame()).set_fresh();
        }
        desc.set_state(FrameState::Clean);
        self.table.insert(pointer.block, owned.frame());
        Ok(Loaded::Cached)
    }

    /// Reads and verifies a page into owned frames.
    pub fn fill(&self, owned: &mut Owned, pointer: PagePtr) -> Result<(), StoreError> {
        let bytes = self.bytes_mut(owned);
        self.file.read(pointer.offset(), bytes)?;
        self.counters.page_ins.fetch_add(1, Ordering::Relaxed);
        page::verify(bytes, pointer)
    }

    /// A copy of a page that is newer in memory than in the file.
    pub fn copy_if_dirty(&self, pointer: PagePtr) -> Result<Option<Vec<u8>>, StoreError> {
        let reading = self.read()?;
        let Some(bytes) = reading.page(pointer)? else { return Ok(None) };
        let newer = self.table.find(pointer.block).is_some_and(|frame| self.desc(frame).state() != FrameState::Clean);
        Ok(newer.then(|| bytes.to_vec()))
    }

    /// Reads and verifies a page into memory of the caller.
    pub fn read_private(&self, pointer: PagePtr) -> Result<Loaded, StoreError> {
        let mut bytes = vec![0; pointer.bytes()];
        self.file.read(pointer.offset(), &mut bytes)?;
        self.counters.page_ins.fetch_add(1, Ordering::Relaxed);
        self.counters.private_reads.fetch_add(1, Ordering::Relaxed);
        page::verify(&bytes, pointer)?;
        Ok(Loaded::Private(bytes))
    }
}
