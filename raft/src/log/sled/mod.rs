//! The log in sled: one directory for the metadata, one for each stretch of entries, deleted when purged
//! (purging inside one sled gives back neither memory nor disk).

mod directory;
mod meta;
mod parts;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::Duration;

use bindery_proto::raft as wire;
use bytes::Bytes;
use parking_lot::Mutex;
use prost::Message;
use xxhash_rust::xxh3::xxh3_64;

use self::directory::{SledDirectory, io_error, sync_directory};
pub(super) use self::meta::SledMeta;
use self::parts::Joiner;
use super::backend::{Backend, LogError, LogMeta, Opened, OrderCheck, Record, SyncScope, boundary};
use crate::codec::decode_entry;
use crate::core::types::LogId;

/// sled's own segments: 64 parts of an entry each.
const SLED_SEGMENT_BYTES: usize = 1 << 20;
const META_KEY: &[u8] = b"meta";
const SEGMENTS_KEY: &[u8] = b"segments";
/// Removals in one sled batch while truncating.
const TRUNCATE_BATCH: usize = 1000;
/// Bytes in one sled batch, so that a long append does not double its memory.
const APPEND_BATCH_BYTES: usize = 4 << 20;
/// Closing a sled takes milliseconds; two seconds cover a busy disk.
const OPEN_TRIES: u32 = 100;
const OPEN_RETRY: Duration = Duration::from_millis(20);

/// The entries from `start` on.
struct Segment {
    start: u64,
    /// Last entry inside; `None` = empty.
    last: Option<u64>,
    bytes: u64,
}

struct State {
    segments: Vec<Segment>,
    /// The newest segment, open; `None` = the next append starts one.
    current: Option<Arc<SledDirectory>>,
}

pub(super) struct SledLog {
    path: PathBuf,
    cache_bytes: u64,
    segment_bytes: u64,
    meta: SledDirectory,
    state: Mutex<State>,
    /// Held while a segment is deleted too, so that no reader opens (and so recreates) a directory that is
    /// going away.
    sealed: Mutex<Sealed>,
}

/// Segments that are not the newest.
#[derive(Default)]
struct Sealed {
    /// The one used last stays open, for a follower that lags.
    cached: Option<(u64, Arc<SledDirectory>)>,
    /// Those that some reader still holds: a second open of the same directory would fail.
    alive: BTreeMap<u64, Weak<SledDirectory>>,
}

impl Sealed {
    fn remember(&mut self, start: u64, directory: &Arc<SledDirectory>) {
        self.alive.retain(|_, weak| weak.strong_count() > 0);
        self.alive.insert(start, Arc::downgrade(directory));
    }

    /// Opens a segment, or finds it still open.
    fn open(&mut self, log: &Path, start: u64, cache_bytes: u64) -> io::Result<Arc<SledDirectory>> {
        if let Some(directory) = self.alive.get(&start).and_then(Weak::upgrade) {
            return Ok(directory);
        }
        let path = segment_path(log, start);
        let mut tries = 0;
        loop {
            match SledDirectory::open(&path, cache_bytes, SLED_SEGMENT_BYTES) {
                Ok(directory) => {
                    let directory = Arc::new(directory);
                    self.remember(start, &directory);
                    return Ok(directory);
                }
                // Its last holder may be closing it this moment.
                Err(_) if tries < OPEN_TRIES => {
                    tries += 1;
                    std::thread::sleep(OPEN_RETRY);
                }
                Err(error) => return Err(io::Error::other(error)),
            }
        }
    }
}

fn segment_path(log: &Path, start: u64) -> PathBuf {
    log.join(format!("seg-{start:020}"))
}

fn with_checksum(mut bytes: Vec<u8>) -> Vec<u8> {
    let sum = xxh3_64(&bytes);
    bytes.extend_from_slice(&sum.to_be_bytes());
    bytes
}

fn without_checksum(bytes: &[u8]) -> Result<&[u8], String> {
    let at = bytes.len().checked_sub(8).ok_or("record too short")?;
    let (body, sum) = bytes.split_at(at);
    if xxh3_64(body).to_be_bytes() != *sum {
        return Err("bad checksum".into());
    }
    Ok(body)
}

impl SledLog {
    /// Opens or creates the log in `path` and verifies all of it.
    pub fn open(path: &Path, cache_bytes: u64, segment_bytes: u64) -> Result<Opened, LogError> {
        std::fs::create_dir_all(path).map_err(|e| LogError::io(path, e))?;
        let meta_path = path.join("meta");
        let directory = SledDirectory::open(&meta_path, cache_bytes, SLED_SEGMENT_BYTES)?;
        let damaged = |why: String| LogError::damaged(&meta_path, why);
        let read = |key: &[u8]| directory.db.get(key).map_err(|e| LogError::io(&meta_path, io_error(e)));
        let meta = match read(META_KEY)? {
            None => None,
            Some(bytes) => {
                let body = without_checksum(&bytes).map_err(damaged)?;
                Some(LogMeta::decode(body).map_err(|e| damaged(e.to_string()))?)
            }
        };
        let starts = match read(SEGMENTS_KEY)? {
            None => Vec::new(),
            Some(bytes) => {
                let body = without_checksum(&bytes).map_err(damaged)?;
                wire::SegmentList::decode(body).map_err(|e| damaged(e.to_string()))?.starts
            }
        };
        if meta.is_none() && !starts.is_empty() {
            return Err(damaged("segments are listed, but vote and identity are lost".into()));
        }
        remove_unlisted(path, &starts)?;
        let mut log = SledLog {
            path: path.to_owned(),
            cache_bytes,
            segment_bytes,
            meta: directory,
            state: Mutex::new(State { segments: Vec::new(), current: None }),
            sealed: Mutex::new(Sealed::default()),
        };
        let purged = meta.as_ref().and_then(|m| m.purged);
        let last = log.verify(starts, purged)?;
        Ok(Opened { backend: Box::new(log), meta, last })
    }

    /// Reads every record. Leaves the newest segment open.
    fn verify(&mut self, mut starts: Vec<u64>, purged: Option<LogId>) -> Result<Option<LogId>, LogError> {
        // A segment wholly below the purge point was about to be deleted; the last one is such if it ends
        // there, which only reading it shows.
        let first_wanted = purged.map_or(0, |p| p.index + 1);
        let mut segments: Vec<Segment> = Vec::new();
        let mut check: Option<OrderCheck> = None;
        let mut newest = None;
        let count = starts.len();
        starts.dedup();
        if starts.len() != count || !starts.is_sorted() {
            return Err(LogError::damaged(&self.path, "the segment list is not in order"));
        }
        let doomed = starts.windows(2).take_while(|w| w[1] <= first_wanted).count();
        let mut doomed: Vec<u64> = starts.drain(..doomed).collect();
        for (n, &start) in starts.iter().enumerate() {
            let path = segment_path(&self.path, start);
            if !path.join("db").exists() {
                return Err(LogError::damaged(path, "a listed segment is missing"));
            }
            if start > first_wanted && n == 0 {
                return Err(LogError::damaged(path, format!("the log starts at {start}, not at {first_wanted}")));
            }
            let directory = Arc::new(SledDirectory::open(&path, self.cache_bytes, SLED_SEGMENT_BYTES)?);
            let newest_segment = n + 1 == starts.len();
            let order = check.get_or_insert_with(|| OrderCheck::new(None));
            let segment = verify_segment(&path, &directory, start, order, newest_segment)?;
            if !newest_segment && segment.last.map(|l| l + 1) != Some(starts[n + 1]) {
                return Err(LogError::damaged(path, "entries are missing at the end of this segment"));
            }
            segments.push(segment);
            newest = Some(directory);
        }
        let last = check.and_then(|c| c.last());
        // An install may have moved the purge point past everything.
        if let (Some(purged), Some(last)) = (purged, last)
            && last.index <= purged.index
        {
            doomed.extend(segments.drain(..).map(|s| s.start));
            newest = None;
        }
        // An empty segment below the purge point would be continued at a wrong index.
        if segments.last().is_some_and(|s| s.last.is_none() && s.start < first_wanted) {
            doomed.extend(segments.drain(..).map(|s| s.start));
            newest = None;
        }
        let mut state = self.state.lock();
        state.segments = segments;
        state.current = newest;
        drop(state);
        if !doomed.is_empty() {
            self.list_and_delete(&doomed).map_err(|e| LogError::io(&self.path, e))?;
        }
        Ok(last.max(purged))
    }

    /// Stores the present segment list durably, then deletes the given segments' directories.
    fn list_and_delete(&self, doomed: &[u64]) -> io::Result<()> {
        let mut sealed = self.sealed.lock();
        self.store_list()?;
        sealed.alive.retain(|start, _| !doomed.contains(start));
        if sealed.cached.as_ref().is_some_and(|(start, _)| doomed.contains(start)) {
            sealed.cached = None;
        }
        for &start in doomed {
            match std::fs::remove_dir_all(segment_path(&self.path, start)) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
                _ => {}
            }
        }
        sync_directory(&self.path)
    }

    fn store_list(&self) -> io::Result<()> {
        let starts = self.state.lock().segments.iter().map(|s| s.start).collect();
        let bytes = with_checksum(wire::SegmentList { starts }.encode_to_vec());
        self.meta.db.insert(SEGMENTS_KEY, bytes).map_err(io_error)?;
        self.meta.sync()
    }

    /// The open newest segment, starting one at `index` if there is none or it is full.
    fn writable(&self, index: u64) -> io::Result<Arc<SledDirectory>> {
        {
            let state = self.state.lock();
            if let (Some(current), Some(segment)) = (&state.current, state.segments.last())
                && segment.bytes < self.segment_bytes
            {
                return Ok(current.clone());
            }
        }
        // The full one must be durable before it is closed: later syncs reach only the new one.
        let full = {
            let state = self.state.lock();
            state.current.clone().zip(state.segments.last().map(|s| s.start))
        };
        if let Some((full, start)) = full {
            full.sync()?;
            let mut sealed = self.sealed.lock();
            sealed.remember(start, &full);
            sealed.cached = Some((start, full));
            self.state.lock().current = None;
        }
        let path = segment_path(&self.path, index);
        let directory =
            Arc::new(SledDirectory::open(&path, self.cache_bytes, SLED_SEGMENT_BYTES).map_err(io::Error::other)?);
        let mut state = self.state.lock();
        state.segments.push(Segment { start: index, last: None, bytes: 0 });
        state.current = Some(directory.clone());
        drop(state);
        self.store_list()?;
        Ok(directory)
    }

    /// The segment that holds `index`, opened if it is closed.
    fn readable(&self, index: u64) -> io::Result<Option<(Arc<SledDirectory>, u64)>> {
        let mut sealed = self.sealed.lock();
        let state = self.state.lock();
        let Some(n) = state.segments.partition_point(|s| s.start <= index).checked_sub(1) else { return Ok(None) };
        let Some(last) = state.segments[n].last.filter(|last| *last >= index) else { return Ok(None) };
        if n + 1 == state.segments.len()
            && let Some(current) = &state.current
        {
            return Ok(Some((current.clone(), last)));
        }
        let start = state.segments[n].start;
        drop(state);
        if sealed.cached.as_ref().is_none_or(|(open, _)| *open != start) {
            sealed.cached = None;
        }
        let directory = sealed.open(&self.path, start, self.cache_bytes)?;
        sealed.cached = Some((start, directory.clone()));
        Ok(Some((directory, last)))
    }
}

fn remove_unlisted(path: &Path, starts: &[u64]) -> Result<(), LogError> {
    let fail = |e: io::Error| LogError::io(path, e);
    for entry in std::fs::read_dir(path).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let name = entry.file_name();
        let Some(start) = name.to_str().and_then(|n| n.strip_prefix("seg-")).and_then(|n| n.parse::<u64>().ok()) else {
            continue;
        };
        if !starts.contains(&start) {
            std::fs::remove_dir_all(entry.path()).map_err(fail)?;
        }
    }
    sync_directory(path).map_err(fail)
}

fn verify_segment(
    path: &Path,
    directory: &SledDirectory,
    start: u64,
    order: &mut OrderCheck,
    newest: bool,
) -> Result<Segment, LogError> {
    let mut segment = Segment { start, last: None, bytes: 0 };
    let mut joiner = Joiner::default();
    for record in directory.db.iter() {
        let (key, value) = record.map_err(|e| LogError::damaged(path, e.to_string()))?;
        let Some((index, bytes)) = joiner.push(&key, &value).map_err(|why| LogError::damaged(path, why))? else {
            continue;
        };
        let length = bytes.len() as u64;
        let entry = decode_entry(bytes).map_err(|e| LogError::damaged(path, format!("entry {index}: {e}")))?;
        if entry.log_id.index != index || (segment.last.is_none() && index != start) {
            return Err(LogError::damaged(path, format!("entry {} is stored at {index}", entry.log_id)));
        }
        order.push(entry.log_id).map_err(|why| LogError::damaged(path, why))?;
        segment.last = Some(index);
        segment.bytes += length;
    }
    if let Some(index) = joiner.incomplete() {
        if !newest {
            return Err(LogError::damaged(path, format!("entry {index} is incomplete")));
        }
        // Its last part was never synced, so it was never acknowledged.
        remove_from(directory, index).map_err(|e| LogError::io(path, e))?;
    }
    Ok(segment)
}

/// Removes the records from `index` on, last first, so that a crash within leaves a prefix.
fn remove_from(directory: &SledDirectory, index: u64) -> io::Result<()> {
    loop {
        let mut batch = sled::Batch::default();
        let mut count = 0;
        for record in directory.db.range(parts::key(index, 0)..).rev().take(TRUNCATE_BATCH) {
            batch.remove(record.map_err(io_error)?.0);
            count += 1;
        }
        if count == 0 {
            return directory.sync();
        }
        directory.db.apply_batch(batch).map_err(io_error)?;
    }
}

impl Backend for SledLog {
    fn append(&self, records: &[Record]) -> io::Result<()> {
        let mut rest = records;
        while let Some(first) = rest.first() {
            let directory = self.writable(first.log_id.index)?;
            let mut batch = sled::Batch::default();
            let room = self.segment_bytes.saturating_sub(self.state.lock().segments.last().map_or(0, |s| s.bytes));
            let (mut bytes, mut taken) = (0u64, 0);
            for record in rest {
                for (key, value) in parts::split(record.log_id.index, &record.bytes) {
                    batch.insert(&key[..], value);
                }
                bytes += record.bytes.len() as u64;
                taken += 1;
                if bytes >= room || bytes >= APPEND_BATCH_BYTES as u64 {
                    break;
                }
            }
            directory.db.apply_batch(batch).map_err(io_error)?;
            let last = rest[taken - 1].log_id.index;
            let mut state = self.state.lock();
            let segment = state.segments.last_mut().expect("writable() left a segment");
            segment.last = Some(last);
            segment.bytes += bytes;
            drop(state);
            rest = &rest[taken..];
        }
        Ok(())
    }

    fn set_meta(&self, meta: &LogMeta) -> io::Result<()> {
        self.meta.db.insert(META_KEY, with_checksum(meta.encode())).map_err(io_error)?;
        Ok(())
    }

    fn sync(&self, scope: SyncScope) -> io::Result<()> {
        if scope.entries {
            let current = self.state.lock().current.clone();
            if let Some(current) = current {
                current.sync()?;
            }
        }
        if scope.meta {
            self.meta.sync()?;
        }
        Ok(())
    }

    fn truncate_from(&self, index: u64) -> io::Result<()> {
        let mut state = self.state.lock();
        let keep = state.segments.partition_point(|s| s.start < index);
        // Newest first, should a crash interrupt the deletion.
        let doomed: Vec<u64> = state.segments.drain(keep..).rev().map(|s| s.start).collect();
        if !doomed.is_empty() {
            state.current = None;
        }
        let start = state.segments.last().map(|s| s.start);
        let reopen = state.current.is_none();
        drop(state);
        if !doomed.is_empty() {
            self.list_and_delete(&doomed)?;
        }
        let Some(start) = start else { return Ok(()) };
        let directory = if reopen {
            let mut sealed = self.sealed.lock();
            sealed.open(&self.path, start, self.cache_bytes)?
        } else {
            self.state.lock().current.clone().expect("not taken since it was looked at: there is one writer")
        };
        remove_from(&directory, index)?;
        let mut bytes = 0;
        for record in directory.db.iter() {
            bytes += record.map_err(io_error)?.1.len() as u64;
        }
        let mut state = self.state.lock();
        state.current = Some(directory);
        let segment = state.segments.last_mut().expect("looked at above");
        segment.last = segment.last.filter(|last| *last < index).or((index > segment.start).then(|| index - 1));
        segment.bytes = bytes;
        Ok(())
    }

    fn delete_purged(&self, upto: u64) -> io::Result<()> {
        let mut state = self.state.lock();
        let count = state.segments.iter().take_while(|s| s.last.unwrap_or(s.start) <= upto).count();
        let doomed: Vec<u64> = state.segments.drain(..count).map(|s| s.start).collect();
        if state.segments.is_empty() {
            state.current = None;
        }
        drop(state);
        if doomed.is_empty() {
            return Ok(());
        }
        self.list_and_delete(&doomed)
    }

    fn read(&self, from: u64, to: u64, max_bytes: usize) -> io::Result<Vec<Bytes>> {
        let (mut next, mut bytes) = (from, 0);
        let mut entries = Vec::new();
        while next < to && bytes < max_bytes {
            let Some((directory, last)) = self.readable(next)? else { break };
            let mut joiner = Joiner::default();
            let end = to.min(last + 1);
            for record in directory.db.range(parts::key(next, 0)..parts::key(end, 0)) {
                let (key, value) = record.map_err(io_error)?;
                let whole = joiner.push(&key, &value).map_err(|why| io::Error::new(io::ErrorKind::InvalidData, why))?;
                if let Some((index, entry)) = whole {
                    if index != next {
                        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("entry {next} is missing")));
                    }
                    next += 1;
                    bytes += entry.len();
                    entries.push(entry);
                    if bytes >= max_bytes {
                        break;
                    }
                }
            }
            if bytes < max_bytes && next != end {
                return Err(io::Error::new(io::ErrorKind::InvalidData, format!("entry {next} is missing")));
            }
        }
        Ok(entries)
    }

    fn purge_boundary(&self, upto: u64, retain_bytes: u64) -> Option<u64> {
        boundary(self.state.lock().segments.iter().map(|s| (s.last, s.bytes)), upto, retain_bytes)
    }
}
