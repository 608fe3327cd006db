//! One simulated node: the product's directory, machine and consensus over simulated files, network and time.

// The adapter that the product uses; it names only the crates that it joins.
#[path = "../../../node/src/machine.rs"]
mod machine;

use std::future::pending;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use bindery_directory::command::{Command, Done, Reply};
use bindery_directory::index::config::DEFAULT_INDEXES;
use bindery_directory::op::add::{self, AddRequest};
use bindery_directory::op::bootstrap::{self, BootstrapRequest};
use bindery_directory::op::delete::{self, DeleteRequest};
use bindery_directory::{Directory, DirectoryOptions, Identity, OpError, OpErrorKind};
use bindery_model::schema::Schema;
use bindery_raft::{
    Applied, Cluster, Committed, FatalHandler, LogKind, Machine, MachineError, Options, Peer, ProposeError, Role,
    SnapshotSink, SnapshotSource,
};
use bindery_store::StoreOptions;
use bytes::Bytes;
use parking_lot::Mutex;
use tokio::time::{Instant, sleep};

use super::network::{PORT, SimClock, SimNetwork, SimRandomness, serve};
use super::oracle::Oracle;
use crate::faulty_file::{FaultyFiles, LogDisk, Rng};
use machine::DirectoryMachine;

/// Naming context of the simulated directory.
pub const SUFFIX: &str = "dc=example,dc=com";

/// Where the directory's store lies on the simulated disk.
const STORE_FOLDER: &str = "/directory";
const ADMINISTRATOR: &str = "cn=admin,dc=example,dc=com";
/// Clients on each node.
const WRITERS: u64 = 3;
/// How long a client waits.
pub const DEADLINE: Duration = Duration::from_secs(4);
/// How often a node looks at itself.
const LOOK: Duration = Duration::from_millis(10);

/// What of a node outlives its crashes.
pub struct SimNode {
    /// Its name, which is its host in the simulated network.
    pub name: String,
    /// All nodes' names.
    pub names: Vec<String>,
    /// The seed of everything random on it.
    pub seed: u64,
    /// Its disk; the driver replaces it by what a crash leaves.
    pub disk: Mutex<FaultyFiles>,
    /// Of the identity file, which is not simulated.
    pub data: tempfile::TempDir,
    /// How often it was started.
    pub boots: AtomicU64,
    /// It can no longer write its disk: the driver ends it, as the process would end itself.
    pub doomed: Arc<AtomicBool>,
    /// Clients on it write.
    pub writing: Arc<AtomicBool>,
    /// While it runs.
    pub directory: Mutex<Option<Directory>>,
    /// Shared with all.
    pub oracle: Arc<Oracle>,
}

/// The product's machine, and the oracle looks on.
struct Watched {
    name: String,
    machine: DirectoryMachine,
    oracle: Arc<Oracle>,
}

impl Machine for Watched {
    fn applied(&self) -> Applied {
        self.machine.applied()
    }

    fn apply(&self, entries: Vec<Committed>) -> Result<Vec<Bytes>, MachineError> {
        let replies = self.machine.apply(entries.clone())?;
        for (entry, reply) in entries.iter().zip(&replies) {
            self.oracle.applied(&self.name, entry, reply);
        }
        Ok(replies)
    }

    fn durable(&self) -> Applied {
        self.machine.durable()
    }

    fn checkpoint(&self) -> Result<(), MachineError> {
        self.machine.checkpoint()?;
        let durable = self.machine.durable().position.map(|p| p.index);
        self.oracle.note(&self.name, format_args!("checkpoint, older {durable:?}"));
        Ok(())
    }

    fn needs_checkpoint(&self) -> bool {
        self.machine.needs_checkpoint()
    }

    fn snapshot(&self) -> Result<Box<dyn SnapshotSource>, MachineError> {
        self.oracle.note(&self.name, format_args!("sends a snapshot"));
        self.machine.snapshot()
    }

    fn begin_install(&self) -> Result<Box<dyn SnapshotSink>, MachineError> {
        self.oracle.note(&self.name, format_args!("receives a snapshot"));
        self.machine.begin_install()
    }
}

fn options(node: &SimNode, disk: &FaultyFiles) -> Options {
    let (doomed, oracle, name) = (node.doomed.clone(), node.oracle.clone(), node.name.clone());
    let address = |name: &str| format!("{name}:{PORT}");
    Options {
        name: node.name.clone(),
        data_dir: node.data.path().to_owned(),
        advertise: address(&node.name),
        peers: node.names.iter().map(|n| Peer { name: n.clone(), address: address(n) }).collect(),
        expect: node.names.len(),
        log: LogKind::Segmented,
        inline: true,
        // Small, so that segments are closed and purged, and a node that was away needs a snapshot.
        segment_bytes: 32 << 10,
        retain_log_bytes: 32 << 10,
        tail_cache_bytes: 16 << 10,
        checkpoint_interval: Duration::from_millis(700),
        files: Arc::new(LogDisk(disk.clone())),
        fatal: FatalHandler(Arc::new(move |why| {
            oracle.note(&name, format_args!("cannot go on: {why}"));
            doomed.store(true, Ordering::Relaxed);
        })),
        ..Options::default()
    }
}

/// The directory of a node as its disk has it.
pub fn open_directory(disk: &FaultyFiles) -> Result<Directory, bindery_directory::DirectoryError> {
    let options = DirectoryOptions {
        store: StoreOptions { arena_bytes: 4 << 20, ..StoreOptions::default() },
        ..DirectoryOptions::default()
    };
    Directory::open(Arc::new(disk.clone()), Path::new(STORE_FOLDER), options)
}

/// Runs a node until the driver ends it.
pub async fn run(node: Arc<SimNode>) -> turmoil::Result {
    let boot = node.boots.fetch_add(1, Ordering::Relaxed) + 1;
    let disk = node.disk.lock().clone();
    node.oracle.note(&node.name, format_args!("starts"));
    if let Err(why) = live(&node, &disk, boot).await {
        // An injected failure ends a node; anything else is a fault of the product.
        if !disk.has_failed() {
            node.oracle.problem(format!("{} cannot run: {why}", node.name));
        }
    }
    node.doomed.store(true, Ordering::Relaxed);
    pending().await
}

async fn live(node: &Arc<SimNode>, disk: &FaultyFiles, boot: u64) -> Result<(), Box<dyn std::error::Error>> {
    let directory = open_directory(disk)?;
    let machine = DirectoryMachine::new(directory.clone())?;
    let machine = Watched { name: node.name.clone(), machine, oracle: node.oracle.clone() };
    *node.directory.lock() = Some(directory.clone());
    let mut rng = Rng::new(node.seed.wrapping_mul(0x9e37_79b9).wrapping_add(boot));
    let clock = SimClock { ahead: Duration::from_millis(Rng::new(node.seed).below(2000)) };
    let randomness = SimRandomness::new(rng.next());
    let cluster = Cluster::start(
        options(node, disk),
        Arc::new(machine),
        Arc::new(SimNetwork),
        Arc::new(clock),
        Arc::new(randomness),
    )
    .await?;
    let client = Client { node: node.clone(), cluster: cluster.clone(), directory, boot, seed: rng.next(), number: 0 };
    tokio::spawn(client.clone().found());
    tokio::spawn(client.clone().watch());
    tokio::spawn(client.clone().read());
    for number in 0..WRITERS {
        tokio::spawn(Client { number, ..client.clone() }.write());
    }
    let failed = async { Err(cluster.failed().await.into()) };
    tokio::select! {
        biased;
        served = serve(&cluster) => served,
        failed = failed => failed,
    }
}

/// What uses a node from inside its process, as an LDAP connection would.
#[derive(Clone)]
struct Client {
    node: Arc<SimNode>,
    cluster: Cluster,
    directory: Directory,
    boot: u64,
    seed: u64,
    number: u64,
}

enum Outcome {
    Done(u64),
    Refused(OpError),
    Unknown,
    NotApplied,
}

impl Client {
    async fn propose(&self, command: &Command) -> Outcome {
        let payload = command.to_payload().expect("a small command");
        let outcome = self.cluster.propose(payload, Instant::now() + DEADLINE).await;
        let who = format!("{}.{}.{}", self.node.name, self.boot, self.number);
        let outcome = match outcome {
            Ok(proposed) => match Reply::from_bytes(&proposed.reply).into_result() {
                Ok(Done { .. }) => Outcome::Done(proposed.position.index),
                Err(error) => Outcome::Refused(error),
            },
            Err(ProposeError::NotApplied { .. }) => Outcome::NotApplied,
            Err(ProposeError::Unknown { .. }) => Outcome::Unknown,
        };
        match &outcome {
            Outcome::Done(index) => self.node.oracle.note(&who, format_args!("done {index}")),
            Outcome::Refused(error) => self.node.oracle.note(&who, format_args!("refused: {error}")),
            Outcome::Unknown => {
                self.node.oracle.unknown();
                self.node.oracle.note(&who, format_args!("unknown"));
            }
            Outcome::NotApplied => self.node.oracle.note(&who, format_args!("not applied")),
        }
        outcome
    }

    fn is_there(&self, dn: &str) -> Result<bool, OpError> {
        match self.directory.view().locate(dn, &Identity::Admin) {
            Ok(_) => Ok(true),
            Err(error) if error.kind == OpErrorKind::NoSuchObject => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Founds the directory if this node leads a cluster that has none, and adds the context's entry.
    async fn found(self) {
        let request = BootstrapRequest {
            naming_contexts: vec![SUFFIX.to_owned()],
            admin_dn: Some(ADMINISTRATOR.to_owned()),
            admin_password: b"{CLEARTEXT}secret".to_vec(),
            indexes: DEFAULT_INDEXES.iter().map(|(name, types)| ((*name).to_owned(), *types)).collect(),
            settings: Vec::new(),
        };
        let found = bootstrap::prepare(&Schema::shipped(), request).expect("a good request");
        loop {
            sleep(LOOK).await;
            if !self.directory.view().settings().is_founded() {
                if self.cluster.status().role == Role::Leader {
                    self.propose(&found).await;
                }
                continue;
            }
            if self.is_there(SUFFIX) == Ok(true) {
                return;
            }
            if self.cluster.status().role == Role::Leader {
                let attributes = [("objectClass", "domain"), ("dc", "example")];
                self.add(SUFFIX, &attributes).await;
            }
        }
    }

    async fn add(&self, dn: &str, attributes: &[(&str, &str)]) -> Outcome {
        let attributes = attributes.iter().map(|(n, v)| ((*n).to_owned(), vec![v.as_bytes().to_vec()])).collect();
        let request = AddRequest { dn: dn.to_owned(), attributes };
        match add::prepare(&self.directory.view(), &Identity::Admin, request) {
            Ok(command) => self.propose(&command).await,
            Err(error) => Outcome::Refused(error),
        }
    }

    /// Adds people under names of its own, and now and then deletes one.
    async fn write(self) {
        let mut rng = Rng::new(self.seed.wrapping_add(self.number));
        let mut own: Vec<String> = Vec::new();
        let mut count = 0;
        loop {
            sleep(Duration::from_millis(5 + rng.below(60))).await;
            if !self.node.writing.load(Ordering::Relaxed) || self.is_there(SUFFIX) != Ok(true) {
                continue;
            }
            if !own.is_empty() && rng.below(8) == 0 {
                let dn = own.swap_remove(rng.below(own.len() as u64) as usize);
                self.delete(&dn).await;
                continue;
            }
            count += 1;
            let uid = format!("{}-{}-{}-{count}", self.node.name, self.boot, self.number);
            let dn = format!("uid={uid},{SUFFIX}");
            let text = "x".repeat(rng.below(600) as usize + 1);
            let attributes = [
                ("objectClass", "inetOrgPerson"),
                ("uid", uid.as_str()),
                ("cn", uid.as_str()),
                ("sn", "Simulated"),
                ("description", text.as_str()),
            ];
            match self.add(&dn, &attributes).await {
                Outcome::Done(index) => {
                    self.node.oracle.added(&dn, index);
                    // A client reads its own write where it wrote it.
                    if self.is_there(&dn) != Ok(true) && !self.node.disk.lock().has_failed() {
                        self.node
                            .oracle
                            .problem(format!("{dn} was acknowledged on {} and is not there", self.node.name));
                    }
                    own.push(dn);
                }
                // No proposal is repeated, so nothing can be there already.
                Outcome::Refused(error) => {
                    self.node.oracle.problem(format!("{dn} was refused on {}: {error}", self.node.name));
                }
                Outcome::Unknown | Outcome::NotApplied => {}
            }
        }
    }

    async fn delete(&self, dn: &str) {
        let request = DeleteRequest { dn: dn.to_owned(), subtree: false };
        let command = match delete::prepare(&self.directory.view(), &Identity::Admin, request) {
            Ok(command) => command,
            Err(error) => return self.node.oracle.problem(format!("{dn}: {error}")),
        };
        self.node.oracle.deleting(dn);
        match self.propose(&command).await {
            Outcome::Done(index) => self.node.oracle.deleted(dn, index),
            Outcome::Refused(error) => self.node.oracle.problem(format!("{dn} cannot be deleted: {error}")),
            Outcome::Unknown | Outcome::NotApplied => {}
        }
    }

    /// What was acknowledged anywhere before a barrier is here after it.
    async fn read(self) {
        let mut rng = Rng::new(self.seed ^ 0x5eed);
        loop {
            sleep(Duration::from_millis(20 + rng.below(80))).await;
            let before = self.node.oracle.newest_present(4);
            if self.cluster.read_barrier(Instant::now() + Duration::from_secs(2)).await.is_err() {
                continue;
            }
            for dn in before {
                if self.is_there(&dn) == Ok(false) && self.node.oracle.is_present(&dn) {
                    self.node.oracle.problem(format!("a read on {} misses {dn}", self.node.name));
                }
            }
        }
    }

    async fn watch(self) {
        loop {
            let status = self.cluster.status();
            self.node.oracle.role(&self.node.name, status.role, status.term);
            sleep(LOOK).await;
        }
    }
}
