//! What all connections of a node share.

use std::sync::Arc;

use bindery_model::password::Scheme;
use bindery_raft::Cluster;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::limits;
use crate::passwords::Passwords;
use crate::read::Reads;

/// The parts a front end is made of.
pub struct ServerParts {
    /// Views for reading.
    pub reads: Reads,
    /// The log, for writing.
    pub cluster: Cluster,
    /// Password work.
    pub passwords: Passwords,
}

/// The LDAP front end of one node.
pub struct Server {
    pub(super) reads: Reads,
    pub(super) cluster: Cluster,
    pub(super) passwords: Passwords,
    connections: Arc<Semaphore>,
}

/// The replicated setting that names the scheme of new password hashes.
const PASSWORD_SCHEME_SETTING: &str = "password.scheme";

impl Server {
    /// A front end over these parts.
    pub fn new(parts: ServerParts) -> Server {
        let ServerParts { reads, cluster, passwords } = parts;
        Server { reads, cluster, passwords, connections: Arc::new(Semaphore::new(limits::CONNECTIONS)) }
    }

    /// Waits until another connection may be served.
    pub(super) async fn connection_permit(&self) -> OwnedSemaphorePermit {
        self.connections.clone().acquire_owned().await.expect("the semaphore is never closed")
    }

    /// Connections at this moment.
    pub fn connection_count(&self) -> usize {
        limits::CONNECTIONS - self.connections.available_permits()
    }

    /// The scheme of new hashes.
    pub(super) fn password_scheme(&self) -> Scheme {
        let view = self.reads.latest();
        view.settings().value(PASSWORD_SCHEME_SETTING).and_then(|name| name.parse().ok()).unwrap_or_default()
    }
}
