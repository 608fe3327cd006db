//! One sled directory, opened and synced the way sled 0.34 needs it.
//!
//! * `flush` writes but does not make durable (it calls sync_file_range, which flushes neither the drive's
//!   cache nor metadata): fdatasync on the `db` file follows each.
//! * A crash while opening leaves `snap.*.generating`, which makes every later open fail: deleted first.
//! * Values above segment_size/64 may spill to files that are never synced: callers stay below.
//! * It never syncs its settings file `conf`, and does not open with a torn one: synced here; and a bad one is
//!   made anew, since it holds only what is fixed below.
//! * Its garbage collection runs only in the flusher thread: it must not be switched off.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::log::LogError;

/// sled's own background flush; ours happens at every batch, this one only drives its garbage collection.
const SLED_FLUSH_MS: u64 = 500;

pub(super) struct SledDirectory {
    pub db: sled::Db,
    file: File,
}

/// sled's errors as the operating system's.
pub(super) fn io_error(error: sled::Error) -> io::Error {
    match error {
        sled::Error::Io(error) => error,
        other => io::Error::other(other.to_string()),
    }
}

pub(super) fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

impl SledDirectory {
    /// Opens or creates; durable on return, whatever an earlier process left unsynced. `segment_bytes`, a power of
    /// two, must be the same at every open.
    pub fn open(path: &Path, cache_bytes: u64, segment_bytes: usize) -> Result<SledDirectory, LogError> {
        let fail = |e: io::Error| LogError::io(path, e);
        let parent: PathBuf = path.parent().map(Path::to_path_buf).unwrap_or_default();
        std::fs::create_dir_all(path).map_err(fail)?;
        remove_unfinished_snapshots(path).map_err(fail)?;
        let settings = path.join("conf");
        let open = || {
            sled::Config::new()
                .path(path)
                .cache_capacity(cache_bytes)
                .segment_size(segment_bytes)
                .flush_every_ms(Some(SLED_FLUSH_MS))
                .open()
        };
        let opened = match open() {
            Err(sled::Error::Corruption { .. } | sled::Error::Unsupported(_)) if settings.exists() => {
                std::fs::remove_file(&settings).map_err(fail)?;
                open()
            }
            other => other,
        };
        let db = opened.map_err(|e| match e {
            sled::Error::Io(e) => LogError::io(path, e),
            other => LogError::damaged(path, other.to_string()),
        })?;
        let file = File::open(path.join("db")).map_err(fail)?;
        let directory = SledDirectory { db, file };
        directory.sync().map_err(fail)?;
        File::open(&settings).and_then(|f| f.sync_all()).map_err(fail)?;
        sync_directory(path).map_err(fail)?;
        sync_directory(&parent).map_err(fail)?;
        Ok(directory)
    }

    /// Makes everything inserted so far durable.
    pub fn sync(&self) -> io::Result<()> {
        self.db.flush().map_err(io_error)?;
        self.file.sync_data()
    }
}

fn remove_unfinished_snapshots(path: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with("snap.") && name.ends_with(".generating") {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Found by starting a node on a disk that had lost its unsynced writes: sled does not sync `conf`.
    #[test]
    fn torn_settings_do_not_lose_the_log() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("meta");
        let whole = {
            let directory = SledDirectory::open(&path, 1 << 20, 1 << 20).unwrap();
            directory.db.insert(b"a", b"1").unwrap();
            directory.sync().unwrap();
            std::fs::read(path.join("conf")).unwrap()
        };
        for torn in
            [Vec::new(), whole[..whole.len() / 2].to_vec(), vec![0; whole.len()], b"garbage, and more of it".to_vec()]
        {
            std::fs::write(path.join("conf"), torn).unwrap();
            let directory = SledDirectory::open(&path, 1 << 20, 1 << 20).unwrap();
            assert_eq!(directory.db.get(b"a").unwrap().unwrap(), b"1");
        }
        assert_eq!(std::fs::read(path.join("conf")).unwrap(), whole);
    }
}
