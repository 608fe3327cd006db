//! Real processes, killed: nothing acknowledged is lost, nothing is doubled, reads go on elsewhere.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bindery_tests::client::{Client, search};
use bindery_tests::count::scaled;
use bindery_tests::process::{ClusterOptions, ProcessCluster, SUFFIX};
use bindery_wire::request::ChangeOperation;

/// People loaded before a node is wiped: several times the log that is kept.
const PEOPLE: usize = 6000;

/// Adds people until told to stop, on any node that answers, and notes what was acknowledged.
struct Writers {
    stop: Arc<AtomicBool>,
    acknowledged: Arc<Mutex<BTreeSet<String>>>,
    /// Moments of acknowledgements, for the length of pauses.
    moments: Arc<Mutex<Vec<Instant>>>,
    threads: Vec<std::thread::JoinHandle<()>>,
}

impl Writers {
    fn start(count: usize, addresses: Vec<SocketAddr>, prefix: &str) -> Writers {
        let stop = Arc::new(AtomicBool::new(false));
        let acknowledged = Arc::new(Mutex::new(BTreeSet::new()));
        let moments = Arc::new(Mutex::new(Vec::new()));
        let threads = (0..count)
            .map(|writer| {
                let (stop, acknowledged, moments) = (stop.clone(), acknowledged.clone(), moments.clone());
                let addresses = addresses.clone();
                let prefix = format!("{prefix}-w{writer}");
                std::thread::spawn(move || {
                    let mut node = writer % addresses.len();
                    let mut client = None;
                    let mut number = 0;
                    while !stop.load(Ordering::Relaxed) {
                        let Some(connected) = client.as_mut() else {
                            client = Client::admin(addresses[node]).ok();
                            if client.is_none() {
                                node = (node + 1) % addresses.len();
                                std::thread::sleep(Duration::from_millis(5));
                            }
                            continue;
                        };
                        let uid = format!("{prefix}-{number}");
                        number += 1;
                        match connected.add_person(SUFFIX, &uid) {
                            Ok(outcome) if outcome.code == 0 => {
                                acknowledged.lock().expect("no writer panics").insert(uid);
                                moments.lock().expect("no writer panics").push(Instant::now());
                            }
                            // 51: not applied. 52: unknown, so neither claimed nor tried again.
                            Ok(outcome) => assert!(matches!(outcome.code, 51 | 52), "{uid}: {outcome:?}"),
                            Err(_) => client = None,
                        }
                    }
                })
            })
            .collect();
        Writers { stop, acknowledged, moments, threads }
    }

    fn finish(self) -> (BTreeSet<String>, Vec<Instant>) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads {
            thread.join().expect("a writer failed");
        }
        let acknowledged = std::mem::take(&mut *self.acknowledged.lock().expect("no writer panics"));
        let mut moments = std::mem::take(&mut *self.moments.lock().expect("no writer panics"));
        moments.sort();
        (acknowledged, moments)
    }
}

fn add_suffix(cluster: &ProcessCluster) {
    let mut client = Client::admin(cluster.nodes[0].ldap).expect("a ready node");
    client
        .add(SUFFIX, &[("objectClass", &["organization", "dcObject"]), ("o", &["Example"]), ("dc", &["example"])])
        .expect("a connection")
        .ok();
}

fn addresses(cluster: &ProcessCluster) -> Vec<SocketAddr> {
    cluster.nodes.iter().map(|node| node.ldap).collect()
}

/// uids in a dump; panics when one is there twice.
fn uids(dump: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for line in dump.lines() {
        if let Some(uid) = line.strip_prefix("uid: ") {
            assert!(found.insert(uid.to_owned()), "{uid} is there twice");
        }
    }
    found
}

#[track_caller]
fn assert_all_there(acknowledged: &BTreeSet<String>, dump: &str) {
    let there = uids(dump);
    let lost: Vec<&String> = acknowledged.difference(&there).collect();
    assert!(lost.is_empty(), "{} of {} acknowledged adds are lost: {lost:?}", lost.len(), acknowledged.len());
}

#[test]
fn leader_killed_under_adds_loses_nothing_and_reads_go_on() {
    let mut cluster = ProcessCluster::three();
    add_suffix(&cluster);
    let leader = cluster.leader();
    let writers = Writers::start(8, addresses(&cluster), "kill");
    std::thread::sleep(Duration::from_secs(2));

    // Readers on the two others must never fail.
    let reading = Arc::new(AtomicBool::new(true));
    let reads = Arc::new(AtomicUsize::new(0));
    let readers: Vec<_> = (0..3)
        .filter(|i| *i != leader)
        .map(|i| {
            let (reading, reads, address) = (reading.clone(), reads.clone(), cluster.nodes[i].ldap);
            std::thread::spawn(move || {
                let mut client = Client::admin(address).expect("a ready node");
                while reading.load(Ordering::Relaxed) {
                    let found = client.search(&search(SUFFIX, "(objectClass=*)").base_only()).expect("an answer");
                    assert_eq!((found.outcome.code, found.entries.len()), (0, 1), "{:?}", found.outcome);
                    reads.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    std::thread::sleep(Duration::from_millis(500));
    let killed_at = Instant::now();
    cluster.nodes[leader].kill();
    std::thread::sleep(Duration::from_secs(4));
    cluster.nodes[leader].start();
    std::thread::sleep(Duration::from_secs(2));
    reading.store(false, Ordering::Relaxed);
    for reader in readers {
        reader.join().expect("a read failed");
    }
    let (acknowledged, moments) = writers.finish();
    let accepted = moments.iter().find(|at| **at > killed_at + Duration::from_millis(50));
    let pause = accepted.map(|at| *at - killed_at);
    println!(
        "{} adds acknowledged, {} reads, writes again after {pause:?}",
        acknowledged.len(),
        reads.load(Ordering::Relaxed)
    );
    assert!(pause.is_some_and(|pause| pause < Duration::from_secs(3)), "writes again after {pause:?}");
    assert!(acknowledged.len() > 50, "hardly anything was written\n{}", cluster.output());
    cluster.wait_ready(Duration::from_secs(30));
    let dump = cluster.equal_dumps();
    assert_all_there(&acknowledged, &dump);
}

#[test]
fn all_three_killed_at_random_moments_lose_nothing() {
    let mut cluster = ProcessCluster::three();
    add_suffix(&cluster);
    let mut acknowledged = BTreeSet::new();
    // A fixed sequence: the moments differ, the test does not.
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    for round in 0..scaled(10, 50) {
        let writers = Writers::start(6, addresses(&cluster), &format!("r{round}"));
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_millis(300 + (random >> 33) % 1500));
        for node in &mut cluster.nodes {
            node.kill();
        }
        let (new, _) = writers.finish();
        println!("round {round}: {} adds acknowledged", new.len());
        acknowledged.extend(new);
        for node in &mut cluster.nodes {
            node.start();
        }
        cluster.wait_ready(Duration::from_secs(60));
        let dump = cluster.equal_dumps();
        assert_all_there(&acknowledged, &dump);
    }
    assert!(acknowledged.len() > 100, "hardly anything was written");
}

#[test]
fn a_write_on_one_node_is_read_on_another_at_once() {
    let cluster = ProcessCluster::three();
    add_suffix(&cluster);
    let mut clients: Vec<Client> =
        cluster.nodes.iter().map(|node| Client::admin(node.ldap).expect("a ready node")).collect();
    for i in 0..1000 {
        let uid = format!("seen-{i}");
        clients[i % 3].add_person(SUFFIX, &uid).expect("a connection").ok();
        let dn = format!("uid={uid},{SUFFIX}");
        let reader = (i + 1 + i / 3 % 2) % 3;
        let found = clients[reader].search(&search(&dn, "(objectClass=*)").base_only()).expect("a connection");
        assert_eq!(
            found.outcome.code,
            0,
            "add {i} on node {} was not seen on node {reader}: {:?}",
            i % 3,
            found.outcome
        );
        assert_eq!(found.entries.len(), 1);
    }
}

#[test]
fn a_wiped_node_catches_up_by_itself_through_a_snapshot() {
    // So little log is kept that a blank node cannot come up from the log alone.
    let extra = "[raft]\nretain_log = \"1MiB\"\ncheckpoint_s = 1\n".to_owned();
    let mut cluster = ProcessCluster::start(ClusterOptions { extra, ..ClusterOptions::default() });
    let leader = cluster.leader();
    let wiped = (leader + 1) % 3;
    let people = cluster.path().join("people.ldif");
    bindery_tests::peons::people(PEOPLE, &people);
    cluster.nodes[leader].admin_ok(&["load", people.to_str().expect("UTF-8 path")]);
    cluster.nodes[wiped].kill();
    cluster.nodes[wiped].wipe();
    let mut client = Client::admin(cluster.nodes[leader].ldap).expect("a ready node");
    for i in 0..200 {
        client.add_person(SUFFIX, &format!("while-{i}")).expect("a connection").ok();
    }
    let end = Instant::now() + Duration::from_secs(60);
    while purged(&cluster, leader) == 0 {
        assert!(Instant::now() < end, "the log is not purged\n{}", cluster.output());
        client.modify(SUFFIX, &[(ChangeOperation::Replace, "description", &["again"])]).expect("a connection").ok();
        std::thread::sleep(Duration::from_millis(200));
    }
    cluster.nodes[wiped].start();
    cluster.wait_ready(Duration::from_secs(60));
    let dump = cluster.equal_dumps();
    assert_eq!(uids(&dump).len(), PEOPLE + 200);
    // It is a full member again: a quorum of it and one other carries on.
    let other = (leader + 2) % 3;
    let end = Instant::now() + Duration::from_secs(30);
    // While the change is under way a majority of the old voters is needed too, and one of them is gone.
    while changing(&cluster, leader) || !voters(&cluster, leader).contains(&cluster.nodes[wiped].name) {
        assert!(Instant::now() < end, "the wiped node did not become a voter again\n{}", cluster.output());
        std::thread::sleep(Duration::from_millis(100));
    }
    cluster.nodes[other].kill();
    client.add_person(SUFFIX, "after").expect("a connection").ok();
}

fn status(cluster: &ProcessCluster, asked: usize) -> serde_json::Value {
    serde_json::from_str(&cluster.nodes[asked].admin_ok(&["status", "-o", "json"])).expect("JSON")
}

/// Index up to which the node's log has been deleted.
fn purged(cluster: &ProcessCluster, asked: usize) -> u64 {
    let answer = status(cluster, asked);
    let nodes = answer["nodes"].as_array().unwrap_or_else(|| panic!("no nodes in {answer}"));
    let own = nodes.iter().find(|n| n["name"] == cluster.nodes[asked].name.as_str());
    own.and_then(|n| n["purged"].as_u64()).unwrap_or_default()
}

/// Whether a change of the membership is under way.
fn changing(cluster: &ProcessCluster, asked: usize) -> bool {
    let answer = status(cluster, asked);
    answer["changing"].as_bool().unwrap_or_else(|| panic!("no changing in {answer}"))
}

fn voters(cluster: &ProcessCluster, asked: usize) -> Vec<String> {
    let text = cluster.nodes[asked].admin_ok(&["member", "list", "-o", "json"]);
    let answer: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let members = answer.as_array().unwrap_or_else(|| panic!("no list in {text}")).clone();
    members
        .iter()
        .filter(|m| m["voter"].as_bool() == Some(true))
        .filter_map(|m| m["name"].as_str().map(str::to_owned))
        .collect()
}

#[test]
fn graceful_stop_hands_over_and_loses_nothing() {
    let mut cluster = ProcessCluster::three();
    add_suffix(&cluster);
    let leader = cluster.leader();
    let others: Vec<SocketAddr> = (0..3).filter(|i| *i != leader).map(|i| cluster.nodes[i].ldap).collect();
    let writers = Writers::start(4, others, "stop");
    std::thread::sleep(Duration::from_secs(1));
    let status = cluster.nodes[leader].stop();
    assert!(status.success(), "{status}\n{}", cluster.nodes[leader].output());
    std::thread::sleep(Duration::from_secs(2));
    let (acknowledged, _) = writers.finish();
    cluster.nodes[leader].start();
    cluster.wait_ready(Duration::from_secs(30));
    assert_all_there(&acknowledged, &cluster.equal_dumps());
}
