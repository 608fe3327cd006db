//! Long-lived channels, one for each address and purpose: a snapshot must never delay a heartbeat.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tonic::transport::Channel;

use crate::network::{ConnectError, Network};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Purpose {
    Heartbeat,
    Append,
    Snapshot,
    Control,
    Peer,
    Meeting,
}

/// Addresses remembered: members come and go slowly, so this is reached only by a long series of changes,
/// and then all are forgotten.
const MAX_CHANNELS: usize = 512;

#[derive(Clone)]
pub(crate) struct Channels {
    network: Arc<dyn Network>,
    open: Arc<Mutex<BTreeMap<(String, Purpose), Channel>>>,
}

impl Channels {
    pub fn new(network: Arc<dyn Network>) -> Self {
        Channels { network, open: Arc::default() }
    }

    pub fn get(&self, address: &str, purpose: Purpose) -> Result<Channel, ConnectError> {
        let mut open = self.open.lock();
        if let Some(channel) = open.get(&(address.to_owned(), purpose)) {
            return Ok(channel.clone());
        }
        if open.len() >= MAX_CHANNELS {
            open.clear();
        }
        let channel = self.network.connect(address)?;
        open.insert((address.to_owned(), purpose), channel.clone());
        Ok(channel)
    }
}
