//! What all connections of a node share.

use std::sync::Arc;

use bindery_directory::ServerAttributes;
use bindery_model::password::Scheme;
use bindery_raft::Cluster;
use bindery_wire::oid::feature;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::controls;
use super::op::extended;
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
    /// Connections at once.
    pub connections: usize,
}

/// Name and version of the server for the root DSE (RFC 3045).
const VENDOR: &str = "Bindery";

/// The LDAP front end of one node.
pub struct Server {
    pub(super) reads: Reads,
    pub(super) cluster: Cluster,
    pub(super) passwords: Passwords,
    connections: Arc<Semaphore>,
    root_dse: ServerAttributes,
}

/// The replicated setting that names the scheme of new password hashes.
const PASSWORD_SCHEME_SETTING: &str = "password.scheme";

impl Server {
    /// A front end over these parts.
    pub fn new(parts: ServerParts) -> Server {
        let ServerParts { reads, cluster, passwords, connections } = parts;
        Server {
            reads,
            cluster,
            passwords,
            connections: Arc::new(Semaphore::new(connections)),
            root_dse: server_attributes(),
        }
    }

    /// Waits until another connection may be served.
    pub(super) async fn connection_permit(&self) -> OwnedSemaphorePermit {
        self.connections.clone().acquire_owned().await.expect("the semaphore is never closed")
    }

    /// What this server can do, for the root DSE.
    pub(super) fn root_dse(&self) -> &ServerAttributes {
        &self.root_dse
    }

    /// The scheme of new hashes.
    pub(super) fn password_scheme(&self) -> Scheme {
        let view = self.reads.latest();
        view.settings().value(PASSWORD_SCHEME_SETTING).and_then(|name| name.parse().ok()).unwrap_or_default()
    }
}

/// RFC 4512 5.1: what is listed works.
fn server_attributes() -> ServerAttributes {
    let list = |values: &[&str]| values.iter().map(|value| value.as_bytes().to_vec()).collect();
    vec![
        ("supportedLDAPVersion".to_owned(), list(&["3"])),
        ("supportedControl".to_owned(), list(controls::SUPPORTED)),
        ("supportedExtension".to_owned(), list(extended::SUPPORTED)),
        (
            "supportedFeatures".to_owned(),
            list(&[
                feature::ALL_OPERATIONAL_ATTRIBUTES,
                feature::OBJECT_CLASS_ATTRIBUTES,
                feature::TRUE_FALSE_FILTERS,
                feature::MODIFY_INCREMENT,
            ]),
        ),
        ("vendorName".to_owned(), list(&[VENDOR])),
        ("vendorVersion".to_owned(), list(&[env!("CARGO_PKG_VERSION")])),
    ]
}
