//! Readers, a writer and a checkpointer on threads of their own, in an arena that holds a small part of the data.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bindery_store::{AllocatorKind, OsFiles, Store, StoreOptions, TreeId};

const A: TreeId = TreeId(1);
const B: TreeId = TreeId(2);
const KEYS: u64 = 4_000;

/// A value says its key, its round, and is filled so that a wrong byte shows.
fn value(key: u64, round: u64) -> Vec<u8> {
    let size = match key % 50 {
        0 => 20_000,
        1 => 5_000,
        _ => 100 + (key % 400) as usize,
    };
    let fill = (key.wrapping_mul(31) ^ round) as u8;
    let mut value = vec![fill; size];
    value[..8].copy_from_slice(&key.to_be_bytes());
    value[8..16].copy_from_slice(&round.to_be_bytes());
    value
}

fn check(bytes: &[u8], key: u64) -> u64 {
    let round = u64::from_be_bytes(bytes[8..16].try_into().unwrap());
    assert!(bytes == value(key, round), "torn or foreign value of {key}");
    round
}

fn stress(allocator: AllocatorKind, frames: usize, readers: usize, time: Duration) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store");
    let options = StoreOptions { arena_bytes: frames * 4096, allocator };
    let store = Store::open(Arc::new(OsFiles), &path, options.clone()).unwrap();
    let mut txn = store.begin();
    for key in 0..KEYS {
        txn.put(A, &key.to_be_bytes(), &value(key, 0)).unwrap();
        txn.put(B, &key.to_be_bytes(), &value(key, 0)).unwrap();
    }
    txn.commit(&0u64.to_be_bytes()).unwrap();
    let stop = AtomicBool::new(false);
    let reads = AtomicU64::new(0);
    let checkpoints = AtomicU64::new(0);
    let round_of = |label: Vec<u8>| u64::from_be_bytes(label.try_into().unwrap());
    std::thread::scope(|scope| {
        for reader in 0..readers as u64 {
            let (store, stop, reads) = (&store, &stop, &reads);
            scope.spawn(move || {
                let mut x = reader + 1;
                while !stop.load(Ordering::Relaxed) {
                    let view = store.view();
                    let label = round_of(view.label());
                    for _ in 0..30 {
                        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                        let key = (x >> 33) % KEYS;
                        // Both trees change in one transaction: one version shows both or neither.
                        let a = view.get(A, &key.to_be_bytes(), |v| check(v, key)).unwrap().unwrap();
                        let b = view.get(B, &key.to_be_bytes(), |v| check(v, key)).unwrap().unwrap();
                        assert_eq!(a, b);
                        assert!(a <= label, "a value of the future");
                        reads.fetch_add(2, Ordering::Relaxed);
                    }
                    if x.is_multiple_of(16) {
                        let mut cursor = view.cursor(A);
                        let mut more = cursor.seek_first().unwrap();
                        let mut key = 0u64;
                        while more {
                            assert_eq!(cursor.key(), key.to_be_bytes());
                            check(cursor.value(), key);
                            key += 1;
                            more = cursor.next().unwrap();
                        }
                        assert_eq!(key, KEYS);
                    }
                }
            });
        }
        let (store_ref, stop_ref, checkpoints) = (&store, &stop, &checkpoints);
        scope.spawn(move || {
            while !stop_ref.load(Ordering::Relaxed) {
                store_ref.checkpoint().unwrap();
                checkpoints.fetch_add(1, Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let until = Instant::now() + time;
        let mut round = 0u64;
        while Instant::now() < until {
            round += 1;
            let mut txn = store.begin();
            for i in 0..60 {
                let key = (round.wrapping_mul(7_919) + i * 101) % KEYS;
                for tree in [A, B] {
                    if round.is_multiple_of(5) {
                        assert!(txn.delete(tree, &key.to_be_bytes()).unwrap());
                    }
                    txn.put(tree, &key.to_be_bytes(), &value(key, round)).unwrap();
                }
            }
            if round.is_multiple_of(7) {
                drop(txn);
            } else {
                txn.commit(&round.to_be_bytes()).unwrap();
            }
            if round.is_multiple_of(64) {
                store.verify().unwrap();
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    store.verify().unwrap();
    let stats = store.stats();
    assert!(stats.cache.page_ins > 100 && stats.cache.evictions > 100, "{stats:?}");
    assert!(reads.load(Ordering::Relaxed) > 100);
    store.checkpoint().unwrap();
    let label = store.view().label();
    drop(store);
    let store = Store::open(Arc::new(OsFiles), &path, options).unwrap();
    assert_eq!(store.view().label(), label);
    store.verify().unwrap();
}

fn time() -> Duration {
    Duration::from_secs(std::env::var("BINDERY_STORE_SECONDS").ok().and_then(|n| n.parse().ok()).unwrap_or(2))
}

#[test]
fn readers_writer_and_checkpoints_together() {
    stress(AllocatorKind::Buddy, 256, 4, time());
}

#[test]
fn many_readers_on_few_frames_make_progress() {
    stress(AllocatorKind::Buddy, 80, 32, time());
}

#[test]
fn the_same_with_first_fit() {
    stress(AllocatorKind::FirstFit, 256, 4, time());
}
