//! The pages of the open transaction: copying before writing, making, freeing.

use std::sync::Arc;

use super::search::with_page;
use crate::cache::{Cache, Claimant, Loaded, Owned};
use crate::error::StoreError;
use crate::layout::PagePtr;
use crate::page::{self, PageKind};
use crate::store::Shared;

/// Warmth of a page the writer has made: it will come back to it.
const WRITTEN_FREQUENCY: u8 = 1;

/// What the writer has copied, made and freed.
pub struct TxnPages {
    shared: Arc<Shared>,
    generation: u64,
    /// Published pages that the next version does not reach.
    freed: Vec<PagePtr>,
    /// First frames of the pages in hand, which must not be spilled.
    held: Vec<u32>,
}

impl TxnPages {
    /// No pages yet.
    pub fn new(shared: Arc<Shared>, generation: u64) -> TxnPages {
        TxnPages { shared, generation, freed: Vec::new(), held: Vec::new() }
    }

    /// Generation of this transaction.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The cache.
    pub fn cache(&self) -> &Cache {
        &self.shared.cache
    }

    /// The store.
    pub fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// What the transaction freed.
    pub fn freed(&self) -> &[PagePtr] {
        &self.freed
    }

    /// Ends an operation: no page is in hand any more.
    pub fn let_go(&mut self) {
        self.held.clear();
    }

    fn frames(&self, order: u8) -> Result<Owned, StoreError> {
        self.cache().allocate(order, Claimant::Writer(&self.held))?.ok_or(StoreError::NoFrames)
    }

    /// The page to be changed: itself if this transaction made it, else a copy.
    pub fn writable(&mut self, pointer: PagePtr) -> Result<(PagePtr, Owned), StoreError> {
        if pointer.generation == self.generation {
            loop {
                if let Some(owned) = self.cache().own_unpublished(pointer) {
                    self.held.push(owned.frame());
                    return Ok((pointer, owned));
                }
                if let Loaded::Private(_) = self.cache().load(pointer, Claimant::Writer(&self.held))? {
                    return Err(StoreError::NoFrames);
                }
            }
        }
        let mut owned = self.frames(pointer.order)?;
        if let Err(error) = self.copy_into(pointer, &mut owned) {
            self.cache().give_back(owned);
            return Err(error);
        }
        let copy = self.place(pointer.order, owned, page::restamp)?;
        self.freed.push(pointer);
        Ok(copy)
    }

    fn copy_into(&self, pointer: PagePtr, owned: &mut Owned) -> Result<(), StoreError> {
        let cache = self.cache();
        {
            let reading = cache.read()?;
            if let Some(bytes) = reading.page(pointer)? {
                cache.bytes_mut(owned).copy_from_slice(bytes);
                return Ok(());
            }
        }
        // Not worth a place in the cache: it is about to be superseded.
        cache.fill(owned, pointer)
    }

    /// Gives prepared frames a block and maps them.
    fn place(
        &mut self,
        order: u8,
        mut owned: Owned,
        prepare: impl FnOnce(&mut [u8], PagePtr),
    ) -> Result<(PagePtr, Owned), StoreError> {
        let block = match self.shared.space.lock().allocate(order) {
            Ok(block) => block,
            Err(error) => {
                self.cache().give_back(owned);
                return Err(error);
            }
        };
        let pointer = PagePtr { block, order, generation: self.generation };
        prepare(self.cache().bytes_mut(&mut owned), pointer);
        self.cache().map_dirty(&owned, pointer, WRITTEN_FREQUENCY);
        self.held.push(owned.frame());
        Ok((pointer, owned))
    }

    /// A new page.
    pub fn create(&mut self, order: u8, kind: PageKind, tree: u32) -> Result<(PagePtr, Owned), StoreError> {
        let owned = self.frames(order)?;
        self.place(order, owned, |bytes, pointer| {
            // What a frame held before must not reach the file.
            bytes.fill(0);
            page::stamp(bytes, pointer, kind, tree);
        })
    }

    /// An extent for a page that is written past the cache.
    pub fn extent(&mut self, order: u8) -> Result<PagePtr, StoreError> {
        let block = self.shared.space.lock().allocate(order)?;
        Ok(PagePtr { block, order, generation: self.generation })
    }

    /// The next version does not reach this page.
    pub fn free(&mut self, pointer: PagePtr) {
        if pointer.generation == self.generation {
            self.shared.space.lock().free_uncommitted(pointer.block);
        } else {
            self.freed.push(pointer);
        }
    }

    /// Looks at a page.
    pub fn read<R>(&self, pointer: PagePtr, look: impl FnMut(&[u8]) -> R) -> Result<R, StoreError> {
        with_page(self.cache(), pointer, look)
    }
}
