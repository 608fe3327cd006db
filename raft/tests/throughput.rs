//! Group commit: many proposers share appends, syncs and apply batches.

mod support;

use std::time::{Duration, Instant};

use bindery_raft::LogKind;
use bytes::Bytes;
use support::{Nodes, soon};

/// Proposes from `clients` tasks on node `n` for a while. Returns writes per second.
async fn load(nodes: &Nodes, n: usize, clients: usize, time: Duration) -> f64 {
    let started = Instant::now();
    let mut tasks = Vec::new();
    for client in 0..clients {
        let cluster = nodes.cluster(n).clone();
        tasks.push(tokio::spawn(async move {
            let mut count = 0u64;
            let payload = Bytes::from(format!("c{client}={}", "x".repeat(500)));
            while started.elapsed() < time {
                cluster.propose(payload.clone(), soon()).await.unwrap();
                count += 1;
            }
            count
        }));
    }
    let mut total = 0;
    for task in tasks {
        total += task.await.unwrap();
    }
    total as f64 / started.elapsed().as_secs_f64()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_proposers_commit_in_groups() {
    for log in [LogKind::Sled, LogKind::Segmented] {
        let mut nodes = Nodes::new(3, |o| {
            o.log = log;
            o.segment_bytes = 64 << 20;
        });
        nodes.start_all().await;
        nodes.all_members().await;
        let leader = nodes.leader().await;
        let follower = (leader + 1) % 3;
        let time = Duration::from_secs(2);
        let one = load(&nodes, leader, 1, time).await;
        let (batches, commands) =
            (nodes.nodes[leader].machine.batches(), nodes.nodes[leader].machine.content().commands);
        let many = load(&nodes, leader, 64, time).await;
        let batches = nodes.nodes[leader].machine.batches() - batches;
        let commands = nodes.nodes[leader].machine.content().commands - commands;
        let forwarded = load(&nodes, follower, 64, time).await;
        let per_batch = commands as f64 / batches as f64;
        println!(
            "{log:?}: 1 client {one:.0}/s, 64 clients {many:.0}/s ({per_batch:.1} entries a batch), \
             64 clients through a follower {forwarded:.0}/s"
        );
        assert!(per_batch >= 4.0, "{per_batch}");
        assert!(many > 2.0 * one, "64 clients: {many:.0}/s, one: {one:.0}/s");
    }
}
