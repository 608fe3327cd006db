//! A disk in memory that loses, tears and reorders what was not synced: the store's own, and the same one for
//! the files of the segmented log, so that one crash hits both.

// The store's tests own it; they may not name this crate.
#[path = "../../node/store/tests/support/mod.rs"]
#[allow(clippy::should_implement_trait)] // its generator is no iterator
mod disk;

use std::io;
use std::path::Path;
use std::sync::Arc;

use bindery_raft::{LogFile, LogFiles};
use bindery_store::{File, FileSystem};

pub use disk::{FaultyFiles, Rng};

/// The files of the segmented log on such a disk.
#[derive(Clone)]
pub struct LogDisk(pub FaultyFiles);

struct LogDiskFile(Arc<dyn File>);

impl std::fmt::Debug for LogDisk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LogDisk")
    }
}

impl std::fmt::Debug for LogDiskFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LogDiskFile")
    }
}

impl LogFiles for LogDisk {
    fn open(&self, path: &Path, create: bool) -> io::Result<Arc<dyn LogFile>> {
        if create && self.0.exists(path)? {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        Ok(Arc::new(LogDiskFile(FileSystem::open(&self.0, path, create)?)))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        if !self.0.exists(path)? {
            return Err(io::ErrorKind::NotFound.into());
        }
        FileSystem::remove(&self.0, path)
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        let paths = FileSystem::list(&self.0, directory)?;
        Ok(paths.iter().filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())).collect())
    }

    fn create_directory(&self, directory: &Path) -> io::Result<()> {
        self.0.create_dir_all(directory)
    }

    fn sync_directory(&self, directory: &Path) -> io::Result<()> {
        self.0.sync_dir(directory)
    }
}

impl LogFile for LogDiskFile {
    fn length(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn allocate(&self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.0.read_at(offset, buffer)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.0.write_at(offset, bytes)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync()
    }
}
