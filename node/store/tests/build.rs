//! Trees built bottom-up: the same contents as trees made by puts, in no more space.

use std::collections::BTreeMap;
use std::sync::Arc;

use bindery_store::{OsFiles, Store, StoreError, StoreOptions, TreeId};
use proptest::prelude::*;

const BUILT: TreeId = TreeId(1);
const PUT: TreeId = TreeId(2);

fn open(dir: &tempfile::TempDir, arena_bytes: usize) -> Store {
    let options = StoreOptions { arena_bytes, ..StoreOptions::default() };
    Store::open(Arc::new(OsFiles), &dir.path().join("store"), options).unwrap()
}

fn build(store: &Store, records: &BTreeMap<Vec<u8>, Vec<u8>>) {
    let mut txn = store.begin();
    let mut builder = txn.build(BUILT).unwrap();
    for (key, value) in records {
        builder.push(key, value).unwrap();
    }
    builder.finish().unwrap();
    txn.commit(b"").unwrap();
}

fn contents(store: &Store, tree: TreeId) -> Vec<(Vec<u8>, Vec<u8>)> {
    let view = store.view();
    let mut cursor = view.cursor(tree);
    let mut found = Vec::new();
    let mut more = cursor.seek_first().unwrap();
    while more {
        found.push((cursor.key().to_vec(), cursor.value().to_vec()));
        more = cursor.next().unwrap();
    }
    found
}

fn records() -> impl Strategy<Value = BTreeMap<Vec<u8>, Vec<u8>>> {
    // Few first bytes, so that prefixes are shared; lengths on both sides of every limit.
    let key = prop_oneof![
        prop::collection::vec(0u8..4, 1..6),
        prop::collection::vec(0u8..2, 8..30),
        (0u8..3, 500usize..1024).prop_map(|(byte, length)| vec![byte; length]),
    ];
    let length = prop_oneof![8 => 0usize..40, 2 => 100usize..1_500, 1 => 4_000usize..4_100, 1 => 9_000usize..20_000];
    let value = (any::<u8>(), length).prop_map(|(byte, length)| vec![byte; length]);
    prop::collection::btree_map(key, value, 0..400)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_built_tree_has_the_records_and_goes_on_like_any_other(
        records in records(),
        changes in prop::collection::vec((prop::collection::vec(0u8..4, 1..6), prop::option::of(0usize..300)), 0..200),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let store = open(&dir, 4 << 20);
        build(&store, &records);
        store.verify().unwrap();
        prop_assert_eq!(store.view().records(BUILT), records.len() as u64);
        prop_assert_eq!(contents(&store, BUILT), records.clone().into_iter().collect::<Vec<_>>());
        let mut model = records;
        let mut txn = store.begin();
        for (key, value) in changes {
            match value {
                Some(length) => {
                    let value = vec![7; length];
                    txn.put(BUILT, &key, &value).unwrap();
                    model.insert(key, value);
                }
                None => prop_assert_eq!(txn.delete(BUILT, &key).unwrap(), model.remove(&key).is_some()),
            }
        }
        txn.commit(b"").unwrap();
        store.checkpoint().unwrap();
        store.verify().unwrap();
        drop(store);
        let store = open(&dir, 4 << 20);
        prop_assert_eq!(contents(&store, BUILT), model.into_iter().collect::<Vec<_>>());
    }
}

#[test]
fn a_built_tree_is_at_most_as_large_as_one_of_sorted_puts_in_an_arena_far_smaller_than_either() {
    let records: BTreeMap<Vec<u8>, Vec<u8>> = (0..60_000u32)
        .map(|i| (format!("{:09}", i.wrapping_mul(2_654_435_761)).into_bytes(), vec![i as u8; 1 + i as usize % 200]))
        .collect();
    let used = |put: bool| {
        let dir = tempfile::tempdir().unwrap();
        let store = open(&dir, 1 << 20);
        if put {
            let mut txn = store.begin();
            for (key, value) in &records {
                txn.put(PUT, key, value).unwrap();
            }
            txn.commit(b"").unwrap();
        } else {
            build(&store, &records);
        }
        store.checkpoint().unwrap();
        store.verify().unwrap();
        assert_eq!(contents(&store, if put { PUT } else { BUILT }).len(), records.len());
        store.stats().space.used
    };
    let (built, put) = (used(false), used(true));
    assert!(built <= put, "{built} blocks built, {put} put");
}

#[test]
fn what_cannot_be_built_is_refused_and_an_unfinished_tree_fails_its_transaction() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir, 4 << 20);
    let used = store.stats().space.used;
    let mut txn = store.begin();
    let mut builder = txn.build(BUILT).unwrap();
    builder.push(b"b", b"").unwrap();
    assert!(matches!(builder.push(b"b", b""), Err(StoreError::KeyOrder)));
    assert!(matches!(builder.push(b"a", b""), Err(StoreError::KeyOrder)));
    assert!(matches!(builder.push(b"", b""), Err(StoreError::KeySize(0))));
    builder.push(b"c", b"").unwrap();
    builder.finish().unwrap();
    assert!(matches!(txn.build(BUILT), Err(StoreError::TreeExists(1))));
    // An empty one is no tree, and may be begun again.
    txn.build(PUT).unwrap().finish().unwrap();
    drop(txn.build(PUT).unwrap());
    assert!(matches!(txn.put(BUILT, b"d", b""), Err(StoreError::TxnFailed)));
    assert!(matches!(txn.commit(b""), Err(StoreError::TxnFailed)));
    assert_eq!(store.stats().space.used, used);
    store.verify().unwrap();
}
