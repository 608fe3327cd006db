//! Large pages in an arena full of small ones.

use std::sync::Arc;

use bindery_store::{OsFiles, Store, StoreOptions, TreeId};

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
