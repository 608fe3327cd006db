//! Loading LDIF: `receive > parse > hash > propose`, each stage bounded, so that memory does not depend on the
//! input. The log keeps the order of the input: a block of entries is never applied before its parents' block.

mod apply;
mod block;
mod parse;
mod receive;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bindery_directory::command::ExistingMode;
use bindery_proto::admin::{
    ClearPasswords, Existing, LoadBegin, LoadProblem, LoadProgress, LoadReply, LoadRequest, LoadSummary, load_reply,
    load_request,
};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::Instant;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, Streaming};

use super::Shared;

/// Messages that wait for a client that reads slowly.
const REPLIES_WAITING: usize = 64;
/// Chunks received ahead of the parser, 256 KiB each.
const CHUNKS_WAITING: usize = 4;
/// Blocks parsed ahead of the log.
const BLOCKS_WAITING: usize = 1;
/// How often progress is reported.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(250);

type Replies = mpsc::Sender<Result<LoadReply, Status>>;

/// What was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Options {
    dry_run: bool,
    continue_on_error: bool,
    existing: ExistingMode,
    clear: ClearPolicy,
    /// Size of a block, bytes.
    block_bytes: usize,
}

/// What to do with clear passwords.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClearPolicy {
    Refuse,
    /// Hash at most so many.
    Hash(u64),
}

/// Clear passwords that are hashed without having been asked: hashing is slow on purpose.
const CLEAR_PASSWORDS_UNASKED: u64 = 1_000;

impl Options {
    fn new(begin: &LoadBegin, commands_bytes: u64) -> Options {
        Options {
            dry_run: begin.dry_run,
            continue_on_error: begin.continue_on_error,
            existing: match begin.existing() {
                Existing::Unspecified | Existing::Error => ExistingMode::Error,
                Existing::Skip => ExistingMode::Skip,
                Existing::Replace => ExistingMode::Replace,
            },
            clear: match begin.clear_passwords() {
                ClearPasswords::Unspecified => ClearPolicy::Hash(CLEAR_PASSWORDS_UNASKED),
                ClearPasswords::Hash => ClearPolicy::Hash(u64::MAX),
                ClearPasswords::Refuse => ClearPolicy::Refuse,
            },
            block_bytes: block::size(commands_bytes),
        }
    }
}

/// How far the load is; written by the stages, read for progress and summary.
#[derive(Debug, Default)]
struct Counters {
    bytes_read: AtomicU64,
    entries_read: AtomicU64,
    added: AtomicU64,
    replaced: AtomicU64,
    skipped: AtomicU64,
    errors: AtomicU64,
    passwords_hashed: AtomicU64,
    /// Time spent on hashing, microseconds.
    hashing_us: AtomicU64,
}

impl Counters {
    fn add(counter: &AtomicU64, by: u64) {
        counter.fetch_add(by, Ordering::Relaxed);
    }

    fn get(counter: &AtomicU64) -> u64 {
        counter.load(Ordering::Relaxed)
    }

    fn progress(&self) -> LoadProgress {
        LoadProgress {
            bytes_read: Counters::get(&self.bytes_read),
            entries_read: Counters::get(&self.entries_read),
            entries_applied: Counters::get(&self.added) + Counters::get(&self.replaced) + Counters::get(&self.skipped),
            errors: Counters::get(&self.errors),
        }
    }

    fn summary(&self, end: &End, elapsed: Duration) -> LoadSummary {
        LoadSummary {
            complete: end.stopped.is_none(),
            bytes_read: Counters::get(&self.bytes_read),
            entries_read: Counters::get(&self.entries_read),
            added: Counters::get(&self.added),
            replaced: Counters::get(&self.replaced),
            skipped: Counters::get(&self.skipped),
            errors: Counters::get(&self.errors),
            passwords_hashed: Counters::get(&self.passwords_hashed),
            elapsed_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
            stopped: end.stopped.clone().unwrap_or_default(),
        }
    }
}

/// Something wrong with one entry, or with the whole input.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Problem {
    line: u64,
    dn: String,
    what: String,
}

/// How a load ended.
#[derive(Debug, Default)]
struct End {
    /// Why it ended early.
    stopped: Option<String>,
}

impl End {
    fn stopped(why: impl Into<String>) -> End {
        End { stopped: Some(why.into()) }
    }
}

/// Starts a load; the stream ends with its summary, or with a status when the outcome is unknown.
pub async fn start(
    shared: &Arc<Shared>,
    mut requests: Streaming<LoadRequest>,
) -> Result<ReceiverStream<Result<LoadReply, Status>>, Status> {
    let permit = shared.loads.clone().try_acquire_owned().map_err(|_| {
        Status::failed_precondition("another load is running on this node; wait for its end or use another node")
    })?;
    let begin = match requests.message().await?.and_then(|request| request.message) {
        Some(load_request::Message::Begin(begin)) => begin,
        _ => return Err(Status::invalid_argument("a load begins with its options")),
    };
    let options = Options::new(&begin, shared.parts.config.budget.commands_bytes);
    let (replies, stream) = mpsc::channel(REPLIES_WAITING);
    tokio::spawn(run(shared.clone(), options, requests, replies, permit));
    Ok(ReceiverStream::new(stream))
}

async fn run(
    shared: Arc<Shared>,
    options: Options,
    requests: Streaming<LoadRequest>,
    replies: Replies,
    _permit: OwnedSemaphorePermit,
) {
    let started = Instant::now();
    let counters = Arc::new(Counters::default());
    let (chunks, input) = mpsc::channel(CHUNKS_WAITING);
    let (pieces, parsed) = mpsc::channel(BLOCKS_WAITING);
    let receiving = tokio::spawn(receive::run(requests, chunks));
    let progress = tokio::spawn(show_progress(counters.clone(), replies.clone()));
    let directory = shared.parts.directory.clone();
    let parsing = {
        let counters = counters.clone();
        tokio::task::spawn_blocking(move || {
            let input = receive::Input::new(input, &counters);
            parse::run(input, &directory, options, &counters, &pieces);
        })
    };
    let stage = apply::Stage::new(&shared.parts, options, counters.clone(), replies.clone());
    let ended = stage.run(parsed).await;
    // Whatever is still on its way ends when nobody takes it any more.
    receiving.abort();
    progress.abort();
    let _ = parsing.await;
    let last = match ended {
        Ok(end) => {
            let summary = counters.summary(&end, started.elapsed());
            tracing::info!(
                complete = summary.complete,
                added = summary.added,
                replaced = summary.replaced,
                skipped = summary.skipped,
                errors = summary.errors,
                elapsed_ms = summary.elapsed_ms,
                "load ended"
            );
            Ok(LoadReply { message: Some(load_reply::Message::Summary(summary)) })
        }
        Err(status) => {
            tracing::warn!("load ended: {}", status.message());
            Err(status)
        }
    };
    // The client may have gone; nobody needs to know then.
    let _ = replies.send(last).await;
}

async fn show_progress(counters: Arc<Counters>, replies: Replies) {
    let mut ticks = tokio::time::interval(PROGRESS_INTERVAL);
    loop {
        ticks.tick().await;
        let progress = load_reply::Message::Progress(counters.progress());
        // A client that does not keep up misses some.
        if let Err(mpsc::error::TrySendError::Closed(_)) = replies.try_send(Ok(LoadReply { message: Some(progress) })) {
            return;
        }
    }
}

/// Tells the client. False when it has gone.
async fn tell(replies: &Replies, problem: Problem) -> bool {
    let Problem { line, dn, what } = problem;
    let message = load_reply::Message::Problem(LoadProblem { line, dn, what });
    replies.send(Ok(LoadReply { message: Some(message) })).await.is_ok()
}
