//! The disk as a trace wrote it, stopped at any line: what was synced is there, the rest may be.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bindery_store::{File, FileSystem};

use super::{Call, path};
use crate::faulty_file::FaultyFiles;

/// Replays calls below one directory.
struct Replay<'a> {
    root: &'a Path,
    disk: FaultyFiles,
    directories: Vec<PathBuf>,
    /// Where the next `write` through a descriptor goes.
    positions: BTreeMap<u64, u64>,
}

/// The disk below `root` at `line`, with everything not synced by then still unsynced, and its directories.
///
/// A change counts from where its call ended (or began, when it was under way at `line`); a sync covers only
/// the changes that had ended before it began.
pub fn at_line(calls: &[Call], root: &Path, line: usize) -> (FaultyFiles, Vec<PathBuf>) {
    let mut steps: Vec<(usize, &Call)> = Vec::new();
    for call in calls {
        match call.exit {
            _ if call.enter > line => {}
            Some(exit) if call.is_sync() && exit > line => {}
            Some(_) if call.is_sync() => steps.push((call.enter, call)),
            Some(exit) => steps.push((exit.min(line), call)),
            None if call.is_write() => steps.push((line, call)),
            None => {}
        }
    }
    steps.sort_by_key(|(at, _)| *at);
    let mut replay =
        Replay { root, disk: FaultyFiles::default(), directories: vec![root.to_owned()], positions: BTreeMap::new() };
    for (_, call) in steps {
        if call.result >= 0 {
            replay.step(call);
        }
    }
    (replay.disk, replay.directories)
}

/// Writes a disk's files to real ones: `root` becomes `target`.
pub fn write_out(disk: &FaultyFiles, directories: &[PathBuf], root: &Path, target: &Path) {
    let moved = |path: &Path| target.join(path.strip_prefix(root).expect("only files below the root were replayed"));
    for directory in directories {
        std::fs::create_dir_all(moved(directory)).expect("a directory");
    }
    for (path, bytes) in disk.contents() {
        std::fs::write(moved(&path), bytes).expect("a file");
    }
}

impl Replay<'_> {
    fn open(&self, file: &Path, create: bool) -> Option<Arc<dyn File>> {
        FileSystem::open(&self.disk, file, create).ok()
    }

    fn step(&mut self, call: &Call) {
        match call.name.as_str() {
            "open" | "openat" | "creat" => self.opened(call),
            "mkdir" | "mkdirat" => self.directories.extend(self.below(call, 0)),
            "rmdir" => self.remove_directory(call),
            "unlink" | "unlinkat" => {
                if call.rest.iter().any(|r| r.contains("AT_REMOVEDIR")) {
                    self.remove_directory(call);
                } else if let Some(path) = self.below(call, 0) {
                    self.disk.remove(&path).expect("nothing fails here");
                }
            }
            "rename" | "renameat" | "renameat2" => {
                if let (Some(from), Some(to)) = (self.below(call, 0), self.below(call, 1)) {
                    self.disk.rename(&from, &to).expect("nothing fails here");
                }
            }
            "fsync" | "fdatasync" => {
                let Some(path) = call.file().filter(|p| p.starts_with(self.root)) else { return };
                match self.open(path, false) {
                    Some(file) => file.sync().expect("nothing fails here"),
                    None => self.disk.sync_dir(path).expect("nothing fails here"),
                }
            }
            "ftruncate" | "fallocate" => self.resize(call),
            _ if call.is_write() => self.write(call),
            "link" | "linkat" | "truncate" | "copy_file_range" => {
                let inside = call.strings.iter().any(|s| path(s).starts_with(self.root))
                    || call.file().is_some_and(|p| p.starts_with(self.root));
                assert!(!inside, "the replay does not know {call:?}");
            }
            _ => {}
        }
    }

    fn below(&self, call: &Call, n: usize) -> Option<PathBuf> {
        Some(path(call.strings.get(n)?)).filter(|p| p.starts_with(self.root))
    }

    fn remove_directory(&mut self, call: &Call) {
        if let Some(path) = self.below(call, 0) {
            self.directories.retain(|d| *d != path);
        }
    }

    fn opened(&mut self, call: &Call) {
        let Some(path) = self.below(call, 0) else { return };
        let flags = call.rest.first().map_or("", String::as_str);
        if flags.contains("O_DIRECTORY") || self.directories.contains(&path) {
            return;
        }
        let Some(file) = self.open(&path, flags.contains("O_CREAT")) else { return };
        if flags.contains("O_TRUNC") {
            file.set_len(0).expect("nothing fails here");
        }
        let at = if flags.contains("O_APPEND") { file.len().expect("nothing fails here") } else { 0 };
        self.positions.insert(call.result as u64, at);
    }

    fn resize(&mut self, call: &Call) {
        let Some(file) = call.file().filter(|p| p.starts_with(self.root)).and_then(|p| self.open(p, false)) else {
            return;
        };
        let length = file.len().expect("nothing fails here");
        let wanted = match call.name.as_str() {
            "ftruncate" => call.number(0).expect("a length"),
            // Mode 0: grows the file to offset + length.
            _ => length.max(call.number(1).expect("an offset") + call.number(2).expect("a length")),
        };
        file.set_len(wanted).expect("nothing fails here");
    }

    fn write(&mut self, call: &Call) {
        let Some((descriptor, _)) = call.descriptor else { return };
        let Some(file) = call.file().filter(|p| p.starts_with(self.root)).and_then(|p| self.open(p, false)) else {
            return;
        };
        let data = call.data();
        let offset = match call.name.as_str() {
            "pwrite64" => call.number(1).expect("an offset"),
            "write" | "writev" => {
                let position = self.positions.entry(descriptor).or_default();
                let offset = *position;
                *position += data.len() as u64;
                offset
            }
            other => panic!("the replay does not know {other} to {:?}", call.file()),
        };
        file.write_at(offset, &data).expect("nothing fails here");
    }
}
