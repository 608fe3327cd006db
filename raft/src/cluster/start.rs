//! From options to a running node.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use openraft::{Config, SnapshotPolicy};
use parking_lot::Mutex;
use tokio::sync::{Semaphore, watch};

use super::inner::{Inner, Phase};
use super::running::Running;
use super::{barrier, checkpoint, proposer};
use crate::clock::{Clock, Randomness};
use crate::core::apply::{ApplyState, StateMachine};
use crate::core::runtime;
use crate::core::types::Raft;
use crate::error::StartError;
use crate::log::{LogError, LogIdentity, LogStore, StoreOptions};
use crate::machine::Machine;
use crate::member::identity::{IdentityStore, Membership};
use crate::member::{form, upkeep};
use crate::network::Network;
use crate::options::Options;
use crate::rpc::channels::Channels;
use crate::rpc::client::Dialer;

/// Entries in one AppendEntries message; its bytes are bounded by the log.
const MAX_APPEND_ENTRIES: u64 = 1024;

fn check(options: &Options) -> Result<(), StartError> {
    let wrong = |why: &str| Err(StartError::Options(why.to_owned()));
    if options.name.is_empty() || options.name.len() > 255 {
        return wrong("the node's name must have 1 to 255 bytes");
    }
    if options.advertise.is_empty() {
        return wrong("the address for the other nodes (advertise) is missing");
    }
    if options.expect == 0 {
        return wrong("expect must be at least 1");
    }
    let mut names: Vec<&str> = options.peers.iter().map(|p| p.name.as_str()).chain([options.name.as_str()]).collect();
    names.sort_unstable();
    names.dedup();
    if options.expect > names.len() {
        return Err(StartError::Options(format!(
            "expect = {}, but only {} nodes are configured: {}",
            options.expect,
            names.len(),
            names.join(", ")
        )));
    }
    let mut addresses: Vec<&str> = options.peers.iter().map(|p| p.address.as_str()).collect();
    addresses.sort_unstable();
    if addresses.windows(2).any(|w| w[0] == w[1]) {
        return wrong("two peers have the same address");
    }
    if options.election_ms.0 <= options.heartbeat_ms || options.election_ms.1 <= options.election_ms.0 {
        return wrong("the election timeouts must be above the heartbeat interval, the second above the first");
    }
    Ok(())
}

/// openraft's configuration.
fn config(options: &Options) -> Result<Config, StartError> {
    Config {
        cluster_name: "bindery".into(),
        heartbeat_interval: options.heartbeat_ms,
        election_timeout_min: options.election_ms.0,
        election_timeout_max: options.election_ms.1,
        enable_pre_vote: Some(true),
        // A restarted leader would resume from a committed position that is stored lazily, and could answer
        // a read from before its last acknowledged write. An election costs less than that.
        enable_leader_restore: Some(false),
        // The machine makes checkpoints by itself, and purging follows them (see `checkpoint`).
        snapshot_policy: SnapshotPolicy::Never,
        max_in_snapshot_log_to_keep: u64::MAX,
        max_payload_entries: MAX_APPEND_ENTRIES,
        // Followers write while the leader syncs.
        broadcast_submitted_on_append: Some(true),
        ..Config::default()
    }
    .validate()
    .map_err(|e| StartError::Options(e.to_string()))
}

/// Opens the data directory and starts what can be started.
pub(super) async fn start(
    options: Options,
    machine: Arc<dyn Machine>,
    network: Arc<dyn Network>,
    clock: Arc<dyn Clock>,
    randomness: Arc<dyn Randomness>,
) -> Result<Arc<Inner>, StartError> {
    check(&options)?;
    let identity = IdentityStore::open(&options.data_dir, &options.name, &*randomness)?;
    let member = identity.get().member;
    let inner = Arc::new(Inner {
        channels: Channels::new(network),
        identity: Mutex::new(identity),
        phase: watch::Sender::new(Phase::Joining("starting".into())),
        proposals: Semaphore::new(options.max_pending_proposals),
        tasks: Mutex::default(),
        options,
        machine,
        clock,
        randomness,
    });
    match member {
        Some(member) => run(&inner, member).await?,
        None => {
            let forming = inner.clone();
            inner.spawn(async move { form::meet(&forming).await });
        }
    }
    Ok(inner)
}

fn log_path(options: &Options) -> PathBuf {
    options.data_dir.join("log")
}

fn open_log(inner: &Inner, member: Membership) -> Result<LogStore, StartError> {
    let options = &inner.options;
    let mut identity = inner.identity.lock();
    let store = StoreOptions {
        kind: options.log,
        inline: options.inline,
        files: options.files.clone(),
        sled_cache_bytes: options.sled_cache_bytes,
        segment_bytes: options.segment_bytes,
        tail_cache_bytes: options.tail_cache_bytes,
        fatal: options.fatal.clone(),
    };
    let log_identity = LogIdentity { cluster_id: member.cluster_id, node_id: member.node_id };
    let log =
        LogStore::open(&log_path(options), log_identity, identity.get().log_in_use, store).map_err(
            |error| match error {
                LogError::Damaged { path, why } => {
                    StartError::Damaged { dir: options.data_dir.clone(), why: format!("{}: {why}", path.display()) }
                }
                LogError::Io { path, source } => StartError::Io { path, source },
            },
        )?;
    // From here on this id may vote: without its log it must never start again.
    identity
        .update(|i| i.log_in_use = true)
        .map_err(|source| StartError::Io { path: options.data_dir.clone(), source })?;
    Ok(log)
}

fn seed(randomness: &dyn Randomness) -> u64 {
    let mut bytes = [0; 8];
    randomness.fill(&mut bytes);
    u64::from_le_bytes(bytes)
}

/// Starts consensus under a stored identity.
pub(crate) async fn run(inner: &Arc<Inner>, member: Membership) -> Result<(), StartError> {
    let inline = inner.options.inline;
    let log = {
        let inner = inner.clone();
        crate::core::block::block(inline, move || open_log(&inner, member)).await?
    };
    let apply = Arc::new(ApplyState::new(inner.machine.clone(), inline, log.watch_durable()));
    let dialer = Dialer { channels: inner.channels.clone(), cluster_id: member.cluster_id, me: member.node_id, inline };
    let config = Arc::new(config(&inner.options)?);
    let state_machine = StateMachine { state: apply.clone() };
    let core = |e: &dyn std::fmt::Display| StartError::Core(e.to_string());
    let raft: Raft =
        runtime::scope(seed(&*inner.randomness), Raft::new(member.node_id, config, dialer, log.clone(), state_machine))
            .await
            .map_err(|e| core(&e))?;
    apply.set_started();
    let plan = inner.identity.lock().get().plan.clone().filter(|p| p.cluster_id == member.cluster_id);
    if let Some(plan) = plan
        && !raft.is_initialized().await.map_err(|e| core(&e))?
        && inner.machine.applied().position.is_none()
    {
        // Every founder does this with the same members; a restart after it finds the log initialized.
        let members = plan.members();
        match raft.initialize(members).await {
            Ok(()) => {}
            // A leader among the other founders was faster.
            Err(openraft::errors::RaftError::APIError(_)) => {}
            Err(error) => return Err(core(&error)),
        }
    }
    let (barriers, waiting) = barrier::queue();
    let (proposer, proposals) = proposer::queue(inner.options.max_pending_proposals);
    let running = Arc::new(Running {
        id: member.node_id,
        cluster_id: member.cluster_id,
        raft,
        log,
        apply,
        inline,
        barriers,
        proposer,
        receiving: tokio::sync::Mutex::new(()),
        changes: tokio::sync::Mutex::new(()),
        last_stamp_us: AtomicU64::new(0),
    });
    barrier::spawn(inner, &running, waiting);
    proposer::spawn(inner, &running, proposals);
    checkpoint::spawn(inner, &running);
    upkeep::spawn(inner, &running);
    tracing::info!(name = inner.options.name, id = running.id, "member");
    inner.phase.send_replace(Phase::Running(running));
    Ok(())
}
