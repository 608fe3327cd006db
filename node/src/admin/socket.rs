//! The socket in the data directory: whoever may open it is administrator, so that its mode is the access rule.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tokio::net::UnixListener;

/// Listens at `path`, mode 0600. What an earlier process left there is replaced: the lock on the data directory
/// tells that it is gone.
pub fn bind(path: &Path) -> std::io::Result<UnixListener> {
    // Made under another, not longer name, so that nobody opens it before it has its mode.
    let making = path.with_file_name("admin.new");
    remove(&making)?;
    let listener = UnixListener::bind(&making)?;
    std::fs::set_permissions(&making, std::fs::Permissions::from_mode(0o600))?;
    std::fs::rename(&making, path)?;
    Ok(listener)
}

fn remove(path: &Path) -> std::io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_socket_is_its_owners_only_and_replaces_an_old_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("admin.sock");
        let first = bind(&path).unwrap();
        drop(first);
        let _second = bind(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        tokio::net::UnixStream::connect(&path).await.unwrap();
        assert!(!dir.path().join("admin.new").exists());
    }
}
