//! State shared by all clones of a [`crate::Cluster`].

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{Semaphore, watch};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::running::Running;
use crate::clock::{Clock, Randomness};
use crate::machine::Machine;
use crate::member::identity::IdentityStore;
use crate::options::{Options, Peer};
use crate::rpc::channels::Channels;

/// How far this node has come.
#[derive(Clone)]
pub(crate) enum Phase {
    /// Looking for the others; why it is not a member yet.
    Joining(String),
    Running(Arc<Running>),
    Failed(String),
    Stopped,
}

pub(crate) struct Inner {
    pub options: Options,
    pub machine: Arc<dyn Machine>,
    pub channels: Channels,
    pub clock: Arc<dyn Clock>,
    pub randomness: Arc<dyn Randomness>,
    pub identity: Mutex<IdentityStore>,
    pub phase: watch::Sender<Phase>,
    /// Bounds the proposals waiting on this node.
    pub proposals: Semaphore,
    pub tasks: Mutex<Vec<AbortHandle>>,
}

impl Inner {
    pub fn running(&self) -> Option<Arc<Running>> {
        match &*self.phase.borrow() {
            Phase::Running(running) => Some(running.clone()),
            _ => None,
        }
    }

    /// Waits until this node is a member. The error says why it is not.
    pub async fn wait_running(&self, until: Instant) -> Result<Arc<Running>, String> {
        let mut phases = self.phase.subscribe();
        let settled = phases.wait_for(|phase| !matches!(phase, Phase::Joining(_)));
        let phase = match tokio::time::timeout_at(until, settled).await {
            Ok(Ok(phase)) => phase.clone(),
            Ok(Err(_)) => Phase::Stopped,
            Err(_) => self.phase.borrow().clone(),
        };
        match phase {
            Phase::Running(running) => Ok(running),
            Phase::Joining(why) => Err(format!("this node is not yet part of a cluster: {why}")),
            Phase::Failed(why) => Err(format!("this node has failed: {why}")),
            Phase::Stopped => Err("this node is stopping".into()),
        }
    }

    /// The other configured nodes.
    pub fn others(&self) -> impl Iterator<Item = &Peer> {
        self.options.peers.iter().filter(|p| p.name != self.options.name)
    }

    /// All configured names in order, this node's too.
    pub fn configured_names(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.options.peers.iter().map(|p| p.name.clone()).chain([self.options.name.clone()]).collect();
        names.sort();
        names.dedup();
        names
    }

    /// The names that form the cluster.
    pub fn founder_names(&self) -> Vec<String> {
        let mut names = self.configured_names();
        names.truncate(self.options.expect);
        names
    }

    /// Starts a background task that ends with this node.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let handle = tokio::spawn(task);
        let mut tasks = self.tasks.lock();
        tasks.retain(|t| !t.is_finished());
        tasks.push(handle.abort_handle());
    }
}
