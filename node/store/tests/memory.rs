//! Memory stays what was given, whatever the size of the data and of the transaction. One test in one process, since
//! it looks at the resident size of the process.

use std::sync::Arc;

use bindery_store::{OsFiles, Store, StoreOptions, TreeId};

const ARENA: usize = 16 << 20;

fn peak_resident_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 1024
}

#[test]
fn ten_times_the_arena_in_one_transaction_and_in_many() {
    let dir = tempfile::tempdir().unwrap();
    let before = peak_resident_bytes();
    let options = StoreOptions { arena_bytes: ARENA, ..StoreOptions::default() };
    let store = Store::open(Arc::new(OsFiles), &dir.path().join("store"), options).unwrap();
    let key = |i: u64| format!("{:016x}", i.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let entry = vec![5; 1300];

    // One transaction of several times the arena.
    let mut txn = store.begin();
    for i in 0..50_000u64 {
        txn.put(TreeId(1), &i.to_be_bytes(), &entry).unwrap();
    }
    txn.commit(b"entries").unwrap();

    // Batches of 1,000 entries in 21 indexes.
    for batch in 0..20u64 {
        let mut txn = store.begin();
        for i in 0..1000 {
            for index in 0..21u64 {
                let id = batch * 1000 + i;
                txn.put(TreeId(1000 + index as u32), key(id * 21 + index).as_bytes(), &id.to_be_bytes()).unwrap();
            }
        }
        txn.commit(b"index").unwrap();
        if store.needs_checkpoint() {
            store.checkpoint().unwrap();
        }
    }
    store.checkpoint().unwrap();
    let view = store.view();
    for i in (0..20_000u64).step_by(7) {
        let found = view.get(TreeId(1000 + 3), key(i * 21 + 3).as_bytes(), |v| v == i.to_be_bytes()).unwrap();
        assert_eq!(found, Some(true));
        assert_eq!(view.get(TreeId(1), &i.to_be_bytes(), |v| v == entry).unwrap(), Some(true));
    }
    drop(view);
    let report = store.verify().unwrap();
    assert_eq!(report.records, 50_000 + 20_000 * 21);
    let file = store.stats().file_bytes as usize;
    assert!(file > 5 * ARENA, "{file}");
    let grown = peak_resident_bytes() - before;
    assert!(grown < ARENA + ARENA / 2, "resident size grew by {} MiB", grown >> 20);
}
