//! Filling in [`ClusterStatus`].

use openraft::ServerState;
use openraft::vote::RaftLeaderId;

use super::inner::{Inner, Phase};
use super::running::{Running, last_contact};
use crate::rpc::envelope::hex;
use crate::status::{ClusterStatus, MemberStatus, Role};

impl Inner {
    /// See [`crate::Cluster::status`].
    pub fn status(&self) -> ClusterStatus {
        let phase = self.phase.borrow().clone();
        let member = self.identity.lock().get().member;
        let mut status = ClusterStatus {
            cluster_id: member.map(|m| hex(&m.cluster_id)),
            name: self.options.name.clone(),
            node_id: member.map(|m| m.node_id),
            role: Role::Joining,
            term: 0,
            leader: None,
            leader_name: None,
            commit: None,
            applied: self.machine.applied().position,
            last_log: None,
            purged: None,
            durable: self.machine.durable().position.map(|p| p.index),
            members: Vec::new(),
            joint: false,
            trouble: None,
        };
        match phase {
            Phase::Joining(why) => status.trouble = Some(why),
            Phase::Failed(why) => {
                status.role = Role::Stopped;
                status.trouble = Some(why);
            }
            Phase::Stopped => status.role = Role::Stopped,
            Phase::Running(running) => running.fill(&mut status),
        }
        status
    }
}

impl Running {
    fn fill(&self, status: &mut ClusterStatus) {
        let metrics = self.metrics();
        let membership = metrics.membership_config.membership();
        let voters: Vec<u64> = membership.voter_ids().collect();
        status.role = match metrics.state {
            ServerState::Learner => Role::Learner,
            ServerState::Follower => Role::Follower,
            ServerState::Candidate => Role::Candidate,
            ServerState::Leader => Role::Leader,
            ServerState::Shutdown => Role::Stopped,
        };
        status.term = metrics.vote.leader_id.term();
        status.leader = metrics.current_leader;
        status.leader_name =
            metrics.current_leader.and_then(|id| membership.get_node(&id)).map(|member| member.name.clone());
        status.commit = metrics.local_committed.map(|id| id.index);
        status.last_log = metrics.last_log_index;
        status.purged = metrics.purged.map(|id| id.index);
        status.joint = membership.get_joint_config().len() > 1;
        status.members = membership
            .nodes()
            .map(|(id, member)| {
                let matched = metrics.replication.as_ref().and_then(|r| r.get(id).copied().flatten());
                let contact_ms = last_contact(&metrics, *id).map(|age| age.as_millis());
                MemberStatus {
                    id: *id,
                    name: member.name.clone(),
                    address: member.address.clone(),
                    voter: voters.contains(id),
                    replica: member.replica,
                    matched: matched.map(|id| id.index),
                    last_contact_ms: contact_ms.and_then(|ms| u64::try_from(ms).ok()),
                }
            })
            .collect();
        if !status.members.iter().any(|m| m.id == self.id) && !status.members.is_empty() {
            status.trouble = Some("this node is no longer a member".into());
        }
        if let Err(fatal) = &metrics.running_state {
            status.role = Role::Stopped;
            status.trouble = Some(fatal.to_string());
        }
    }
}
