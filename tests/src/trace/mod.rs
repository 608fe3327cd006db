//! System calls of a node as `strace` saw them, in order: what was written, synced and sent, and when.

pub mod acknowledgements;
pub mod disk;
pub mod votes;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Everything that changes files or answers anybody.
const CALLS: &str = "open,openat,creat,mkdir,mkdirat,rmdir,rename,renameat,renameat2,unlink,unlinkat,link,linkat,\
                     ftruncate,truncate,fallocate,write,pwrite64,writev,pwritev,pwritev2,fsync,fdatasync,\
                     sync_file_range,copy_file_range,sendto,sendmsg";
/// Longest data recorded: sled clears its segments of 8 MiB with one call.
const DATA_BYTES: &str = "9437184";

/// A command that traces what follows it. The traced process keeps the command's process id.
pub fn strace(output: &Path) -> Command {
    let mut command = Command::new("strace");
    command.args(["-D", "-f", "-q", "--seccomp-bpf", "-yy", "-xx", "-s", DATA_BYTES, "-e"]);
    command.arg(format!("trace={}", CALLS.replace(' ', ""))).arg("-o").arg(output).arg("--");
    command
}

/// Why system calls cannot be traced on this machine, if they cannot.
pub fn untraceable() -> Option<String> {
    let output = strace(Path::new("/dev/null")).arg("true").stdin(Stdio::null()).output();
    match output {
        Ok(output) if output.status.success() && output.stderr.is_empty() => None,
        Ok(output) => Some(format!("strace cannot run: {}", String::from_utf8_lossy(&output.stderr).trim())),
        Err(error) => Some(format!("strace cannot be started: {error}")),
    }
}

/// The finished trace of a process that has ended.
pub fn read(path: &Path, pid: u32) -> Vec<Call> {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let text = std::fs::read_to_string(path).expect("a trace");
        // The main thread is reported last.
        let ended = text.lines().rev().take(50).any(|l| l.starts_with(&format!("{pid} ")) && l.contains(" +++ "));
        if ended {
            return parse(&text);
        }
        assert!(Instant::now() < end, "the trace of process {pid} does not end");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// What a descriptor stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A file or directory.
    File(PathBuf),
    /// A TCP connection.
    Socket {
        /// This end.
        local: SocketAddr,
        /// The other.
        remote: SocketAddr,
    },
    /// Anything else.
    Other,
}

/// One system call.
#[derive(Clone, Debug)]
pub struct Call {
    /// Its name.
    pub name: String,
    /// Its first argument's number and meaning, if that is a descriptor.
    pub descriptor: Option<(u64, Target)>,
    /// Its strings: paths, or the data written.
    pub strings: Vec<Vec<u8>>,
    /// What follows the last string (or the descriptor), comma separated.
    pub rest: Vec<String>,
    /// Line at which it began: whatever ended on an earlier line had taken effect before.
    pub enter: usize,
    /// Line at which it ended; `None` = the process ended first.
    pub exit: Option<usize>,
    /// What it returned; negative = failed.
    pub result: i64,
}

impl Call {
    /// The file it works on.
    pub fn file(&self) -> Option<&Path> {
        match &self.descriptor {
            Some((_, Target::File(path))) => Some(path),
            _ => None,
        }
    }

    /// Whether it writes data.
    pub fn is_write(&self) -> bool {
        matches!(self.name.as_str(), "write" | "pwrite64" | "writev" | "pwritev" | "pwritev2")
    }

    /// Whether it made a file durable. `sync_file_range` does not.
    pub fn is_sync(&self) -> bool {
        matches!(self.name.as_str(), "fsync" | "fdatasync") && self.result == 0
    }

    /// Whether it sends to a TCP connection.
    pub fn sends(&self) -> Option<(SocketAddr, SocketAddr)> {
        match self.descriptor {
            Some((_, Target::Socket { local, remote }))
                if self.is_write() || matches!(self.name.as_str(), "sendto" | "sendmsg") =>
            {
                Some((local, remote))
            }
            _ => None,
        }
    }

    /// The data it wrote; all that it was given, if it never ended.
    pub fn data(&self) -> Vec<u8> {
        let mut data = self.strings.concat();
        if self.exit.is_some() {
            data.truncate(usize::try_from(self.result).unwrap_or(0));
        }
        data
    }

    /// The n-th of the remaining arguments as a number.
    pub fn number(&self, n: usize) -> Option<u64> {
        self.rest.get(n)?.parse().ok()
    }
}

/// The calls of one life of a node and those of the next, on lines behind them.
pub fn append(calls: &mut Vec<Call>, next: Vec<Call>) {
    let base = calls.iter().map(|c| c.exit.unwrap_or(c.enter).max(c.enter) + 1).max().unwrap_or(0);
    calls.extend(next.into_iter().map(|c| Call { enter: c.enter + base, exit: c.exit.map(|e| e + base), ..c }));
}

/// Whether some sync made durable, before line `before`, what `write` wrote to its file.
pub fn synced_before(calls: &[Call], write: &Call, before: usize) -> bool {
    let Some(written) = write.exit else { return false };
    calls.iter().any(|sync| {
        sync.is_sync() && sync.file() == write.file() && sync.enter > written && sync.exit.is_some_and(|e| e < before)
    })
}

/// Reads a trace.
pub fn parse(text: &str) -> Vec<Call> {
    let mut calls = Vec::new();
    // By thread: arguments so far and the line of the beginning.
    let mut unfinished: BTreeMap<&str, (String, usize)> = BTreeMap::new();
    for (line_number, line) in text.lines().enumerate() {
        let Some((thread, event)) = line.split_once(' ') else { continue };
        let event = event.trim_start();
        if event.starts_with("+++") || event.starts_with("---") {
            continue;
        }
        if let Some(begun) = event.strip_suffix("<unfinished ...>") {
            unfinished.insert(thread, (begun.to_owned(), line_number));
            continue;
        }
        let (whole, enter) = match event.strip_prefix("<... ") {
            Some(resumed) => {
                let Some((begun, enter)) = unfinished.remove(thread) else { continue };
                let rest = resumed.split_once("resumed>").map_or("", |(_, rest)| rest);
                (begun + rest, enter)
            }
            None => (event.to_owned(), line_number),
        };
        let Some((call, result)) = whole.rsplit_once(" = ") else { continue };
        let result = result.split([' ', '<']).next().and_then(|n| n.parse().ok());
        let exit = result.map(|_: i64| line_number);
        calls.extend(parse_call(call.trim_end().trim_end_matches(')'), enter, exit, result.unwrap_or(0)));
    }
    for (begun, enter) in unfinished.into_values() {
        calls.extend(parse_call(begun.trim_end(), enter, None, 0));
    }
    calls.sort_by_key(|call| call.enter);
    calls
}

fn parse_call(text: &str, enter: usize, exit: Option<usize>, result: i64) -> Option<Call> {
    let (name, mut rest) = text.split_once('(')?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let mut descriptor = None;
    if digits > 0
        && let Some(annotated) = rest[digits..].strip_prefix('<')
    {
        let end =
            if annotated.starts_with("TCP") { annotated.find("]>").map(|at| at + 1) } else { annotated.find('>') };
        let end = end?;
        descriptor = Some((rest[..digits].parse().ok()?, target(&annotated[..end])));
        rest = &annotated[end + 1..];
    }
    let mut strings = Vec::new();
    while let Some(from) = rest.find('"') {
        let to = from + 1 + rest[from + 1..].find('"')?;
        strings.push(unescape(&rest[from + 1..to]));
        rest = &rest[to + 1..];
        assert!(!rest.starts_with("..."), "the trace does not hold all data of a {name}");
    }
    let rest = rest.split(',').map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect();
    Some(Call { name: name.to_owned(), descriptor, strings, rest, enter, exit, result })
}

/// `\x2f\x74` as bytes; anything else stands for itself.
fn unescape(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len() / 4 + 1);
    let mut at = 0;
    while at < bytes.len() {
        let escaped = bytes[at..].starts_with(b"\\x").then(|| text.get(at + 2..at + 4)).flatten();
        match escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 4;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    out
}

fn target(text: &str) -> Target {
    if let Some(ends) = text.strip_prefix("TCP:[").and_then(|t| t.strip_suffix(']'))
        && let Some((local, remote)) = ends.split_once("->")
        && let (Ok(local), Ok(remote)) = (local.parse(), remote.parse())
    {
        return Target::Socket { local, remote };
    }
    let path = path(&unescape(text));
    if path.is_absolute() { Target::File(path) } else { Target::Other }
}

/// Bytes as a path.
pub(crate) fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}
