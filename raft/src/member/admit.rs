//! The leader's side of joining.

use std::collections::{BTreeMap, BTreeSet};

use openraft::ChangeMembers;
use tokio::time::Duration;

use super::plan::MAX_FOUNDERS;
use crate::cluster::inner::Inner;
use crate::cluster::running::{Metrics, Running, last_contact};
use crate::core::types::Member;

/// Time for all entries that an admission writes.
const ADMIT_TIMEOUT: Duration = Duration::from_secs(10);

impl Inner {
    /// A member not heard of for this long counts as unreachable: twice the longest election.
    fn unreachable_after(&self) -> Duration {
        Duration::from_millis(self.options.election_ms.1 * 2)
    }

    fn reachable(&self, running: &Running, metrics: &Metrics, id: u64) -> bool {
        if id == running.id {
            return true;
        }
        last_contact(metrics, id).is_some_and(|age| age < self.unreachable_after())
    }

    /// Admits a blank directory as a learner and returns its id: the same for the same incarnation.
    /// `asked` = an administrator asked for it.
    pub(crate) async fn admit_member(&self, running: &Running, member: Member, asked: bool) -> Result<u64, String> {
        match tokio::time::timeout(ADMIT_TIMEOUT, self.admit_now(running, member, asked)).await {
            Ok(result) => result,
            Err(_) => Err("the cluster did not accept the change in time".into()),
        }
    }

    async fn admit_now(&self, running: &Running, member: Member, asked: bool) -> Result<u64, String> {
        let _one = running.changes.lock().await;
        let metrics = running.metrics();
        let membership = metrics.membership_config.membership();
        let same_name = membership.nodes().find(|(_, m)| m.name == member.name);
        if let Some((&id, known)) = same_name {
            if known.incarnation == member.incarnation {
                if known.address != member.address {
                    let nodes = BTreeMap::from([(id, Member { address: member.address, ..known.clone() })]);
                    self.change(running, ChangeMembers::SetNodes(nodes)).await?;
                }
                return Ok(id);
            }
            self.may_replace(running, &metrics, id)?;
        } else if !asked && !self.options.peers.iter().any(|p| p.name == member.name) {
            return Err(format!(
                "{:?} is not a member; admit it with: bindery member add {} {}",
                member.name, member.name, member.address
            ));
        }
        if let Some((id, other)) =
            membership.nodes().find(|(_, m)| m.address == member.address && m.name != member.name)
        {
            return Err(format!("the address {} belongs to member {:?} ({id})", member.address, other.name));
        }
        if let Some((&old, _)) = same_name {
            tracing::info!(name = member.name, old, "replacing a member whose directory is lost");
            self.remove_id(running, old).await?;
        }
        let blank = running.raft.write_blank().await.map_err(|e| e.to_string())?;
        // The index of an entry is given once; founders' ids lie below.
        let id = blank.log_id.index + MAX_FOUNDERS as u64;
        tracing::info!(name = member.name, id, "admitting a node");
        running.raft.add_learner(id, member, false).await.map_err(|e| e.to_string())?;
        Ok(id)
    }

    /// A member may be replaced only if it is gone and the rest can go on without it.
    fn may_replace(&self, running: &Running, metrics: &Metrics, old: u64) -> Result<(), String> {
        if self.reachable(running, metrics, old) {
            return Err("the member of this name can still be reached; it is not replaced".into());
        }
        for config in metrics.membership_config.membership().get_joint_config() {
            let alive = config.iter().filter(|id| **id != old && self.reachable(running, metrics, **id)).count();
            let rest = config.iter().filter(|id| **id != old).count();
            if alive < config.len() / 2 + 1 || alive < rest / 2 + 1 {
                return Err("too few members can be reached to replace the one of this name".into());
            }
        }
        Ok(())
    }

    /// One change of the membership.
    pub(super) async fn change(&self, running: &Running, change: ChangeMembers<u64, Member>) -> Result<(), String> {
        running.raft.change_membership(change, false).await.map(|_| ()).map_err(|e| e.to_string())
    }

    /// Takes a member out, voter or not.
    pub(super) async fn remove_id(&self, running: &Running, id: u64) -> Result<(), String> {
        let metrics = running.metrics();
        let voter = metrics.membership_config.membership().voter_ids().any(|v| v == id);
        let ids = BTreeSet::from([id]);
        if voter {
            self.change(running, ChangeMembers::RemoveVoters(ids)).await
        } else {
            self.change(running, ChangeMembers::RemoveNodes(ids)).await
        }
    }
}
