//! The newest entries, decoded, in memory: replication and apply read them from here, not from disk. What
//! is not yet written stays whatever the bound says.

use std::collections::VecDeque;

use crate::core::types::Entry;

pub(super) struct Tail {
    entries: VecDeque<(Entry, usize)>,
    bytes: usize,
    max_bytes: usize,
    /// Everything below this index is written to the backend.
    written: u64,
    /// Truncations noted here that the writer has not come to yet. What it writes until then at or above
    /// these indexes is what they remove. At most one for each job in its queue.
    truncations: VecDeque<u64>,
}

impl Tail {
    pub fn new(max_bytes: usize, next: u64) -> Tail {
        Tail { entries: VecDeque::new(), bytes: 0, max_bytes, written: next, truncations: VecDeque::new() }
    }

    fn first(&self) -> Option<u64> {
        self.entries.front().map(|(e, _)| e.log_id.index)
    }

    /// Takes an entry that follows the last; `bytes` is its encoded size.
    pub fn push(&mut self, entry: Entry, bytes: usize) {
        self.entries.push_back((entry, bytes));
        self.bytes += bytes;
        self.trim();
    }

    /// The writer has written everything below `next`.
    pub fn set_written(&mut self, next: u64) {
        let next = self.truncations.iter().copied().fold(next, u64::min);
        self.written = self.written.max(next);
        self.trim();
    }

    fn trim(&mut self) {
        while self.bytes > self.max_bytes
            && let Some((entry, bytes)) = self.entries.front()
            && entry.log_id.index < self.written
        {
            self.bytes -= bytes;
            self.entries.pop_front();
        }
    }

    /// Forgets the entries from `index` on. The writer follows with [`Tail::truncated`].
    pub fn truncate_from(&mut self, index: u64) {
        while let Some((entry, bytes)) = self.entries.back()
            && entry.log_id.index >= index
        {
            self.bytes -= bytes;
            self.entries.pop_back();
        }
        self.written = self.written.min(index);
        self.truncations.push_back(index);
    }

    /// The writer has done the oldest truncation.
    pub fn truncated(&mut self) {
        self.truncations.pop_front();
    }

    /// Forgets the entries up to `index`.
    pub fn purge(&mut self, index: u64) {
        while let Some((entry, bytes)) = self.entries.front()
            && entry.log_id.index <= index
        {
            self.bytes -= bytes;
            self.entries.pop_front();
        }
        self.written = self.written.max(index + 1);
    }

    /// Entries from `from` up to and excluding `to`, stopping after `max_bytes` (never before the first), if
    /// `from` is here.
    pub fn read(&self, from: u64, to: u64, max_bytes: usize) -> Option<Vec<Entry>> {
        let first = self.first()?;
        let skip = usize::try_from(from.checked_sub(first)?).ok()?;
        if skip >= self.entries.len() {
            return None;
        }
        let mut bytes = 0;
        let mut entries = Vec::new();
        for (entry, size) in self.entries.range(skip..) {
            if entry.log_id.index >= to || bytes >= max_bytes {
                break;
            }
            bytes += size;
            entries.push(entry.clone());
        }
        Some(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::types::make_log_id;
    use openraft::EntryPayload;

    fn entry(index: u64) -> Entry {
        Entry { log_id: make_log_id(1, 1, index), payload: EntryPayload::Blank }
    }

    #[test]
    fn unwritten_entries_stay_beyond_the_bound() {
        let mut tail = Tail::new(100, 0);
        for index in 0..10 {
            tail.push(entry(index), 50);
        }
        assert_eq!(tail.read(0, 10, usize::MAX).unwrap().len(), 10);
        tail.set_written(8);
        assert!(tail.read(7, 10, usize::MAX).is_none());
        assert_eq!(tail.read(8, 10, usize::MAX).unwrap().len(), 2);
        tail.truncate_from(9);
        tail.truncated();
        assert!(tail.read(9, 10, usize::MAX).is_none());
        assert_eq!(tail.read(8, 10, usize::MAX).unwrap()[0].log_id.index, 8);
        tail.purge(20);
        assert!(tail.read(8, 10, usize::MAX).is_none());
    }

    /// The writer may write an entry after its truncation was noted and before it is carried out. Its
    /// successor at the same index was then taken for written, and forgotten while it was nowhere else.
    #[test]
    fn an_entry_written_late_does_not_count_for_its_successor() {
        let mut tail = Tail::new(100, 0);
        for index in 0..10 {
            tail.push(entry(index), 50);
        }
        tail.truncate_from(4);
        tail.set_written(10);
        tail.truncated();
        for index in 4..10 {
            tail.push(entry(index), 50);
        }
        assert_eq!(tail.read(4, 10, usize::MAX).unwrap().len(), 6);
        tail.set_written(10);
        assert!(tail.read(7, 10, usize::MAX).is_none());
        assert_eq!(tail.read(8, 10, usize::MAX).unwrap().len(), 2);
    }

    #[test]
    fn a_read_stops_after_its_bytes_but_never_before_one_entry() {
        let mut tail = Tail::new(1000, 0);
        for index in 0..10 {
            tail.push(entry(index), 50);
        }
        assert_eq!(tail.read(2, 10, 0).map(|e| e.len()), Some(0));
        assert_eq!(tail.read(2, 10, 1).unwrap().len(), 1);
        assert_eq!(tail.read(2, 10, 51).unwrap().len(), 2);
        assert_eq!(tail.read(2, 4, usize::MAX).unwrap().len(), 2);
    }
}
