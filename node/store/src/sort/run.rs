//! One sorted run in a file: a row of blocks, each `length:u32 xxh3-64:u64 records`. A record never crosses a block.

use std::path::PathBuf;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use super::{RECORD_HEADER_BYTES, Record, append_record, record_at};
use crate::error::StoreError;
use crate::file::{File, FileSystem};
use crate::layout::{MAX_VALUE_BYTES, get_u32, get_u64};

/// Bytes of a block, unless one record is larger.
pub const RUN_BUFFER_BYTES: usize = 64 << 10;
/// Length and checksum.
const BLOCK_HEADER_BYTES: usize = 12;
/// No block is larger: the largest record.
const MAX_BLOCK_BYTES: usize = RECORD_HEADER_BYTES + u16::MAX as usize + MAX_VALUE_BYTES;

fn io_error(what: &'static str) -> impl FnOnce(std::io::Error) -> StoreError {
    move |source| {
        if source.kind() == std::io::ErrorKind::StorageFull {
            return StoreError::Full;
        }
        StoreError::Io { what, source }
    }
}

/// A file that is removed when nobody needs it any more.
struct TempFile {
    files: Arc<dyn FileSystem>,
    path: PathBuf,
    file: Arc<dyn File>,
}

impl Drop for TempFile {
    fn drop(&mut self) {
        // Left behind it costs space until the owner of the folder clears it; there is nobody to tell.
        let _ = self.files.remove(&self.path);
    }
}

/// Writes a run.
pub struct RunWriter {
    file: TempFile,
    block: Vec<u8>,
    offset: u64,
}

impl RunWriter {
    /// Creates the file.
    pub fn create(files: Arc<dyn FileSystem>, path: PathBuf) -> Result<RunWriter, StoreError> {
        let file = files.open(&path, true).map_err(io_error("create a sorted run"))?;
        file.set_len(0).map_err(io_error("create a sorted run"))?;
        Ok(RunWriter { file: TempFile { files, path, file }, block: vec![0; BLOCK_HEADER_BYTES], offset: 0 })
    }

    /// Appends a record; keys ascend.
    pub fn push(&mut self, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        let bytes = RECORD_HEADER_BYTES + key.len() + value.len();
        if self.block.len() > BLOCK_HEADER_BYTES && self.block.len() + bytes > RUN_BUFFER_BYTES {
            self.block_out()?;
        }
        append_record(&mut self.block, key, value);
        Ok(())
    }

    fn block_out(&mut self) -> Result<(), StoreError> {
        let length = (self.block.len() - BLOCK_HEADER_BYTES) as u32;
        let sum = xxh3_64(&self.block[BLOCK_HEADER_BYTES..]);
        self.block[..4].copy_from_slice(&length.to_le_bytes());
        self.block[4..BLOCK_HEADER_BYTES].copy_from_slice(&sum.to_le_bytes());
        self.file.file.write_at(self.offset, &self.block).map_err(io_error("write a sorted run"))?;
        self.offset += self.block.len() as u64;
        self.block.truncate(BLOCK_HEADER_BYTES);
        Ok(())
    }

    /// Ends the run. It is not made durable: after a crash it is of no use.
    pub fn finish(mut self) -> Result<Run, StoreError> {
        if self.block.len() > BLOCK_HEADER_BYTES {
            self.block_out()?;
        }
        Ok(Run { file: self.file, bytes: self.offset })
    }
}

/// A run that has been written.
pub struct Run {
    file: TempFile,
    bytes: u64,
}

/// Reads a run from its start.
pub struct RunReader {
    run: Run,
    offset: u64,
    block: Vec<u8>,
    /// Where the present record starts in `block`, and where the next one does.
    at: usize,
    next: usize,
}

impl RunReader {
    /// Stands before the first record.
    pub fn new(run: Run) -> RunReader {
        RunReader { run, offset: 0, block: Vec::new(), at: 0, next: 0 }
    }

    /// Goes to the next record; false after the last one.
    pub fn advance(&mut self) -> Result<bool, StoreError> {
        if self.next == self.block.len() {
            if self.offset == self.run.bytes {
                return Ok(false);
            }
            self.read_block()?;
        }
        self.at = self.next;
        let rest = self.block.len() - self.at;
        if rest < RECORD_HEADER_BYTES {
            return Err(damaged());
        }
        let key_bytes = usize::from(u16::from_le_bytes([self.block[self.at], self.block[self.at + 1]]));
        let bytes = RECORD_HEADER_BYTES + key_bytes + get_u32(&self.block, self.at + 2) as usize;
        if bytes > rest {
            return Err(damaged());
        }
        self.next = self.at + bytes;
        Ok(true)
    }

    fn read_block(&mut self) -> Result<(), StoreError> {
        let mut header = [0; BLOCK_HEADER_BYTES];
        self.run.file.file.read_at(self.offset, &mut header).map_err(io_error("read a sorted run"))?;
        let length = get_u32(&header, 0) as usize;
        if length > MAX_BLOCK_BYTES || self.offset + (BLOCK_HEADER_BYTES + length) as u64 > self.run.bytes {
            return Err(damaged());
        }
        self.block.resize(length, 0);
        let payload_at = self.offset + BLOCK_HEADER_BYTES as u64;
        self.run.file.file.read_at(payload_at, &mut self.block).map_err(io_error("read a sorted run"))?;
        if xxh3_64(&self.block) != get_u64(&header, 4) {
            return Err(damaged());
        }
        self.offset = payload_at + length as u64;
        (self.at, self.next) = (0, 0);
        Ok(())
    }

    /// The present record.
    pub fn record(&self) -> Record<'_> {
        record_at(&self.block, self.at)
    }
}

fn damaged() -> StoreError {
    let source =
        std::io::Error::new(std::io::ErrorKind::InvalidData, "a sorted run reads otherwise than it was written");
    StoreError::Io { what: "read a sorted run", source }
}
