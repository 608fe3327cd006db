//! Nodes in one process, over loopback TCP.
#![allow(dead_code)] // each test file uses its part

pub mod machine;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bindery_raft::{
    Cluster, FatalHandler, LogKind, Options, Peer, StartError, SystemClock, SystemRandomness, TcpNetwork, server,
};
use bytes::Bytes;
use tokio::net::{TcpListener, TcpSocket};
use tokio::time::Instant;
use tonic::transport::server::TcpIncoming;

use self::machine::MemoryMachine;

/// Long enough for any busy machine.
pub fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

/// A node, running or not.
pub struct Node {
    pub name: String,
    pub address: SocketAddr,
    pub dir: PathBuf,
    pub machine: MemoryMachine,
    pub options: Options,
    pub running: Option<Live>,
}

pub struct Live {
    pub cluster: Cluster,
    /// Its own, so that stopping it ends its connections too, as the end of a process would.
    runtime: Option<tokio::runtime::Runtime>,
}

impl Drop for Live {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Several nodes that know of each other.
pub struct Nodes {
    pub nodes: Vec<Node>,
    _root: tempfile::TempDir,
}

/// A free port that stays ours: bound with SO_REUSEADDR, so that it can be bound again after a stop.
fn free_address() -> SocketAddr {
    let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    socket.local_addr().unwrap()
}

impl Nodes {
    pub fn new(count: usize, change: impl Fn(&mut Options)) -> Nodes {
        // RUST_LOG shows what the nodes do.
        let _ = tracing_subscriber::fmt()
            .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
            .with_test_writer()
            .try_init();
        let root = tempfile::tempdir().unwrap();
        let names: Vec<String> = (1..=count).map(|n| format!("n{n}")).collect();
        let addresses: Vec<SocketAddr> = names.iter().map(|_| free_address()).collect();
        let peers: Vec<Peer> = names
            .iter()
            .zip(&addresses)
            .map(|(name, address)| Peer { name: name.clone(), address: address.to_string() })
            .collect();
        let nodes = names
            .iter()
            .zip(addresses)
            .map(|(name, address)| {
                let dir = root.path().join(name);
                let mut options = Options {
                    name: name.clone(),
                    data_dir: dir.clone(),
                    advertise: address.to_string(),
                    peers: peers.clone(),
                    expect: count,
                    log: LogKind::Segmented,
                    // Test machines are busy: a stalled sync must not look like a dead leader.
                    election_ms: (500, 1000),
                    segment_bytes: 1 << 20,
                    fatal: FatalHandler(Arc::new(|why| panic!("{why}"))),
                    ..Options::default()
                };
                change(&mut options);
                let machine = MemoryMachine::default();
                Node { name: name.clone(), address, dir, machine, options, running: None }
            })
            .collect();
        Nodes { nodes, _root: root }
    }

    pub async fn start_all(&mut self) {
        for node in &mut self.nodes {
            node.start().await;
        }
    }

    pub fn cluster(&self, n: usize) -> &Cluster {
        self.nodes[n].cluster()
    }

    pub async fn all_members(&self) {
        for node in self.nodes.iter().filter(|n| n.running.is_some()) {
            node.cluster().wait_member(soon()).await.unwrap_or_else(|e| {
                panic!("{}: {e}: {:?}", node.name, node.cluster().status().trouble);
            });
        }
    }

    /// The leader's place in `nodes`.
    pub async fn leader(&self) -> usize {
        let until = soon();
        loop {
            for (n, node) in self.nodes.iter().enumerate() {
                if let Some(live) = &node.running
                    && live.cluster.status().role == bindery_raft::Role::Leader
                    && live.cluster.read_barrier(Instant::now() + Duration::from_millis(500)).await.is_ok()
                {
                    return n;
                }
            }
            assert!(Instant::now() < until, "no leader: {:?}", self.statuses());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    pub fn statuses(&self) -> Vec<bindery_raft::ClusterStatus> {
        self.nodes.iter().filter_map(|n| n.running.as_ref()).map(|l| l.cluster.status()).collect()
    }

    pub async fn write(&self, n: usize, text: &str) -> u64 {
        let proposed = self.cluster(n).propose(Bytes::from(text.to_owned()), soon()).await.unwrap();
        assert_eq!(proposed.reply, proposed.position.index.to_string());
        proposed.position.index
    }

    /// Waits until `condition` holds.
    pub async fn until(&self, what: &str, condition: impl Fn(&Nodes) -> bool) {
        let until = soon();
        while !condition(self) {
            assert!(Instant::now() < until, "never: {what}: {:#?}", self.statuses());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

impl Node {
    pub fn cluster(&self) -> &Cluster {
        &self.running.as_ref().expect("running").cluster
    }

    pub async fn try_start(&mut self) -> Result<(), StartError> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let (options, machine, address) = (self.options.clone(), self.machine.clone(), self.address);
        let started = runtime.spawn(async move {
            let cluster = Cluster::start(
                options,
                Arc::new(machine),
                Arc::new(TcpNetwork),
                Arc::new(SystemClock::default()),
                Arc::new(SystemRandomness),
            )
            .await?;
            let incoming = TcpIncoming::from(listen(address).await).with_nodelay(Some(true));
            tokio::spawn(server().add_routes(cluster.routes()).serve_with_incoming(incoming));
            Ok(cluster)
        });
        match started.await.unwrap() {
            Ok(cluster) => {
                self.running = Some(Live { cluster, runtime: Some(runtime) });
                Ok(())
            }
            Err(error) => {
                runtime.shutdown_background();
                Err(error)
            }
        }
    }

    pub async fn start(&mut self) {
        self.try_start().await.unwrap();
    }

    /// A graceful stop; the machine comes back with its newer checkpoint.
    pub async fn stop(&mut self) {
        let live = self.running.take().expect("running");
        let cluster = live.cluster.clone();
        live.runtime.as_ref().unwrap().spawn(async move { cluster.shutdown().await }).await.unwrap();
        drop(live);
        self.machine = self.machine.crash();
    }

    /// No warning: its tasks just end. Only for the segmented log: sled keeps its file locked until every
    /// part of it is dropped.
    pub async fn kill(&mut self) {
        let mut live = self.running.take().expect("running");
        self.machine = self.machine.crash();
        let runtime = live.runtime.take().unwrap();
        tokio::task::spawn_blocking(move || runtime.shutdown_timeout(Duration::from_secs(5))).await.unwrap();
    }

    /// Its disk is lost.
    pub fn wipe(&mut self) {
        assert!(self.running.is_none());
        std::fs::remove_dir_all(&self.dir).unwrap();
        self.machine = MemoryMachine::default();
    }
}

async fn listen(address: SocketAddr) -> TcpListener {
    let until = soon();
    loop {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_reuseaddr(true).unwrap();
        match socket.bind(address).and_then(|()| socket.listen(64)) {
            Ok(listener) => return listener,
            Err(error) => assert!(Instant::now() < until, "{address}: {error}"),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
