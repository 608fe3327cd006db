//! Start and stop of one node: the only place that wires the parts together.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bindery_directory::{Directory, DirectoryError, DirectoryOptions};
use bindery_raft::{Cluster, Options, StartError, SystemClock, SystemRandomness, TcpNetwork};
use bindery_store::{OsFiles, StoreOptions};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::admin::{self, AdminParts};
use crate::config::Config;
use crate::descriptors;
use crate::founding;
use crate::health;
use crate::index_task;
use crate::ldap::{self, Server, ServerParts};
use crate::limits;
use crate::lock::{self, LockError};
use crate::machine::DirectoryMachine;
use crate::passwords::Passwords;
use crate::read::Reads;

/// Why a node does not start, or ended.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The data directory is in use or cannot be used.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The directory cannot be opened.
    #[error("{folder}: {source}\nnothing was changed; if the disk is damaged, stop this node, empty its data directory and start it again: the cluster replaces it", folder = folder.display())]
    Directory {
        /// Where it lies.
        folder: PathBuf,
        /// What failed.
        #[source]
        source: DirectoryError,
    },
    /// Consensus cannot start.
    #[error(transparent)]
    Consensus(#[from] StartError),
    /// A listener cannot be opened.
    #[error(transparent)]
    Ldap(#[from] ldap::ListenError),
    /// The administration cannot be served.
    #[error(transparent)]
    Admin(#[from] admin::ListenError),
    /// Health checks cannot be served.
    #[error(transparent)]
    Health(#[from] health::ListenError),
    /// The bootstrap settings cannot be used.
    #[error(transparent)]
    Founding(#[from] founding::FoundingError),
    /// Consensus has ended by itself.
    #[error("consensus has ended: {0}")]
    Ended(String),
    /// Signals cannot be received.
    #[error("signals cannot be received: {0}")]
    Signals(#[source] std::io::Error),
}

/// Runs a node until SIGTERM or SIGINT.
pub async fn serve(config: Config) -> Result<(), RunError> {
    let mut terminate = signal(SignalKind::terminate()).map_err(RunError::Signals)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(RunError::Signals)?;
    let _lock = lock::data_directory(&config.data)?;
    let descriptors = descriptors::raise();
    let mut listeners = Vec::new();
    for listener in &config.ldap_listen {
        // Before anything is formed or founded, so that a port in use leaves nothing behind.
        listeners.push((listener, ldap::listen(listener.address).await?));
    }

    let folder = config.data.join("store");
    let options = directory_options(&config);
    let opened = Directory::open(Arc::new(OsFiles), &folder, options);
    let directory = opened.map_err(|source| RunError::Directory { folder: folder.clone(), source })?;
    let founding = founding::Plan::read(&config, directory.view().settings().is_founded())?;
    let machine = DirectoryMachine::new(directory.clone());
    let machine = machine.map_err(|source| RunError::Directory { folder, source })?;

    let randomness = Arc::new(SystemRandomness);
    let cluster = Cluster::start(
        raft_options(&config),
        Arc::new(machine),
        Arc::new(TcpNetwork),
        Arc::new(SystemClock::default()),
        randomness.clone(),
    )
    .await?;
    let passwords = Passwords::new(config.budget.password_hash_slots as usize, randomness);
    let reads = Reads::new(cluster.clone(), directory.clone());

    let (stop, stopped) = watch::channel(false);
    let mut tasks: Vec<JoinHandle<()>> = Vec::new();
    let parts = AdminParts {
        config: config.clone(),
        cluster: cluster.clone(),
        directory: directory.clone(),
        reads: reads.clone(),
        passwords: passwords.clone(),
    };
    tasks.extend(admin::serve(parts, cluster.routes(), stopped.clone()).await?);
    let server = Arc::new(Server::new(ServerParts {
        reads,
        cluster: cluster.clone(),
        passwords: passwords.clone(),
        connections: descriptors::connections(descriptors),
    }));
    if let Some(address) = config.http_listen {
        tasks.push(health::serve(address, cluster.clone(), directory.clone(), stopped.clone()).await?);
    }
    for (address, listener) in listeners {
        tasks.push(ldap::serve(server.clone(), listener, stopped.clone()));
        tracing::info!("LDAP at {address}");
    }
    tasks.push(tokio::spawn(founding::run(founding, cluster.clone(), directory.clone(), passwords, stopped.clone())));
    tasks.push(tokio::spawn(index_task::run(cluster.clone(), directory.clone(), stopped)));

    let failure = tokio::select! {
        _ = terminate.recv() => {
            tracing::info!("SIGTERM: stopping");
            None
        }
        _ = interrupt.recv() => {
            tracing::info!("SIGINT: stopping");
            None
        }
        why = cluster.failed() => Some(why),
    };
    // Leadership goes first, while this node still answers: writes under way find the next leader.
    cluster.shutdown().await;
    let _ = stop.send(true);
    for task in tasks {
        let _ = tokio::time::timeout(limits::STOP_PATIENCE, task).await;
    }
    match tokio::task::spawn_blocking(move || directory.checkpoint()).await {
        Ok(Ok(_)) => tracing::info!("stopped"),
        Ok(Err(error)) => tracing::error!(%error, "the last checkpoint failed; the log holds what it would have held"),
        Err(error) => tracing::error!(%error, "the last checkpoint failed; the log holds what it would have held"),
    }
    failure.map_or(Ok(()), |why| Err(RunError::Ended(why)))
}

fn directory_options(config: &Config) -> DirectoryOptions {
    DirectoryOptions {
        store: StoreOptions { arena_bytes: config.budget.arena_bytes as usize, allocator: config.allocator },
        install_arena_bytes: config.budget.install_arena_bytes() as usize,
        index_changes_bytes: config.budget.index_changes_bytes() as usize,
    }
}

fn raft_options(config: &Config) -> Options {
    let defaults = Options::default();
    Options {
        name: config.name.clone(),
        data_dir: config.data.join("raft"),
        advertise: config.grpc.advertise.clone(),
        peers: config.peers.clone(),
        expect: config.expect,
        heartbeat_ms: config.raft.heartbeat_ms,
        election_ms: config.raft.election_ms,
        log: config.raft.log,
        retain_log_bytes: config.raft.retain_log_bytes,
        // The log is deleted by whole stretches, so a stretch must not be longer than what is kept.
        segment_bytes: config.raft.retain_log_bytes.min(defaults.segment_bytes),
        checkpoint_interval: Duration::from_secs(config.raft.checkpoint_s),
        tail_cache_bytes: config.budget.log_tail_bytes() as usize,
        ..defaults
    }
}
