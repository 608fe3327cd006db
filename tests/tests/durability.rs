//! What is acknowledged is on the disk before: shown by the system calls of real nodes, and by starting real
//! nodes on disks that have lost what was never synced.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bindery_tests::client::{Client, search};
use bindery_tests::count::scaled;
use bindery_tests::faulty_file::Rng;
use bindery_tests::process::{ClusterOptions, ProcessCluster, SUFFIX};
use bindery_tests::trace::{self, Call, acknowledgements, disk, votes};

/// Whether to go on; says why not.
fn traceable(test: &str) -> bool {
    match trace::untraceable() {
        None => true,
        Some(why) => {
            println!("skipped: {test}: {why}");
            false
        }
    }
}

fn add_suffix(client: &mut Client) {
    client
        .add(SUFFIX, &[("objectClass", &["organization", "dcObject"]), ("o", &["Example"]), ("dc", &["example"])])
        .expect("a connection")
        .ok();
}

/// A cluster whose nodes are all traced, and the traces' files.
fn traced(nodes: usize, extra: &str) -> (ProcessCluster, Vec<PathBuf>) {
    // Short stretches of log: their files are laid out in full size beforehand, and each image is built byte by byte.
    let extra = format!("[raft]\nretain_log = \"1MiB\"\n{extra}");
    let mut cluster = ProcessCluster::prepare(ClusterOptions { nodes, extra, ..Default::default() });
    let traces: Vec<PathBuf> = cluster.nodes.iter().map(|n| n.directory.join("trace")).collect();
    for (node, trace) in cluster.nodes.iter_mut().zip(&traces) {
        node.start_traced(trace);
    }
    cluster.wait_ready(Duration::from_secs(60));
    (cluster, traces)
}

/// Files that hold log entries, of either kind of log.
fn is_entries(path: &Path) -> bool {
    path.components().any(|c| c.as_os_str().to_string_lossy().starts_with("seg-"))
}

/// Files that hold the vote.
fn is_meta(path: &Path) -> bool {
    path.to_string_lossy().contains("/log/meta")
}

fn without_syncs(calls: &[Call], of: impl Fn(&Path) -> bool) -> Vec<Call> {
    calls.iter().filter(|c| !(c.is_sync() && c.file().is_some_and(&of))).cloned().collect()
}

#[test]
fn every_acknowledgement_follows_a_sync_of_the_log() {
    if !traceable("every_acknowledgement_follows_a_sync_of_the_log") {
        return;
    }
    let (mut cluster, traces) = traced(1, "");
    let mut client = Client::admin(cluster.nodes[0].ldap).expect("a ready node");
    add_suffix(&mut client);
    let count = scaled(300, 3000);
    for i in 0..count {
        client.add_person(SUFFIX, &format!("traced-{i}")).expect("a connection").ok();
    }
    let (pid, port) = (cluster.nodes[0].pid(), cluster.nodes[0].ldap.port());
    cluster.nodes[0].kill();
    let calls = trace::read(&traces[0], pid);
    let acks = acknowledgements::of_adds(&calls, port);
    assert_eq!(acks.len(), count + 1, "acknowledgements in the trace");
    let wrong = acknowledgements::check(&calls, &acks, is_entries);
    assert!(
        wrong.is_empty(),
        "{} of {} acknowledgements: {:#?}",
        wrong.len(),
        acks.len(),
        &wrong[..wrong.len().min(5)]
    );
    // The check can fail: without the syncs, all are wrong.
    let doctored = without_syncs(&calls, is_entries);
    assert_eq!(acknowledgements::check(&doctored, &acks, is_entries).len(), acks.len());
}

#[test]
fn every_granted_vote_follows_its_sync() {
    if !traceable("every_granted_vote_follows_its_sync") {
        return;
    }
    let (mut cluster, traces) = traced(3, "");
    let mut client = Client::admin(cluster.nodes[0].ldap).expect("a ready node");
    add_suffix(&mut client);
    drop(client);
    // Each is killed in turn, so that a leader is among them and the two others vote again.
    let mut boots: Vec<(usize, u32, PathBuf)> =
        traces.into_iter().enumerate().map(|(n, trace)| (n, cluster.nodes[n].pid(), trace)).collect();
    for n in 0..3 {
        cluster.nodes[n].kill();
        write_somewhere(cluster.nodes[(n + 1) % 3].ldap, &format!("voted-{n}"));
        let trace = cluster.nodes[n].directory.join("trace-again");
        cluster.nodes[n].start_traced(&trace);
        boots.push((n, cluster.nodes[n].pid(), trace));
        cluster.wait_ready(Duration::from_secs(60));
    }
    for node in &mut cluster.nodes {
        node.kill();
    }
    let mut granted = 0;
    for (n, node) in cluster.nodes.iter().enumerate() {
        // A vote may be granted again after a restart that kept it: all lives of a node count as one.
        let mut calls = Vec::new();
        for (_, pid, trace) in boots.iter().filter(|(boot, _, _)| *boot == n) {
            trace::append(&mut calls, trace::read(trace, *pid));
        }
        let votes = votes::granted(&calls, node.grpc.port());
        let wrong = votes::check(&calls, &votes, is_meta);
        assert!(wrong.is_empty(), "{}: {wrong:#?}", node.name);
        let doctored = without_syncs(&calls, is_meta);
        assert_eq!(votes::check(&doctored, &votes, is_meta).len(), votes.len());
        let terms: Vec<u64> = votes.iter().map(|v| v.vote.term).collect();
        println!("{}: granted votes in the terms {terms:?}", node.name);
        granted += votes.len();
    }
    // The first leader had one vote of another at least, the second too.
    assert!(granted >= 2, "only {granted} granted votes were seen");
}

/// One write, as soon as the node and the cluster take it.
fn write_somewhere(address: SocketAddr, uid: &str) {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        let outcome = Client::admin(address).and_then(|mut client| client.add_person(SUFFIX, uid));
        match outcome {
            Ok(outcome) if matches!(outcome.code, 0 | 68) => return,
            other => assert!(Instant::now() < end, "no write is taken: {other:?}"),
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Names added by one connection, by message id.
struct Writer {
    client_port: u16,
    name: String,
}

/// Adds from several connections until told to stop.
fn write_until(stop: &AtomicBool, address: SocketAddr, name: String) -> Writer {
    let mut client = Client::admin(address).expect("a ready node");
    let writer = Writer { client_port: client.local_address().port(), name };
    // The bind had message id 1.
    for id in 2.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        client.add_person(SUFFIX, &format!("{}-{id}", writer.name)).expect("a connection").ok();
    }
    writer
}

/// The uids that the node has.
fn uids(address: SocketAddr) -> BTreeSet<String> {
    let mut client = Client::admin(address).expect("a ready node");
    let found = client.search(&search(SUFFIX, "(uid=*)").attributes(&["uid"])).expect("a connection").ok();
    found.entries.iter().flat_map(|entry| entry.values("uid")).collect()
}

/// The disk of a real node, whatever log it uses, at any moment, without what was not synced: the images are
/// rebuilt from the node's own system calls.
#[test]
fn a_disk_that_loses_unsynced_writes_loses_nothing_acknowledged() {
    if !traceable("a_disk_that_loses_unsynced_writes_loses_nothing_acknowledged") {
        return;
    }
    let (mut cluster, traces) = traced(1, "");
    let (pid, port, address) = (cluster.nodes[0].pid(), cluster.nodes[0].ldap.port(), cluster.nodes[0].ldap);
    add_suffix(&mut Client::admin(address).expect("a ready node"));
    let stop = AtomicBool::new(false);
    let writers: BTreeMap<u16, String> = std::thread::scope(|scope| {
        let stop = &stop;
        let threads: Vec<_> =
            (0..4).map(|n| scope.spawn(move || write_until(stop, address, format!("lost-{n}")))).collect();
        std::thread::sleep(Duration::from_millis(scaled(2500, 20_000) as u64));
        stop.store(true, Ordering::Relaxed);
        threads.into_iter().map(|t| t.join().expect("a writer failed")).map(|w| (w.client_port, w.name)).collect()
    });
    cluster.nodes[0].kill();
    let calls = trace::read(&traces[0], pid);
    let acks: Vec<(usize, String)> = acknowledgements::of_adds(&calls, port)
        .into_iter()
        .filter_map(|ack| Some((ack.enter, format!("{}-{}", writers.get(&ack.client_port)?, ack.id))))
        .collect();
    assert!(acks.len() > 100, "only {} acknowledgements", acks.len());
    let data = cluster.nodes[0].data();
    let seed = std::env::var("BINDERY_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let mut rng = Rng::new(seed);
    let end = calls.last().expect("calls").enter;
    for round in 0..scaled(10, 200) {
        // At the moment of an acknowledgement, or at any.
        let line = if round % 2 == 0 {
            acks[rng.below(acks.len() as u64) as usize].0
        } else {
            acks[0].0 + rng.below((end - acks[0].0) as u64) as usize
        };
        let (before, directories) = disk::at_line(&calls, &data, line);
        let after = before.crash(rng.next());
        std::fs::remove_dir_all(&data).expect("the data directory");
        disk::write_out(&after, &directories, &data, &data);
        cluster.nodes[0].start();
        cluster.wait_ready(Duration::from_secs(60));
        let there = uids(address);
        cluster.nodes[0].kill();
        let due: Vec<&str> = acks.iter().filter(|(at, _)| *at <= line).map(|(_, uid)| uid.as_str()).collect();
        let lost: Vec<&&str> = due.iter().filter(|uid| !there.contains(**uid)).collect();
        println!("line {line}: {} acknowledged, {} there", due.len(), there.len());
        assert!(
            lost.is_empty(),
            "BINDERY_SEED={seed}: a crash at line {line} of the trace lost {} of {} acknowledged adds: {lost:?}",
            lost.len(),
            due.len()
        );
    }
}

/// A trace as `strace` prints it, with the parts that matter.
const SMALL_TRACE: &str = r#"10 pwrite64(9</d/raft/log/seg-0/db>, "\x61\x62", 2, 4096) = 2
10 fdatasync(9</d/raft/log/seg-0/db> <unfinished ...>
11 pwrite64(8</d/raft/log/meta/db>, "\x63", 1, 0) = 1
10 <... fdatasync resumed>) = 0
11 sendto(7<TCP:[127.0.0.1:389->127.0.0.1:5000]>, "\x30\x0c\x02\x01\x02\x69\x07\x0a\x01\x00\x04\x00\x04\x00", 14, MSG_NOSIGNAL, NULL, 0) = 14
12 write(5</d/raft/identity.new>, "\x31", 1 <unfinished ...>
10 +++ killed by SIGKILL +++
"#;

#[test]
fn a_small_trace_is_read() {
    let calls = trace::parse(SMALL_TRACE);
    assert_eq!(calls.len(), 5);
    assert_eq!((calls[0].file(), calls[0].data()), (Some(Path::new("/d/raft/log/seg-0/db")), b"ab".to_vec()));
    assert_eq!((calls[0].number(0), calls[0].number(1)), (Some(2), Some(4096)));
    assert_eq!((calls[1].enter, calls[1].exit), (1, Some(3)));
    assert_eq!((calls[4].exit, calls[4].data()), (None, b"1".to_vec()));
    let acks = acknowledgements::of_adds(&calls, 389);
    assert_eq!(acks.len(), 1);
    assert_eq!(acknowledgements::check(&calls, &acks, is_entries), Vec::<String>::new());
}

/// Each way in which an acknowledgement could come too early is noticed.
#[test]
fn a_doctored_trace_is_noticed() {
    let wrong = |text: &str| {
        let calls = trace::parse(text);
        let acks = acknowledgements::of_adds(&calls, 389);
        assert_eq!(acks.len(), 1);
        acknowledgements::check(&calls, &acks, is_entries).len()
    };
    let lines: Vec<&str> = SMALL_TRACE.lines().collect();
    assert_eq!(wrong(&lines.join("\n")), 0);
    // No sync; the sync of another file; a sync that began before the write ended, or that failed; a sync that
    // ended after the answer; a sync of a part only; nothing written at all.
    assert_eq!(wrong(&[lines[0], lines[4]].join("\n")), 1);
    assert_eq!(wrong(&SMALL_TRACE.replace("fdatasync(9</d/raft/log/seg-0/db>", "fdatasync(9</d/store>")), 1);
    assert_eq!(wrong(&[lines[1], lines[0], lines[3], lines[4]].join("\n")), 1);
    assert_eq!(wrong(&SMALL_TRACE.replace("resumed>) = 0", "resumed>) = -1 EIO (Input/output error)")), 1);
    assert_eq!(wrong(&[lines[0], lines[1], lines[4], lines[3]].join("\n")), 1);
    assert_eq!(wrong(&SMALL_TRACE.replace("fdatasync", "sync_file_range")), 1);
    assert_eq!(wrong(lines[4]), 1);
}

/// The vote of term 5 for node 2, granted: HTTP/2 frame, gRPC message.
const VOTE_TRACE: &str = r#"10 pwrite64(8</d/raft/log/meta/db>, "\xff\x0a\x04\x08\x05\x10\x02\xff", 8, 0) = 8
10 fdatasync(8</d/raft/log/meta/db>) = 0
11 sendto(7<TCP:[127.0.0.1:700->127.0.0.1:5000]>, "\x00\x00\x0d\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x08\x0a\x04\x08\x05\x10\x02\x10\x01", 22, MSG_NOSIGNAL, NULL, 0) = 22
"#;

#[test]
fn a_vote_granted_too_early_is_noticed() {
    let wrong = |text: &str| {
        let calls = trace::parse(text);
        let votes = votes::granted(&calls, 700);
        assert_eq!(votes.len(), 1);
        assert_eq!(votes[0].vote.term, 5);
        votes::check(&calls, &votes, is_meta).len()
    };
    let lines: Vec<&str> = VOTE_TRACE.lines().collect();
    assert_eq!(wrong(VOTE_TRACE), 0);
    assert_eq!(wrong(&[lines[0], lines[2], lines[1]].join("\n")), 1);
    assert_eq!(wrong(&[lines[1], lines[0], lines[2]].join("\n")), 1);
    // Another vote was synced.
    assert_eq!(wrong(&VOTE_TRACE.replacen(r"\x08\x05\x10\x02", r"\x08\x04\x10\x02", 1)), 1);
}
