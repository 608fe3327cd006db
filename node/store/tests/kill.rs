//! A process killed at an arbitrary moment: what it had said to be durable is there.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use bindery_store::{OsFiles, Store, StoreOptions, TreeId};

const CHILD: &str = "BINDERY_STORE_KILL_CHILD";
const TREE: TreeId = TreeId(3);
const KEYS: u64 = 3_000;

fn open(path: &Path) -> Store {
    let options = StoreOptions { arena_bytes: 1 << 20, ..StoreOptions::default() };
    Store::open(Arc::new(OsFiles), path, options).unwrap()
}

/// The round that last wrote a key, of rounds 1..=last.
fn last_writer(key: u64, last: u64) -> Option<u64> {
    (1..=last).rev().find(|round| (key + round).is_multiple_of(7))
}

fn value(key: u64, round: u64) -> Vec<u8> {
    vec![(key ^ round) as u8; 50 + (key % 300) as usize + if key.is_multiple_of(100) { 9_000 } else { 0 }]
}

fn round_of(store: &Store) -> u64 {
    store.view().label().try_into().map_or(0, u64::from_be_bytes)
}

/// Runs until it is killed, printing each round that is durable.
fn child(path: &Path) {
    let store = open(path);
    for round in round_of(&store) + 1.. {
        let mut txn = store.begin();
        for key in (0..KEYS).filter(|key| (key + round).is_multiple_of(7)) {
            txn.put(TREE, &key.to_be_bytes(), &value(key, round)).unwrap();
        }
        txn.commit(&round.to_be_bytes()).unwrap();
        if !round.is_multiple_of(3) {
            store.checkpoint().unwrap();
            println!("durable {round}");
        }
    }
}

#[test]
fn a_killed_process_loses_nothing_it_acknowledged() {
    if let Some(path) = std::env::var_os(CHILD) {
        return child(Path::new(&path));
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store");
    let mut acknowledged = 0;
    for turn in 0..8u64 {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_killed_process_loses_nothing_it_acknowledged", "--nocapture"])
            .env(CHILD, &path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let reader = std::thread::spawn(move || {
            let durable = |line: String| line.split_once("durable ").and_then(|(_, round)| round.parse::<u64>().ok());
            output.lines().map_while(Result::ok).filter_map(durable).last()
        });
        std::thread::sleep(Duration::from_millis(60 + turn * 37));
        process.kill().unwrap();
        process.wait().unwrap();
        acknowledged = reader.join().unwrap().unwrap_or(acknowledged);

        let store = open(&path);
        let round = round_of(&store);
        assert!(round >= acknowledged, "recovered {round}, acknowledged {acknowledged}");
        store.verify().unwrap();
        let view = store.view();
        for key in 0..KEYS {
            let expected = last_writer(key, round).map(|writer| value(key, writer));
            assert_eq!(view.get_vec(TREE, &key.to_be_bytes()).unwrap(), expected);
        }
    }
    assert!(acknowledged > 0);
}
