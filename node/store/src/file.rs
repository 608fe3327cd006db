//! The file layer: everything the store asks of an operating system.

use std::fs;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;

/// The directory operations the store and its users need. Implemented by [`OsFiles`], and by fault-injecting
/// file systems in tests.
pub trait FileSystem: Send + Sync {
    /// Opens a file for reading and writing; with `create`, makes it when it does not exist (never truncates).
    fn open(&self, path: &Path, create: bool) -> io::Result<Arc<dyn File>>;
    /// Renames, replacing the target. Durable only after `sync_dir` of the parent.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Whether the path exists.
    fn exists(&self, path: &Path) -> io::Result<bool>;
    /// Makes names created, renamed or removed in this directory durable.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
    /// Creates a directory and its missing parents.
    fn create_dir_all(&self, path: &Path) -> io::Result<()>;
    /// Paths of the entries of a directory, in name order.
    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>>;
}

/// One open file. Positions are bytes from the start.
#[allow(clippy::len_without_is_empty)] // A store file is never empty; nothing would call it.
pub trait File: Send + Sync {
    /// Fills the whole buffer, or fails (`UnexpectedEof` past the end).
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;
    /// Writes the whole buffer, or fails. Durable only after `sync`.
    fn write_at(&self, offset: u64, buffer: &[u8]) -> io::Result<()>;
    /// Makes all completed writes and the length durable. After an error nothing is known about earlier writes.
    fn sync(&self) -> io::Result<()>;
    /// Length in bytes.
    fn len(&self) -> io::Result<u64>;
    /// Sets the length; new bytes read as zeros. A full disk is answered by `ErrorKind::StorageFull` and changes nothing.
    fn set_len(&self, bytes: u64) -> io::Result<()>;
}

/// The operating system's files, buffered by its cache.
#[derive(Debug, Default, Clone, Copy)]
pub struct OsFiles;

struct OsFile(fs::File);

impl FileSystem for OsFiles {
    fn open(&self, path: &Path, create: bool) -> io::Result<Arc<dyn File>> {
        let file = fs::OpenOptions::new().read(true).write(true).create(create).truncate(false).open(path)?;
        Ok(Arc::new(OsFile(file)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        path.try_exists()
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        abort_on_failed_sync(fs::File::open(path)?.sync_all())
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        let mut paths = fs::read_dir(path)?.map(|entry| entry.map(|e| e.path())).collect::<io::Result<Vec<_>>>()?;
        paths.sort();
        Ok(paths)
    }
}

impl File for OsFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.0.read_exact_at(buffer, offset)
    }

    fn write_at(&self, offset: u64, buffer: &[u8]) -> io::Result<()> {
        self.0.write_all_at(buffer, offset)
    }

    fn sync(&self) -> io::Result<()> {
        abort_on_failed_sync(self.0.sync_data())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        let length = self.0.metadata()?.len();
        if bytes > length {
            // Reserved now, so that a full disk shows here and not in a later write of a page.
            match fallocate(&self.0, FallocateFlags::empty(), length, bytes - length) {
                Err(Errno::OPNOTSUPP | Errno::NOSYS) => {}
                other => return Ok(other?),
            }
        }
        self.0.set_len(bytes)
    }
}

/// A failed fsync marks the pages clean all the same, so a second one would succeed and lie (ATC'20, "Can
/// applications recover from fsync failures?"). The only honest answer is to stop; the log replays.
fn abort_on_failed_sync(result: io::Result<()>) -> io::Result<()> {
    if let Err(error) = &result {
        eprintln!("bindery: a disk sync failed ({error}); what was written is unknown, stopping");
        std::process::abort();
    }
    result
}
