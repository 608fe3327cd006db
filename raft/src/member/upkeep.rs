//! What a leader does unasked: finish a joint membership, promote learners; and what any node does: report
//! a changed address.

use std::collections::BTreeSet;
use std::sync::Arc;

use bindery_proto::raft as wire;
use openraft::ChangeMembers;
use tokio::time::{Duration, Instant};

use crate::cluster::inner::Inner;
use crate::cluster::leader::Leader;
use crate::cluster::running::Running;
use crate::codec::member_to_wire;
use crate::core::types::Member;

const TICK: Duration = Duration::from_millis(200);
/// A joint membership older than this is not under way but left over.
const JOINT_PATIENCE: Duration = Duration::from_secs(2);
/// A learner this close to the end of the log, twice in a row, has caught up.
const CAUGHT_UP_ENTRIES: u64 = 128;
/// Deadline of one change made here.
const CHANGE_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Default)]
struct Seen {
    joint_since: Option<Instant>,
    caught_up: BTreeSet<u64>,
}

pub(crate) fn spawn(inner: &Arc<Inner>, running: &Arc<Running>) {
    let (weak_inner, weak_running) = (Arc::downgrade(inner), Arc::downgrade(running));
    inner.spawn(async move {
        let mut seen = Seen::default();
        loop {
            tokio::time::sleep(TICK).await;
            let (Some(inner), Some(running)) = (weak_inner.upgrade(), weak_running.upgrade()) else { return };
            let result = match running.leader() {
                Leader::Me => tokio::time::timeout(CHANGE_TIMEOUT, inner.lead(&running, &mut seen)).await,
                Leader::Other { id, address } => {
                    seen = Seen::default();
                    tokio::time::timeout(CHANGE_TIMEOUT, inner.report_address(&running, id, &address)).await
                }
                Leader::Unknown => {
                    seen = Seen::default();
                    continue;
                }
            };
            if let Ok(Err(why)) = result {
                tracing::debug!(why, "membership upkeep");
            }
        }
    });
}

impl Inner {
    async fn lead(&self, running: &Running, seen: &mut Seen) -> Result<(), String> {
        let metrics = running.metrics();
        let membership = metrics.membership_config.membership();
        let configs = membership.get_joint_config();
        if let [_, goal] = configs.as_slice() {
            let since = *seen.joint_since.get_or_insert_with(Instant::now);
            if since.elapsed() >= JOINT_PATIENCE
                && let Ok(_one) = running.changes.try_lock()
            {
                tracing::info!("finishing a membership change that was interrupted");
                return self.change(running, ChangeMembers::ReplaceAllVoters(goal.clone())).await;
            }
            return Ok(());
        }
        seen.joint_since = None;
        let last = metrics.last_log_index.unwrap_or(0);
        let replication = metrics.replication.as_ref();
        let matched = |id: u64| replication.and_then(|r| r.get(&id).copied().flatten()).map(|l| l.index);
        let close: BTreeSet<u64> = membership
            .learner_ids()
            .filter(|id| membership.get_node(id).is_some_and(|m| !m.replica))
            .filter(|id| matched(*id).is_some_and(|index| index + CAUGHT_UP_ENTRIES >= last))
            .collect();
        let ready: BTreeSet<u64> = close.intersection(&seen.caught_up).copied().collect();
        seen.caught_up = close;
        if ready.is_empty() {
            return Ok(());
        }
        let Ok(_one) = running.changes.try_lock() else { return Ok(()) };
        tracing::info!(?ready, "promoting members that have caught up");
        self.change(running, ChangeMembers::AddVoterIds(ready)).await
    }

    /// The leader must know where this node is now.
    async fn report_address(&self, running: &Running, leader: u64, address: &str) -> Result<(), String> {
        let metrics = running.metrics();
        let Some(known) = metrics.membership_config.membership().get_node(&running.id).cloned() else { return Ok(()) };
        if known.address == self.options.advertise {
            return Ok(());
        }
        let member = Member { address: self.options.advertise.clone(), ..known };
        let request = wire::ChangeRequest {
            change: Some(wire::change_request::Change::Readdress(member_to_wire(&member))),
            timeout_ms: u64::try_from(CHANGE_TIMEOUT.as_millis()).unwrap_or(u64::MAX),
        };
        let mut client = self.peer(address)?;
        client.change(running.envelope(leader).wrap(request)).await.map(|_| ()).map_err(|s| s.message().to_owned())
    }
}
