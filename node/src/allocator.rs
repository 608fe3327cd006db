//! Keeps the system's allocator from holding on to freed memory: `memory` bounds the whole process, and what the
//! allocator keeps counts.
//!
//! Left alone, glibc opens up to eight arenas for each processor and raises the size from which it returns memory at
//! once with every large block it frees. Measured while 100,000 entries were loaded, that alone was a third of the
//! process. It takes settings only from the environment before the program starts (or through foreign calls), so a
//! node starts itself once more, in the same process, with them set.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::units::{KIB, MIB};

/// Set: this is the second start, or whoever runs the node has chosen.
const CHOSEN: &str = "MALLOC_ARENA_MAX";
/// Memory that justifies one more arena; each may hold a few MiB of holes.
const ARENA_STEP_BYTES: u64 = 64 * MIB;
/// More arenas than this for each processor only spread the holes.
const ARENAS_PER_PROCESSOR: u64 = 2;
/// From this size blocks come from and go back to the system directly: a small share of `memory`, but not so small
/// that ordinary messages cost system calls.
const DIRECT_SHARE: u64 = 1024;
const DIRECT_MIN_BYTES: u64 = 128 * KIB;
const DIRECT_MAX_BYTES: u64 = 4 * MIB;

/// What is put into the environment.
fn settings(memory_bytes: u64, processors: u64) -> [(&'static str, String); 4] {
    let arenas = (memory_bytes / ARENA_STEP_BYTES).clamp(1, ARENAS_PER_PROCESSOR * processors.max(1));
    let direct = (memory_bytes / DIRECT_SHARE).clamp(DIRECT_MIN_BYTES, DIRECT_MAX_BYTES);
    [
        (CHOSEN, arenas.to_string()),
        ("MALLOC_MMAP_THRESHOLD_", direct.to_string()),
        ("MALLOC_TRIM_THRESHOLD_", direct.to_string()),
        // For builds against musl, which use mimalloc: freed pages go back at once.
        ("MIMALLOC_PURGE_DELAY", "0".to_owned()),
    ]
}

/// Starts this program again with the allocator's settings, unless they are set. Returns when there is nothing to do,
/// or when it cannot be done; then with the reason.
pub fn settle(memory_bytes: u64) -> Result<(), std::io::Error> {
    if std::env::var_os(CHOSEN).is_some() {
        return Ok(());
    }
    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_else(|| OsString::from("bindery"));
    let processors = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let mut again = Command::new(std::env::current_exe()?);
    again.arg0(name).args(arguments).envs(settings(memory_bytes, processors));
    Err(again.exec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::GIB;

    #[test]
    fn settings_follow_memory_and_processors() {
        let of = |memory, processors| settings(memory, processors).map(|(_, value)| value);
        assert_eq!(of(128 * MIB, 2), ["2", "131072", "131072", "0"]);
        assert_eq!(of(GIB, 16), ["16", "1048576", "1048576", "0"]);
        assert_eq!(of(1024 * GIB, 4), ["8", "4194304", "4194304", "0"]);
    }
}
