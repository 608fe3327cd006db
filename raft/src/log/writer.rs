//! The one writer: drains the queue, writes, syncs once, completes all.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::Duration;

use openraft::storage::IOFlushed;
use tokio::sync::oneshot;

use super::backend::{LogMeta, Record, SyncScope};
use super::store::Shared;
use crate::core::types::{LogId, TC, Vote};

/// Jobs taken in one round, so that the first is not kept waiting without bound.
const MAX_ROUND_JOBS: usize = 4096;
/// Bytes written before the round is synced.
const MAX_ROUND_BYTES: usize = 32 << 20;

pub(super) enum Job {
    Append { records: Vec<Record>, callback: IOFlushed<TC> },
    Vote { vote: Vote, done: oneshot::Sender<io::Result<()>> },
    Committed(Option<LogId>),
    Truncate { from: u64, done: oneshot::Sender<io::Result<()>> },
    Purge(LogId),
    Stop { done: oneshot::Sender<io::Result<()>> },
}

enum Waiting {
    Callback(IOFlushed<TC>),
    Done(oneshot::Sender<io::Result<()>>),
}

impl Waiting {
    fn complete(self, result: io::Result<()>) {
        match self {
            Waiting::Callback(callback) => callback.io_completed(result),
            // The waiter may have been dropped.
            Waiting::Done(done) => drop(done.send(result)),
        }
    }
}

/// What the writer alone knows.
pub(super) struct Writer {
    pub meta: LogMeta,
    /// End of what is written (not necessarily synced).
    pub last: Option<LogId>,
    /// A write failed: nothing is written any more.
    pub failed: Option<String>,
}

/// One round of work whose end makes everything in it durable.
#[derive(Default)]
struct Round {
    records: Vec<Record>,
    bytes: usize,
    scope: SyncScope,
    meta_changed: bool,
    waiting: Vec<Waiting>,
    purge: Option<LogId>,
}

fn copy(error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), error.to_string())
}

impl Writer {
    /// Runs until told to stop or the store is dropped.
    pub fn run(mut self, shared: &Shared, jobs: &Receiver<Job>) {
        loop {
            // The timeout only bounds how long a dropped store keeps its thread.
            let first = match jobs.recv_timeout(Duration::from_secs(3600)) {
                Ok(job) => job,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            let mut batch = vec![first];
            let mut bytes = 0;
            while batch.len() < MAX_ROUND_JOBS && bytes < MAX_ROUND_BYTES {
                match jobs.try_recv() {
                    Ok(job) => {
                        if let Job::Append { records, .. } = &job {
                            bytes += records.iter().map(|r| r.bytes.len()).sum::<usize>();
                        }
                        batch.push(job);
                    }
                    Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
                }
            }
            if self.process(shared, batch) {
                return;
            }
        }
    }

    /// Does the jobs in order. Returns whether to stop.
    pub fn process(&mut self, shared: &Shared, jobs: Vec<Job>) -> bool {
        let mut round = Round::default();
        let mut stop = false;
        for job in jobs {
            match job {
                Job::Append { records, callback } => {
                    // The purge may reach beyond the last entry (after an installed snapshot): then these begin
                    // behind it, in a segment of their own, once the segments before it are deleted.
                    if round.purge.is_some() {
                        self.finish(shared, std::mem::take(&mut round));
                    }
                    round.bytes += records.iter().map(|r| r.bytes.len()).sum::<usize>();
                    round.records.extend(records);
                    round.waiting.push(Waiting::Callback(callback));
                    round.scope.entries = true;
                }
                Job::Vote { vote, done } => {
                    self.meta.vote = Some(vote);
                    round.meta_changed = true;
                    round.scope.meta = true;
                    round.waiting.push(Waiting::Done(done));
                }
                Job::Committed(committed) => {
                    self.meta.committed = committed;
                    round.meta_changed = true;
                }
                Job::Purge(upto) => round.purge = round.purge.max(Some(upto)),
                Job::Truncate { from, done } => {
                    // Everything before it first; it is rare, so a round of its own costs nothing.
                    self.finish(shared, std::mem::take(&mut round));
                    let result = self.guard(shared, |w| w.truncate(shared, from));
                    Waiting::Done(done).complete(result);
                }
                Job::Stop { done } => {
                    round.scope = SyncScope { entries: true, meta: true };
                    round.waiting.push(Waiting::Done(done));
                    stop = true;
                }
            }
        }
        self.finish(shared, round);
        stop
    }

    /// Runs one step; a failure is fatal and remembered.
    fn guard(&mut self, shared: &Shared, step: impl FnOnce(&mut Self) -> io::Result<()>) -> io::Result<()> {
        if let Some(why) = &self.failed {
            return Err(io::Error::other(why.clone()));
        }
        let result = step(self);
        if let Err(error) = &result {
            self.failed = Some(error.to_string());
            shared.fatal(&format!("the log cannot be written: {error}"));
        }
        result
    }

    fn truncate(&mut self, shared: &Shared, from: u64) -> io::Result<()> {
        shared.backend.truncate_from(from)?;
        self.last = shared.set_truncated();
        shared.set_durable(self.last);
        Ok(())
    }

    fn finish(&mut self, shared: &Shared, mut round: Round) {
        let waiting = std::mem::take(&mut round.waiting);
        let result = self.guard(shared, |w| w.write(shared, round));
        for waiter in waiting {
            waiter.complete(result.as_ref().copied().map_err(copy));
        }
    }

    fn write(&mut self, shared: &Shared, mut round: Round) -> io::Result<()> {
        if let Some(last) = round.records.last() {
            self.last = Some(last.log_id);
            shared.backend.append(&round.records)?;
            shared.set_written(last.log_id.index + 1);
        }
        round.records.clear();
        if let Some(purge) = round.purge {
            self.meta.purged = self.meta.purged.max(Some(purge));
            self.last = self.last.max(Some(purge));
            round.meta_changed = true;
            round.scope.meta = true;
        }
        if round.meta_changed {
            shared.backend.set_meta(&self.meta)?;
        }
        if round.scope != SyncScope::default() {
            shared.backend.sync(round.scope)?;
        }
        if let Some(purge) = round.purge {
            shared.backend.delete_purged(purge.index)?;
        }
        if round.scope.entries || round.purge.is_some() {
            shared.set_durable(self.last);
        }
        Ok(())
    }
}
