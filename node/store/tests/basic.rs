//! The store through its public surface, on the operating system's files.

use std::sync::Arc;

use bindery_store::{AllocatorKind, OsFiles, Store, StoreError, StoreOptions, TreeId};

const T: TreeId = TreeId(7);

fn open(dir: &tempfile::TempDir, arena_bytes: usize) -> Store {
    open_with(dir, arena_bytes, AllocatorKind::Buddy)
}

fn open_with(dir: &tempfile::TempDir, arena_bytes: usize, allocator: AllocatorKind) -> Store {
    Store::open(Arc::new(OsFiles), &dir.path().join("store"), StoreOptions { arena_bytes, allocator }).unwrap()
}

#[test]
fn what_is_put_is_found_and_survives_reopening_after_a_checkpoint() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir, 4 << 20);
    let mut txn = store.begin();
    for i in 0..20_000u32 {
        txn.put(T, format!("key {i:06}").as_bytes(), format!("value {i}").as_bytes()).unwrap();
    }
    assert_eq!(txn.get_vec(T, b"key 000123").unwrap().unwrap(), b"value 123");
    assert!(store.view().get_vec(T, b"key 000123").unwrap().is_none(), "not published yet");
    let view = txn.commit(b"first").unwrap();
    assert_eq!(view.get_vec(T, b"key 019999").unwrap().unwrap(), b"value 19999");
    store.verify().unwrap();
    store.checkpoint().unwrap();
    store.verify().unwrap();
    drop(view);
    drop(store);

    let store = open(&dir, 4 << 20);
    assert_eq!(store.view().label(), b"first");
    assert_eq!(store.verify().unwrap().records, 20_000);
    let view = store.view();
    let mut cursor = view.cursor(T);
    assert!(cursor.seek(b"key 010000").unwrap());
    for i in 10_000..20_000u32 {
        assert_eq!(cursor.key(), format!("key {i:06}").as_bytes());
        assert_eq!(cursor.value(), format!("value {i}").as_bytes());
        assert_eq!(cursor.next().unwrap(), i != 19_999);
    }
    assert!(cursor.seek_last_before(b"key 010000").unwrap());
    for i in (0..10_000u32).rev() {
        assert_eq!(cursor.key(), format!("key {i:06}").as_bytes());
        assert_eq!(cursor.prev().unwrap(), i != 0);
    }
}

#[test]
fn a_dropped_transaction_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir, 4 << 20);
    let mut txn = store.begin();
    txn.put(T, b"a", b"1").unwrap();
    txn.commit(b"").unwrap();
    let used = store.stats().space.used;
    let mut txn = store.begin();
    for i in 0..5_000u32 {
        txn.put(T, &i.to_be_bytes(), &[1; 100]).unwrap();
    }
    txn.delete(T, b"a").unwrap();
    drop(txn);
    assert_eq!(store.view().get_vec(T, b"a").unwrap().unwrap(), b"1");
    assert_eq!(store.stats().space.used, used);
    store.verify().unwrap();
}

#[test]
fn without_a_checkpoint_a_restart_finds_the_last_one() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir, 4 << 20);
    let mut txn = store.begin();
    txn.put(T, b"a", b"1").unwrap();
    txn.commit(b"one").unwrap();
    store.checkpoint().unwrap();
    let mut txn = store.begin();
    txn.put(T, b"a", b"2").unwrap();
    txn.commit(b"two").unwrap();
    drop(store);
    let store = open(&dir, 4 << 20);
    assert_eq!(store.view().get_vec(T, b"a").unwrap().unwrap(), b"1");
    assert_eq!(store.checkpoint_labels(), (Some(vec![]), Some(b"one".to_vec())));
    store.verify().unwrap();
}

#[test]
fn values_of_every_size_come_back() {
    let dir = tempfile::tempdir().unwrap();
    for (allocator, arena) in [(AllocatorKind::Buddy, 16 << 20), (AllocatorKind::FirstFit, 4 << 20)] {
        let store = open_with(&dir, arena, allocator);
        let sizes = [0, 1, 100, 4031, 4032, 4033, 4056, 4057, 9_000, 70_000, 300_000, 1_048_536, 1_048_537, 5_000_000];
        let value = |size: usize| -> Vec<u8> { (0..size).map(|i| (i * 7 + size) as u8).collect() };
        let mut txn = store.begin();
        for size in sizes {
            txn.put(T, &(size as u32).to_be_bytes(), &value(size)).unwrap();
        }
        txn.commit(b"").unwrap();
        store.checkpoint().unwrap();
        store.verify().unwrap();
        drop(store);
        let store = open_with(&dir, arena, allocator);
        let view = store.view();
        for size in sizes {
            assert_eq!(view.get_vec(T, &(size as u32).to_be_bytes()).unwrap().unwrap(), value(size), "{size}");
        }
        // Replacing and deleting gives everything back.
        let mut txn = store.begin();
        for size in sizes {
            txn.put(T, &(size as u32).to_be_bytes(), b"small").unwrap();
        }
        txn.commit(b"").unwrap();
        drop(view);
        let mut txn = store.begin();
        txn.delete_tree(T).unwrap();
        txn.commit(b"gone").unwrap();
        for i in 0..2u8 {
            store.checkpoint().unwrap();
            store.begin().commit(&[i]).unwrap();
        }
        store.checkpoint().unwrap();
        let report = store.verify().unwrap();
        assert_eq!((report.records, report.trees), (0, 0));
        assert!(store.stats().space.used < 16, "{:?}", store.stats().space);
    }
}

#[test]
fn a_transaction_larger_than_memory_works() {
    let dir = tempfile::tempdir().unwrap();
    for allocator in [AllocatorKind::Buddy, AllocatorKind::FirstFit] {
        let store = open_with(&dir, 1 << 20, allocator);
        let key = |i: u32| (i.wrapping_mul(2_654_435_761)).to_be_bytes();
        let mut txn = store.begin();
        for i in 0..40_000u32 {
            txn.put(T, &key(i), &[i as u8; 200]).unwrap();
        }
        for i in (0..40_000u32).step_by(3) {
            assert!(txn.delete(T, &key(i)).unwrap());
        }
        txn.commit(b"").unwrap();
        store.verify().unwrap();
        store.checkpoint().unwrap();
        let view = store.view();
        for i in 0..40_000u32 {
            let got = view.get(T, &key(i), |v| v == [i as u8; 200]).unwrap();
            assert_eq!(got, if i % 3 == 0 { None } else { Some(true) });
        }
        store.verify().unwrap();
        let stats = store.stats();
        assert!(stats.file_bytes > 8 << 20, "{stats:?}");
        let mut txn = store.begin();
        for i in 0..40_000u32 {
            assert_eq!(txn.delete(T, &key(i)).unwrap(), i % 3 != 0);
        }
        txn.commit(b"").unwrap();
        assert_eq!(store.verify().unwrap().records, 0);
    }
}

#[test]
fn bad_arguments_are_refused_and_hurt_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir, 4 << 20);
    let mut txn = store.begin();
    assert!(matches!(txn.put(T, b"", b""), Err(StoreError::KeySize(0))));
    assert!(matches!(txn.put(T, &[0; 1025], b""), Err(StoreError::KeySize(1025))));
    txn.put(T, &[0; 1024], b"longest").unwrap();
    assert!(!txn.delete(T, b"absent").unwrap());
    assert!(!txn.delete(TreeId(9), b"absent").unwrap());
    txn.delete_tree(TreeId(9)).unwrap();
    let view = txn.commit(b"").unwrap();
    assert!(view.get(T, &[0; 1024], |_| store.view().get_vec(T, b"x").is_err()).unwrap().unwrap(), "reentrant");
    assert!(matches!(store.begin().commit(&[0; 257]), Err(StoreError::LabelSize(257))));
    store.begin().commit(b"the writer lock was given back").unwrap();
}

#[test]
fn handles_go_where_threads_need_them() {
    fn shared<T: Send + Sync + Clone + 'static>() {}
    fn sent<T: Send + 'static>() {}
    shared::<Store>();
    shared::<bindery_store::View>();
    sent::<bindery_store::WriteTxn>();
    sent::<bindery_store::Cursor<'static>>();
}
