//! Power loss and I/O errors at every single call of a history.

mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use bindery_store::{Store, StoreError, StoreOptions, TreeId};
use support::{FaultyFiles, Rng};

const PATH: &str = "/data/store";
const TREE: TreeId = TreeId(1);

type State = BTreeMap<Vec<u8>, Vec<u8>>;

fn options() -> StoreOptions {
    StoreOptions { arena_bytes: 64 * 4096, ..StoreOptions::default() }
}

/// What a run has got to: states by label, the last acknowledged checkpoint and the one under way.
#[derive(Default)]
struct Progress {
    states: BTreeMap<Vec<u8>, State>,
    acknowledged: Vec<u8>,
    under_way: Option<Vec<u8>>,
}

fn work(files: &FaultyFiles, seed: u64, progress: &mut Progress) -> Result<(), StoreError> {
    let mut rng = Rng::new(seed);
    let store = Store::open(Arc::new(files.clone()), Path::new(PATH), options())?;
    let mut state = progress.states[&progress.acknowledged].clone();
    let start = progress.states.len();
    for round in start..start + 6 {
        let mut txn = store.begin();
        for _ in 0..rng.below(120) + 1 {
            let key = rng.below(400).to_be_bytes().to_vec();
            if rng.below(4) == 0 {
                let was = txn.delete(TREE, &key)?;
                assert_eq!(was, state.remove(&key).is_some());
            } else {
                let size = [20, 300, 3000, 9000, 70_000][(rng.below(40) as usize).min(4) % 5];
                let value = vec![rng.next() as u8; if rng.below(10) == 0 { size } else { 40 }];
                txn.put(TREE, &key, &value)?;
                state.insert(key, value);
            }
        }
        let label = round.to_be_bytes().to_vec();
        txn.commit(&label)?;
        progress.states.insert(label.clone(), state.clone());
        if rng.below(3) > 0 {
            progress.under_way = Some(label.clone());
            store.checkpoint()?;
            progress.acknowledged = label;
            progress.under_way = None;
        }
    }
    Ok(())
}

fn check_recovery(files: &FaultyFiles, progress: &Progress) -> Vec<u8> {
    let store = Store::open(Arc::new(files.clone()), Path::new(PATH), options()).unwrap();
    let view = store.view();
    let label = view.label();
    assert!(
        label == progress.acknowledged || Some(&label) == progress.under_way.as_ref(),
        "recovered {label:?}, acknowledged {:?}, under way {:?}",
        progress.acknowledged,
        progress.under_way
    );
    let state = &progress.states[&label];
    let report = store.verify().unwrap();
    assert_eq!(report.records, state.len() as u64);
    let mut cursor = view.cursor(TREE);
    cursor.seek_first().unwrap();
    for (key, value) in state {
        assert_eq!((cursor.key(), cursor.value()), (&key[..], &value[..]));
        cursor.next().unwrap();
    }
    assert!(!cursor.valid());
    label
}

fn start() -> Progress {
    let mut progress = Progress::default();
    progress.states.insert(Vec::new(), State::new());
    progress
}

/// The n-th call fails, for n = 1, 2, … until a run needs fewer calls; then the power goes. Recovery is exactly the last
/// acknowledged checkpoint or the one under way, and the store works on from there.
#[test]
fn recovery_is_a_whole_checkpoint_whatever_call_fails() {
    let seeds: u64 = std::env::var("BINDERY_STORE_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(2);
    let mut crashes = 0;
    for seed in 0..seeds {
        for n in 1.. {
            let files = FaultyFiles::default();
            let mut progress = start();
            files.fail_at(n, n % 2 == 0);
            let result = work(&files, seed, &mut progress);
            if result.is_ok() {
                assert!(!files.has_failed(), "a failed call was not reported");
                break;
            }
            crashes += 1;
            for crash in 0..3 {
                let after = files.crash(n * 31 + crash);
                let label = check_recovery(&after, &progress);
                if crash == 0 {
                    // And on, with a second crash.
                    let mut again = Progress { acknowledged: label, under_way: None, ..Progress::default() };
                    again.states.clone_from(&progress.states);
                    after.fail_at(n % 97 + 1, true);
                    let _ = work(&after, seed + 1, &mut again);
                    check_recovery(&after.crash(n), &again);
                }
            }
        }
    }
    assert!(crashes > 100, "only {crashes} crash points");
}

/// After an I/O error nothing is answered any more, and no sync is tried again.
#[test]
fn an_io_error_latches_the_store() {
    let files = FaultyFiles::default();
    let store = Store::open(Arc::new(files.clone()), Path::new(PATH), options()).unwrap();
    let view = store.view();
    let mut txn = store.begin();
    txn.put(TREE, b"a", b"1").unwrap();
    txn.commit(b"").unwrap();
    // Page, roots, bitmap, then the sync.
    files.fail_at(4, false);
    assert!(matches!(store.checkpoint(), Err(StoreError::Io { what: "sync", .. })));
    let syncs = store.stats().io.syncs;
    assert!(matches!(store.checkpoint(), Err(StoreError::Poisoned)));
    assert!(matches!(view.get_vec(TREE, b"a"), Err(StoreError::Poisoned)));
    assert!(matches!(store.begin().put(TREE, b"b", b"2"), Err(StoreError::Poisoned)));
    assert!(matches!(store.begin().commit(b""), Err(StoreError::Poisoned)));
    assert!(matches!(store.verify(), Err(StoreError::Poisoned)));
    assert_eq!(store.stats().io.syncs, syncs);
}

/// Every damaged byte of a page is found when the page is read, and says where.
#[test]
fn rot_is_found_when_read() {
    let files = FaultyFiles::default();
    let store = Store::open(Arc::new(files.clone()), Path::new(PATH), options()).unwrap();
    let mut txn = store.begin();
    for key in 0..500u32 {
        txn.put(TREE, &key.to_be_bytes(), &[7; 100]).unwrap();
    }
    txn.commit(b"").unwrap();
    store.checkpoint().unwrap();
    drop(store);
    let length = files.bytes(Path::new(PATH)).len();
    let mut found = 0;
    for at in (5 * 4096..length).step_by(3001) {
        let bad = files.crash(0);
        bad.corrupt(Path::new(PATH), at, 0x10);
        let opened = Store::open(Arc::new(bad), Path::new(PATH), options());
        let Ok(store) = opened else { continue };
        if store.view().label().is_empty() && store.view().records(TREE) == 0 {
            continue; // The roots page was hit, and the older checkpoint taken.
        }
        match store.verify() {
            Ok(report) => assert_eq!(report.records, 500),
            Err(StoreError::Corrupt { block, .. }) => {
                assert!((at as u64 / 4096).abs_diff(block) < 4, "block {block} blamed for byte {at}");
                found += 1;
            }
            Err(other) => panic!("{other}"),
        }
    }
    assert!(found > 10);
}

#[test]
fn a_file_that_is_no_store_is_refused_and_left_alone() {
    let files = FaultyFiles::default();
    let file = bindery_store::FileSystem::open(&files, Path::new(PATH), true).unwrap();
    file.write_at(0, &[1; 4096]).unwrap();
    let refused = Store::open(Arc::new(files.clone()), Path::new(PATH), options());
    assert!(matches!(refused, Err(StoreError::Format(_))));
    assert_eq!(files.bytes(Path::new(PATH)), [1; 4096]);
}

/// The writer commits before every single write and sync of a checkpoint; what becomes durable is the version at its
/// start, whatever call fails.
#[test]
fn a_checkpoint_is_of_one_version_though_the_writer_goes_on() {
    for n in 1..400 {
        let files = FaultyFiles::default();
        let store = Store::open(Arc::new(files.clone()), Path::new(PATH), options()).unwrap();
        let states: Arc<std::sync::Mutex<Vec<State>>> = Arc::default();
        let commit = {
            let (store, states) = (store.clone(), Arc::clone(&states));
            move |rng: &mut Rng| -> Result<(), StoreError> {
                let mut states = states.lock().unwrap();
                let mut state = states.last().cloned().unwrap_or_default();
                let mut txn = store.begin();
                for _ in 0..40 {
                    let key = rng.below(300).to_be_bytes().to_vec();
                    if rng.below(3) == 0 {
                        txn.delete(TREE, &key)?;
                        state.remove(&key);
                    } else {
                        let value = vec![rng.next() as u8; [10, 100, 5000][rng.below(10) as usize / 4]];
                        txn.put(TREE, &key, &value)?;
                        state.insert(key, value);
                    }
                }
                txn.commit(&(states.len() as u64).to_be_bytes())?;
                states.push(state);
                Ok(())
            }
        };
        let mut rng = Rng::new(n);
        let mut acknowledged = None;
        let mut under_way = None;
        files.fail_at(n, true);
        for _ in 0..4 {
            if commit(&mut rng).is_err() {
                break;
            }
            under_way = Some(states.lock().unwrap().len() - 1);
            let (commit, mut rng) = (commit.clone(), Rng::new(rng.next()));
            files.before_changes(move || {
                let _ = commit(&mut rng);
            });
            let done = store.checkpoint();
            files.no_hook();
            if done.is_err() {
                break;
            }
            acknowledged = under_way.take();
        }
        let finished = !files.has_failed();
        let after = files.crash(n);
        let store = Store::open(Arc::new(after), Path::new(PATH), options()).unwrap();
        let label = store.view().label();
        let found = (!label.is_empty()).then(|| u64::from_be_bytes(label.try_into().unwrap()) as usize);
        assert!(found == acknowledged || (found == under_way && under_way.is_some()), "{found:?} {acknowledged:?}");
        store.verify().unwrap();
        let state = found.map(|at| states.lock().unwrap()[at].clone()).unwrap_or_default();
        let view = store.view();
        assert_eq!(view.records(TREE), state.len() as u64);
        for (key, value) in &state {
            assert_eq!(view.get_vec(TREE, key).unwrap().as_ref(), Some(value));
        }
        if finished {
            return;
        }
    }
    panic!("the history never finished");
}

/// A write that the disk acknowledged and lost leaves an older page with a right checksum: its generation gives it away.
#[test]
fn a_lost_write_is_found_when_read() {
    let files = FaultyFiles::default();
    let store = Store::open(Arc::new(files.clone()), Path::new(PATH), options()).unwrap();
    let mut images = Vec::new();
    let mut rng = Rng::new(5);
    for round in 0..6u8 {
        let mut txn = store.begin();
        for _ in 0..60 {
            txn.put(TREE, &rng.below(500).to_be_bytes(), &[round; 50]).unwrap();
        }
        txn.commit(&[round]).unwrap();
        store.checkpoint().unwrap();
        images.push(files.bytes(Path::new(PATH)));
    }
    let all = |store: &Store| -> State {
        let view = store.view();
        let mut cursor = view.cursor(TREE);
        let mut state = State::new();
        let mut more = cursor.seek_first().unwrap();
        while more {
            state.insert(cursor.key().to_vec(), cursor.value().to_vec());
            more = cursor.next().unwrap();
        }
        state
    };
    let expected = all(&store);
    drop(store);
    let last = images.pop().unwrap();
    let mut found = 0;
    for image in &images {
        // From block 4 on: the metas and bitmaps have their own tests.
        for at in (4 * 4096..image.len()).step_by(4096) {
            let old = &image[at..at + 4096];
            if old == &last[at..at + 4096] || old.iter().all(|byte| *byte == 0) {
                continue;
            }
            let bad = files.crash(0);
            bad.restore(Path::new(PATH), at, old);
            let Ok(store) = Store::open(Arc::new(bad), Path::new(PATH), options()) else { continue };
            if store.view().label() != [5] {
                continue; // The roots page was hit, and the older checkpoint taken.
            }
            match store.verify() {
                Ok(_) => assert!(all(&store) == expected, "an old page was taken for the new one"),
                Err(StoreError::Corrupt { .. }) => found += 1,
                Err(other) => panic!("{other}"),
            }
        }
    }
    assert!(found > 10, "{found}");
}
