//! Posting lists against sets, through a store.

use crate::index::idset::IdSet;
use crate::index::posting::{self, KeyRange, Kind, RangeCount, record_key};
use bindery_store::{OsFiles, Store, StoreOptions, TreeId, View};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const TREE: TreeId = TreeId(1000);

fn store(folder: &tempfile::TempDir) -> Store {
    let options = StoreOptions { arena_bytes: 8 << 20, ..StoreOptions::default() };
    Store::open(Arc::new(OsFiles), &folder.path().join("store"), options).unwrap()
}

type Model = BTreeMap<Vec<u8>, BTreeSet<u64>>;

/// Values that are prefixes of one another, hold zeros, and are longer than a key may be.
fn values() -> Vec<Vec<u8>> {
    let mut values: Vec<Vec<u8>> = [&b""[..], b"a", b"a\0", b"a\0\x01", b"a\x01", b"ab", b"\xff", b"\xff\xff", b"\0"]
        .iter()
        .map(|value| value.to_vec())
        .collect();
    for last in [b"x", b"y"] {
        values.push([&[b'l'; 300][..], last].concat());
    }
    values.push(vec![b'l'; posting::VALUE_MAX]);
    values.push(vec![b'l'; posting::ORDERED_MAX]);
    values
}

fn ids() -> impl Strategy<Value = BTreeSet<u64>> {
    prop_oneof![
        3 => proptest::collection::btree_set(0u64..300_000, 0..6),
        2 => proptest::collection::btree_set(0u64..300_000, 0..120),
        2 => (0u64..200_000, 0u64..3_000, 1usize..5)
            .prop_map(|(first, len, step)| (first..first + len).step_by(step).collect()),
        1 => (0u64..3).prop_map(|chunk| (chunk << 16..(chunk + 1) << 16).step_by(3).collect()),
    ]
}

#[derive(Debug, Clone)]
enum Step {
    Add(usize, BTreeSet<u64>),
    Remove(usize, BTreeSet<u64>),
    RemoveAll(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let count = values().len();
    let step = prop_oneof![
        4 => (0..count, ids()).prop_map(|(at, ids)| Step::Add(at, ids)),
        2 => (0..count, ids()).prop_map(|(at, ids)| Step::Remove(at, ids)),
        1 => (0..count).prop_map(Step::RemoveAll),
    ];
    proptest::collection::vec(step, 1..30)
}

fn members(set: &IdSet) -> BTreeSet<u64> {
    set.iter_from(0).collect()
}

fn check(view: &View, model: &Model) {
    let empty = BTreeSet::new();
    for value in values() {
        let key = record_key(Kind::Equality, &value);
        let wanted = model.get(&value).unwrap_or(&empty);
        assert_eq!(posting::count(view, TREE, &key).unwrap(), wanted.len() as u64);
        assert_eq!(members(&posting::read(view, TREE, &key, 0).unwrap()), *wanted);
        let from = 70_000;
        let late: BTreeSet<u64> = posting::read(view, TREE, &key, from).unwrap().iter_from(from).collect();
        assert_eq!(late, wanted.range(from..).copied().collect());
        for id in [0, 3, 65_535, 65_536, 100_000] {
            assert_eq!(posting::contains(view, TREE, &key, id).unwrap(), wanted.contains(&id));
        }
        let within: BTreeSet<u64> = (0..300_000).step_by(7_001).chain(10..20).collect();
        let set = IdSet::from_sorted(within.iter().copied().collect());
        assert_eq!(members(&posting::read_within(view, TREE, &key, &set).unwrap()), &within & wanted);
        check_ranges(view, model, &value);
    }
    // Nothing is left of lists that are gone, and every record belongs to a list.
    let mut cursor = view.cursor(TREE);
    let mut valid = cursor.seek_first().unwrap();
    let mut found: BTreeMap<Vec<u8>, BTreeSet<u64>> = BTreeMap::new();
    while valid {
        posting::visit_record(TREE, cursor.key(), cursor.value(), |key, id| {
            assert!(found.entry(key.to_vec()).or_default().insert(id));
        })
        .unwrap();
        valid = cursor.next().unwrap();
    }
    let wanted: BTreeMap<Vec<u8>, BTreeSet<u64>> = model
        .iter()
        .filter(|(_, ids)| !ids.is_empty())
        .map(|(value, ids)| (record_key(Kind::Equality, value), ids.clone()))
        .collect();
    assert_eq!(found, wanted);
}

fn check_ranges(view: &View, model: &Model, bound: &[u8]) {
    let exact = bound.len() <= posting::ORDERED_MAX;
    type Holds<'a> = &'a dyn Fn(&[u8]) -> bool;
    let cases: [(KeyRange, Holds<'_>); 3] = [
        (KeyRange::at_least(Kind::Equality, bound), &|value| value >= bound),
        (KeyRange::at_most(Kind::Equality, bound), &|value| value <= bound),
        (KeyRange::prefix(Kind::Equality, bound), &|value| value.starts_with(bound)),
    ];
    for (range, holds) in cases {
        let mut wanted = BTreeSet::new();
        let mut entries = 0;
        for ids in model.iter().filter(|(value, _)| holds(value)).map(|(_, ids)| ids) {
            wanted.extend(ids.iter().copied());
            entries += ids.len() as u64;
        }
        let found = members(&posting::read_range(view, TREE, &range, 0).unwrap());
        let counted = posting::count_range(view, TREE, &range, 1_000).unwrap();
        if exact {
            assert_eq!(found, wanted);
            assert_eq!(counted, RangeCount { count: entries, complete: true });
        } else {
            assert!(found.is_superset(&wanted));
        }
        let few = posting::count_range(view, TREE, &range, 1).unwrap();
        assert!(few.count <= counted.count && (!few.complete || few == counted));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn lists_agree_with_sets(steps in steps()) {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder);
        let mut model = Model::new();
        let values = values();
        for (number, step) in steps.into_iter().enumerate() {
            let mut txn = store.begin();
            let (at, add, ids) = match step {
                Step::Add(at, ids) => (at, true, ids),
                Step::Remove(at, ids) => (at, false, ids),
                Step::RemoveAll(at) => (at, false, model.get(&values[at]).cloned().unwrap_or_default()),
            };
            let own = model.entry(values[at].clone()).or_default();
            let key = record_key(Kind::Equality, &values[at]);
            let list: Vec<u64> = ids.iter().copied().collect();
            if add {
                let new = ids.difference(own).count() as u64;
                prop_assert_eq!(posting::add(&mut txn, TREE, &key, &list).unwrap(), new);
                own.extend(ids);
            } else {
                let gone = ids.intersection(own).count() as u64;
                prop_assert_eq!(posting::remove(&mut txn, TREE, &key, &list).unwrap(), gone);
                own.retain(|id| !ids.contains(id));
            }
            txn.commit(&number.to_be_bytes()).unwrap();
        }
        check(&store.view(), &model);
    }
}

#[test]
fn a_bulk_built_list_reads_as_an_added_one() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let mut txn = store.begin();
    for count in [1u64, 2, 64, 65, 5_000, 200_000] {
        let ids: Vec<u64> = (0..count).map(|at| at * 3).collect();
        let mut before: Option<Vec<u8>> = None;
        posting::encode_each(&record_key(Kind::Presence, &[]), &ids, |key, value| {
            assert!(before.as_deref().is_none_or(|before| before < key), "records come in key order");
            before = Some(key.to_vec());
            txn.put(TREE, key, value)
        })
        .unwrap();
        let read = posting::read(&txn, TREE, &record_key(Kind::Presence, &[]), 0).unwrap();
        assert_eq!(read.iter_from(0).collect::<Vec<_>>(), ids);
    }
}

#[test]
fn damaged_records_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let key = record_key(Kind::Equality, b"x");
    let damaged: [&[u8]; 8] = [
        b"",
        b"\x09",
        b"\x01",
        b"\x01\x80",
        b"\x01\x05\x05",
        b"\x02\x05\x00",
        b"\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01",
        b"\x03",
    ];
    for value in damaged {
        let mut txn = store.begin();
        txn.put(TREE, &key, value).unwrap();
        assert!(posting::read(&txn, TREE, &key, 0).is_err(), "{}", value.escape_ascii());
        assert!(posting::add(&mut txn, TREE, &key, &[1]).is_err());
    }
}
