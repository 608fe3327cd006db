//! Large pages in an arena full of small ones.

use std::sync::Arc;

use bindery_store::{AllocatorKind, OsFiles, Store, StoreOptions, TreeId};

const ARENA: usize = 16 << 20;

#[test]
fn a_page_of_a_high_order_finds_a_window_among_scattered_small_ones() {
    let dir = tempfile::tempdir().unwrap();
    let options = StoreOptions { arena_bytes: ARENA, ..StoreOptions::default() };
    let store = Store::open(Arc::new(OsFiles), &dir.path().join("store"), options).unwrap();
    let mut txn = store.begin();
    for i in 0..100_000u64 {
        txn.put(TreeId(1), &i.to_be_bytes(), &[1; 200]).unwrap();
    }
    for i in 0..3u64 {
        txn.put(TreeId(2), &i.to_be_bytes(), &vec![i as u8; 1_000_000]).unwrap();
    }
    txn.commit(b"").unwrap();
    store.checkpoint().unwrap();
    let view = store.view();
    let touch_small = || {
        for i in (0..100_000u64).step_by(11) {
            view.get(TreeId(1), &i.to_be_bytes(), |_| ()).unwrap();
        }
    };
    touch_small();
    touch_small();
    for i in 0..3u64 {
        assert_eq!(view.get(TreeId(2), &i.to_be_bytes(), <[u8]>::len).unwrap(), Some(1_000_000));
    }
    // It has come into the arena, and is found there again.
    let page_ins = store.stats().cache.page_ins;
    assert_eq!(view.get(TreeId(2), &2u64.to_be_bytes(), |v| v[999_999]).unwrap(), Some(2));
    let stats = store.stats().cache;
    assert_eq!(stats.page_ins, page_ins);
    assert_eq!(stats.private_reads, 0, "{stats:?}");
    assert!(stats.window_evictions > 0, "{stats:?}");
}

#[test]
fn a_scan_does_not_empty_the_cache() {
    let dir = tempfile::tempdir().unwrap();
    let options = StoreOptions { arena_bytes: 8 << 20, ..StoreOptions::default() };
    let store = Store::open(Arc::new(OsFiles), &dir.path().join("store"), options).unwrap();
    let mut txn = store.begin();
    for i in 0..200_000u64 {
        txn.put(TreeId(1), &i.to_be_bytes(), &[1; 200]).unwrap();
    }
    for i in 0..10_000u64 {
        txn.put(TreeId(2), &i.to_be_bytes(), &[2; 100]).unwrap();
    }
    txn.commit(b"").unwrap();
    store.checkpoint().unwrap();
    let view = store.view();
    let touch_hot = || {
        for i in (0..10_000u64).step_by(5) {
            view.get(TreeId(2), &i.to_be_bytes(), |_| ()).unwrap();
        }
    };
    (0..3).for_each(|_| touch_hot());
    let mut cursor = view.cursor(TreeId(1));
    let mut more = cursor.seek_first().unwrap();
    let mut count = 0;
    while more {
        count += 1;
        more = cursor.next().unwrap();
    }
    assert_eq!(count, 200_000);
    let before = store.stats().cache.page_ins;
    touch_hot();
    let lost = store.stats().cache.page_ins - before;
    assert!(lost < 15, "{lost} of about 300 hot pages were lost to a scan of five times the arena");
}

#[test]
fn space_that_is_freed_is_used_again() {
    let dir = tempfile::tempdir().unwrap();
    let options = StoreOptions { arena_bytes: 4 << 20, ..StoreOptions::default() };
    let store = Store::open(Arc::new(OsFiles), &dir.path().join("store"), options).unwrap();
    let mut first = 0;
    for round in 0..40u64 {
        let mut txn = store.begin();
        for i in 0..3_000u64 {
            let size = if (i + round).is_multiple_of(40) { 30_000 } else { 300 };
            txn.put(TreeId(1), &(i * 7 % 3_000).to_be_bytes(), &vec![round as u8; size]).unwrap();
        }
        txn.commit(b"").unwrap();
        store.checkpoint().unwrap();
        if round == 4 {
            first = store.stats().file_bytes;
        }
    }
    let last = store.stats().file_bytes;
    assert!(last < first * 3 / 2, "the file grew from {first} to {last} though its content did not");
    store.verify().unwrap();
}

/// A page costs exactly its frames: an arena holds as many pages as it has frames. (The buddy allocator that put headers
/// into its blocks held half of them.)
#[test]
fn an_arena_holds_as_many_pages_as_it_has_frames() {
    for allocator in [AllocatorKind::Buddy, AllocatorKind::FirstFit] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store");
        let open = |frames: u64| {
            let options = StoreOptions { arena_bytes: frames as usize * 4096, allocator };
            Store::open(Arc::new(OsFiles), &path, options).unwrap()
        };
        let store = open(4096);
        let mut txn = store.begin();
        for i in 0..50_000u64 {
            txn.put(TreeId(1), &i.to_be_bytes(), &[1; 80]).unwrap();
        }
        txn.commit(b"").unwrap();
        store.checkpoint().unwrap();
        let pages = store.verify().unwrap();
        drop(store);

        // Just enough frames: what the tree has, with a few for pages on their way.
        let store = open(pages.reachable_blocks + 16);
        let view = store.view();
        let read_all =
            || (0..50_000u64).for_each(|i| assert!(view.get(TreeId(1), &i.to_be_bytes(), |_| ()).unwrap().is_some()));
        read_all();
        let before = store.stats().cache.page_ins;
        read_all();
        assert_eq!(store.stats().cache.page_ins, before, "{allocator:?}: {:?}", store.stats().cache);
    }
}
