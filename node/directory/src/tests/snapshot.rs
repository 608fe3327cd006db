//! Snapshot streams and their install, stopped at every file operation.

use super::*;
use crate::DirectoryError;
use bindery_store::{File, FileSystem};
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};

fn source() -> Node {
    let mut node = Node::new();
    node.add_ou("ou=a,dc=example,dc=com").unwrap();
    for at in 0..60 {
        node.add_person(&format!("uid=p{at},ou=a,dc=example,dc=com")).unwrap();
    }
    let big = "x".repeat(300_000);
    node.add(
        "ou=big,dc=example,dc=com",
        &[("objectClass", &["organizationalUnit"]), ("description", &["short"]), ("street", &[&big])],
    )
    .unwrap();
    node
}

fn chunks(directory: &Directory, max_bytes: usize) -> Vec<Vec<u8>> {
    let mut reader = directory.snapshot().unwrap();
    let mut chunks = Vec::new();
    while let Some(chunk) = reader.next_chunk(max_bytes).unwrap() {
        assert!(!chunk.is_empty() && chunk.len() <= max_bytes);
        chunks.push(chunk);
    }
    assert_eq!(reader.next_chunk(max_bytes).unwrap(), None);
    chunks
}

fn install(directory: &Directory, chunks: &[Vec<u8>]) -> Result<(), DirectoryError> {
    let mut writer = directory.begin_install()?;
    for chunk in chunks {
        writer.chunk(chunk)?;
    }
    writer.finish()
}

#[test]
fn round_trip_in_chunks_of_any_size() {
    let node = source();
    let expected = dump(&node.view());
    let whole: Vec<u8> = chunks(&node.directory, 1 << 20).concat();
    for size in [1_000, 65_536, 10 << 20] {
        let cut = chunks(&node.directory, size);
        assert_eq!(cut.concat(), whole);
        let target = Node::new();
        let before = target.view();
        let digest = before.digest().unwrap();
        install(&target.directory, &cut).unwrap();
        assert_eq!(dump(&target.view()), expected);
        assert_eq!(target.directory.applied().unwrap(), node.directory.applied().unwrap());
        assert_eq!(target.directory.durable().unwrap(), Some(node.directory.applied().unwrap()));
        assert_eq!(before.digest().unwrap(), digest, "a view outlives the switch");
        check_consistent(&target.view());
        drop(before);
        let Node { directory, folder, .. } = target;
        drop(directory);
        assert_eq!(dump(&open(folder.path()).view()), expected);
    }
}

#[test]
fn the_stream_goes_on_after_an_install() {
    let mut node = source();
    let target = Node::blank();
    install(&target.directory, &chunks(&node.directory, 4_096)).unwrap();
    node.add_ou("ou=later,dc=example,dc=com").unwrap();
    target.directory.apply(&node.log[node.log.len() - 1..]).unwrap();
    assert_eq!(dump(&target.view()), dump(&node.view()));
}

#[test]
fn a_damaged_stream_changes_nothing() {
    let node = source();
    let target = Node::new();
    let before = dump(&target.view());
    let whole = chunks(&node.directory, 1 << 30).concat();
    for at in (0..whole.len()).step_by(whole.len() / 40) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x20;
        assert!(install(&target.directory, &[damaged]).is_err(), "byte {at}");
        assert!(install(&target.directory, &[whole[..at].to_vec()]).is_err(), "cut at {at}");
    }
    let longer = [whole.clone(), b"x".to_vec()];
    assert!(install(&target.directory, &longer).is_err());
    assert_eq!(dump(&target.view()), before);
    install(&target.directory, &[whole]).unwrap();
}

/// Fails every operation after a number of changing ones, as if the process had been killed there.
struct Mortal {
    left: Arc<AtomicI64>,
}

struct MortalFile {
    file: Arc<dyn File>,
    left: Arc<AtomicI64>,
}

fn spend(left: &AtomicI64) -> io::Result<()> {
    if left.fetch_sub(1, Ordering::SeqCst) > 0 { Ok(()) } else { Err(io::Error::other("killed")) }
}

fn alive(left: &AtomicI64) -> io::Result<()> {
    if left.load(Ordering::SeqCst) > 0 { Ok(()) } else { Err(io::Error::other("killed")) }
}

impl FileSystem for Mortal {
    fn open(&self, path: &Path, create: bool) -> io::Result<Arc<dyn File>> {
        spend(&self.left)?;
        Ok(Arc::new(MortalFile { file: OsFiles.open(path, create)?, left: self.left.clone() }))
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        spend(&self.left)?;
        OsFiles.rename(from, to)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        spend(&self.left)?;
        OsFiles.remove(path)
    }
    fn exists(&self, path: &Path) -> io::Result<bool> {
        alive(&self.left)?;
        OsFiles.exists(path)
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        spend(&self.left)?;
        OsFiles.sync_dir(path)
    }
    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        alive(&self.left)?;
        OsFiles.create_dir_all(path)
    }
    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        alive(&self.left)?;
        OsFiles.list(path)
    }
}

impl File for MortalFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        alive(&self.left)?;
        self.file.read_at(offset, buffer)
    }
    fn write_at(&self, offset: u64, buffer: &[u8]) -> io::Result<()> {
        spend(&self.left)?;
        self.file.write_at(offset, buffer)
    }
    fn sync(&self) -> io::Result<()> {
        spend(&self.left)?;
        self.file.sync()
    }
    fn len(&self) -> io::Result<u64> {
        alive(&self.left)?;
        self.file.len()
    }
    fn set_len(&self, bytes: u64) -> io::Result<()> {
        spend(&self.left)?;
        self.file.set_len(bytes)
    }
}

#[test]
fn an_install_killed_anywhere_is_finished_or_undone() {
    let node = source();
    let stream = chunks(&node.directory, 100_000);
    let new = dump(&node.view());
    let (mut finished, mut undone) = (0, 0);
    let mut budget = 1;
    loop {
        let folder = tempfile::tempdir().unwrap();
        let left = Arc::new(AtomicI64::new(i64::MAX));
        let files = Arc::new(Mortal { left: left.clone() });
        let directory = Directory::open(files, folder.path(), options()).unwrap();
        directory.apply(&node.log[..3]).unwrap();
        directory.checkpoint().unwrap();
        let old = dump(&directory.view());
        left.store(budget, Ordering::SeqCst);
        let result = install(&directory, &stream);
        drop(directory);
        let directory = open(folder.path());
        let found = dump(&directory.view());
        if found == new {
            finished += 1;
        } else {
            assert_eq!(found, old, "killed after {budget} operations");
            assert!(result.is_err(), "acknowledged and lost after {budget} operations");
            undone += 1;
        }
        let names: Vec<_> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.starts_with("store."))
            .collect();
        assert!(names.is_empty(), "{names:?}");
        check_consistent(&directory.view());
        if result.is_ok() {
            break;
        }
        budget += 1;
    }
    assert!(finished >= 3 && undone >= 5, "{finished} finished, {undone} undone");
}
