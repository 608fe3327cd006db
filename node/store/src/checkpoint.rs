//! Making the newest version durable, beside readers and a writer that goes on.

use crate::error::StoreError;
use crate::layout::{PAGE_HEADER_BYTES, PagePtr, order_for};
use crate::meta::{self, Meta};
use crate::page::{self, PageKind};
use crate::store::Shared;

/// What a checkpoint did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CheckpointInfo {
    /// Generation of the version that is durable now.
    pub generation: u64,
    /// Its label.
    pub label: Vec<u8>,
    /// Pages written by this call (zero when nothing had changed).
    pub pages_written: u64,
    /// Bytes written by this call, bitmaps and meta included.
    pub bytes_written: u64,
}

/// The durable checkpoints, older first; behind the checkpoint lock.
pub struct Durable {
    /// Metas as they are in the file.
    pub metas: Vec<Meta>,
}

impl Durable {
    /// The newest.
    pub fn newest(&self) -> &Meta {
        self.metas.last().expect("a store is created with a checkpoint")
    }
}

/// Runs one checkpoint. The steps and what a crash leaves are in `DESIGN.md`.
pub fn checkpoint(shared: &Shared) -> Result<CheckpointInfo, StoreError> {
    let mut running = shared.checkpoint.lock();
    shared.file.usable()?;
    let newest = running.newest().clone();

    // Freeze: version, bitmap and file length of one moment.
    let (version, roots, words) = {
        let mut space = shared.space.lock();
        let version = shared.current.load_full();
        if version.generation == newest.generation {
            return Ok(CheckpointInfo { generation: newest.generation, label: newest.label, ..Default::default() });
        }
        let mut payload = Vec::new();
        for root in &version.roots {
            root.encode(&mut payload);
        }
        let order = order_for(PAGE_HEADER_BYTES + payload.len());
        let (block, words) = space.freeze(version.generation, order)?;
        let pointer = PagePtr { block, order, generation: version.generation };
        (version, (pointer, payload), words)
    };
    let next = Meta {
        number: newest.number + 1,
        generation: version.generation,
        blocks: words.len() as u64 * 64,
        roots: Some(roots.0),
        trees: version.roots.len() as u32,
        label: version.label.clone(),
    };

    let before = shared.file.counts().bytes_written;
    let flushed = shared.cache.flush(version.generation)?;
    write_roots(shared, roots.0, &roots.1)?;
    write_bitmaps(shared, &next, &words)?;
    shared.file.sync()?;
    shared.file.write((next.number & 1) * crate::layout::BLOCK_BYTES as u64, &next.encode())?;
    shared.file.sync()?;

    shared.space.lock().checkpoint_done(version.generation);
    if running.metas.len() == 2 {
        running.metas.remove(0);
    }
    running.metas.push(next);
    *shared.labels.lock() = running.metas.iter().map(|meta| meta.label.clone()).collect();
    Ok(CheckpointInfo {
        generation: version.generation,
        label: version.label.clone(),
        pages_written: flushed.pages,
        bytes_written: shared.file.counts().bytes_written - before,
    })
}

fn write_roots(shared: &Shared, pointer: PagePtr, payload: &[u8]) -> Result<(), StoreError> {
    let mut bytes = vec![0; pointer.bytes()];
    page::stamp(&mut bytes, pointer, PageKind::Roots, 0);
    page::set_payload(&mut bytes, payload);
    page::seal(&mut bytes);
    shared.file.write(pointer.offset(), &bytes)
}

/// Writes the bitmaps of all regions into this checkpoint's slots.
pub fn write_bitmaps(shared: &Shared, meta: &Meta, words: &[u64]) -> Result<(), StoreError> {
    for region in 0..meta::regions(meta.blocks) {
        let bytes = meta::encode_bitmap(meta, region, words);
        shared.file.write(meta.bitmap_block(region) * crate::layout::BLOCK_BYTES as u64, &bytes)?;
    }
    Ok(())
}
