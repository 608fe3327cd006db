//! One small record in a sled: the metadata of a log whose entries lie elsewhere.

use std::io;
use std::path::Path;

use super::directory::{SledDirectory, io_error};
use super::{META_KEY, with_checksum, without_checksum};
use crate::log::LogError;
use crate::log::segmented::MetaStore;

/// sled fills whole segments in memory; a record of a few hundred bytes needs no more, and stays far below
/// the 1/64 of it at which sled moves values to files that it never syncs.
const SEGMENT_BYTES: usize = 128 << 10;
/// One key.
const CACHE_BYTES: u64 = 256 << 10;
/// Below sled's limit, with what it adds.
const BODY_BYTES_MAX: usize = SEGMENT_BYTES / 64 / 2;

pub(crate) struct SledMeta(SledDirectory);

impl SledMeta {
    /// Opens or creates; returns what is stored, too.
    pub fn open(path: &Path) -> Result<(SledMeta, Option<Vec<u8>>), LogError> {
        let directory = SledDirectory::open(path, CACHE_BYTES, SEGMENT_BYTES)?;
        // What is read may not have been synced by whoever wrote it.
        directory.sync().map_err(|e| LogError::io(path, e))?;
        let stored = directory.db.get(META_KEY).map_err(|e| LogError::io(path, io_error(e)))?;
        let body = match &stored {
            None => None,
            Some(bytes) => Some(without_checksum(bytes).map_err(|why| LogError::damaged(path, why))?.to_vec()),
        };
        Ok((SledMeta(directory), body))
    }
}

impl MetaStore for SledMeta {
    fn write(&mut self, body: &[u8]) -> io::Result<()> {
        assert!(body.len() <= BODY_BYTES_MAX, "the metadata has a bounded number of small fields");
        self.0.db.insert(META_KEY, with_checksum(body.to_vec())).map_err(io_error)?;
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync()
    }
}
