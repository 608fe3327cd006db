//! Counters for status and metrics.

use crate::cache::CacheCounts;
use crate::layout::BLOCK_BYTES;
use crate::space::SpaceCounts;
use crate::store::Shared;
use crate::store_file::IoCounts;

/// Counters of one store at one moment.
#[derive(Debug, Clone, Copy, Default)]
pub struct StoreStats {
    /// Frames by state, page-ins, evictions.
    pub cache: CacheCounts,
    /// Blocks of the file.
    pub space: SpaceCounts,
    /// Calls and bytes of the file layer.
    pub io: IoCounts,
    /// Length of the file, bytes.
    pub file_bytes: u64,
    /// Bytes of pages not yet written.
    pub dirty_bytes: u64,
}

impl StoreStats {
    pub(crate) fn gather(shared: &Shared) -> StoreStats {
        let space = shared.space.lock().counts();
        let cache = shared.cache.counts();
        StoreStats {
            cache,
            space,
            io: shared.file.counts(),
            file_bytes: space.blocks * BLOCK_BYTES as u64,
            dirty_bytes: shared.cache.dirty_frames() * BLOCK_BYTES as u64,
        }
    }
}
