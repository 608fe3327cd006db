//! `bindery load`: stream an LDIF file into the running cluster.

use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bindery_proto::admin::{
    ClearPasswords, Existing, LoadBegin, LoadEnd, LoadProblem, LoadProgress, LoadRequest, LoadSummary, load_reply,
    load_request,
};
use bytes::Bytes;
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use crate::connect::ConnectArgs;
use crate::error::CtlError;
use crate::output::{self, Format, FormatArgs, counted, grouped};

/// Bytes of one message.
pub const CHUNK_BYTES: usize = 256 << 10;
/// Messages read ahead of the connection.
const CHUNKS_AHEAD: usize = 4;

/// Load LDIF into the running cluster
///
/// Entries must come after their parents. Every error names the line and the DN. Records with "changetype:" are
/// refused; they are for ldapmodify.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  bindery load people.ldif\n  bindery load --dry-run people.ldif    (check everything, change nothing)\n  \
                        slapcat | bindery load --existing skip -"
)]
pub struct LoadArgs {
    #[command(flatten)]
    connect: ConnectArgs,
    #[command(flatten)]
    format: FormatArgs,
    /// LDIF file; "-" is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Check only, report every error, change nothing
    #[arg(long)]
    dry_run: bool,
    /// Leave faulty entries out and go on
    #[arg(long)]
    continue_on_error: bool,
    /// What to do with an entry that exists already
    #[arg(long, value_enum, default_value_t)]
    existing: ExistingArg,
    /// Clear userPassword values: hash them all, or refuse them all [default: hash up to 1,000, then refuse]
    #[arg(long, value_enum)]
    clear_passwords: Option<ClearPasswordsArg>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum ExistingArg {
    #[default]
    Error,
    Skip,
    Replace,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ClearPasswordsArg {
    Hash,
    Refuse,
}

/// What a load is asked to do, for callers that are not the command line.
#[derive(Debug, Clone, Default)]
pub struct LoadOptions {
    begin: LoadBegin,
}

impl LoadOptions {
    /// Leaves entries that exist as they are.
    pub fn skip_existing() -> LoadOptions {
        LoadOptions { begin: LoadBegin { existing: Existing::Skip.into(), ..LoadBegin::default() } }
    }
}

impl LoadArgs {
    fn begin(&self) -> LoadBegin {
        let existing = match self.existing {
            ExistingArg::Error => Existing::Error,
            ExistingArg::Skip => Existing::Skip,
            ExistingArg::Replace => Existing::Replace,
        };
        let clear_passwords = match self.clear_passwords {
            None => ClearPasswords::Unspecified,
            Some(ClearPasswordsArg::Hash) => ClearPasswords::Hash,
            Some(ClearPasswordsArg::Refuse) => ClearPasswords::Refuse,
        };
        LoadBegin {
            dry_run: self.dry_run,
            continue_on_error: self.continue_on_error,
            existing: existing.into(),
            clear_passwords: clear_passwords.into(),
        }
    }
}

pub(crate) async fn run(args: LoadArgs) -> Result<(), CtlError> {
    let options = LoadOptions { begin: args.begin() };
    let report = Report::new(&args.file);
    let summary = load(&args.connect, &args.file, options, &report).await;
    report.finish();
    let summary = summary?;
    match args.format.output {
        Format::Json => output::json(&Printed::new(&summary, args.dry_run))?,
        Format::Table => output::line(&sentence(&summary, args.dry_run))?,
    }
    if summary.complete && summary.errors == 0 {
        return Ok(());
    }
    Err(CtlError::Refused(failure(&summary, &args)))
}

/// Loads one file and returns the node's summary. Progress goes to the terminal, problems to standard error.
///
/// # Errors
/// The file cannot be read, no node is reached, or the connection ends before the summary.
pub async fn load(
    connect: &ConnectArgs,
    file: &Path,
    options: LoadOptions,
    report: &Report,
) -> Result<LoadSummary, CtlError> {
    let (input, total_bytes) = open(file)?;
    report.begin(total_bytes);
    let mut connection = connect.connect().await?;
    let (requests, stream) = mpsc::channel(CHUNKS_AHEAD);
    let mut reading = tokio::task::spawn_blocking(move || send(input, options.begin, &requests));
    // No deadline over all: a load takes as long as it takes. The node speaks at least every second.
    let call = tokio::time::timeout(connection.timeout, connection.client.load(ReceiverStream::new(stream)));
    let mut replies = match call.await {
        Ok(Ok(replies)) => replies.into_inner(),
        Ok(Err(status)) => return Err(CtlError::of_change(&status)),
        Err(_) => return Err(silent(connection.timeout)),
    };
    let mut read_ended = false;
    loop {
        let next = tokio::select! {
            read = &mut reading, if !read_ended => {
                read_ended = true;
                // Leaving drops the call, by which the node knows that the input was cut off.
                match read {
                    Ok(read) => read.map_err(|error| CtlError::file(file, &error))?,
                    Err(error) => return Err(CtlError::Local(format!("reading the file: {error}"))),
                }
                continue;
            }
            next = tokio::time::timeout(connection.timeout, replies.message()) => next,
        };
        let message = match next {
            Err(_) => return Err(silent(connection.timeout)),
            Ok(Err(status)) => return Err(CtlError::of_change(&status)),
            Ok(Ok(None)) => {
                return Err(CtlError::Unknown("outcome unknown: the node ended the load without a summary".into()));
            }
            Ok(Ok(Some(reply))) => reply.message,
        };
        match message {
            Some(load_reply::Message::Progress(progress)) => report.progress(&progress),
            Some(load_reply::Message::Problem(problem)) => report.problem(&problem),
            Some(load_reply::Message::Summary(summary)) => return Ok(summary),
            None => {}
        }
    }
}

fn silent(timeout: Duration) -> CtlError {
    CtlError::Unknown(format!(
        "outcome unknown: the node was silent for {} s\nload again with --existing skip to go on where it ended",
        timeout.as_secs()
    ))
}

type Input = Box<dyn Read + Send>;

fn open(path: &Path) -> Result<(Input, Option<u64>), CtlError> {
    if path.as_os_str() == "-" {
        return Ok((Box::new(std::io::stdin()), None));
    }
    let file = std::fs::File::open(path).map_err(|error| CtlError::file(path, &error))?;
    let metadata = file.metadata().map_err(|error| CtlError::file(path, &error))?;
    if metadata.is_dir() {
        return Err(CtlError::Local(format!("{}: is a directory; name LDIF files one by one", path.display())));
    }
    let total = metadata.is_file().then_some(metadata.len());
    Ok((Box::new(file), total))
}

/// Sends the input in chunks, blocking. Returns early when the node has stopped listening.
fn send(mut input: impl Read, begin: LoadBegin, requests: &mpsc::Sender<LoadRequest>) -> std::io::Result<()> {
    let message = |message| LoadRequest { message: Some(message) };
    if requests.blocking_send(message(load_request::Message::Begin(begin))).is_err() {
        return Ok(());
    }
    while let Some(data) = chunk(&mut input)? {
        if requests.blocking_send(message(load_request::Message::Data(data))).is_err() {
            return Ok(());
        }
    }
    // The node may have stopped; its summary says why.
    let _ = requests.blocking_send(message(load_request::Message::End(LoadEnd {})));
    Ok(())
}

/// The next full chunk, the last and shorter one, or None at the end.
fn chunk(input: &mut impl Read) -> std::io::Result<Option<Bytes>> {
    let mut buffer = Vec::with_capacity(CHUNK_BYTES);
    input.by_ref().take(CHUNK_BYTES as u64).read_to_end(&mut buffer)?;
    Ok((!buffer.is_empty()).then(|| buffer.into()))
}

/// Progress and problems on their way to the person who waits.
pub struct Report {
    file: String,
    bar: ProgressBar,
    started: Instant,
}

impl Report {
    /// For the file that is loaded. Draws nothing when standard error is not a terminal.
    pub fn new(file: &Path) -> Report {
        let target =
            if std::io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let file = if file.as_os_str() == "-" { "standard input".to_owned() } else { file.display().to_string() };
        Report { file, bar: ProgressBar::with_draw_target(None, target), started: Instant::now() }
    }

    fn begin(&self, total_bytes: Option<u64>) {
        let template = match total_bytes {
            Some(total) => {
                self.bar.set_length(total);
                "{bar:30} {percent:>3} %  {bytes}  {msg}  {eta} left"
            }
            None => "{spinner} {bytes}  {msg}  {elapsed}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style);
        }
    }

    fn progress(&self, progress: &LoadProgress) {
        let rate = per_second(progress.entries_applied, self.started.elapsed());
        let errors = match progress.errors {
            0 => String::new(),
            errors => format!("  {}", counted(errors, "error", "errors")),
        };
        self.bar.set_message(format!("{} entries  {}/s{errors}", grouped(progress.entries_applied), grouped(rate)));
        self.bar.set_position(progress.bytes_read);
    }

    fn problem(&self, problem: &LoadProblem) {
        let place = if problem.dn.is_empty() { String::new() } else { format!(" {}:", problem.dn) };
        self.bar.suspend(|| eprintln!("{}:{}:{place} {}", self.file, problem.line, problem.what));
    }

    /// Takes the progress bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

fn per_second(entries: u64, elapsed: Duration) -> u64 {
    let millis = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX).max(1);
    entries.saturating_mul(1000) / millis
}

/// The summary, as printed in JSON. Field names are stable.
#[derive(Debug, Serialize)]
struct Printed<'a> {
    complete: bool,
    dry_run: bool,
    entries_read: u64,
    added: u64,
    replaced: u64,
    skipped: u64,
    errors: u64,
    passwords_hashed: u64,
    bytes_read: u64,
    elapsed_ms: u64,
    entries_per_second: u64,
    stopped: Option<&'a str>,
}

impl<'a> Printed<'a> {
    fn new(summary: &'a LoadSummary, dry_run: bool) -> Printed<'a> {
        Printed {
            complete: summary.complete,
            dry_run,
            entries_read: summary.entries_read,
            added: summary.added,
            replaced: summary.replaced,
            skipped: summary.skipped,
            errors: summary.errors,
            passwords_hashed: summary.passwords_hashed,
            bytes_read: summary.bytes_read,
            elapsed_ms: summary.elapsed_ms,
            entries_per_second: per_second(summary.entries_read, Duration::from_millis(summary.elapsed_ms)),
            stopped: (!summary.stopped.is_empty()).then_some(summary.stopped.as_str()),
        }
    }
}

/// What a load did, in one line.
pub fn sentence(summary: &LoadSummary, dry_run: bool) -> String {
    let elapsed = Duration::from_millis(summary.elapsed_ms);
    let rate = grouped(per_second(summary.entries_read, elapsed));
    let mut parts = Vec::new();
    if dry_run {
        parts.push(format!("{} checked, nothing changed", counted(summary.entries_read, "entry", "entries")));
    } else {
        parts.push(format!("{} added", counted(summary.added, "entry", "entries")));
        for (count, what) in [(summary.replaced, "replaced"), (summary.skipped, "skipped")] {
            if count > 0 {
                parts.push(format!("{} {what}", grouped(count)));
            }
        }
    }
    if summary.passwords_hashed > 0 {
        parts.push(format!("{} hashed", counted(summary.passwords_hashed, "password", "passwords")));
    }
    if summary.errors > 0 {
        parts.push(counted(summary.errors, "error", "errors"));
    }
    format!("{} in {:.1} s ({rate} entries/s)", parts.join(", "), elapsed.as_secs_f64())
}

/// What the person can do about it.
fn failure(summary: &LoadSummary, args: &LoadArgs) -> String {
    if summary.complete && args.dry_run {
        return "the file has errors; nothing was changed".to_owned();
    }
    if summary.complete {
        return "some entries were left out; correct them and load them with --existing skip".to_owned();
    }
    let mut text = if summary.stopped.is_empty() { "the load stopped".to_owned() } else { summary.stopped.clone() };
    if !args.dry_run {
        if summary.added + summary.replaced > 0 {
            text.push_str(&format!(
                "\n{} entries are in the directory; once the cause is removed, go on with\n  bindery load --existing skip {}",
                grouped(summary.added + summary.replaced),
                args.file.display()
            ));
        } else {
            text.push_str("\nnothing was changed");
        }
        if !args.continue_on_error {
            text.push_str("\n--dry-run lists all errors of the file, --continue-on-error leaves faulty entries out");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk_sizes(mut input: impl Read) -> Vec<usize> {
        std::iter::from_fn(|| chunk(&mut input).unwrap()).map(|data| data.len()).collect()
    }

    #[test]
    fn chunks_are_full_but_the_last() {
        for (length, expected) in [
            (0, vec![]),
            (1, vec![1]),
            (CHUNK_BYTES, vec![CHUNK_BYTES]),
            (CHUNK_BYTES + 1, vec![CHUNK_BYTES, 1]),
            (3 * CHUNK_BYTES - 5, vec![CHUNK_BYTES, CHUNK_BYTES, CHUNK_BYTES - 5]),
        ] {
            assert_eq!(chunk_sizes(&vec![b'x'; length][..]), expected, "{length}");
        }
    }

    /// Gives a little at a time, as a pipe does.
    struct Trickle(usize);

    impl Read for Trickle {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let length = buffer.len().min(1000).min(self.0);
            buffer[..length].fill(b'x');
            self.0 -= length;
            Ok(length)
        }
    }

    #[test]
    fn a_slow_pipe_still_gives_full_chunks() {
        assert_eq!(chunk_sizes(Trickle(CHUNK_BYTES + 77)), [CHUNK_BYTES, 77]);
    }

    #[test]
    fn the_stream_begins_with_the_options_and_ends_with_the_end() {
        let (requests, mut stream) = mpsc::channel(8);
        send(&b"dn: dc=x\n"[..], LoadBegin { dry_run: true, ..LoadBegin::default() }, &requests).unwrap();
        drop(requests);
        let mut messages = Vec::new();
        while let Some(request) = stream.blocking_recv() {
            messages.push(request.message.unwrap());
        }
        assert!(matches!(&messages[0], load_request::Message::Begin(begin) if begin.dry_run));
        assert!(matches!(&messages[1], load_request::Message::Data(data) if &data[..] == b"dn: dc=x\n"));
        assert!(matches!(&messages[2], load_request::Message::End(_)));
        assert_eq!(messages.len(), 3);
    }

    #[test]
    fn the_summary_is_one_line() {
        let summary = LoadSummary {
            complete: true,
            entries_read: 12_000,
            added: 11_990,
            skipped: 9,
            errors: 1,
            elapsed_ms: 2_000,
            ..LoadSummary::default()
        };
        assert_eq!(sentence(&summary, false), "11,990 entries added, 9 skipped, 1 error in 2.0 s (6,000 entries/s)");
        assert_eq!(
            sentence(&summary, true),
            "12,000 entries checked, nothing changed, 1 error in 2.0 s (6,000 entries/s)"
        );
    }
}
