//! Random histories against `BTreeMap`, in an arena of 64 frames, with crashes, reopening and held views.

mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use bindery_store::{AllocatorKind, Store, StoreOptions, TreeId, View, WriteTxn};
use proptest::prelude::*;
use support::{FaultyFiles, Rng};

type Model = BTreeMap<(u32, Vec<u8>), Vec<u8>>;

const PATH: &str = "/data/store";

#[derive(Debug, Clone)]
enum Step {
    Put {
        tree: u32,
        key: u32,
        size: usize,
    },
    /// Many neighbouring or scattered keys at once.
    PutMany {
        tree: u32,
        start: u32,
        count: u32,
        stride: u32,
        size: usize,
    },
    Delete {
        tree: u32,
        key: u32,
    },
    DeleteMany {
        tree: u32,
        start: u32,
        count: u32,
        stride: u32,
    },
    DeleteTree {
        tree: u32,
    },
    Commit,
    Abort,
    Checkpoint,
    HoldView,
    DropView(usize),
    CheckView(usize),
    Seek {
        tree: u32,
        key: u32,
    },
    Reopen,
    Crash(u64),
    /// A crash, after which the newest meta is rotten.
    CrashLosingNewest(u64),
    Verify,
}

fn step() -> impl Strategy<Value = Step> {
    let tree = 0..4u32;
    let key = 0..3000u32;
    let size = prop_oneof![6 => 0..60usize, 3 => 60..1500usize, 2 => 1500..6000usize, 1 => 6000..50_000usize];
    let stride = prop_oneof![Just(1u32), Just(1), 2..50u32];
    prop_oneof![
        10 => (tree.clone(), key.clone(), size.clone()).prop_map(|(tree, key, size)| Step::Put { tree, key, size }),
        8 => (tree.clone(), key.clone(), 1..400u32, stride.clone(), 0..150usize)
            .prop_map(|(tree, start, count, stride, size)| Step::PutMany { tree, start, count, stride, size }),
        4 => (tree.clone(), key.clone()).prop_map(|(tree, key)| Step::Delete { tree, key }),
        4 => (tree.clone(), key.clone(), 1..500u32, stride)
            .prop_map(|(tree, start, count, stride)| Step::DeleteMany { tree, start, count, stride }),
        1 => tree.clone().prop_map(|tree| Step::DeleteTree { tree }),
        8 => Just(Step::Commit),
        2 => Just(Step::Abort),
        4 => Just(Step::Checkpoint),
        2 => Just(Step::HoldView),
        2 => any::<usize>().prop_map(Step::DropView),
        2 => any::<usize>().prop_map(Step::CheckView),
        3 => (tree, key).prop_map(|(tree, key)| Step::Seek { tree, key }),
        1 => Just(Step::Reopen),
        2 => any::<u64>().prop_map(Step::Crash),
        1 => any::<u64>().prop_map(Step::CrashLosingNewest),
        1 => Just(Step::Verify),
    ]
}

/// Keys of very different lengths, some with long common prefixes.
fn key_bytes(key: u32) -> Vec<u8> {
    match key % 5 {
        0 => key.to_be_bytes().to_vec(),
        1 => format!("cn=person {key:05}").into_bytes(),
        2 => [vec![b'x'; (key % 700) as usize], key.to_be_bytes().to_vec()].concat(),
        3 => [vec![0; 8], (key as u64).to_be_bytes().to_vec()].concat(),
        _ => [vec![b'y'; 900], key.to_be_bytes().to_vec()].concat(),
    }
}

fn value_bytes(key: u32, size: usize, salt: u64) -> Vec<u8> {
    let mut rng = Rng::new(salt ^ u64::from(key));
    (0..size).map(|_| rng.next() as u8).collect()
}

fn check_view(view: &View, model: &Model) {
    let mut trees: Vec<u32> = model.keys().map(|(tree, _)| *tree).collect();
    trees.dedup();
    assert_eq!(view.trees().unwrap().iter().map(|t| t.0).collect::<Vec<_>>(), trees);
    for tree in 0..4u32 {
        let mut cursor = view.cursor(TreeId(tree));
        let mut more = cursor.seek_first().unwrap();
        for ((_, key), value) in model.range((tree, vec![])..(tree + 1, vec![])) {
            assert!(more, "a record is missing");
            assert_eq!(cursor.key(), key);
            assert!(cursor.value() == value, "value of {key:?}");
            more = cursor.next().unwrap();
        }
        assert!(!more, "a record too many");
        let mut more = cursor.seek_last().unwrap();
        for ((_, key), _) in model.range((tree, vec![])..(tree + 1, vec![])).rev() {
            assert!(more);
            assert_eq!(cursor.key(), key);
            more = cursor.prev().unwrap();
        }
        assert!(!more);
    }
}

struct World {
    files: FaultyFiles,
    options: StoreOptions,
    store: Store,
    txn: Option<WriteTxn>,
    working: Model,
    published: Model,
    durable: Model,
    /// What the older checkpoint holds, if there is one.
    older: Option<Model>,
    /// Whether a version newer than the durable one was published.
    advanced: bool,
    views: Vec<(View, Model)>,
    salt: u64,
}

impl World {
    fn new(options: StoreOptions) -> World {
        let files = FaultyFiles::default();
        let store = Store::open(Arc::new(files.clone()), Path::new(PATH), options.clone()).unwrap();
        World {
            files,
            options,
            store,
            txn: None,
            working: Model::new(),
            published: Model::new(),
            durable: Model::new(),
            older: None,
            advanced: false,
            views: Vec::new(),
            salt: 0,
        }
    }

    fn txn(&mut self) -> &mut WriteTxn {
        let store = &self.store;
        self.txn.get_or_insert_with(|| store.begin())
    }

    fn put(&mut self, tree: u32, key: u32, size: usize) {
        self.salt += 1;
        let value = value_bytes(key, size, self.salt);
        self.txn().put(TreeId(tree), &key_bytes(key), &value).unwrap();
        self.working.insert((tree, key_bytes(key)), value);
    }

    fn delete(&mut self, tree: u32, key: u32) {
        let was = self.working.remove(&(tree, key_bytes(key))).is_some();
        assert_eq!(self.txn().delete(TreeId(tree), &key_bytes(key)).unwrap(), was);
    }

    fn reopen(&mut self, files: FaultyFiles) {
        self.txn = None;
        self.views.clear();
        self.advanced = false;
        self.files = files;
        self.store = Store::open(Arc::new(self.files.clone()), Path::new(PATH), self.options.clone()).unwrap();
        self.published = self.durable.clone();
        self.working = self.durable.clone();
        self.store.verify().unwrap();
        check_view(&self.store.view(), &self.published);
    }

    fn run(&mut self, step: &Step) {
        match *step {
            Step::Put { tree, key, size } => self.put(tree, key, size),
            Step::PutMany { tree, start, count, stride, size } => {
                (0..count).for_each(|i| self.put(tree, start + i * stride, size));
            }
            Step::Delete { tree, key } => self.delete(tree, key),
            Step::DeleteMany { tree, start, count, stride } => {
                (0..count).for_each(|i| self.delete(tree, start + i * stride));
            }
            Step::DeleteTree { tree } => {
                self.txn().delete_tree(TreeId(tree)).unwrap();
                self.working.retain(|(t, _), _| *t != tree);
            }
            Step::Commit => {
                self.txn();
                let view = self.txn.take().unwrap().commit(b"label").unwrap();
                assert_eq!(view.label(), b"label");
                self.published = self.working.clone();
                self.advanced = true;
            }
            Step::Abort => {
                self.txn = None;
                self.working = self.published.clone();
            }
            Step::Checkpoint => {
                // Also in the middle of a transaction: the published version is what becomes durable.
                self.store.checkpoint().unwrap();
                let before = std::mem::replace(&mut self.durable, self.published.clone());
                if std::mem::replace(&mut self.advanced, false) {
                    self.older = Some(before);
                }
            }
            Step::HoldView if self.views.len() < 4 => {
                self.views.push((self.store.view(), self.published.clone()));
            }
            Step::HoldView => {}
            Step::DropView(pick) if !self.views.is_empty() => {
                self.views.swap_remove(pick % self.views.len());
            }
            Step::CheckView(pick) if !self.views.is_empty() => {
                let (view, model) = &self.views[pick % self.views.len()];
                check_view(view, model);
            }
            Step::DropView(_) | Step::CheckView(_) => {}
            Step::Seek { tree, key } => self.seek(tree, key),
            Step::Reopen => {
                self.txn = None;
                self.reopen(self.files.clone());
            }
            Step::Crash(seed) => {
                let files = self.files.crash(seed);
                self.reopen(files);
            }
            Step::CrashLosingNewest(seed) => {
                let Some(older) = self.older.take() else { return };
                let files = self.files.crash(seed);
                let bytes = files.bytes(Path::new(PATH));
                let number = |slot: usize| u64::from_le_bytes(bytes[slot * 4096 + 32..][..8].try_into().unwrap());
                let newest = usize::from(number(1) > number(0));
                files.corrupt(Path::new(PATH), newest * 4096 + 100, 1);
                self.durable = older;
                self.reopen(files);
            }
            Step::Verify => {
                self.store.verify().unwrap();
            }
        }
    }

    fn seek(&mut self, tree: u32, key: u32) {
        let key = key_bytes(key);
        let working = &self.working;
        let txn = self.txn.get_or_insert_with(|| self.store.begin());
        assert_eq!(txn.get_vec(TreeId(tree), &key).unwrap().as_ref(), working.get(&(tree, key.clone())));
        let mut cursor = txn.cursor(TreeId(tree));
        let expected = working.range((tree, key.clone())..(tree + 1, vec![])).next();
        assert_eq!(cursor.seek(&key).unwrap(), expected.is_some());
        if let Some(((_, k), v)) = expected {
            assert_eq!((cursor.key(), cursor.value()), (&k[..], &v[..]));
        }
        let expected = working.range((tree, vec![])..(tree, key.clone())).next_back();
        assert_eq!(cursor.seek_last_before(&key).unwrap(), expected.is_some());
        if let Some(((_, k), v)) = expected {
            assert_eq!((cursor.key(), cursor.value()), (&k[..], &v[..]));
        }
    }

    fn finish(mut self) {
        self.run(&Step::Commit);
        self.store.verify().unwrap();
        check_view(&self.store.view(), &self.published);
        for (view, model) in &self.views {
            check_view(view, model);
        }
        self.run(&Step::Checkpoint);
        self.run(&Step::Crash(7));
    }
}

fn cases() -> u32 {
    std::env::var("BINDERY_STORE_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_shrink_iters: 400, ..ProptestConfig::default() })]

    #[test]
    fn histories_match_the_model(
        frames in 64usize..128,
        first_fit in any::<bool>(),
        steps in proptest::collection::vec(step(), 1..80),
    ) {
        let allocator = if first_fit { AllocatorKind::FirstFit } else { AllocatorKind::Buddy };
        let mut world = World::new(StoreOptions { arena_bytes: frames * 4096, allocator });
        for step in &steps {
            world.run(step);
        }
        world.finish();
    }
}
