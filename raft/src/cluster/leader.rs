//! Who leads, and asking it.

use bindery_proto::raft::peer_client::PeerClient;
use openraft::async_runtime::WatchReceiver;
use tonic::transport::Channel;

use super::inner::Inner;
use super::running::Running;
use crate::codec::MAX_MESSAGE_BYTES;
use crate::rpc::channels::Purpose;
use crate::rpc::envelope::Envelope;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Leader {
    Me,
    Other { id: u64, address: String },
    Unknown,
}

impl Running {
    /// The leader as this node knows it.
    pub fn leader(&self) -> Leader {
        let metrics = self.raft.metrics();
        let metrics = metrics.borrow_watched();
        match metrics.current_leader {
            None => Leader::Unknown,
            Some(id) if id == self.id => Leader::Me,
            Some(id) => match metrics.membership_config.membership().get_node(&id) {
                Some(member) => Leader::Other { id, address: member.address.clone() },
                None => Leader::Unknown,
            },
        }
    }

    pub fn envelope(&self, to: u64) -> Envelope {
        Envelope { cluster_id: self.cluster_id, from: self.id, to }
    }
}

impl Inner {
    /// A client of another member's peer service, over its long-lived channel.
    pub fn peer(&self, address: &str) -> Result<PeerClient<Channel>, String> {
        let channel = self.channels.get(address, Purpose::Peer).map_err(|e| e.to_string())?;
        Ok(PeerClient::new(channel)
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES))
    }
}
