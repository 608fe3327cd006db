//! One process for one data directory.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

/// The data directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process has it.
    #[error("{path}: another bindery process uses this data directory: stop it first, or give this node its own (--data)", path = .0.display())]
    InUse(PathBuf),
    /// It cannot be made or opened.
    #[error("data directory {path}: {source}; choose one that this user may write (--data)", path = path.display())]
    Io {
        /// What was touched.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: std::io::Error,
    },
}

/// Makes the directory (mode 0700: it holds password hashes) and locks it until the file is dropped.
pub fn data_directory(path: &Path) -> Result<File, LockError> {
    use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
    let failed = |source| LockError::Io { path: path.to_owned(), source };
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed)?;
    let file = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path.join("lock"));
    let file = file.map_err(failed)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(rustix::io::Errno::WOULDBLOCK) => Err(LockError::InUse(path.to_owned())),
        Err(error) => Err(failed(error.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_process_is_refused() {
        let folder = tempfile::tempdir().expect("temporary directory");
        let held = data_directory(folder.path()).expect("free");
        assert!(matches!(data_directory(folder.path()), Err(LockError::InUse(_))));
        drop(held);
        data_directory(folder.path()).expect("free again");
    }
}
