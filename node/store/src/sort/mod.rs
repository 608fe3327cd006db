//! Sorting more records than fit in memory: sorted runs in files, merged as they are read.
//!
//! Memory is the budget given, of which a sixteenth part is for the reading of runs. Equal keys stay in the order in which
//! they were pushed.

mod merge;
mod run;

use std::path::PathBuf;
use std::sync::Arc;

use crate::error::StoreError;
use crate::file::FileSystem;
use merge::Merge;
use run::{RUN_BUFFER_BYTES, Run, RunWriter};

/// The least budget: two runs are read while a third is written.
const MIN_BUDGET_BYTES: usize = 4 * RUN_BUFFER_BYTES;
/// Most runs merged at once; also what bounds the open files.
const MAX_FAN_IN: usize = 128;
/// Most bytes gathered before a run is written: positions in memory have 32 bits.
const MAX_GATHERED_BYTES: usize = 1 << 31;
/// Bytes in front of a record in memory and in runs: length of the key (2) and of the value (4).
const RECORD_HEADER_BYTES: usize = 6;

/// A record in memory: the first bytes of its key, so that most comparisons touch nothing else, and where it lies.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Item {
    head: u64,
    start: u32,
}

/// Takes records in any order and gives them back sorted by key.
pub struct Sorter {
    files: Arc<dyn FileSystem>,
    /// Runs are files of this name with a number added.
    prefix: PathBuf,
    budget_bytes: usize,
    data: Vec<u8>,
    items: Vec<Item>,
    /// Runs in the order of their records' arrival, each with how often its records have been merged: falling numbers.
    runs: Vec<(u32, Run)>,
    next_run: u32,
}

/// Key and value.
pub type Record<'a> = (&'a [u8], &'a [u8]);

/// Key and value of the record at `start`.
fn record_at(data: &[u8], start: usize) -> Record<'_> {
    let key_bytes = usize::from(u16::from_le_bytes([data[start], data[start + 1]]));
    let value_bytes = crate::layout::get_u32(data, start + 2) as usize;
    let key_at = start + RECORD_HEADER_BYTES;
    let value_at = key_at + key_bytes;
    (&data[key_at..value_at], &data[value_at..value_at + value_bytes])
}

fn append_record(out: &mut Vec<u8>, key: &[u8], value: &[u8]) {
    out.extend_from_slice(&(key.len() as u16).to_le_bytes());
    out.extend_from_slice(&(value.len() as u32).to_le_bytes());
    out.extend_from_slice(key);
    out.extend_from_slice(value);
}

/// First eight bytes of a key as a number that compares like them.
fn head_of(key: &[u8]) -> u64 {
    let mut head = [0; 8];
    let length = key.len().min(8);
    head[..length].copy_from_slice(&key[..length]);
    u64::from_be_bytes(head)
}

impl Sorter {
    /// A sorter that keeps up to `budget_bytes` in memory and the rest in files whose names begin with `prefix`. They are
    /// removed when the sorter, or what it has become, is dropped.
    pub fn new(files: Arc<dyn FileSystem>, prefix: PathBuf, budget_bytes: usize) -> Sorter {
        let budget_bytes = budget_bytes.clamp(MIN_BUDGET_BYTES, MAX_GATHERED_BYTES);
        Sorter { files, prefix, budget_bytes, data: Vec::new(), items: Vec::new(), runs: Vec::new(), next_run: 0 }
    }

    /// Takes a record in: a key of up to 65,535 bytes, a value of up to 1 GiB.
    pub fn push(&mut self, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        if key.len() > usize::from(u16::MAX) {
            return Err(StoreError::KeySize(key.len()));
        }
        if value.len() > crate::layout::MAX_VALUE_BYTES {
            return Err(StoreError::ValueSize(value.len()));
        }
        let bytes = RECORD_HEADER_BYTES + key.len() + value.len();
        let gathered = self.data.len() + (self.items.len() + 1) * size_of::<Item>();
        if !self.items.is_empty() && gathered + bytes > self.budget_bytes / 16 * 15 {
            self.spill()?;
        }
        self.items.push(Item { head: head_of(key), start: self.data.len() as u32 });
        append_record(&mut self.data, key, value);
        Ok(())
    }

    fn sort_gathered(&mut self) {
        let data = &self.data;
        // Equal keys by position: in the order they were pushed.
        self.items.sort_unstable_by(|a, b| {
            a.head.cmp(&b.head).then_with(|| {
                let keys = record_at(data, a.start as usize).0.cmp(record_at(data, b.start as usize).0);
                keys.then(a.start.cmp(&b.start))
            })
        });
    }

    fn writer(&mut self) -> Result<RunWriter, StoreError> {
        let mut name = self.prefix.clone().into_os_string();
        name.push(format!(".{}", self.next_run));
        self.next_run += 1;
        RunWriter::create(Arc::clone(&self.files), PathBuf::from(name))
    }

    fn spill(&mut self) -> Result<(), StoreError> {
        self.sort_gathered();
        let mut writer = self.writer()?;
        for item in &self.items {
            let (key, value) = record_at(&self.data, item.start as usize);
            writer.push(key, value)?;
        }
        self.items.clear();
        self.data.clear();
        self.runs.push((0, writer.finish()?));
        // Neighbours only, so that equal keys stay in order; equals only, so that each record is merged few times.
        loop {
            let Some(first) = self.runs.len().checked_sub(self.fan_in()) else { return Ok(()) };
            let level = self.runs[first].0;
            if self.runs.last().is_some_and(|(last, _)| *last != level) {
                return Ok(());
            }
            let mut merge = Merge::new(self.runs.drain(first..).map(|(_, run)| run).collect())?;
            let mut writer = self.writer()?;
            while let Some((key, value)) = merge.next()? {
                writer.push(key, value)?;
            }
            self.runs.push((level + 1, writer.finish()?));
        }
    }

    fn fan_in(&self) -> usize {
        (self.budget_bytes / 16 / RUN_BUFFER_BYTES).clamp(2, MAX_FAN_IN)
    }

    /// Ends the taking in.
    pub fn finish(mut self) -> Result<Sorted, StoreError> {
        if self.runs.is_empty() {
            self.sort_gathered();
            return Ok(Sorted(Source::Memory { data: self.data, items: self.items, next: 0 }));
        }
        if !self.items.is_empty() {
            self.spill()?;
        }
        // What was gathered in is no longer needed, and the readers are.
        self.data = Vec::new();
        self.items = Vec::new();
        Ok(Sorted(Source::Runs(Merge::new(self.runs.into_iter().map(|(_, run)| run).collect())?)))
    }
}

enum Source {
    Memory { data: Vec<u8>, items: Vec<Item>, next: usize },
    Runs(Merge),
}

/// The records in order.
pub struct Sorted(Source);

impl Sorted {
    /// The next record; None after the last one.
    #[allow(clippy::should_implement_trait)] // It lends its buffers, which an iterator cannot.
    pub fn next(&mut self) -> Result<Option<Record<'_>>, StoreError> {
        match &mut self.0 {
            Source::Memory { data, items, next } => {
                let Some(item) = items.get(*next) else { return Ok(None) };
                *next += 1;
                Ok(Some(record_at(data, item.start as usize)))
            }
            Source::Runs(merge) => merge.next(),
        }
    }
}
