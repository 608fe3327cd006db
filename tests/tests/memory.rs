//! The one memory number: a node loads and serves a directory several times larger than it, and its resident
//! size stays below the number and a tenth.

use std::time::{Duration, Instant};

use bindery_tests::client::{Client, search};
use bindery_tests::faulty_file::Rng;
use bindery_tests::peons;
use bindery_tests::process::{ClusterOptions, ProcessCluster, SUFFIX};

const MIB: u64 = 1 << 20;
const MEMORY_MIB: u64 = 128;
/// With 21 indexes about four times the memory number.
const PEOPLE: usize = 100_000;
/// Connections that search at once, as long as this.
const CONNECTIONS: u64 = 16;
const SEARCHING: Duration = Duration::from_secs(10);

#[test]
fn resident_memory_stays_below_the_number_and_a_tenth() {
    let memory = format!("{MEMORY_MIB}MiB");
    let cluster = ProcessCluster::start(ClusterOptions { nodes: 1, memory, ..Default::default() });
    let node = &cluster.nodes[0];
    let idle = node.resident_bytes();
    let (ldif, indices) = (cluster.path().join("people.ldif"), cluster.path().join("indices.conf"));
    peons::people(PEOPLE, &ldif);
    peons::indices(&indices);
    node.admin_ok(&["index", "add", "--file", &indices.to_string_lossy()]);

    let started = Instant::now();
    node.admin_ok(&["load", &ldif.to_string_lossy()]);
    let (load_s, loaded) = (started.elapsed().as_secs_f64(), node.resident_peak_bytes());

    // Each connection binds first, so that password hashes run, too.
    let address = node.ldap;
    let searches: u64 = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..CONNECTIONS).map(|seed| scope.spawn(move || search_people(address, seed))).collect();
        threads.into_iter().map(|thread| thread.join().expect("searches")).sum()
    });

    let peak = node.resident_peak_bytes();
    println!(
        "memory {MEMORY_MIB} MiB: resident {} MiB idle, peak {} MiB after loading {PEOPLE} people with 21 indexes in \
         {load_s:.1} s, peak {} MiB after {searches} searches",
        idle / MIB,
        loaded / MIB,
        peak / MIB,
    );
    let limit = MEMORY_MIB * MIB / 10 * 11;
    assert!(peak < limit, "{} MiB resident, {} MiB allowed\n{}", peak / MIB, limit / MIB, node.output());
}

/// Searches random people for a while; how many were found.
fn search_people(address: std::net::SocketAddr, seed: u64) -> u64 {
    let mut client = Client::admin(address).expect("a connection");
    let mut rng = Rng::new(seed);
    let started = Instant::now();
    let mut count = 0;
    while started.elapsed() < SEARCHING {
        let filter = format!("(uid=user.{})", rng.below(PEOPLE as u64));
        let found = client.search(&search(SUFFIX, &filter)).expect("an answer").ok();
        assert_eq!(found.entries.len(), 1, "{filter}");
        count += 1;
    }
    count
}
