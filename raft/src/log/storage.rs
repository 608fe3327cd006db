//! openraft's storage traits over [`LogStore`].

use std::fmt::Debug;
use std::io;
use std::ops::{Bound, RangeBounds};

use futures_util::Stream;
use openraft::OptionalSend;
use openraft::storage::{IOFlushed, LogState, RaftLogReader, RaftLogStorage};

use super::LogStore;
use crate::core::types::{Entry, LogId, TC, Vote};

/// Bytes of entries in one AppendEntries message (a single larger entry goes alone).
const MAX_APPEND_BYTES: usize = 2 << 20;
/// Bytes of entries read at a time while applying a long range.
const APPLY_READ_BYTES: usize = 1 << 20;

fn bounds(range: &impl RangeBounds<u64>) -> (u64, u64) {
    let from = match range.start_bound() {
        Bound::Included(x) => *x,
        Bound::Excluded(x) => x.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let to = match range.end_bound() {
        Bound::Included(x) => x.saturating_add(1),
        Bound::Excluded(x) => *x,
        Bound::Unbounded => u64::MAX,
    };
    (from, to)
}

impl RaftLogReader<TC> for LogStore {
    async fn try_get_log_entries<RB: RangeBounds<u64> + Clone + Debug + OptionalSend>(
        &mut self,
        range: RB,
    ) -> io::Result<Vec<Entry>> {
        let (from, to) = bounds(&range);
        self.read_all(from, to).await
    }

    async fn limited_get_log_entries(&mut self, start: u64, end: u64) -> io::Result<Vec<Entry>> {
        self.read_some(start, end, MAX_APPEND_BYTES).await
    }

    async fn entries_stream<RB>(&mut self, range: RB) -> impl Stream<Item = io::Result<Entry>> + OptionalSend
    where
        RB: RangeBounds<u64> + Clone + Debug + OptionalSend,
    {
        let (from, to) = bounds(&range);
        let start = (self.clone(), from, Vec::new().into_iter());
        futures_util::stream::try_unfold(start, move |(log, next, mut ready)| async move {
            if let Some(entry) = ready.next() {
                return Ok(Some((entry, (log, next, ready))));
            }
            let entries = log.read_some(next, to, APPLY_READ_BYTES).await?;
            let Some(last) = entries.last() else { return Ok(None) };
            let next = last.log_id.index + 1;
            let mut ready = entries.into_iter();
            Ok(ready.next().map(|entry| (entry, (log, next, ready))))
        })
    }

    async fn read_vote(&mut self) -> io::Result<Option<Vote>> {
        Ok(self.vote())
    }
}

impl RaftLogStorage<TC> for LogStore {
    type LogReader = Self;

    async fn get_log_state(&mut self) -> io::Result<LogState<TC>> {
        let (last_purged_log_id, last_log_id) = self.range();
        Ok(LogState { last_purged_log_id, last_log_id })
    }

    async fn get_log_reader(&mut self) -> Self {
        self.clone()
    }

    async fn save_vote(&mut self, vote: &Vote) -> io::Result<()> {
        self.store_vote(*vote).await
    }

    async fn save_committed(&mut self, committed: Option<LogId>) -> io::Result<()> {
        self.store_committed(committed)
    }

    async fn read_committed(&mut self) -> io::Result<Option<LogId>> {
        Ok(self.committed())
    }

    async fn append<I>(&mut self, entries: I, callback: IOFlushed<TC>) -> io::Result<()>
    where
        I: IntoIterator<Item = Entry> + OptionalSend,
        I::IntoIter: OptionalSend,
    {
        self.append_entries(entries, callback)
    }

    async fn truncate_after(&mut self, last: Option<LogId>) -> io::Result<()> {
        self.truncate(last).await
    }

    async fn purge(&mut self, upto: LogId) -> io::Result<()> {
        self.purge_to(upto)
    }
}
