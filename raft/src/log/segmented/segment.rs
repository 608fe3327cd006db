//! One segment file.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;

use super::meta::Floor;
use super::record::{ALIGN, HEADER_BYTES, Header};
use crate::codec::decode_entry;
use crate::log::backend::OrderCheck;
use crate::log::files::{LogFile, LogFiles};
use crate::log::{LogError, Record};

/// Every this many entries' offsets are remembered; a read skips over the headers between.
const SPARSE: u64 = 32;
/// Read ahead while verifying.
const SCAN_BYTES: usize = 1 << 20;

pub(super) struct Segment {
    pub start: u64,
    /// Entries inside.
    pub count: u64,
    /// Where the next record goes.
    pub end: u64,
    /// Offsets of entries start, start + 32, ...
    sparse: Vec<u64>,
    pub file: Arc<dyn LogFile>,
}

pub(super) fn segment_path(log: &Path, start: u64) -> PathBuf {
    log.join(format!("seg-{start:020}.log"))
}

/// What verifying a segment found behind its last good record.
pub(super) enum Tail {
    /// Nothing that was ever acknowledged.
    Clean,
    /// A record at this index is bad although it was durable once.
    Damaged(u64),
}

impl Segment {
    /// Creates an empty, preallocated segment; durable on return.
    pub fn create(files: &dyn LogFiles, log: &Path, start: u64, bytes: u64) -> io::Result<Segment> {
        let path = segment_path(log, start);
        let file = files.open(&path, true)?;
        file.allocate(bytes)?;
        file.sync()?;
        files.sync_directory(log)?;
        Ok(Segment { start, count: 0, end: 0, sparse: Vec::new(), file })
    }

    pub fn last(&self) -> Option<u64> {
        self.count.checked_sub(1).map(|n| self.start + n)
    }

    /// Takes note of records just written at the end.
    pub fn extend(&mut self, records: &[Record]) {
        for record in records {
            if self.count.is_multiple_of(SPARSE) {
                self.sparse.push(self.end);
            }
            self.count += 1;
            self.end += super::record::record_bytes(record.bytes.len());
        }
    }

    /// Opens and reads every record below `limit`, the start of the next segment: records from there on are
    /// what a truncation left of entries that were then written to the next segment. `generation` is the
    /// highest seen so far.
    pub fn verify(
        files: &dyn LogFiles,
        log: &Path,
        start: u64,
        limit: Option<u64>,
        order: &mut OrderCheck,
        generation: &mut u64,
        floor: Floor,
    ) -> Result<(Segment, Tail), LogError> {
        let path = segment_path(log, start);
        let fail = |e: io::Error| LogError::io(&path, e);
        let file = files.open(&path, false).map_err(fail)?;
        let mut scan = Scan::new(file.clone()).map_err(fail)?;
        let mut segment = Segment { start, count: 0, end: 0, sparse: Vec::new(), file };
        while limit.is_none_or(|limit| start + segment.count < limit)
            && let Some((header, data)) = scan.record(segment.end).map_err(fail)?
        {
            let stale = header.generation < *generation || floor.cuts(header.index, header.generation);
            if header.index != start + segment.count || stale {
                break;
            }
            let entry =
                decode_entry(data).map_err(|e| LogError::damaged(&path, format!("entry {}: {e}", header.index)))?;
            if entry.log_id.index != header.index {
                return Err(LogError::damaged(&path, format!("entry {} is stored at {}", entry.log_id, header.index)));
            }
            order.push(entry.log_id).map_err(|why| LogError::damaged(&path, why))?;
            *generation = header.generation;
            if segment.count.is_multiple_of(SPARSE) {
                segment.sparse.push(segment.end);
            }
            segment.count += 1;
            segment.end += header.record_bytes();
        }
        let bad = start + segment.count;
        if limit == Some(bad) {
            return Ok((segment, Tail::Clean));
        }
        let durable = scan.claims_durable(segment.end, bad, *generation, floor).map_err(fail)?;
        Ok((segment, if durable { Tail::Damaged(bad) } else { Tail::Clean }))
    }

    /// The offset of an entry inside.
    fn offset_of(&self, index: u64) -> io::Result<u64> {
        let n = index - self.start;
        let mut offset = self.sparse[usize::try_from(n / SPARSE).expect("an index into memory")];
        for _ in 0..n % SPARSE {
            offset += read_header(&*self.file, offset)?.record_bytes();
        }
        Ok(offset)
    }

    /// Entries from `from` on, both inside, until `to` (exclusive) or `max_bytes`.
    pub fn read(&self, from: u64, to: u64, max_bytes: usize) -> io::Result<Vec<Bytes>> {
        let mut offset = self.offset_of(from)?;
        let (mut entries, mut bytes) = (Vec::new(), 0);
        for index in from..to {
            let header = read_header(&*self.file, offset)?;
            let mut data = vec![0; header.length as usize];
            self.file.read_at(&mut data, offset + HEADER_BYTES as u64)?;
            if header.index != index || !header.matches(&data) {
                return Err(bad(format!("entry {index} is damaged")));
            }
            offset += header.record_bytes();
            bytes += data.len();
            entries.push(data.into());
            if bytes >= max_bytes {
                break;
            }
        }
        Ok(entries)
    }

    /// Forgets the entries from `index` on, which is inside. The metadata already says so durably.
    pub fn truncate_from(&mut self, index: u64) -> io::Result<()> {
        let offset = self.offset_of(index)?;
        self.count = index - self.start;
        self.end = offset;
        self.sparse.truncate(usize::try_from(self.count.div_ceil(SPARSE)).expect("an index into memory"));
        Ok(())
    }
}

fn bad(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

fn read_header(file: &dyn LogFile, offset: u64) -> io::Result<Header> {
    let mut bytes = [0; HEADER_BYTES];
    file.read_at(&mut bytes, offset)?;
    Header::parse(&bytes).ok_or_else(|| bad(format!("no record at offset {offset}")))
}

/// Reads a file front to back through one buffer.
struct Scan {
    file: Arc<dyn LogFile>,
    length: u64,
    buffer: Vec<u8>,
    at: u64,
}

impl Scan {
    fn new(file: Arc<dyn LogFile>) -> io::Result<Scan> {
        let length = file.length()?;
        Ok(Scan { file, length, buffer: Vec::new(), at: 0 })
    }

    /// `length` bytes at `offset`, or `None` beyond the end of the file.
    fn bytes(&mut self, offset: u64, length: usize) -> io::Result<Option<&[u8]>> {
        let end = offset + length as u64;
        if end > self.length {
            return Ok(None);
        }
        if offset < self.at || end > self.at + self.buffer.len() as u64 {
            let want = length.max(SCAN_BYTES).min(usize::try_from(self.length - offset).unwrap_or(usize::MAX));
            self.buffer.resize(want, 0);
            self.file.read_at(&mut self.buffer, offset)?;
            self.at = offset;
        }
        let from = usize::try_from(offset - self.at).expect("inside the buffer");
        Ok(Some(&self.buffer[from..from + length]))
    }

    /// The good record at `offset`, if there is one.
    fn record(&mut self, offset: u64) -> io::Result<Option<(Header, Bytes)>> {
        let Some(bytes) = self.bytes(offset, HEADER_BYTES)? else { return Ok(None) };
        let Some(header) = Header::parse(bytes.try_into().expect("a header's length")) else { return Ok(None) };
        let Some(data) = self.bytes(offset + HEADER_BYTES as u64, header.length as usize)? else { return Ok(None) };
        Ok(header.matches(data).then(|| (header, Bytes::copy_from_slice(data))))
    }

    /// Whether a good record behind `offset` says that `index` was durable. Only records at least as new as
    /// `generation` count: older ones are what a truncation left behind.
    fn claims_durable(&mut self, offset: u64, index: u64, generation: u64, floor: Floor) -> io::Result<bool> {
        let mut at = offset;
        while at + HEADER_BYTES as u64 <= self.length {
            if let Some((header, _)) = self.record(at)?
                && header.generation >= generation
                && !floor.cuts(header.index, header.generation)
            {
                if header.synced > index && header.index > index {
                    return Ok(true);
                }
                at += header.record_bytes();
                continue;
            }
            at += ALIGN;
        }
        Ok(false)
    }
}
