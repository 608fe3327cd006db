//! Passing a proposal on to the leader, one hop.

use bindery_proto::raft as wire;
use bytes::Bytes;
use tokio::time::Instant;
use wire::propose_reply::Outcome;

use super::handle::Proposed;
use super::inner::Inner;
use super::propose::Attempt;
use super::running::Running;
use crate::codec::{log_id_from_wire, need};
use crate::core::types::position;
use crate::rpc::envelope::certainly_unsent;

impl Inner {
    /// One attempt at the leader `id`.
    pub(super) async fn forward(
        &self,
        running: &Running,
        id: u64,
        address: &str,
        payload: Bytes,
        deadline: Instant,
    ) -> Attempt {
        let mut client = match self.peer(address) {
            Ok(client) => client,
            Err(why) => return Attempt::NotApplied(why),
        };
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout_ms = u64::try_from(left.as_millis()).unwrap_or(u64::MAX);
        let request = running.envelope(id).wrap(wire::ProposeRequest { payload, timeout_ms });
        let reply = match tokio::time::timeout_at(deadline, client.propose(request)).await {
            Ok(Ok(reply)) => reply.into_inner(),
            Ok(Err(status)) if certainly_unsent(&status) => {
                return Attempt::NotApplied(format!("the leader cannot be reached: {}", status.message()));
            }
            Ok(Err(status)) => return Attempt::Unknown(format!("the leader did not answer: {}", status.message())),
            Err(_) => return Attempt::Unknown("the deadline passed before the leader answered".into()),
        };
        match reply.outcome {
            Some(Outcome::Applied(applied)) => match need(applied.position, "position").and_then(log_id_from_wire) {
                Ok(id) => Attempt::Done(Proposed { position: position(&id), reply: applied.reply }),
                Err(error) => Attempt::Unknown(format!("the leader's answer is not valid: {error}")),
            },
            Some(Outcome::NotApplied(why)) => Attempt::NotApplied(why),
            Some(Outcome::Unknown(why)) => Attempt::Unknown(why),
            None => Attempt::Unknown("the leader's answer is empty".into()),
        }
    }
}
