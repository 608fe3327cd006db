//! Files in memory that lose, tear and reorder what was not synced, and stop at the n-th operation.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bindery_raft::{LogFile, LogFiles};
use parking_lot::Mutex;

/// Unsynced writes are torn at this size, as a disk's sectors are.
const SECTOR: usize = 512;

#[derive(Clone, Debug, Default)]
struct Content {
    durable: Vec<u8>,
    current: Vec<u8>,
    /// Unsynced writes, in order.
    pending: Vec<(usize, Vec<u8>)>,
    /// Its directory entry is synced.
    listed: bool,
    /// Removed, but the removal is not synced.
    removed: bool,
}

#[derive(Debug, Default)]
struct State {
    files: BTreeMap<PathBuf, Content>,
    /// Operations until everything fails.
    left: Option<u64>,
    random: u64,
}

impl State {
    fn step(&mut self) -> io::Result<()> {
        match &mut self.left {
            Some(0) => Err(io::Error::other("the machine is off")),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn random(&mut self) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.random >> 33
    }
}

#[derive(Clone, Debug, Default)]
pub struct FaultyFiles {
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct FaultyFile {
    state: Arc<Mutex<State>>,
    path: PathBuf,
}

impl FaultyFiles {
    pub fn new(seed: u64) -> Self {
        let files = FaultyFiles::default();
        files.state.lock().random = seed;
        files
    }

    /// Lets `count` more operations succeed (each write may be the last, torn one).
    pub fn fail_after(&self, count: u64) {
        self.state.lock().left = Some(count);
    }

    /// The power fails: unsynced writes survive whole, in part, or not at all, in any combination.
    pub fn crash(&self) {
        let mut state = self.state.lock();
        state.left = None;
        let mut files = std::mem::take(&mut state.files);
        files.retain(|_, file| {
            if file.removed {
                return state.random().is_multiple_of(2);
            }
            file.listed || state.random().is_multiple_of(2)
        });
        for file in files.values_mut() {
            file.removed = false;
            file.listed = true;
            for (offset, bytes) in std::mem::take(&mut file.pending) {
                let end = offset + bytes.len();
                if file.durable.len() < end {
                    file.durable.resize(end, 0);
                }
                match state.random() % 3 {
                    0 => {}
                    1 => file.durable[offset..end].copy_from_slice(&bytes),
                    _ => {
                        let mut at = offset;
                        while at < end {
                            let next = end.min((at / SECTOR + 1) * SECTOR);
                            if state.random().is_multiple_of(2) {
                                file.durable[at..next].copy_from_slice(&bytes[at - offset..next - offset]);
                            }
                            at = next;
                        }
                    }
                }
            }
            file.current = file.durable.clone();
        }
        state.files = files;
    }

    /// Flips a bit on disk.
    pub fn corrupt(&self, name_part: &str, offset: usize) {
        let mut state = self.state.lock();
        let file =
            state.files.iter_mut().find(|(path, _)| path.to_string_lossy().contains(name_part)).expect("the file").1;
        file.current[offset] ^= 4;
        file.durable[offset] ^= 4;
    }

    pub fn names(&self) -> Vec<String> {
        let state = self.state.lock();
        state.files.iter().filter(|(_, f)| !f.removed).map(|(p, _)| p.to_string_lossy().into_owned()).collect()
    }
}

impl LogFiles for FaultyFiles {
    fn open(&self, path: &Path, create: bool) -> io::Result<Arc<dyn LogFile>> {
        let mut state = self.state.lock();
        state.step()?;
        let known = state.files.get(path).is_some_and(|f| !f.removed);
        if known && create {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        if !known && !create {
            return Err(io::ErrorKind::NotFound.into());
        }
        if create {
            state.files.insert(path.to_owned(), Content::default());
        }
        Ok(Arc::new(FaultyFile { state: self.state.clone(), path: path.to_owned() }))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state.lock();
        state.step()?;
        match state.files.get_mut(path) {
            Some(file) if !file.removed => {
                file.removed = true;
                Ok(())
            }
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        let mut state = self.state.lock();
        state.step()?;
        let inside = state.files.iter().filter(|(path, file)| path.parent() == Some(directory) && !file.removed);
        Ok(inside.filter_map(|(path, _)| path.file_name()?.to_str().map(str::to_owned)).collect())
    }

    fn create_directory(&self, _: &Path) -> io::Result<()> {
        self.state.lock().step()
    }

    fn sync_directory(&self, directory: &Path) -> io::Result<()> {
        let mut state = self.state.lock();
        state.step()?;
        state.files.retain(|path, file| !(file.removed && path.parent() == Some(directory)));
        for (path, file) in &mut state.files {
            if path.parent() == Some(directory) {
                file.listed = true;
            }
        }
        Ok(())
    }
}

impl FaultyFile {
    fn with<T>(&self, read: impl FnOnce(&mut Content) -> io::Result<T>) -> io::Result<T> {
        let mut state = self.state.lock();
        state.step()?;
        // As on Unix, a removed file can still be used.
        match state.files.get_mut(&self.path) {
            Some(file) => read(file),
            None => read(&mut Content::default()),
        }
    }
}

impl LogFile for FaultyFile {
    fn length(&self) -> io::Result<u64> {
        self.with(|file| Ok(file.current.len() as u64))
    }

    fn allocate(&self, length: u64) -> io::Result<()> {
        self.with(|file| {
            let length = length as usize;
            if file.current.len() < length {
                let from = file.current.len();
                file.pending.push((from, vec![0; length - from]));
                file.current.resize(length, 0);
            }
            Ok(())
        })
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.with(|file| {
            let from = offset as usize;
            let bytes = file.current.get(from..from + buffer.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
            buffer.copy_from_slice(bytes);
            Ok(())
        })
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.with(|file| {
            let (from, to) = (offset as usize, offset as usize + bytes.len());
            if file.current.len() < to {
                file.current.resize(to, 0);
            }
            file.current[from..to].copy_from_slice(bytes);
            file.pending.push((from, bytes.to_vec()));
            Ok(())
        })
    }

    fn sync(&self) -> io::Result<()> {
        self.with(|file| {
            file.durable = file.current.clone();
            file.pending.clear();
            Ok(())
        })
    }
}
