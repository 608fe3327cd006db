//! The last stages: hash clear passwords, and put the blocks into the log in order.
//!
//! While this node leads, a second block is proposed before the first is applied, so that one is replicated while the
//! other is applied. When one of them is refused, or a change of leaders may have turned their order, all that is
//! under way is waited for, and the refused ones are proposed again one after another: a refused block has changed
//! nothing, so that only the second verdict counts.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bindery_directory::command::{Command, Done, ExistingMode, Operation, Reply};
use bindery_directory::op::add_block;
use bindery_directory::{Identity, OpError};
use bindery_model::password::{self, MAX_CLEAR_BYTES, Scheme};
use bindery_raft::{Cluster, ProposeError, Role};
use bytes::Bytes;
use futures_util::stream::{FuturesOrdered, StreamExt};
use futures_util::{FutureExt, TryStreamExt};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tonic::Status;

use super::block::Block;
use super::parse::Piece;
use super::{Counters, End, Options, Problem, Replies, tell};
use crate::admin::{AdminParts, convert};
use crate::passwords::Passwords;

/// Blocks under way while this node leads.
const UNDER_WAY: usize = 2;
/// A block is applied on every node in far less, even when the disk is slow.
const BLOCK_DEADLINE: Duration = Duration::from_secs(60);
/// How often a block that was certainly not applied is proposed again; each try waits for a leader itself.
const RETRIES: usize = 10;
/// Pause before that.
const RETRY_PAUSE: Duration = Duration::from_millis(500);
/// Hashes that are under way for one block; how many run is decided by the password slots.
const HASHES_UNDER_WAY: usize = 16;

/// The stage with what it works on.
pub struct Stage {
    cluster: Cluster,
    passwords: Passwords,
    options: Options,
    counters: Arc<Counters>,
    replies: Replies,
}

/// What became of one proposal.
enum Outcome {
    Done(Done),
    Refused { error: OpError, entry: Option<u32> },
    Failed(ProposeError),
}

/// A block in the log, or on its way there.
struct Proposed {
    block: Block,
    outcome: Outcome,
}

/// Why no more blocks are taken.
enum Halt {
    /// With a summary.
    End(End),
    /// The outcome is unknown.
    Status(Status),
}

impl Stage {
    pub fn new(parts: &AdminParts, options: Options, counters: Arc<Counters>, replies: Replies) -> Stage {
        Stage { cluster: parts.cluster.clone(), passwords: parts.passwords.clone(), options, counters, replies }
    }

    /// Takes pieces until their end. What is under way at an early end is waited for, so that the counts are right.
    pub async fn run(&self, mut pieces: mpsc::Receiver<Piece>) -> Result<End, Status> {
        let halted = self.take_all(&mut pieces).await;
        // The parser must not wait for room that nobody makes.
        pieces.close();
        match halted {
            Halt::End(end) => Ok(end),
            Halt::Status(status) => Err(status),
        }
    }

    async fn take_all(&self, pieces: &mut mpsc::Receiver<Piece>) -> Halt {
        let mut under_way = FuturesOrdered::new();
        loop {
            let room = if self.cluster.status().role == Role::Leader { UNDER_WAY } else { 1 };
            tokio::select! {
                biased;
                Some(proposed) = under_way.next(), if !under_way.is_empty() => {
                    let settled = self.settle(proposed, &mut under_way).await;
                    if let Err(halt) = settled {
                        return halt;
                    }
                }
                piece = pieces.recv(), if under_way.len() < room => match piece {
                    Some(Piece::Block(mut block)) => {
                        if let Err(halt) = self.hash(&mut block).await {
                            // What has been proposed is counted before the end.
                            return self.drain(&mut under_way).await.err().unwrap_or(halt);
                        }
                        under_way.push_back(self.propose(block, self.options.existing).boxed());
                    }
                    other => {
                        if let Err(halt) = self.drain(&mut under_way).await {
                            return halt;
                        }
                        if let Err(halt) = self.take(other).await {
                            return halt;
                        }
                    }
                },
            }
        }
    }

    /// A piece that is no block. Everything before it has been settled.
    async fn take(&self, piece: Option<Piece>) -> Result<(), Halt> {
        match piece {
            Some(Piece::Problem(problem)) => self.problem(problem).await,
            Some(Piece::Stop(why)) => Err(Halt::End(End::stopped(why))),
            Some(Piece::End) => Err(Halt::End(End::default())),
            Some(Piece::Block(_)) | None => {
                Err(Halt::End(End::stopped("the input could not be read to its end; the node's log says why")))
            }
        }
    }

    async fn problem(&self, problem: Problem) -> Result<(), Halt> {
        Counters::add(&self.counters.errors, 1);
        if tell(&self.replies, problem).await { Ok(()) } else { Err(gone()) }
    }

    /// Hashes the clear passwords of a block.
    async fn hash(&self, block: &mut Block) -> Result<(), Halt> {
        let places = std::mem::take(&mut block.clear);
        let mut work = Vec::with_capacity(places.len());
        for place in places {
            let value = &block.entries[place.entry].attributes[place.attribute].values[place.value];
            let Some(clear) = password::clear_of(value) else { continue };
            if clear.len() > MAX_CLEAR_BYTES {
                let why = format!("line {}: a password of more than {MAX_CLEAR_BYTES} bytes", block.lines[place.entry]);
                return Err(Halt::End(End::stopped(why)));
            }
            work.push((place, clear.to_vec()));
        }
        if work.is_empty() {
            return Ok(());
        }
        let started = Instant::now();
        let hashed = futures_util::stream::iter(work.into_iter().map(|(place, clear)| async move {
            let hashed = self.passwords.hash(Scheme::default(), clear).await;
            Counters::add(&self.counters.passwords_hashed, 1);
            hashed.map(|hashed| (place, hashed))
        }));
        let hashed: Vec<_> = hashed
            .buffer_unordered(HASHES_UNDER_WAY)
            .try_collect()
            .await
            .map_err(|error| Halt::End(End::stopped(error.to_string())))?;
        Counters::add(&self.counters.hashing_us, u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX));
        for (place, value) in hashed {
            block.entries[place.entry].attributes[place.attribute].values[place.value] = value;
        }
        Ok(())
    }

    /// Proposes a block and waits until this node has applied it.
    async fn propose(&self, mut block: Block, existing: ExistingMode) -> Proposed {
        let entries = std::mem::take(&mut block.entries);
        let command = match add_block::prepare(&Identity::Admin, entries, existing) {
            Ok(command) => command,
            Err(error) => return Proposed { block, outcome: Outcome::Refused { error, entry: None } },
        };
        let outcome = match command.to_payload() {
            Ok(payload) => self.propose_payload(payload).await,
            // Only a single entry can be so large: a block is closed long before.
            Err(error) => Outcome::Refused { error, entry: Some(0) },
        };
        block.entries = entries_of(command);
        Proposed { block, outcome }
    }

    async fn propose_payload(&self, payload: Bytes) -> Outcome {
        match self.cluster.propose(payload, Instant::now() + BLOCK_DEADLINE).await {
            Err(error) => Outcome::Failed(error),
            Ok(proposed) => match Reply::from_bytes(&proposed.reply) {
                Reply::Done(done) => Outcome::Done(done),
                Reply::Refused { error, entry } => Outcome::Refused { error, entry },
            },
        }
    }

    /// Deals with the outcome of the oldest proposal.
    async fn settle<F>(&self, first: Proposed, under_way: &mut FuturesOrdered<F>) -> Result<(), Halt>
    where
        F: Future<Output = Proposed>,
    {
        if let Outcome::Done(done) = &first.outcome {
            self.count(done);
            return if self.replies.is_closed() { self.leave(under_way).await } else { Ok(()) };
        }
        let mut again = VecDeque::from([first]);
        while let Some(proposed) = under_way.next().await {
            match &proposed.outcome {
                Outcome::Done(done) => self.count(done),
                _ => again.push_back(proposed),
            }
        }
        for proposed in again {
            self.settle_alone(proposed).await?;
        }
        Ok(())
    }

    async fn drain<F>(&self, under_way: &mut FuturesOrdered<F>) -> Result<(), Halt>
    where
        F: Future<Output = Proposed>,
    {
        while let Some(proposed) = under_way.next().await {
            self.settle(proposed, under_way).await?;
        }
        Ok(())
    }

    /// The client has gone: what is under way is waited for, so that the log line tells the truth.
    async fn leave<F>(&self, under_way: &mut FuturesOrdered<F>) -> Result<(), Halt>
    where
        F: Future<Output = Proposed>,
    {
        while let Some(proposed) = under_way.next().await {
            if let Outcome::Done(done) = &proposed.outcome {
                self.count(done);
            }
        }
        Err(gone())
    }

    fn count(&self, done: &Done) {
        Counters::add(&self.counters.added, done.entries.saturating_sub(done.replaced));
        Counters::add(&self.counters.replaced, done.replaced);
        Counters::add(&self.counters.skipped, done.skipped);
    }

    /// Proposes a block again, with nothing else under way, until it is applied or what is wrong with it is known. A
    /// faulty entry is left out if that is wanted: what stands before it and what stands after it are proposed
    /// separately, so that no entry is decided about more than twice.
    async fn settle_alone(&self, proposed: Proposed) -> Result<(), Halt> {
        let mut left = VecDeque::from([proposed.block]);
        self.refuse_unknown(&proposed.outcome)?;
        let mut failures = 0;
        while let Some(block) = left.pop_front() {
            if block.is_empty() {
                continue;
            }
            let Proposed { block, outcome } = self.propose(block, self.options.existing).await;
            match outcome {
                Outcome::Done(done) => {
                    self.count(&done);
                    failures = 0;
                }
                Outcome::Refused { error, entry } => {
                    let at = entry.and_then(|at| usize::try_from(at).ok()).filter(|at| *at < block.len());
                    let what = convert::refusal_text(&error);
                    let Some(at) = at else { return Err(Halt::End(End::stopped(what))) };
                    let dn = block.entries[at].dn.clone();
                    self.problem(Problem { line: block.lines[at], dn, what }).await?;
                    if !self.options.continue_on_error {
                        return Err(Halt::End(End::stopped("the directory refused an entry")));
                    }
                    let (before, after) = block.split_around(at);
                    left.push_front(after);
                    left.push_front(before);
                }
                Outcome::Failed(error) => {
                    self.refuse_unknown(&Outcome::Failed(error.clone()))?;
                    failures += 1;
                    if failures > RETRIES {
                        return Err(Halt::End(End::stopped(error.to_string())));
                    }
                    left.push_front(block);
                    tokio::time::sleep(RETRY_PAUSE).await;
                }
            }
        }
        Ok(())
    }

    /// A block whose outcome is unknown may only be proposed again when that does no harm: entries that are there
    /// already are then skipped, or replaced by the same.
    fn refuse_unknown(&self, outcome: &Outcome) -> Result<(), Halt> {
        match outcome {
            Outcome::Failed(error @ ProposeError::Unknown { .. }) if self.options.existing == ExistingMode::Error => {
                let text = format!("{error}\nload again with --existing skip to go on where this load ended");
                Err(Halt::Status(Status::unknown(text)))
            }
            _ => Ok(()),
        }
    }
}

fn gone() -> Halt {
    Halt::End(End::stopped("the client has gone"))
}

/// The entries of the command that was made of them.
fn entries_of(command: Command) -> Vec<bindery_directory::command::Add> {
    match command.operation {
        Some(Operation::AddBlock(block)) => block.entries,
        _ => Vec::new(),
    }
}
