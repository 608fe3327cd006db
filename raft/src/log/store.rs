//! The log as the rest of the crate holds it.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::{oneshot, watch};

use super::backend::{Backend, LogError, LogIdentity, LogMeta, Opened, Record, SyncScope};
use super::files::LogFiles;
use super::segmented::SegmentedLog;
use super::sled::{SledLog, SledMeta};
use super::tail::Tail;
use super::writer::{Job, Writer};
use crate::codec::encode_entry;
use crate::core::types::{Entry, LogId, Vote};
use crate::options::{FatalHandler, LogKind};

/// The metadata's sled in a split log. No other kind of log has this name in it: opened as another kind, a log
/// is found to be lost, never to be empty.
const SPLIT_META: &str = "meta.sled";

/// How to keep the log.
#[derive(Clone)]
pub(crate) struct StoreOptions {
    pub kind: LogKind,
    pub inline: bool,
    pub files: Arc<dyn LogFiles>,
    pub sled_cache_bytes: u64,
    pub segment_bytes: u64,
    pub tail_cache_bytes: usize,
    pub fatal: FatalHandler,
}

struct State {
    vote: Option<Vote>,
    committed: Option<LogId>,
    purged: Option<LogId>,
    last: Option<LogId>,
    /// Index of the first entry of a log never purged: 0, except that a log may be begun at another.
    start: u64,
    tail: Tail,
    /// Newest stamp in any entry appended here.
    newest_time_us: u64,
}

pub(super) struct Shared {
    pub backend: Box<dyn Backend>,
    state: Mutex<State>,
    durable: watch::Sender<Option<u64>>,
    fatal: FatalHandler,
}

impl Shared {
    pub fn fatal(&self, why: &str) {
        (self.fatal.0)(why);
    }

    pub fn set_written(&self, next: u64) {
        self.state.lock().tail.set_written(next);
    }

    /// A truncation noted in memory is on disk too. Returns the end of the log after it.
    pub fn set_truncated(&self) -> Option<LogId> {
        let mut state = self.state.lock();
        state.tail.truncated();
        state.last
    }

    pub fn set_durable(&self, last: Option<LogId>) {
        self.durable.send_replace(last.map(|l| l.index));
    }
}

enum Mode {
    Thread(Mutex<Sender<Job>>),
    Inline(Mutex<Writer>),
}

/// A handle; clones share the log.
#[derive(Clone)]
pub(crate) struct LogStore {
    shared: Arc<Shared>,
    mode: Arc<Mode>,
    inline: bool,
}

impl LogStore {
    /// Opens or creates the log of `identity`. `in_use` = it must exist: its absence is damage.
    pub fn open(path: &Path, identity: LogIdentity, in_use: bool, options: StoreOptions) -> Result<LogStore, LogError> {
        let Opened { backend, meta, last } = match options.kind {
            LogKind::Split => {
                let (store, body) = SledMeta::open(&path.join(SPLIT_META))?;
                let (files, store) = (options.files.clone(), Box::new(store));
                SegmentedLog::open_with_meta(files, path, options.segment_bytes, store, body.as_deref())?
            }
            LogKind::Sled => SledLog::open(path, options.sled_cache_bytes, options.segment_bytes)?,
            LogKind::Segmented => SegmentedLog::open(options.files.clone(), path, options.segment_bytes)?,
        };
        let mut meta = match meta {
            Some(meta) => {
                if meta.identity != Some(identity) {
                    return Err(LogError::damaged(path, "this log belongs to another identity"));
                }
                meta
            }
            None if in_use => {
                return Err(LogError::damaged(path, "the log of this node is lost; it may have voted"));
            }
            None => {
                let meta = LogMeta { identity: Some(identity), ..LogMeta::default() };
                backend.set_meta(&meta).map_err(|e| LogError::io(path, e))?;
                backend.sync(SyncScope { entries: true, meta: true }).map_err(|e| LogError::io(path, e))?;
                meta
            }
        };
        // The committed position is stored lazily; entries it names may not have become durable.
        meta.committed = meta.committed.min(last);
        let state = State {
            vote: meta.vote,
            committed: meta.committed,
            purged: meta.purged,
            last,
            start: 0,
            tail: Tail::new(options.tail_cache_bytes, last.map_or(0, |l| l.index + 1)),
            newest_time_us: 0,
        };
        let shared = Arc::new(Shared {
            backend,
            state: Mutex::new(state),
            durable: watch::Sender::new(last.map(|l| l.index)),
            fatal: options.fatal,
        });
        let writer = Writer { meta, last, failed: None };
        let mode = if options.inline {
            Mode::Inline(Mutex::new(writer))
        } else {
            let (sender, receiver) = channel();
            let held = shared.clone();
            std::thread::Builder::new()
                .name("raft-log".into())
                .spawn(move || writer.run(&held, &receiver))
                .map_err(|e| LogError::io(path, e))?;
            Mode::Thread(Mutex::new(sender))
        };
        Ok(LogStore { shared, mode: Arc::new(mode), inline: options.inline })
    }

    /// Hands a job to the writer.
    fn submit(&self, job: Job) -> io::Result<()> {
        match &*self.mode {
            Mode::Thread(sender) => sender.lock().send(job).map_err(|_| io::Error::other("the log has been closed")),
            Mode::Inline(writer) => {
                writer.lock().process(&self.shared, vec![job]);
                Ok(())
            }
        }
    }

    async fn submit_and_wait(&self, job: impl FnOnce(oneshot::Sender<io::Result<()>>) -> Job) -> io::Result<()> {
        let (sender, receiver) = oneshot::channel();
        self.submit(job(sender))?;
        receiver.await.map_err(|_| io::Error::other("the log has been closed"))?
    }

    /// Makes all durable and ends the writer.
    pub async fn close(&self) -> io::Result<()> {
        self.submit_and_wait(|done| Job::Stop { done }).await
    }

    pub(super) fn append_entries(
        &self,
        entries: impl IntoIterator<Item = Entry>,
        callback: openraft::storage::IOFlushed<crate::core::types::TC>,
    ) -> io::Result<()> {
        let mut records = Vec::new();
        {
            let mut state = self.shared.state.lock();
            for entry in entries {
                let record = Record { log_id: entry.log_id, bytes: encode_entry(&entry) };
                if let openraft::EntryPayload::Normal(command) = &entry.payload {
                    state.newest_time_us = state.newest_time_us.max(command.time_us);
                }
                if state.last.is_none() {
                    state.start = entry.log_id.index;
                }
                state.last = Some(entry.log_id);
                state.tail.push(entry, record.bytes.len());
                records.push(record);
            }
        }
        self.submit(Job::Append { records, callback })
    }

    pub(super) async fn store_vote(&self, vote: Vote) -> io::Result<()> {
        self.submit_and_wait(|done| Job::Vote { vote, done }).await?;
        self.shared.state.lock().vote = Some(vote);
        Ok(())
    }

    pub(super) fn store_committed(&self, committed: Option<LogId>) -> io::Result<()> {
        self.shared.state.lock().committed = committed;
        self.submit(Job::Committed(committed))
    }

    pub(super) async fn truncate(&self, last: Option<LogId>) -> io::Result<()> {
        let from = last.map_or(0, |l| l.index + 1);
        {
            let mut state = self.shared.state.lock();
            if state.last.is_none_or(|end| end.index < from) {
                return Ok(());
            }
            state.last = last;
            state.tail.truncate_from(from);
        }
        self.submit_and_wait(|done| Job::Truncate { from, done }).await
    }

    pub(super) fn purge_to(&self, upto: LogId) -> io::Result<()> {
        {
            let mut state = self.shared.state.lock();
            state.purged = state.purged.max(Some(upto));
            state.last = state.last.max(Some(upto));
            state.tail.purge(upto.index);
        }
        self.submit(Job::Purge(upto))
    }

    pub(super) fn vote(&self) -> Option<Vote> {
        self.shared.state.lock().vote
    }

    pub(super) fn committed(&self) -> Option<LogId> {
        self.shared.state.lock().committed
    }

    /// Purge point and last entry.
    pub fn range(&self) -> (Option<LogId>, Option<LogId>) {
        let state = self.shared.state.lock();
        (state.purged, state.last)
    }

    /// Index of the first entry that can be there.
    pub(super) fn first_index(&self) -> u64 {
        let state = self.shared.state.lock();
        state.purged.map_or(state.start, |p| p.index + 1)
    }

    /// Newest stamp in an entry appended since the log was opened, microseconds.
    pub fn newest_time_us(&self) -> u64 {
        self.shared.state.lock().newest_time_us
    }

    /// Follows the last durable index.
    pub fn watch_durable(&self) -> watch::Receiver<Option<u64>> {
        self.shared.durable.subscribe()
    }

    /// Where to purge to, see [`Backend::purge_boundary`].
    pub fn purge_boundary(&self, upto: u64, retain_bytes: u64) -> Option<u64> {
        self.shared.backend.purge_boundary(upto, retain_bytes)
    }

    pub(super) fn read_tail(&self, from: u64, to: u64, max_bytes: usize) -> Option<Vec<Entry>> {
        self.shared.state.lock().tail.read(from, to, max_bytes)
    }

    /// Reads from the backend, beside the executor unless inline.
    pub(super) async fn read_backend(&self, from: u64, to: u64, max_bytes: usize) -> io::Result<Vec<Bytes>> {
        if self.inline {
            return self.shared.backend.read(from, to, max_bytes);
        }
        let shared = self.shared.clone();
        tokio::task::spawn_blocking(move || shared.backend.read(from, to, max_bytes)).await.map_err(io::Error::other)?
    }
}
