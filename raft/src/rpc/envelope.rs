//! Who sends to whom, in the metadata of every request between members.

use tonic::metadata::MetadataMap;
use tonic::{Request, Status};

const CLUSTER: &str = "bindery-cluster";
const FROM: &str = "bindery-from";
const TO: &str = "bindery-to";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Envelope {
    pub cluster_id: [u8; 16],
    pub from: u64,
    pub to: u64,
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

impl Envelope {
    /// A request carrying this envelope.
    pub fn wrap<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        let metadata = request.metadata_mut();
        for (key, value) in [(CLUSTER, hex(&self.cluster_id)), (FROM, self.from.to_string()), (TO, self.to.to_string())]
        {
            metadata.insert(key, value.parse().expect("hex and decimal digits are valid metadata"));
        }
        request
    }

    /// Checks that a request is for node `to` of the cluster. Returns the sender.
    pub fn check(metadata: &MetadataMap, cluster_id: &[u8; 16], to: u64) -> Result<u64, Status> {
        let get = |key: &str| metadata.get(key).and_then(|v| v.to_str().ok()).unwrap_or_default();
        if get(CLUSTER) != hex(cluster_id) {
            return Err(refusal("this node belongs to another cluster"));
        }
        if get(TO).parse() != Ok(to) {
            return Err(refusal("this address belongs to another node now"));
        }
        get(FROM).parse().map_err(|_| refusal("the sender is not given"))
    }
}

/// A refusal before anything was done. No transport produces this code by itself.
pub(crate) fn refusal(why: &str) -> Status {
    Status::failed_precondition(why)
}

/// Whether the request was certainly not processed: refused as above, or the connection was never
/// established.
pub(crate) fn certainly_unsent(status: &Status) -> bool {
    if status.code() == tonic::Code::FailedPrecondition {
        return true;
    }
    let mut source = std::error::Error::source(status);
    while let Some(error) = source {
        if error.is::<tonic::ConnectError>() {
            return true;
        }
        source = error.source();
    }
    false
}
