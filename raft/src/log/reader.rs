//! Reading entries: the tail in memory first, then the disk.

use std::io;

use crate::codec::decode_entry;
use crate::core::types::Entry;
use crate::log::LogStore;

/// One read from disk, so that a long range is never in memory at once.
const READ_BYTES: usize = 1 << 20;

impl LogStore {
    /// Entries from `from` up to and excluding `to` (cut to the log), at least one if there is one, stopping
    /// after `max_bytes`.
    pub(super) async fn read_some(&self, from: u64, to: u64, max_bytes: usize) -> io::Result<Vec<Entry>> {
        let (_, last) = self.range();
        let from = from.max(self.first_index());
        let to = to.min(last.map_or(0, |l| l.index + 1));
        if from >= to {
            return Ok(Vec::new());
        }
        if let Some(entries) = self.read_tail(from, to, max_bytes.max(1)) {
            return Ok(entries);
        }
        let encoded = self.read_backend(from, to, max_bytes.clamp(1, READ_BYTES)).await?;
        let entries = encoded.into_iter().map(decode_entry).collect::<Result<Vec<_>, _>>()?;
        let contiguous = entries.iter().zip(from..).all(|(entry, index)| entry.log_id.index == index);
        if entries.is_empty() || !contiguous {
            return Err(io::Error::new(io::ErrorKind::InvalidData, format!("entry {from} is missing from the log")));
        }
        Ok(entries)
    }

    /// All entries from `from` up to and excluding `to`, cut to the log.
    pub(super) async fn read_all(&self, from: u64, to: u64) -> io::Result<Vec<Entry>> {
        let mut entries = self.read_some(from, to, usize::MAX).await?;
        while let Some(last) = entries.last() {
            let more = self.read_some(last.log_id.index + 1, to, usize::MAX).await?;
            if more.is_empty() {
                break;
            }
            entries.extend(more);
        }
        Ok(entries)
    }
}
