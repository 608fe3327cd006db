//! The directory as a stream, and installing such a stream in place of the present directory.
//!
//! ```text
//! header   "bindery snapshot", version u32, applied position (24 bytes) or 24 zeros with a flag byte before
//! record   01, tree u32, key length u16, value length u32, key, value
//! end      02, number of records u64, XXH3-128 of everything before
//! ```
//!
//! Records come in the order of trees and keys. Chunks cut the stream anywhere.
//!
//! An install writes the file `store.incoming`, makes it durable, writes `store.intent`, renames the file to
//! `store` and removes the intent. Opening finishes what has an intent and undoes what has none.

use crate::command::LogPosition;
use crate::directory::{Applied, Directory, label};
use crate::error::DirectoryError;
use crate::state::State;
use crate::tables::{META, META_APPLIED};
use bindery_store::{FileSystem, Store, StoreOptions, TreeId, View, WriteTxn};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use xxhash_rust::xxh3::{Xxh3Default, xxh3_128};

const MAGIC: &[u8; 16] = b"bindery snapshot";
const VERSION: u32 = 1;
const HEADER_BYTES: usize = 16 + 4 + 1 + 24;
const RECORD: u8 = 1;
const END: u8 = 2;
const RECORD_HEADER_BYTES: usize = 1 + 4 + 2 + 4;
const END_BYTES: usize = 1 + 8 + 16;
/// The longest value of the store.
const VALUE_BYTES_MAX: usize = 1 << 30;
/// Bytes of records put in one transaction while installing: bounds what is dirty and not yet published.
const COMMIT_BYTES: usize = 1 << 20;

const INCOMING: &str = "store.incoming";
const INTENT_MAGIC: &[u8; 16] = b"bindery install1";

/// The store's file.
pub(crate) fn store_path(folder: &Path) -> PathBuf {
    folder.join("store")
}

fn incoming_path(folder: &Path) -> PathBuf {
    folder.join(INCOMING)
}

fn intent_path(folder: &Path) -> PathBuf {
    folder.join("store.intent")
}

/// One version of a directory as bytes.
pub struct SnapshotReader {
    view: View,
    applied: Applied,
    /// Trees not yet begun, last first.
    trees: Vec<TreeId>,
    /// The tree and the last key given out of it.
    at: Option<(TreeId, Vec<u8>)>,
    /// Bytes made and not yet given out.
    pending: Vec<u8>,
    hash: Xxh3Default,
    records: u64,
    ended: bool,
}

impl SnapshotReader {
    pub(crate) fn new(view: View, applied: Applied) -> Result<SnapshotReader, DirectoryError> {
        let mut trees = view.trees()?;
        trees.sort_by_key(|tree| std::cmp::Reverse(tree.0));
        let mut pending = Vec::with_capacity(HEADER_BYTES);
        pending.extend_from_slice(MAGIC);
        pending.extend_from_slice(&VERSION.to_be_bytes());
        pending.push(u8::from(applied.position.is_some()));
        pending.extend_from_slice(&applied.position.map_or([0; 24], LogPosition::encode));
        let mut hash = Xxh3Default::new();
        hash.update(&pending);
        Ok(SnapshotReader { view, applied, trees, at: None, pending, hash, records: 0, ended: false })
    }

    /// Up to where the log is contained.
    pub fn applied(&self) -> &Applied {
        &self.applied
    }

    /// The next 1 to `max_bytes` bytes; `None` at the end.
    ///
    /// # Errors
    /// The store's.
    pub fn next_chunk(&mut self, max_bytes: usize) -> Result<Option<Vec<u8>>, DirectoryError> {
        let max_bytes = max_bytes.max(1);
        if self.pending.len() < max_bytes && !self.ended {
            self.fill(max_bytes)?;
        }
        if self.pending.is_empty() {
            return Ok(None);
        }
        let rest = self.pending.split_off(max_bytes.min(self.pending.len()));
        Ok(Some(std::mem::replace(&mut self.pending, rest)))
    }

    fn fill(&mut self, max_bytes: usize) -> Result<(), DirectoryError> {
        let view = self.view.clone();
        while self.pending.len() < max_bytes {
            let (tree, after) = match self.at.take() {
                Some((tree, last)) => (tree, Some(last)),
                None => match self.trees.pop() {
                    Some(tree) => (tree, None),
                    None => {
                        self.end();
                        return Ok(());
                    }
                },
            };
            let mut cursor = view.cursor(tree);
            let mut found = match &after {
                None => cursor.seek_first()?,
                Some(last) => cursor.seek(last)? && (cursor.key() != last.as_slice() || cursor.next()?),
            };
            while found {
                self.record(tree, cursor.key(), cursor.value());
                if self.pending.len() >= max_bytes {
                    self.at = Some((tree, cursor.key().to_vec()));
                    break;
                }
                found = cursor.next()?;
            }
        }
        Ok(())
    }

    fn record(&mut self, tree: TreeId, key: &[u8], value: &[u8]) {
        let start = self.pending.len();
        self.pending.push(RECORD);
        self.pending.extend_from_slice(&tree.0.to_be_bytes());
        let key_len = u16::try_from(key.len()).expect("the store's keys have at most 1,024 bytes");
        self.pending.extend_from_slice(&key_len.to_be_bytes());
        let value_len = u32::try_from(value.len()).expect("the store's values have at most 1 GiB");
        self.pending.extend_from_slice(&value_len.to_be_bytes());
        self.pending.extend_from_slice(key);
        self.pending.extend_from_slice(value);
        self.hash.update(&self.pending[start..]);
        self.records += 1;
    }

    fn end(&mut self) {
        let start = self.pending.len();
        self.pending.push(END);
        self.pending.extend_from_slice(&self.records.to_be_bytes());
        self.hash.update(&self.pending[start..]);
        self.pending.extend_from_slice(&self.hash.digest128().to_be_bytes());
        self.ended = true;
    }
}

/// Installs a snapshot. Dropped before [`SnapshotWriter::finish`], it leaves the present directory as it is.
pub struct SnapshotWriter {
    directory: Directory,
    files: Arc<dyn FileSystem>,
    folder: PathBuf,
    store: Store,
    txn: Option<WriteTxn>,
    /// Bytes received that are not a whole record yet.
    pending: Vec<u8>,
    /// How many of them make it whole, as far as is known: a large record is looked at once, not with every chunk.
    needed_bytes: usize,
    hash: Xxh3Default,
    header: Option<Option<LogPosition>>,
    uncommitted_bytes: usize,
    records: u64,
    ended: bool,
}

impl SnapshotWriter {
    pub(crate) fn new(
        directory: Directory,
        files: Arc<dyn FileSystem>,
        folder: &Path,
        options: StoreOptions,
    ) -> Result<SnapshotWriter, DirectoryError> {
        // First, and durably: an intent left by a switch that failed must never meet the file begun here.
        if remove_if_exists(&*files, &intent_path(folder))? {
            sync_folder(&*files, folder)?;
        }
        remove_incoming(&*files, folder)?;
        let store = Store::open(files.clone(), &incoming_path(folder), options)?;
        Ok(SnapshotWriter {
            directory,
            files,
            folder: folder.to_owned(),
            store,
            txn: None,
            pending: Vec::new(),
            needed_bytes: 0,
            hash: Xxh3Default::new(),
            header: None,
            uncommitted_bytes: 0,
            records: 0,
            ended: false,
        })
    }

    /// Takes the next bytes of the stream.
    ///
    /// # Errors
    /// A stream that cannot be read, or the store's.
    pub fn chunk(&mut self, bytes: &[u8]) -> Result<(), DirectoryError> {
        self.pending.extend_from_slice(bytes);
        if self.pending.len() < self.needed_bytes {
            return Ok(());
        }
        self.needed_bytes = 0;
        let pending = std::mem::take(&mut self.pending);
        let mut rest = pending.as_slice();
        while let Some(used) = self.take(rest)? {
            rest = &rest[used..];
        }
        self.pending = rest.to_vec();
        if self.uncommitted_bytes >= COMMIT_BYTES {
            self.commit(&[])?;
        }
        Ok(())
    }

    /// Takes one item from the front of `bytes`; `None` when it is not whole.
    fn take(&mut self, bytes: &[u8]) -> Result<Option<usize>, DirectoryError> {
        let bad = |what: &str| Err(DirectoryError::Snapshot(what.to_owned()));
        let Some(&kind) = bytes.first() else { return Ok(None) };
        if self.ended {
            return bad("data after the end");
        }
        if self.header.is_none() {
            if bytes.len() < HEADER_BYTES {
                return Ok(None);
            }
            if bytes[..16] != MAGIC[..] || bytes[16..20] != VERSION.to_be_bytes() {
                return bad("not a snapshot that this version can read");
            }
            let position = LogPosition::parse(&bytes[21..HEADER_BYTES]).filter(|_| bytes[20] == 1);
            self.header = Some(position);
            self.hash.update(&bytes[..HEADER_BYTES]);
            return Ok(Some(HEADER_BYTES));
        }
        match kind {
            RECORD => {
                let Some(header) = bytes.get(..RECORD_HEADER_BYTES) else { return Ok(None) };
                let number = |at: usize, len: usize| {
                    header[at..at + len].iter().fold(0usize, |sum, byte| sum << 8 | usize::from(*byte))
                };
                let (tree, key_len, value_len) = (number(1, 4), number(5, 2), number(7, 4));
                if value_len > VALUE_BYTES_MAX {
                    return bad("a value is longer than the store's");
                }
                let whole = RECORD_HEADER_BYTES + key_len + value_len;
                let Some(item) = bytes.get(..whole) else {
                    self.needed_bytes = whole;
                    return Ok(None);
                };
                let (key, value) = item[RECORD_HEADER_BYTES..].split_at(key_len);
                let store = &self.store;
                let txn = self.txn.get_or_insert_with(|| store.begin());
                txn.put(TreeId(tree as u32), key, value)?;
                self.hash.update(item);
                self.records += 1;
                self.uncommitted_bytes += whole;
                Ok(Some(whole))
            }
            END => {
                let Some(item) = bytes.get(..END_BYTES) else { return Ok(None) };
                self.hash.update(&item[..9]);
                if item[1..9] != self.records.to_be_bytes() {
                    return bad("the number of records differs");
                }
                if item[9..] != self.hash.digest128().to_be_bytes() {
                    return bad("the checksum differs");
                }
                self.ended = true;
                Ok(Some(END_BYTES))
            }
            _ => bad("unknown kind of record"),
        }
    }

    fn commit(&mut self, label: &[u8]) -> Result<(), DirectoryError> {
        if let Some(txn) = self.txn.take() {
            txn.commit(label)?;
        }
        self.uncommitted_bytes = 0;
        if self.store.needs_checkpoint() {
            self.store.checkpoint()?;
        }
        Ok(())
    }

    /// Puts the snapshot in place of the present directory. When this fails before the switch, the present directory
    /// goes on; after it, the directory must be opened again.
    ///
    /// # Errors
    /// A stream that is not whole, or the store's.
    pub fn finish(mut self) -> Result<(), DirectoryError> {
        if !self.ended || !self.pending.is_empty() {
            return Err(DirectoryError::Snapshot("the stream ends early".to_owned()));
        }
        self.commit(&[])?;
        let state = State::load(&self.store.view())?;
        if self.header != Some(state.applied) {
            return Err(DirectoryError::Snapshot("header and content name different positions".to_owned()));
        }
        // Twice, so that the older checkpoint too says where the log may be purged.
        for _ in 0..2 {
            let mut txn = self.store.begin();
            if let Some(position) = state.applied {
                txn.put(META, META_APPLIED, &position.encode())?;
            }
            txn.commit(&label(state.applied))?;
            self.store.checkpoint()?;
        }
        let SnapshotWriter { directory, files, folder, store, .. } = self;
        drop(store);
        write_intent(&*files, &folder, state.applied)?;
        directory.switch()
    }
}

fn failed(what: &str, path: &Path) -> impl FnOnce(std::io::Error) -> DirectoryError {
    let what = format!("{what} {}", path.display());
    move |source| DirectoryError::File { what, source }
}

fn remove_if_exists(files: &dyn FileSystem, path: &Path) -> Result<bool, DirectoryError> {
    if !files.exists(path).map_err(failed("looking for", path))? {
        return Ok(false);
    }
    files.remove(path).map_err(failed("removing", path))?;
    Ok(true)
}

fn sync_folder(files: &dyn FileSystem, folder: &Path) -> Result<(), DirectoryError> {
    files.sync_dir(folder).map_err(failed("syncing", folder))
}

fn write_intent(files: &dyn FileSystem, folder: &Path, applied: Option<LogPosition>) -> Result<(), DirectoryError> {
    let path = intent_path(folder);
    let mut record = INTENT_MAGIC.to_vec();
    record.extend_from_slice(&applied.map_or([0; 24], LogPosition::encode));
    let checksum = xxh3_128(&record);
    record.extend_from_slice(&checksum.to_be_bytes());
    let file = files.open(&path, true).map_err(failed("creating", &path))?;
    file.write_at(0, &record).map_err(failed("writing", &path))?;
    file.sync().map_err(failed("syncing", &path))?;
    sync_folder(files, folder)
}

/// Whether a whole intent record stands in the folder.
fn has_intent(files: &dyn FileSystem, folder: &Path) -> Result<bool, DirectoryError> {
    let path = intent_path(folder);
    if !files.exists(&path).map_err(failed("looking for", &path))? {
        return Ok(false);
    }
    let file = files.open(&path, false).map_err(failed("opening", &path))?;
    let mut record = [0; 56];
    if file.len().map_err(failed("measuring", &path))? != record.len() as u64 {
        return Ok(false);
    }
    file.read_at(0, &mut record).map_err(failed("reading", &path))?;
    Ok(record[..16] == INTENT_MAGIC[..] && record[40..] == xxh3_128(&record[..40]).to_be_bytes())
}

/// From the intent on: the switch itself, which a crash at any point leaves to [`recover`].
pub(crate) fn commit_install(files: &dyn FileSystem, folder: &Path) -> Result<(), DirectoryError> {
    let (incoming, store) = (incoming_path(folder), store_path(folder));
    if files.exists(&incoming).map_err(failed("looking for", &incoming))? {
        files.rename(&incoming, &store).map_err(failed("renaming", &incoming))?;
        sync_folder(files, folder)?;
    }
    remove_if_exists(files, &intent_path(folder))?;
    sync_folder(files, folder)
}

/// Finishes an install that had been decided, undoes one that had not.
pub(crate) fn recover(files: &dyn FileSystem, folder: &Path) -> Result<(), DirectoryError> {
    if has_intent(files, folder)? {
        return commit_install(files, folder);
    }
    let intent = remove_if_exists(files, &intent_path(folder))?;
    if remove_incoming(files, folder)? || intent {
        sync_folder(files, folder)?;
    }
    Ok(())
}

/// Removes the file of an unfinished install, and what the store makes beside it while creating it.
fn remove_incoming(files: &dyn FileSystem, folder: &Path) -> Result<bool, DirectoryError> {
    let mut removed = false;
    for path in files.list(folder).map_err(failed("listing", folder))? {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.starts_with(INCOMING) {
            removed |= remove_if_exists(files, &path)?;
        }
    }
    Ok(removed)
}
