//! The logs by themselves: reopening, cutting, purging, large entries, crashes, damage.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt;
use openraft::EntryPayload;
use openraft::storage::{IOFlushed, RaftLogReader, RaftLogStorage};
use openraft::type_config::TypeConfigExt;

use super::{LogError, LogIdentity, LogStore, StoreOptions};
use crate::core::types::{Command, Entry, LeaderId, LogId, TC, Vote, make_log_id};
use crate::log::files::{LogFiles, OsFiles};
use crate::options::{FatalHandler, LogKind};
use crate::test_files::FaultyFiles;

const IDENTITY: LogIdentity = LogIdentity { cluster_id: [1; 16], node_id: 1 };

fn options(kind: LogKind, inline: bool, files: Arc<dyn LogFiles>) -> StoreOptions {
    StoreOptions {
        kind,
        inline,
        files,
        sled_cache_bytes: 1 << 20,
        segment_bytes: 2000,
        tail_cache_bytes: 500,
        fatal: FatalHandler(Arc::new(|_| {})),
    }
}

fn entry(term: u64, index: u64, size: usize) -> Entry {
    let byte = (index % 251) as u8 ^ (term as u8) << 4;
    let command = Command { time_us: index, random: [0; 16], payload: Bytes::from(vec![byte; size]) };
    Entry { log_id: make_log_id(term, 1, index), payload: EntryPayload::Normal(command) }
}

fn vote(term: u64) -> Vote {
    Vote { leader_id: LeaderId { term, node_id: 1 }, committed: false }
}

/// Appends; whether it was acknowledged.
async fn append(log: &mut LogStore, entries: Vec<Entry>) -> bool {
    let (sender, receiver) = TC::oneshot();
    if log.append(entries, IOFlushed::signal(sender)).await.is_err() {
        return false;
    }
    matches!(receiver.await, Ok(Ok(())))
}

async fn all(log: &mut LogStore) -> Vec<Entry> {
    log.try_get_log_entries(..).await.unwrap()
}

fn open(path: &Path, kind: LogKind, in_use: bool) -> Result<LogStore, LogError> {
    LogStore::open(path, IDENTITY, in_use, options(kind, false, Arc::new(OsFiles)))
}

const KINDS: [LogKind; 3] = [LogKind::Split, LogKind::Sled, LogKind::Segmented];

#[tokio::test]
async fn a_log_comes_back_as_it_was() {
    for kind in KINDS {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let mut log = open(&path, kind, false).unwrap();
        log.save_vote(&vote(3)).await.unwrap();
        for index in 0..100 {
            assert!(append(&mut log, vec![entry(1, index, 100)]).await);
        }
        log.truncate_after(Some(make_log_id(1, 1, 60))).await.unwrap();
        assert!(append(&mut log, (61..90).map(|i| entry(2, i, 50)).collect()).await);
        log.purge(make_log_id(1, 1, 30)).await.unwrap();
        log.save_committed(Some(make_log_id(2, 1, 80))).await.unwrap();
        log.close().await.unwrap();
        drop(log);
        // The writer's thread has ended, but may not have dropped its part yet.
        let mut log = loop {
            match open(&path, kind, true) {
                Ok(log) => break log,
                Err(error) => {
                    assert!(matches!(error, LogError::Io { .. }), "{error}");
                    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
                }
            }
        };
        assert_eq!(log.read_vote().await.unwrap(), Some(vote(3)));
        assert_eq!(log.read_committed().await.unwrap(), Some(make_log_id(2, 1, 80)));
        let state = log.get_log_state().await.unwrap();
        assert_eq!(state.last_purged_log_id, Some(make_log_id(1, 1, 30)));
        assert_eq!(state.last_log_id, Some(make_log_id(2, 1, 89)));
        let expected: Vec<Entry> =
            (31..=60).map(|i| entry(1, i, 100)).chain((61..90).map(|i| entry(2, i, 50))).collect();
        assert_eq!(all(&mut log).await, expected);
    }
}

#[tokio::test]
async fn purging_deletes_whole_segments_and_an_install_everything() {
    for kind in KINDS {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let mut log = open(&path, kind, false).unwrap();
        let segments = || {
            std::fs::read_dir(&path)
                .unwrap()
                .filter(|e| e.as_ref().unwrap().file_name().to_string_lossy().starts_with("seg-"))
                .count()
        };
        assert!(append(&mut log, (0..200).map(|i| entry(1, i, 100)).collect()).await);
        let before = segments();
        assert!(before > 5, "{before}");
        assert_eq!(log.purge_boundary(50, u64::MAX), None);
        let boundary = log.purge_boundary(150, 1).unwrap();
        assert!(boundary <= 150 && boundary > 100, "{boundary}");
        log.purge(make_log_id(1, 1, boundary)).await.unwrap();
        log.save_vote(&vote(1)).await.unwrap();
        assert!(segments() < before);
        assert_eq!(all(&mut log).await[0], entry(1, boundary + 1, 100));
        // A snapshot beyond the end of the log.
        log.purge(make_log_id(5, 1, 1000)).await.unwrap();
        log.save_vote(&vote(6)).await.unwrap();
        assert_eq!(segments(), 0);
        assert!(append(&mut log, vec![entry(6, 1001, 10)]).await);
        assert_eq!(all(&mut log).await, vec![entry(6, 1001, 10)]);
        log.close().await.unwrap();
    }
}

#[tokio::test]
async fn large_entries_are_split_and_come_back_whole() {
    for kind in KINDS {
        let dir = tempfile::tempdir().unwrap();
        let mut log = open(&dir.path().join("log"), kind, false).unwrap();
        let entries = vec![entry(1, 0, 10), entry(1, 1, 300_000), entry(1, 2, 5 << 20), entry(1, 3, 0)];
        assert!(append(&mut log, entries.clone()).await);
        // The tail holds only little: this reads from disk.
        assert_eq!(all(&mut log).await, entries);
        let one = log.limited_get_log_entries(2, 4).await.unwrap();
        assert_eq!(one, entries[2..3]);
        log.close().await.unwrap();
    }
}

#[tokio::test]
async fn a_lost_or_foreign_log_is_damage_not_an_empty_log() {
    for kind in KINDS {
        let dir = tempfile::tempdir().unwrap();
        assert!(matches!(open(&dir.path().join("log"), kind, true), Err(LogError::Damaged { .. })));
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    let log = open(&path, LogKind::Segmented, false).unwrap();
    log.close().await.unwrap();
    let other = LogIdentity { node_id: 2, ..IDENTITY };
    let result = LogStore::open(&path, other, true, options(LogKind::Segmented, true, Arc::new(OsFiles)));
    assert!(matches!(result, Err(LogError::Damaged { .. })));
}

#[tokio::test]
async fn an_interrupted_sled_open_is_repaired() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    let log = open(&path, LogKind::Sled, false).unwrap();
    log.close().await.unwrap();
    drop(log);
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    std::fs::write(path.join("meta").join("snap.0000000000000ABC.generating"), b"half").unwrap();
    open(&path, LogKind::Sled, true).unwrap();
}

#[test]
fn rot_in_what_was_durable_is_damage() {
    let files = FaultyFiles::new(1);
    let path = Path::new("/log");
    let mut log =
        LogStore::open(path, IDENTITY, false, options(LogKind::Segmented, true, Arc::new(files.clone()))).unwrap();
    for index in 0..8 {
        assert!(append(&mut log, vec![entry(1, index, 100)]).now_or_never().unwrap());
    }
    drop(log);
    files.corrupt("seg-", 300);
    let result = LogStore::open(path, IDENTITY, true, options(LogKind::Segmented, true, Arc::new(files)));
    assert!(matches!(result, Err(LogError::Damaged { .. })));
}

/// What must be found after a crash.
#[derive(Default)]
struct Model {
    vote: Option<u64>,
    /// A vote that was being written.
    attempted_vote: Option<u64>,
    entries: Vec<Entry>,
    /// Acknowledged ones at the front of `entries`.
    acknowledged: usize,
    purged: Option<LogId>,
    /// Lowest length a truncation under way may leave.
    truncating: Option<usize>,
    term: u64,
}

/// Random work, a crash at a random operation, and again.
fn crash_run(seed: u64) {
    let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = move |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    let files = FaultyFiles::new(seed);
    let path = Path::new("/log");
    let mut model = Model { term: 1, ..Model::default() };
    let mut used = false;
    for _ in 0..6 {
        files.fail_after(30 + next(200));
        let opened = LogStore::open(path, IDENTITY, used, options(LogKind::Segmented, true, Arc::new(files.clone())));
        let mut log = match opened {
            Ok(log) => log,
            Err(LogError::Io { .. }) => {
                files.crash();
                continue;
            }
            Err(error) => panic!("seed {seed}: {error}; {:?}", files.names()),
        };
        used = true;
        if !check(&mut log, &mut model, seed) {
            drop(log);
            files.crash();
            continue;
        }
        while work(&mut log, &mut model, &mut next) {}
        drop(log);
        files.crash();
    }
    let mut log = LogStore::open(path, IDENTITY, used, options(LogKind::Segmented, true, Arc::new(files.clone())))
        .unwrap_or_else(|error| panic!("seed {seed}: {error}; {:?}", files.names()));
    assert!(check(&mut log, &mut model, seed));
}

/// One operation. Returns whether it was acknowledged.
fn work(log: &mut LogStore, model: &mut Model, next: &mut impl FnMut(u64) -> u64) -> bool {
    let first = model.purged.map_or(0, |p| p.index + 1);
    let end = first + model.entries.len() as u64;
    match next(10) {
        0 => {
            model.term += 1;
            model.attempted_vote = Some(model.term);
            let done = log.save_vote(&vote(model.term)).now_or_never().unwrap().is_ok();
            if done {
                model.vote = model.attempted_vote.take();
            }
            done
        }
        1 if !model.entries.is_empty() => {
            let keep = next(model.entries.len() as u64 + 1) as usize;
            let last = keep.checked_sub(1).map(|n| model.entries[n].log_id).or(model.purged);
            model.term += 1;
            model.truncating = Some(keep);
            let done = log.truncate_after(last).now_or_never().unwrap().is_ok();
            if done {
                model.entries.truncate(keep);
                model.acknowledged = model.acknowledged.min(keep);
                model.truncating = None;
            }
            done
        }
        2 if model.acknowledged > 0 => {
            let n = next(model.acknowledged as u64) as usize;
            let upto = model.entries[n].log_id;
            let _ = log.purge(upto).now_or_never().unwrap();
            // A purge that a crash undoes is no loss: only a vote behind it tells that it is durable.
            let done = log.save_vote(&vote(model.term)).now_or_never().unwrap().is_ok();
            model.attempted_vote = Some(model.term);
            if done {
                model.vote = model.attempted_vote.take();
                model.entries.drain(..=n);
                model.acknowledged -= n + 1;
                model.purged = Some(upto);
            }
            done
        }
        _ => {
            let count = 1 + next(5);
            let new: Vec<Entry> = (0..count).map(|i| entry(model.term, end + i, next(400) as usize)).collect();
            model.entries.extend(new.iter().cloned());
            let done = append(log, new).now_or_never().unwrap();
            if done {
                model.acknowledged = model.entries.len();
            }
            done
        }
    }
}

/// Compares with the model, and makes the model what was found. Returns whether reading worked at all.
fn check(log: &mut LogStore, model: &mut Model, seed: u64) -> bool {
    let found_vote = log.read_vote().now_or_never().unwrap().unwrap().map(|v| v.leader_id.term);
    assert!(
        found_vote == model.vote || (found_vote.is_some() && found_vote == model.attempted_vote),
        "seed {seed}: vote {found_vote:?}, acknowledged {:?}",
        model.vote
    );
    let state = log.get_log_state().now_or_never().unwrap().unwrap();
    let Ok(found) = log.try_get_log_entries(..).now_or_never().unwrap() else { return false };
    let old_first = model.purged.map_or(0, |p| p.index + 1);
    let new_first = state.last_purged_log_id.map_or(0, |p| p.index + 1);
    assert!(new_first >= old_first, "seed {seed}: the purge point went back");
    let purged_now = (new_first - old_first) as usize;
    assert!(purged_now <= model.acknowledged, "seed {seed}: purged more than was asked");
    let least = model.truncating.unwrap_or(usize::MAX).min(model.acknowledged).max(purged_now);
    assert!(
        purged_now + found.len() >= least,
        "seed {seed}: {} entries of {least} acknowledged from {old_first} on, purged {purged_now}",
        found.len()
    );
    for (got, wanted) in found.iter().zip(&model.entries[purged_now..]) {
        assert_eq!(got, wanted, "seed {seed}");
    }
    assert!(purged_now + found.len() <= model.entries.len(), "seed {seed}: entries from nowhere");
    model.vote = found_vote;
    model.attempted_vote = None;
    model.purged = state.last_purged_log_id;
    model.acknowledged = found.len();
    model.entries = found;
    model.truncating = None;
    true
}

#[test]
fn dropped_torn_and_reordered_unsynced_writes_lose_nothing_acknowledged() {
    for seed in 0..400 {
        crash_run(seed);
    }
}

/// An unacknowledged entry was written between the notice of its truncation and the truncation itself; the tail
/// then took its successor for written and forgot it, while the writer had not come to it yet.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_entry_appended_after_a_truncation_that_overtook_a_write_is_readable() {
    for kind in KINDS {
        let dir = tempfile::tempdir().unwrap();
        let mut log = open(&dir.path().join("log"), kind, false).unwrap();
        for term in 1..50 {
            log.append((0..10).map(|i| entry(2 * term, i, 100)), IOFlushed::noop()).await.unwrap();
            log.truncate_after(None).await.unwrap();
            let wanted: Vec<Entry> = (0..10).map(|i| entry(2 * term + 1, i, 100)).collect();
            log.append(wanted.clone(), IOFlushed::noop()).await.unwrap();
            assert_eq!(all(&mut log).await, wanted, "{kind:?}");
            log.truncate_after(None).await.unwrap();
        }
        log.close().await.unwrap();
    }
}

/// A purge beyond the last entry (an installed snapshot) and the entries behind it came to the writer at once: it
/// wrote them into the segment before the hole, and the log was found damaged when it was opened next.
#[tokio::test]
async fn entries_appended_right_after_a_purge_beyond_the_end_begin_a_segment() {
    for kind in KINDS {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let mut log = open(&path, kind, false).unwrap();
        for round in 0..20 {
            let start = round * 100;
            // Keeps the writer busy, so that the next two wait for it together.
            log.append((start..start + 5).map(|i| entry(1, i, 100)), IOFlushed::noop()).await.unwrap();
            log.purge(make_log_id(1, 1, start + 99)).await.unwrap();
        }
        assert!(append(&mut log, vec![entry(1, 2000, 100)]).await);
        log.close().await.unwrap();
        drop(log);
        let mut log = loop {
            match open(&path, kind, true) {
                Ok(log) => break log,
                Err(error) => {
                    assert!(matches!(error, LogError::Io { .. }), "{kind:?}: {error}");
                    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
                }
            }
        };
        assert_eq!(all(&mut log).await, vec![entry(1, 2000, 100)], "{kind:?}");
    }
}
