//! What is kept beside the entries: the log's metadata, and the last truncation: records at or behind its
//! index with an older generation are what it left in the file.
//!
//! It lies in a file of two slots, written in turn (the slot that holds the newest synced record is never
//! written before another sync, so that a torn write cannot lose it), or in a sled.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use crate::log::files::{LogFile, LogFiles};
use crate::log::{LogError, LogMeta};

const SLOT_BYTES: usize = 4096;
/// Sequence, length, checksum.
const HEADER_BYTES: usize = 24;
/// Index and generation of the last truncation, before the metadata.
const FLOOR_BYTES: usize = 16;

/// The last truncation.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Floor {
    pub index: u64,
    pub generation: u64,
}

impl Floor {
    /// Whether a record was cut off.
    pub fn cuts(&self, index: u64, generation: u64) -> bool {
        index >= self.index && generation < self.generation
    }
}

/// Where one small record is kept. What was written last or what was synced last is found after a crash.
pub(in crate::log) trait MetaStore: Send {
    /// Replaces the record; durable after the next sync.
    fn write(&mut self, body: &[u8]) -> io::Result<()>;
    /// Makes what was written durable.
    fn sync(&mut self) -> io::Result<()>;
}

/// The metadata and its place.
pub(super) struct Meta {
    store: Box<dyn MetaStore>,
    meta: Option<LogMeta>,
    pub floor: Floor,
}

impl Meta {
    /// What a store was opened with; `body` is `None` if nothing was ever stored, so that the log was never
    /// used. `path` names it in errors.
    pub fn new(store: Box<dyn MetaStore>, body: Option<&[u8]>, path: &Path) -> Result<Meta, LogError> {
        let Some(body) = body else { return Ok(Meta { store, meta: None, floor: Floor::default() }) };
        let short = || LogError::damaged(path, "the metadata is too short");
        let (floor, meta) = body.split_at_checked(FLOOR_BYTES).ok_or_else(short)?;
        let word = |at: usize| u64::from_le_bytes(floor[at..at + 8].try_into().expect("eight bytes"));
        let floor = Floor { index: word(0), generation: word(8) };
        let meta = LogMeta::decode(meta).map_err(|e| LogError::damaged(path, e.to_string()))?;
        Ok(Meta { store, meta: Some(meta), floor })
    }

    /// What is stored.
    pub fn meta(&self) -> Option<&LogMeta> {
        self.meta.as_ref()
    }

    pub fn write(&mut self, meta: &LogMeta) -> io::Result<()> {
        self.meta = Some(meta.clone());
        let mut body = Vec::new();
        body.extend_from_slice(&self.floor.index.to_le_bytes());
        body.extend_from_slice(&self.floor.generation.to_le_bytes());
        body.extend_from_slice(&meta.encode());
        self.store.write(&body)
    }

    /// Remembers a truncation; durable on return.
    pub fn set_floor(&mut self, floor: Floor) -> io::Result<()> {
        self.floor = floor;
        // Without metadata there is no entry to cut.
        let Some(meta) = self.meta.clone() else { return Ok(()) };
        self.write(&meta)?;
        self.sync()
    }

    pub fn sync(&mut self) -> io::Result<()> {
        self.store.sync()
    }
}

/// The file of two slots.
pub(super) struct MetaFile {
    file: Arc<dyn LogFile>,
    sequence: u64,
    synced_slot: u64,
    written_slot: u64,
}

fn parse(slot: &[u8]) -> Option<(u64, Vec<u8>)> {
    let word = |at: usize| u64::from_le_bytes(slot[at..at + 8].try_into().expect("eight bytes"));
    let (sequence, length, checksum) = (word(0), usize::try_from(word(8)).ok()?, word(16));
    let body = slot.get(HEADER_BYTES..HEADER_BYTES.checked_add(length)?)?;
    (sequence != 0 && checksum == sum(sequence, body)).then(|| (sequence, body.to_vec()))
}

fn sum(sequence: u64, body: &[u8]) -> u64 {
    xxh3_64(body) ^ sequence.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl MetaFile {
    /// Opens or creates.
    pub fn open(files: &dyn LogFiles, log: &Path) -> Result<Meta, LogError> {
        let path: PathBuf = log.join("meta");
        let fail = |e: io::Error| LogError::io(&path, e);
        let file = match files.open(&path, false) {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound => files.open(&path, true).map_err(fail)?,
            Err(e) => return Err(fail(e)),
        };
        let whole = 2 * SLOT_BYTES as u64;
        if file.length().map_err(fail)? < whole {
            // Its creation was interrupted: the first record is stored only once the file is whole.
            file.allocate(whole).map_err(fail)?;
            file.write_at(&[0; 2 * SLOT_BYTES], 0).map_err(fail)?;
            file.sync().map_err(fail)?;
            files.sync_directory(log).map_err(fail)?;
        }
        let mut bytes = [0; 2 * SLOT_BYTES];
        file.read_at(&mut bytes, 0).map_err(fail)?;
        let slots = [parse(&bytes[..SLOT_BYTES]), parse(&bytes[SLOT_BYTES..])];
        let newest =
            slots.into_iter().enumerate().filter_map(|(n, s)| s.map(|s| (n as u64, s))).max_by_key(|(_, s)| s.0);
        let Some((slot, (sequence, body))) = newest else {
            if bytes.iter().any(|b| *b != 0) {
                // The very first record may be torn: then the second slot is still blank.
                if bytes[SLOT_BYTES..].iter().any(|b| *b != 0) {
                    return Err(LogError::damaged(&path, "both slots are damaged"));
                }
            }
            let file = MetaFile { file, sequence: 0, synced_slot: 1, written_slot: 1 };
            return Meta::new(Box::new(file), None, &path);
        };
        // What was read may not have been synced by whoever wrote it.
        file.sync().map_err(fail)?;
        let file = MetaFile { file, sequence, synced_slot: slot, written_slot: slot };
        Meta::new(Box::new(file), Some(&body), &path)
    }
}

impl MetaStore for MetaFile {
    fn write(&mut self, body: &[u8]) -> io::Result<()> {
        assert!(body.len() <= SLOT_BYTES - HEADER_BYTES, "the metadata has a bounded number of small fields");
        self.sequence += 1;
        self.written_slot = 1 - self.synced_slot;
        let mut slot = Vec::with_capacity(HEADER_BYTES + body.len());
        slot.extend_from_slice(&self.sequence.to_le_bytes());
        slot.extend_from_slice(&(body.len() as u64).to_le_bytes());
        slot.extend_from_slice(&sum(self.sequence, body).to_le_bytes());
        slot.extend_from_slice(body);
        self.file.write_at(&slot, self.written_slot * SLOT_BYTES as u64)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync()?;
        self.synced_slot = self.written_slot;
        Ok(())
    }
}
