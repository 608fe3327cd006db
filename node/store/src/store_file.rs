//! The one store file behind the latch: after the first I/O error nothing more is read or written.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::error::StoreError;
use crate::file::File;

/// The open file, its latch and its counters.
pub struct StoreFile {
    file: Arc<dyn File>,
    poisoned: AtomicBool,
    reads: AtomicU64,
    writes: AtomicU64,
    bytes_read: AtomicU64,
    bytes_written: AtomicU64,
    syncs: AtomicU64,
}

/// I/O counts since the file was opened.
#[derive(Debug, Clone, Copy, Default)]
pub struct IoCounts {
    /// Read calls.
    pub reads: u64,
    /// Write calls.
    pub writes: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Sync calls.
    pub syncs: u64,
}

impl StoreFile {
    /// Wraps an open file.
    pub fn new(file: Arc<dyn File>) -> StoreFile {
        StoreFile {
            file,
            poisoned: AtomicBool::new(false),
            reads: AtomicU64::new(0),
            writes: AtomicU64::new(0),
            bytes_read: AtomicU64::new(0),
            bytes_written: AtomicU64::new(0),
            syncs: AtomicU64::new(0),
        }
    }

    /// Err when the latch has fallen.
    pub fn usable(&self) -> Result<(), StoreError> {
        if self.poisoned.load(Ordering::Acquire) { Err(StoreError::Poisoned) } else { Ok(()) }
    }

    /// Lets the latch fall.
    pub fn poison(&self) {
        self.poisoned.store(true, Ordering::Release);
    }

    fn run<T>(&self, what: &'static str, call: impl FnOnce(&dyn File) -> std::io::Result<T>) -> Result<T, StoreError> {
        self.usable()?;
        call(&*self.file).map_err(|source| {
            self.poison();
            StoreError::Io { what, source }
        })
    }

    /// Reads exactly.
    pub fn read(&self, offset: u64, buffer: &mut [u8]) -> Result<(), StoreError> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.bytes_read.fetch_add(buffer.len() as u64, Ordering::Relaxed);
        self.run("read", |file| file.read_at(offset, buffer))
    }

    /// Writes all.
    pub fn write(&self, offset: u64, buffer: &[u8]) -> Result<(), StoreError> {
        self.writes.fetch_add(1, Ordering::Relaxed);
        self.bytes_written.fetch_add(buffer.len() as u64, Ordering::Relaxed);
        self.run("write", |file| file.write_at(offset, buffer))
    }

    /// Makes everything written so far durable. Never retried: the latch falls with the first failure.
    pub fn sync(&self) -> Result<(), StoreError> {
        self.syncs.fetch_add(1, Ordering::Relaxed);
        self.run("sync", |file| file.sync())
    }

    /// Sets the length. A full disk is no reason to stop: nothing has been written.
    pub fn set_len(&self, bytes: u64) -> Result<(), StoreError> {
        let mut full = false;
        let result = self.run("set length", |file| match file.set_len(bytes) {
            Err(error) if error.kind() == std::io::ErrorKind::StorageFull => {
                full = true;
                Ok(())
            }
            other => other,
        });
        if full { Err(StoreError::Full) } else { result }
    }

    /// The length.
    pub fn len(&self) -> Result<u64, StoreError> {
        self.run("length", |file| file.len())
    }

    /// Counts so far.
    pub fn counts(&self) -> IoCounts {
        IoCounts {
            reads: self.reads.load(Ordering::Relaxed),
            writes: self.writes.load(Ordering::Relaxed),
            bytes_read: self.bytes_read.load(Ordering::Relaxed),
            bytes_written: self.bytes_written.load(Ordering::Relaxed),
            syncs: self.syncs.load(Ordering::Relaxed),
        }
    }
}
