//! Three nodes in one process over loopback TCP.

mod support;

use std::time::Duration;

use bindery_raft::{LogKind, ProposeError, Role, StartError};
use bytes::Bytes;
use support::{Nodes, soon};
use tokio::time::Instant;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_forms_whatever_the_order_of_starts_and_writes_work_on_any_node() {
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
        let mut nodes = Nodes::new(3, |_| {});
        for n in order {
            nodes.nodes[n].start().await;
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
        nodes.all_members().await;
        for n in 0..3 {
            nodes.write(n, &format!("k{n}=v{n}")).await;
            // The node that took the write has applied it.
            assert_eq!(nodes.nodes[n].machine.get(&format!("k{n}")).unwrap(), format!("v{n}"));
        }
        for n in 0..3 {
            nodes.cluster(n).read_barrier(soon()).await.unwrap();
            assert_eq!(nodes.nodes[n].machine.content().values.len(), 3);
        }
        let ids: Vec<_> = nodes.statuses().into_iter().map(|s| s.cluster_id.unwrap()).collect();
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
        for node in &mut nodes.nodes {
            node.stop().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_single_node_forms_alone_and_restarts() {
    for log in [LogKind::Segmented, LogKind::Sled] {
        let mut nodes = Nodes::new(1, |o| o.log = log);
        nodes.start_all().await;
        for i in 0..20 {
            nodes.write(0, &format!("k{i}=v")).await;
        }
        nodes.nodes[0].stop().await;
        // Nothing was checkpointed: all comes back from the log.
        assert_eq!(nodes.nodes[0].machine.content().commands, 0);
        nodes.nodes[0].start().await;
        nodes.cluster(0).read_barrier(soon()).await.unwrap();
        assert_eq!(nodes.nodes[0].machine.content().commands, 20);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopped_leader_is_replaced_and_catches_up_after_its_restart() {
    let mut nodes = Nodes::new(3, |o| o.log = LogKind::Sled);
    nodes.start_all().await;
    nodes.all_members().await;
    for i in 0..50 {
        nodes.write(i % 3, &format!("a{i}=1")).await;
    }
    let first = nodes.leader().await;
    nodes.nodes[first].stop().await;
    let other = (first + 1) % 3;
    for i in 0..50 {
        nodes.write(other, &format!("b{i}=1")).await;
    }
    nodes.nodes[first].start().await;
    nodes.cluster(first).read_barrier(soon()).await.unwrap();
    assert_eq!(nodes.nodes[first].machine.content().values.len(), 100);
    nodes.write(first, "c=1").await;
    assert_eq!(nodes.nodes[first].machine.content().values.len(), 101);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wiped_node_rejoins_under_a_new_id_through_a_snapshot() {
    let mut nodes = Nodes::new(3, |o| {
        o.segment_bytes = 4 << 10;
        o.retain_log_bytes = 0;
        o.checkpoint_interval = Duration::from_millis(300);
    });
    nodes.start_all().await;
    nodes.all_members().await;
    for i in 0..200 {
        nodes.write(0, &format!("key{i}={}", "x".repeat(100))).await;
    }
    // The log is purged up to the older checkpoint. A fast machine writes all of the above before the first one,
    // and none follows while nothing is written: go on, slower than checkpoints are made.
    let until = soon();
    while nodes.statuses().iter().any(|s| s.purged.is_none()) {
        assert!(Instant::now() < until, "the log is never purged: {:#?}", nodes.statuses());
        nodes.write(0, &format!("key0={}", "x".repeat(100))).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let leader = nodes.leader().await;
    let victim = (leader + 1) % 3;
    let old_id = nodes.cluster(victim).status().node_id.unwrap();
    nodes.nodes[victim].stop().await;
    nodes.nodes[victim].wipe();
    nodes.nodes[victim].start().await;
    nodes.all_members().await;
    let new_id = nodes.cluster(victim).status().node_id.unwrap();
    assert_ne!(new_id, old_id);
    nodes
        .until("the new member votes", |n| {
            n.cluster(leader).status().members.iter().filter(|m| m.voter).map(|m| m.id).any(|id| id == new_id)
        })
        .await;
    nodes.cluster(victim).read_barrier(soon()).await.unwrap();
    assert_eq!(nodes.nodes[victim].machine.content().values.len(), 200);
    assert!(nodes.nodes[victim].machine.installs() >= 1);
    let status = nodes.cluster(leader).status();
    assert_eq!(status.members.len(), 3, "{status:?}");
    // The first cluster's id, not a second cluster.
    let ids: Vec<_> = nodes.statuses().into_iter().map(|s| s.cluster_id.unwrap()).collect();
    assert!(ids.iter().all(|id| *id == ids[0]));
    // It restarts as what it is now.
    nodes.nodes[victim].stop().await;
    nodes.nodes[victim].start().await;
    nodes.write(victim, "after=1").await;
    assert_eq!(nodes.cluster(victim).status().node_id, Some(new_id));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn leadership_moves_on_request() {
    let mut nodes = Nodes::new(3, |_| {});
    nodes.start_all().await;
    nodes.all_members().await;
    for round in 0..6 {
        let leader = nodes.leader().await;
        let target = (leader + 1) % 3;
        let name = nodes.nodes[target].name.clone();
        // Any node takes the request.
        nodes.cluster(round % 3).transfer_leader(Some(&name), soon()).await.unwrap();
        nodes.until("it leads", |n| n.cluster(target).status().role == Role::Leader).await;
        nodes.write(round % 3, &format!("r{round}=1")).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_barrier_sees_every_acknowledged_write() {
    let mut nodes = Nodes::new(3, |_| {});
    nodes.start_all().await;
    nodes.all_members().await;
    for i in 0..1000usize {
        let (writer, reader) = (i % 3, (i / 3) % 3);
        nodes.write(writer, &format!("x={i}")).await;
        nodes.cluster(reader).read_barrier(soon()).await.unwrap();
        assert_eq!(nodes.nodes[reader].machine.get("x").unwrap(), i.to_string());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_quorum_nothing_is_acknowledged() {
    let mut nodes = Nodes::new(3, |o| o.write_wait = Duration::from_secs(1));
    nodes.start_all().await;
    nodes.all_members().await;
    nodes.write(0, "a=1").await;
    nodes.nodes[1].stop().await;
    nodes.nodes[2].stop().await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let deadline = Instant::now() + Duration::from_secs(3);
    let error = nodes.cluster(0).propose(Bytes::from("b=1"), deadline).await.unwrap_err();
    assert!(matches!(error, ProposeError::NotApplied { .. }), "{error}");
    assert!(nodes.cluster(0).read_barrier(Instant::now() + Duration::from_millis(300)).await.is_err());
    nodes.nodes[1].start().await;
    nodes.write(0, "c=1").await;
    assert!(nodes.nodes[0].machine.get("b").is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_directory_of_another_node_is_refused() {
    let mut nodes = Nodes::new(1, |_| {});
    nodes.start_all().await;
    nodes.write(0, "a=1").await;
    nodes.nodes[0].stop().await;
    let log = nodes.nodes[0].dir.join("log");
    std::fs::rename(&log, nodes.nodes[0].dir.join("hidden")).unwrap();
    let error = nodes.nodes[0].try_start().await.unwrap_err();
    assert!(matches!(error, StartError::Damaged { .. }), "{error}");
    assert!(error.to_string().contains("must be rebuilt"));
    std::fs::remove_dir_all(&log).unwrap();
    std::fs::rename(nodes.nodes[0].dir.join("hidden"), &log).unwrap();
    nodes.nodes[0].options.name = "other".into();
    let error = nodes.nodes[0].try_start().await.unwrap_err();
    assert!(matches!(error, StartError::OtherNode { .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_of_two_clusters_never_merge() {
    let mut first = Nodes::new(1, |_| {});
    let mut second = Nodes::new(1, |_| {});
    first.start_all().await;
    second.start_all().await;
    first.write(0, "a=1").await;
    second.write(0, "b=1").await;
    let address = second.nodes[0].address.to_string();
    let error = first.cluster(0).add_member("n1", &address, false, soon()).await.unwrap_err();
    assert!(error.to_string().contains("another cluster"), "{error}");
    assert_eq!(first.cluster(0).status().members.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn members_are_added_and_removed_by_command() {
    let mut nodes = Nodes::new(4, |o| {
        o.expect = 3;
        if o.name != "n4" {
            o.peers.truncate(3);
        }
    });
    for n in 0..3 {
        nodes.nodes[n].start().await;
    }
    nodes.all_members().await;
    nodes.write(0, "a=1").await;
    nodes.nodes[3].start().await;
    nodes
        .until("n4 says what to do", |n| {
            n.cluster(3).status().trouble.is_some_and(|why| why.contains("bindery member add"))
        })
        .await;
    let address = nodes.nodes[3].address.to_string();
    nodes.cluster(1).add_member("n4", &address, false, soon()).await.unwrap();
    nodes.all_members().await;
    nodes.until("n4 votes", |n| n.cluster(0).status().members.iter().any(|m| m.name == "n4" && m.voter)).await;
    nodes.write(3, "b=1").await;
    nodes.cluster(3).remove_member("n2", soon()).await.unwrap();
    nodes.until("n2 is gone", |n| n.cluster(0).status().members.len() == 3).await;
    nodes
        .until("n2 knows it", |n| n.cluster(1).status().trouble.is_some() || n.cluster(1).status().members.len() == 4)
        .await;
    nodes.write(3, "c=1").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_nodes_lose_nothing_acknowledged() {
    let mut nodes = Nodes::new(3, |o| {
        o.checkpoint_interval = Duration::from_millis(400);
        o.retain_log_bytes = 4 << 10;
        o.segment_bytes = 8 << 10;
    });
    nodes.start_all().await;
    nodes.all_members().await;
    let mut acknowledged = Vec::new();
    for round in 0..6 {
        for i in 0..30 {
            let key = format!("r{round}i{i}");
            let proposed = nodes.cluster(i % 3).propose(Bytes::from(format!("{key}={i}")), soon()).await;
            match proposed {
                Ok(_) => acknowledged.push(key),
                Err(error) => assert!(matches!(error, ProposeError::Unknown { .. }), "{error}"),
            }
        }
        let victim = round % 3;
        nodes.nodes[victim].kill().await;
        nodes.nodes[victim].start().await;
    }
    for n in 0..3 {
        nodes.cluster(n).read_barrier(soon()).await.unwrap();
        for key in &acknowledged {
            assert!(nodes.nodes[n].machine.get(key).is_some(), "{key} is lost on node {n}");
        }
    }
    assert!(acknowledged.len() > 150, "{}", acknowledged.len());
}
