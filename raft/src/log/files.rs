//! The few file operations the segmented log needs, so that tests can lose unsynced writes and inject
//! failures.

use std::fmt::Debug;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

/// A directory tree.
pub trait LogFiles: Debug + Send + Sync {
    /// Opens a file for reading and writing; `create` = it must not exist yet.
    fn open(&self, path: &Path, create: bool) -> io::Result<Arc<dyn LogFile>>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Names of the files in a directory, in any order.
    fn list(&self, directory: &Path) -> io::Result<Vec<String>>;
    /// Creates a directory and its parents.
    fn create_directory(&self, directory: &Path) -> io::Result<()>;
    /// Makes creations and removals in a directory durable.
    fn sync_directory(&self, directory: &Path) -> io::Result<()>;
}

/// A file. Writes are durable only after `sync`.
pub trait LogFile: Debug + Send + Sync {
    /// Bytes in the file.
    fn length(&self) -> io::Result<u64>;
    /// Makes the file `length` bytes long; new bytes read as zero. Reserves the space if it can.
    fn allocate(&self, length: u64) -> io::Result<()>;
    /// Fills the buffer from `offset`.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;
    /// Writes all bytes at `offset`.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
    /// Makes all writes so far durable.
    fn sync(&self) -> io::Result<()>;
}

/// Files of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct OsFiles;

#[derive(Debug)]
struct OsFile(File);

impl LogFiles for OsFiles {
    fn open(&self, path: &Path, create: bool) -> io::Result<Arc<dyn LogFile>> {
        let file = OpenOptions::new().read(true).write(true).create_new(create).open(path)?;
        Ok(Arc::new(OsFile(file)))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(directory)? {
            // A name that is not UTF-8 is not one of ours.
            if let Ok(name) = entry?.file_name().into_string() {
                names.push(name);
            }
        }
        Ok(names)
    }

    fn create_directory(&self, directory: &Path) -> io::Result<()> {
        std::fs::create_dir_all(directory)
    }

    fn sync_directory(&self, directory: &Path) -> io::Result<()> {
        File::open(directory)?.sync_all()
    }
}

impl LogFile for OsFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn allocate(&self, length: u64) -> io::Result<()> {
        // Not every file system can reserve; growing sparsely is then good enough.
        match rustix::fs::fallocate(&self.0, rustix::fs::FallocateFlags::empty(), 0, length) {
            Ok(()) => Ok(()),
            Err(rustix::io::Errno::NOSPC) => Err(rustix::io::Errno::NOSPC.into()),
            Err(_) => self.0.set_len(length),
        }
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.0.read_exact_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.0.write_all_at(bytes, offset)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }
}
