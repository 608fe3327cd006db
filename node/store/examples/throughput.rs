//! Measures the store by itself: `cargo run --release -p bindery-store --example throughput [DIR]`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use bindery_store::{OsFiles, Store, StoreError, StoreOptions, TreeId};

const T: TreeId = TreeId(1);
const RECORDS: u64 = 1_000_000;

fn report(what: &str, count: u64, started: Instant) {
    let seconds = started.elapsed().as_secs_f64();
    let (rate, each) = (count as f64 / seconds, seconds * 1e9 / count as f64);
    println!("{what:<52} {rate:>12.0}/s {each:>10.0} ns each");
}

fn scatter(i: u64) -> u64 {
    i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 1
}

fn main() -> Result<(), StoreError> {
    let dir = std::env::args().nth(1).map_or_else(std::env::temp_dir, PathBuf::from);
    let path = dir.join(format!("bindery-throughput-{}", std::process::id()));
    let store =
        Store::open(Arc::new(OsFiles), &path, StoreOptions { arena_bytes: 512 << 20, ..StoreOptions::default() })?;
    in_memory(&store)?;
    let started = Instant::now();
    let info = store.checkpoint()?;
    println!(
        "{:<52} {:>10} pages, {} MiB, {:.2} s",
        "checkpoint of that",
        info.pages_written,
        info.bytes_written >> 20,
        started.elapsed().as_secs_f64()
    );
    writes(&store)?;
    println!("{:?}", store.stats());
    drop(store);

    // A tenth of the file as memory: every other get misses the arena (and hits the system's cache).
    let options = StoreOptions { arena_bytes: 24 << 20, ..StoreOptions::default() };
    let store = Store::open(Arc::new(OsFiles), &path, options)?;
    larger_than_memory(&store)?;
    println!("{:?}", store.stats());
    drop(store);
    let removed = std::fs::remove_file(&path);
    assert!(removed.is_ok(), "the file can be removed");
    Ok(())
}

fn in_memory(store: &Store) -> Result<(), StoreError> {
    let started = Instant::now();
    for batch in 0..RECORDS / 1000 {
        let mut txn = store.begin();
        for i in 0..1000 {
            let key = batch * 1000 + i;
            txn.put(T, &key.to_be_bytes(), &[7; 40])?;
        }
        txn.commit(b"")?;
    }
    report("sequential puts of 40 bytes, 1,000 a batch", RECORDS, started);

    let view = store.view();
    let started = Instant::now();
    let mut sum = 0u64;
    for i in 0..RECORDS {
        let key = scatter(i) % RECORDS;
        sum += view.get(T, &key.to_be_bytes(), |v| u64::from(v[0]))?.unwrap_or(0);
    }
    assert_eq!(sum, 7 * RECORDS);
    report("random gets from memory, one thread", RECORDS, started);

    let started = Instant::now();
    std::thread::scope(|scope| {
        for thread in 0..2u64 {
            let view = view.clone();
            scope.spawn(move || {
                for i in 0..RECORDS {
                    let key = scatter(i + thread * RECORDS) % RECORDS;
                    view.get(T, &key.to_be_bytes(), |v| v[0]).expect("a readable store");
                }
            });
        }
    });
    report("random gets from memory, two threads", 2 * RECORDS, started);

    let started = Instant::now();
    let mut cursor = view.cursor(T);
    let mut more = cursor.seek_first()?;
    let mut count = 0;
    while more {
        count += 1;
        more = cursor.next()?;
    }
    report("cursor over all", count, started);
    Ok(())
}

fn writes(store: &Store) -> Result<(), StoreError> {
    // 21 index trees with text keys: 50 entries of 20 keys each make one batch of 1,050 random puts.
    let started = Instant::now();
    let mut puts = 0;
    for batch in 0..500u64 {
        let mut txn = store.begin();
        for entry in 0..50u64 {
            for index in 0..21u32 {
                let key = format!("{:016x}{:08x}", scatter(batch * 50 + entry + u64::from(index) * 77_777), entry);
                txn.put(TreeId(1000 + index), key.as_bytes(), &[1; 4])?;
                puts += 1;
            }
        }
        txn.commit(b"")?;
        if store.needs_checkpoint() {
            store.checkpoint()?;
        }
    }
    report("random index puts, 21 trees, 1,050 a batch", puts, started);

    // One entry a commit: what a single add costs.
    let started = Instant::now();
    for entry in 0..5000u64 {
        let mut txn = store.begin();
        for index in 0..21u32 {
            let key = format!("{:016x}", scatter(9_000_000 + entry + u64::from(index) * 77_777));
            txn.put(TreeId(1000 + index), key.as_bytes(), &[1; 4])?;
        }
        txn.commit(b"")?;
    }
    report("one entry of 21 index puts a commit", 5000, started);

    let value = vec![3; 1200];
    let started = Instant::now();
    for batch in 0..200u64 {
        let mut txn = store.begin();
        for i in 0..500 {
            txn.put(TreeId(2), &(batch * 500 + i).to_be_bytes(), &value)?;
        }
        txn.commit(b"")?;
        if store.needs_checkpoint() {
            store.checkpoint()?;
        }
    }
    report("sequential puts of 1,200 bytes, 500 a batch", 100_000, started);
    store.checkpoint()?;
    Ok(())
}

fn larger_than_memory(store: &Store) -> Result<(), StoreError> {
    let view = store.view();
    let started = Instant::now();
    for i in 0..RECORDS / 4 {
        view.get(T, &(scatter(i) % RECORDS).to_be_bytes(), |v| v[0])?;
    }
    report("random gets, memory a tenth of the file", RECORDS / 4, started);
    let started = Instant::now();
    for batch in 0..100u64 {
        let mut txn = store.begin();
        for i in 0..1000 {
            txn.put(T, &(scatter(batch * 1000 + i) % RECORDS).to_be_bytes(), &[8; 40])?;
        }
        txn.commit(b"")?;
        if store.needs_checkpoint() {
            store.checkpoint()?;
        }
    }
    report("random puts, 1,000 a batch, with checkpoints", 100_000, started);
    Ok(())
}
