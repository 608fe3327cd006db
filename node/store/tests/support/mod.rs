//! A file system in memory that loses, tears and reorders what was not synced, and fails the n-th call.
#![allow(dead_code)] // Each test binary uses a part of it.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use bindery_store::{File, FileSystem};

const SECTOR: usize = 512;

/// A small generator, so that a seed says everything.
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng(seed.wrapping_add(0x9e37_79b9_7f4a_7c15))
    }

    pub fn next(&mut self) -> u64 {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

#[derive(Clone)]
enum Change {
    Write(u64, Vec<u8>),
    SetLen(u64),
}

#[derive(Clone, Default)]
struct Inode {
    durable: Vec<u8>,
    current: Vec<u8>,
    unsynced: Vec<Change>,
}

#[derive(Clone)]
enum NameChange {
    Link(PathBuf, usize),
    Unlink(PathBuf),
    Rename(PathBuf, PathBuf),
}

#[derive(Default)]
struct State {
    inodes: Vec<Inode>,
    names: BTreeMap<PathBuf, usize>,
    durable_names: BTreeMap<PathBuf, usize>,
    unsynced_names: Vec<NameChange>,
    calls: u64,
    fail_at: Option<u64>,
    fail_for_ever: bool,
    capacity: Option<u64>,
}

impl State {
    fn count(&mut self) -> io::Result<()> {
        self.calls += 1;
        match self.fail_at {
            Some(at) if self.calls == at || (self.fail_for_ever && self.calls > at) => {
                Err(io::Error::other("injected"))
            }
            _ => Ok(()),
        }
    }
}

fn apply(bytes: &mut Vec<u8>, change: &Change) {
    match change {
        Change::SetLen(length) => bytes.resize(*length as usize, 0),
        Change::Write(offset, data) => {
            let end = *offset as usize + data.len();
            if bytes.len() < end {
                bytes.resize(end, 0);
            }
            bytes[*offset as usize..end].copy_from_slice(data);
        }
    }
}

fn apply_name(names: &mut BTreeMap<PathBuf, usize>, change: &NameChange) {
    match change {
        NameChange::Link(path, inode) => {
            names.insert(path.clone(), *inode);
        }
        NameChange::Unlink(path) => {
            names.remove(path);
        }
        NameChange::Rename(from, to) => {
            if let Some(inode) = names.remove(from) {
                names.insert(to.clone(), inode);
            }
        }
    }
}

type Hook = Arc<Mutex<Option<Box<dyn FnMut() + Send>>>>;

/// The file system; clones share it.
#[derive(Clone, Default)]
pub struct FaultyFiles {
    state: Arc<Mutex<State>>,
    hook: Hook,
}

struct FaultyFile {
    state: Arc<Mutex<State>>,
    hook: Hook,
    inode: usize,
}

impl FaultyFiles {
    /// The disk after a power loss: everything synced, and of the rest an arbitrary part, torn at sectors.
    pub fn crash(&self, seed: u64) -> FaultyFiles {
        let mut rng = Rng::new(seed);
        let state = self.state.lock().unwrap();
        // Sometimes nothing unsynced survives, sometimes all, mostly a part.
        let keep = [0, 100, 50, 90, 10][rng.below(5) as usize];
        let mut after = State::default();
        for inode in &state.inodes {
            let mut bytes = inode.durable.clone();
            for change in &inode.unsynced {
                match change {
                    Change::SetLen(_) => {
                        if rng.below(100) < keep {
                            apply(&mut bytes, change);
                        }
                    }
                    Change::Write(offset, data) => {
                        let torn = rng.below(4) == 0;
                        let whole = rng.below(100) < keep;
                        for (index, sector) in data.chunks(SECTOR).enumerate() {
                            if if torn { rng.below(100) < keep } else { whole } {
                                let at = offset + (index * SECTOR) as u64;
                                apply(&mut bytes, &Change::Write(at, sector.to_vec()));
                            }
                        }
                    }
                }
            }
            after.inodes.push(Inode { durable: bytes.clone(), current: bytes, unsynced: Vec::new() });
        }
        let mut names = state.durable_names.clone();
        for change in &state.unsynced_names {
            if rng.below(100) < keep {
                apply_name(&mut names, change);
            }
        }
        after.durable_names = names.clone();
        after.names = names;
        FaultyFiles { state: Arc::new(Mutex::new(after)), hook: Hook::default() }
    }

    /// Runs `hook` before each write and sync of a file, except those that it makes itself.
    pub fn before_changes(&self, hook: impl FnMut() + Send + 'static) {
        *self.hook.lock().unwrap() = Some(Box::new(hook));
    }

    pub fn no_hook(&self) {
        *self.hook.lock().unwrap() = None;
    }

    /// Puts old bytes back, as if a write had been acknowledged and lost.
    pub fn restore(&self, path: &Path, at: usize, old: &[u8]) {
        let mut state = self.state.lock().unwrap();
        let inode = state.names[path];
        state.inodes[inode].current[at..at + old.len()].copy_from_slice(old);
        state.inodes[inode].durable[at..at + old.len()].copy_from_slice(old);
    }

    /// No file may grow beyond this many bytes.
    pub fn set_capacity(&self, bytes: u64) {
        self.state.lock().unwrap().capacity = Some(bytes);
    }

    /// Fails the n-th call from now on (1 = the next), and with `for_ever` all after it.
    pub fn fail_at(&self, n: u64, for_ever: bool) {
        let mut state = self.state.lock().unwrap();
        state.fail_at = Some(state.calls + n);
        state.fail_for_ever = for_ever;
    }

    pub fn never_fail(&self) {
        self.state.lock().unwrap().fail_at = None;
    }

    /// Whether the call set by `fail_at` was reached.
    pub fn has_failed(&self) -> bool {
        let state = self.state.lock().unwrap();
        state.fail_at.is_some_and(|at| state.calls >= at)
    }

    pub fn bytes(&self, path: &Path) -> Vec<u8> {
        let state = self.state.lock().unwrap();
        state.inodes[state.names[path]].current.clone()
    }

    /// Every file with its content.
    pub fn contents(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let state = self.state.lock().unwrap();
        state.names.iter().map(|(name, inode)| (name.clone(), state.inodes[*inode].current.clone())).collect()
    }

    /// Changes bytes behind the store's back, durably.
    pub fn corrupt(&self, path: &Path, at: usize, mask: u8) {
        let mut state = self.state.lock().unwrap();
        let inode = state.names[path];
        state.inodes[inode].current[at] ^= mask;
        if let Some(byte) = state.inodes[inode].durable.get_mut(at) {
            *byte ^= mask;
        }
    }
}

impl FileSystem for FaultyFiles {
    fn open(&self, path: &Path, create: bool) -> io::Result<Arc<dyn File>> {
        let mut state = self.state.lock().unwrap();
        state.count()?;
        let inode = match state.names.get(path) {
            Some(inode) => *inode,
            None if create => {
                state.inodes.push(Inode::default());
                let inode = state.inodes.len() - 1;
                state.names.insert(path.to_path_buf(), inode);
                state.unsynced_names.push(NameChange::Link(path.to_path_buf(), inode));
                inode
            }
            None => return Err(io::ErrorKind::NotFound.into()),
        };
        Ok(Arc::new(FaultyFile { state: Arc::clone(&self.state), hook: Arc::clone(&self.hook), inode }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state.lock().unwrap();
        state.count()?;
        let change = NameChange::Rename(from.to_path_buf(), to.to_path_buf());
        apply_name(&mut state.names, &change);
        state.unsynced_names.push(change);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state.lock().unwrap();
        state.count()?;
        let change = NameChange::Unlink(path.to_path_buf());
        apply_name(&mut state.names, &change);
        state.unsynced_names.push(change);
        Ok(())
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        let mut state = self.state.lock().unwrap();
        state.count()?;
        Ok(state.names.contains_key(path))
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state.lock().unwrap();
        state.count()?;
        let State { names, durable_names, unsynced_names, .. } = &mut *state;
        let here = |name: &Path| name.parent() == Some(path);
        durable_names.retain(|name, _| !here(name));
        durable_names.extend(names.iter().filter(|(name, _)| here(name)).map(|(name, inode)| (name.clone(), *inode)));
        unsynced_names.retain(|change| match change {
            NameChange::Link(name, _) | NameChange::Unlink(name) | NameChange::Rename(_, name) => !here(name),
        });
        Ok(())
    }

    fn create_dir_all(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        let state = self.state.lock().unwrap();
        Ok(state.names.keys().filter(|name| name.parent() == Some(path)).cloned().collect())
    }
}

impl FaultyFile {
    fn run_hook(&self) {
        // Taken out while it runs, so that its own calls do not run it again.
        let taken = self.hook.lock().unwrap().take();
        if let Some(mut hook) = taken {
            hook();
            *self.hook.lock().unwrap() = Some(hook);
        }
    }
}

impl File for FaultyFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let mut state = self.state.lock().unwrap();
        state.count()?;
        let current = &state.inodes[self.inode].current;
        let range = offset as usize..offset as usize + buffer.len();
        buffer.copy_from_slice(current.get(range).ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write_at(&self, offset: u64, buffer: &[u8]) -> io::Result<()> {
        self.run_hook();
        let mut state = self.state.lock().unwrap();
        let failed = state.count();
        let inode = &mut state.inodes[self.inode];
        // A failing write may have written a part.
        let data = if failed.is_ok() { buffer } else { &buffer[..buffer.len() / 2 / SECTOR * SECTOR] };
        let change = Change::Write(offset, data.to_vec());
        apply(&mut inode.current, &change);
        inode.unsynced.push(change);
        failed
    }

    fn sync(&self) -> io::Result<()> {
        self.run_hook();
        let mut state = self.state.lock().unwrap();
        let failed = state.count();
        let inode = &mut state.inodes[self.inode];
        if failed.is_err() {
            // As Linux does: what was dirty is lost, marked clean, and reads may still show it.
            inode.unsynced.clear();
            return failed;
        }
        inode.durable = inode.current.clone();
        inode.unsynced.clear();
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        let mut state = self.state.lock().unwrap();
        state.count()?;
        Ok(state.inodes[self.inode].current.len() as u64)
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        let mut state = self.state.lock().unwrap();
        state.count()?;
        if state.capacity.is_some_and(|capacity| bytes > capacity) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let change = Change::SetLen(bytes);
        let inode = &mut state.inodes[self.inode];
        apply(&mut inode.current, &change);
        inode.unsynced.push(change);
        Ok(())
    }
}
