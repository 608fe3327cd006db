//! The log in preallocated files, over a small file trait: for the simulator, and as the yardstick.

mod meta;
mod record;
mod segment;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;

pub(super) use self::meta::MetaStore;
use self::meta::{Floor, Meta, MetaFile};
use self::record::{Header, record_bytes};
use self::segment::{Segment, Tail, segment_path};
use super::backend::{Backend, LogError, LogMeta, Opened, OrderCheck, Record, SyncScope, boundary};
use super::files::LogFiles;
use crate::core::types::LogId;

/// Encoded records are gathered up to this before they are written.
const WRITE_BYTES: usize = 1 << 20;

struct State {
    segments: Vec<Arc<Mutex<Segment>>>,
    generation: u64,
    /// Highest durable index plus one.
    synced: u64,
}

pub(super) struct SegmentedLog {
    path: PathBuf,
    files: Arc<dyn LogFiles>,
    segment_bytes: u64,
    meta: Mutex<Meta>,
    state: Mutex<State>,
}

impl SegmentedLog {
    /// Opens or creates the log in `path`, metadata included, and verifies all of it.
    pub fn open(files: Arc<dyn LogFiles>, path: &Path, segment_bytes: u64) -> Result<Opened, LogError> {
        Self::create_directory(&*files, path)?;
        let meta = MetaFile::open(&*files, path)?;
        Self::open_entries(files, path, segment_bytes, meta)
    }

    /// The same with the metadata in a store of its own, which holds `body`.
    pub fn open_with_meta(
        files: Arc<dyn LogFiles>,
        path: &Path,
        segment_bytes: u64,
        store: Box<dyn MetaStore>,
        body: Option<&[u8]>,
    ) -> Result<Opened, LogError> {
        Self::create_directory(&*files, path)?;
        let meta = Meta::new(store, body, path)?;
        Self::open_entries(files, path, segment_bytes, meta)
    }

    fn create_directory(files: &dyn LogFiles, path: &Path) -> Result<(), LogError> {
        let fail = |e: io::Error| LogError::io(path, e);
        files.create_directory(path).map_err(fail)?;
        if let Some(parent) = path.parent() {
            files.sync_directory(parent).map_err(fail)?;
        }
        Ok(())
    }

    fn open_entries(files: Arc<dyn LogFiles>, path: &Path, segment_bytes: u64, kept: Meta) -> Result<Opened, LogError> {
        let fail = |e: io::Error| LogError::io(path, e);
        let meta = kept.meta().cloned();
        let mut starts: Vec<u64> = files
            .list(path)
            .map_err(fail)?
            .iter()
            .filter_map(|name| name.strip_prefix("seg-")?.strip_suffix(".log")?.parse().ok())
            .collect();
        starts.sort_unstable();
        if meta.is_none() && !starts.is_empty() {
            return Err(LogError::damaged(path, "there are segments, but vote and identity are lost"));
        }
        let purged = meta.as_ref().and_then(|m| m.purged);
        let (segments, generation, last) = verify(&*files, path, starts, purged, kept.floor)?;
        let floor = kept.floor.generation;
        let state = State {
            segments: segments.into_iter().map(|s| Arc::new(Mutex::new(s))).collect(),
            generation: generation.max(floor) + 1,
            synced: last.map_or(0, |l| l.index + 1),
        };
        let log = SegmentedLog {
            path: path.to_owned(),
            files,
            segment_bytes,
            meta: Mutex::new(kept),
            state: Mutex::new(state),
        };
        Ok(Opened { backend: Box::new(log), meta, last })
    }

    /// The segment to write to, a new one if there is none or it is full. Full ones are synced first:
    /// later syncs reach only the newest.
    fn writable(&self, index: u64, need: u64) -> io::Result<Arc<Mutex<Segment>>> {
        let newest = self.state.lock().segments.last().cloned();
        if let Some(newest) = newest {
            let segment = newest.lock();
            if segment.count == 0 || segment.end + need <= self.segment_bytes {
                drop(segment);
                return Ok(newest);
            }
            segment.file.sync()?;
        }
        // The first record always fits, however large.
        let bytes = self.segment_bytes.max(need);
        let segment = Segment::create(&*self.files, &self.path, index, bytes)?;
        let segment = Arc::new(Mutex::new(segment));
        self.state.lock().segments.push(segment.clone());
        Ok(segment)
    }

    fn delete(&self, starts: &[u64]) -> io::Result<()> {
        for &start in starts {
            match self.files.remove(&segment_path(&self.path, start)) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
                _ => {}
            }
            // One by one, so that a crash leaves a prefix (or, when purging, a suffix) of the log.
            self.files.sync_directory(&self.path)?;
        }
        Ok(())
    }
}

type Verified = (Vec<Segment>, u64, Option<LogId>);

fn verify(
    files: &dyn LogFiles,
    path: &Path,
    mut starts: Vec<u64>,
    purged: Option<LogId>,
    floor: Floor,
) -> Result<Verified, LogError> {
    let fail = |e: io::Error| LogError::io(path, e);
    let first_wanted = purged.map_or(0, |p| p.index + 1);
    let doomed = starts.windows(2).take_while(|w| w[1] <= first_wanted).count();
    for start in starts.drain(..doomed) {
        files.remove(&segment_path(path, start)).map_err(fail)?;
    }
    if let Some(&start) = starts.first()
        && start > first_wanted
    {
        let why = format!("the log starts at {start}, not at {first_wanted}");
        return Err(LogError::damaged(path, why));
    }
    let mut order = OrderCheck::new(None);
    let mut generation = 0;

    let mut segments = Vec::new();
    for (n, &start) in starts.iter().enumerate() {
        let limit = starts.get(n + 1).copied();
        let (segment, tail) = Segment::verify(files, path, start, limit, &mut order, &mut generation, floor)?;
        if let Tail::Damaged(index) = tail {
            return Err(LogError::damaged(segment_path(path, start), format!("entry {index} is damaged")));
        }
        if let Some(&next) = starts.get(n + 1)
            && start + segment.count != next
        {
            if start + segment.count == floor.index {
                // A crash within a truncation: the files behind it were about to be removed.
                for &start in starts[n + 1..].iter().rev() {
                    files.remove(&segment_path(path, start)).map_err(fail)?;
                }
                segments.push(segment);
                break;
            }
            let why = format!("entries {} to {} are missing", start + segment.count, next - 1);
            return Err(LogError::damaged(segment_path(path, start), why));
        }
        segments.push(segment);
    }
    let mut last = order.last();
    if let (Some(purged), Some(end)) = (purged, last)
        && end.index <= purged.index
    {
        for segment in segments.drain(..) {
            files.remove(&segment_path(path, segment.start)).map_err(fail)?;
        }
        last = None;
    }
    // An empty segment below the purge point would be continued at a wrong index.
    if segments.last().is_some_and(|s| s.count == 0 && s.start < first_wanted) {
        for segment in segments.drain(..) {
            files.remove(&segment_path(path, segment.start)).map_err(fail)?;
        }
    }
    // What was read may not have been synced by whoever wrote it, and is acknowledged from now on.
    if let Some(segment) = segments.last() {
        segment.file.sync().map_err(fail)?;
    }
    files.sync_directory(path).map_err(fail)?;
    Ok((segments, generation, last.max(purged)))
}

impl Backend for SegmentedLog {
    fn append(&self, records: &[Record]) -> io::Result<()> {
        let (generation, synced) = {
            let state = self.state.lock();
            (state.generation, state.synced)
        };
        let mut rest = records;
        while let Some(first) = rest.first() {
            let shared = self.writable(first.log_id.index, record_bytes(first.bytes.len()))?;
            let mut segment = shared.lock();
            let (mut buffer, mut taken, mut end) = (Vec::new(), 0, segment.end);
            for record in rest {
                let bytes = record_bytes(record.bytes.len());
                if taken > 0 && (end + bytes > self.segment_bytes || buffer.len() >= WRITE_BYTES) {
                    break;
                }
                Header::new(record.log_id.index, synced, generation, &record.bytes).write(&record.bytes, &mut buffer);
                end += bytes;
                taken += 1;
            }
            segment.file.write_at(&buffer, segment.end)?;
            segment.extend(&rest[..taken]);
            rest = &rest[taken..];
        }
        Ok(())
    }

    fn set_meta(&self, meta: &LogMeta) -> io::Result<()> {
        self.meta.lock().write(meta)
    }

    fn sync(&self, scope: SyncScope) -> io::Result<()> {
        if scope.entries {
            let newest = self.state.lock().segments.last().cloned();
            if let Some(newest) = newest {
                let (file, last) = {
                    let segment = newest.lock();
                    (segment.file.clone(), segment.start + segment.count)
                };
                file.sync()?;
                self.state.lock().synced = last;
            }
        }
        if scope.meta {
            self.meta.lock().sync()?;
        }
        Ok(())
    }

    fn truncate_from(&self, index: u64) -> io::Result<()> {
        let mut state = self.state.lock();
        let keep = state.segments.partition_point(|s| s.lock().start < index);
        let doomed: Vec<u64> = state.segments.drain(keep..).rev().map(|s| s.lock().start).collect();
        let newest = state.segments.last().cloned();
        state.generation += 1;
        state.synced = state.synced.min(index);
        let floor = Floor { index, generation: state.generation };
        drop(state);
        // First the note: should a crash interrupt the rest, it says what no longer counts.
        self.meta.lock().set_floor(floor)?;
        self.delete(&doomed)?;
        if let Some(newest) = newest {
            let mut segment = newest.lock();
            if segment.last().is_some_and(|last| last >= index) {
                segment.truncate_from(index)?;
            }
        }
        Ok(())
    }

    fn delete_purged(&self, upto: u64) -> io::Result<()> {
        let mut state = self.state.lock();
        let below = |s: &Segment| s.last().unwrap_or(s.start) <= upto;
        let count = state.segments.iter().take_while(|s| below(&s.lock())).count();
        let doomed: Vec<u64> = state.segments.drain(..count).map(|s| s.lock().start).collect();
        drop(state);
        self.delete(&doomed)
    }

    fn read(&self, from: u64, to: u64, max_bytes: usize) -> io::Result<Vec<Bytes>> {
        let (mut next, mut bytes) = (from, 0);
        let mut entries = Vec::new();
        while next < to && bytes < max_bytes {
            let found = {
                let state = self.state.lock();
                let n = state.segments.partition_point(|s| s.lock().start <= next);
                n.checked_sub(1).map(|n| state.segments[n].clone())
            };
            let Some(shared) = found else { break };
            let segment = shared.lock();
            let Some(last) = segment.last().filter(|last| *last >= next) else { break };
            let part = segment.read(next, to.min(last + 1), max_bytes - bytes)?;
            drop(segment);
            next += part.len() as u64;
            bytes += part.iter().map(Bytes::len).sum::<usize>();
            entries.extend(part);
        }
        Ok(entries)
    }

    fn purge_boundary(&self, upto: u64, retain_bytes: u64) -> Option<u64> {
        let state = self.state.lock();
        let sizes: Vec<_> = state
            .segments
            .iter()
            .map(|s| {
                let s = s.lock();
                (s.last(), s.end)
            })
            .collect();
        boundary(sizes.into_iter(), upto, retain_bytes)
    }
}
