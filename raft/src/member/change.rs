//! Changes an administrator asks for, on any node: done on the leader.

use std::collections::BTreeMap;

use bindery_proto::raft as wire;
use openraft::ChangeMembers;
use tokio::time::{Duration, Instant};
use wire::change_reply::Result as Outcome;
use wire::change_request::{Add, Change};

use crate::cluster::inner::Inner;
use crate::cluster::leader::Leader;
use crate::cluster::running::Running;
use crate::codec::{member_from_wire, sixteen};
use crate::core::types::Member;
use crate::error::ChangeError;
use crate::rpc::envelope::certainly_unsent;

/// Pause before looking for a leader, or at the effect of a transfer, again.
const PAUSE: Duration = Duration::from_millis(20);

impl Inner {
    pub async fn transfer_leader(&self, to: &str, deadline: Instant) -> Result<(), ChangeError> {
        self.ask_leader(Change::TransferTo(to.to_owned()), deadline).await.map(|_| ())
    }

    pub async fn add_member(
        &self,
        name: &str,
        address: &str,
        replica: bool,
        deadline: Instant,
    ) -> Result<u64, ChangeError> {
        let add = Add { name: name.to_owned(), address: address.to_owned(), replica };
        self.ask_leader(Change::Add(add), deadline).await
    }

    pub async fn remove_member(&self, name: &str, deadline: Instant) -> Result<(), ChangeError> {
        self.ask_leader(Change::Remove(name.to_owned()), deadline).await.map(|_| ())
    }

    async fn ask_leader(&self, change: Change, deadline: Instant) -> Result<u64, ChangeError> {
        loop {
            let running = self.wait_running(deadline).await.map_err(|why| ChangeError::NoLeader { why })?;
            let outcome = match running.leader() {
                Leader::Me => self.change_here(&running, Some(change.clone()), deadline).await,
                Leader::Other { id, address } => {
                    self.change_there(&running, id, &address, change.clone(), deadline).await
                }
                Leader::Unknown => Outcome::NoLeader("none is known".into()),
            };
            match outcome {
                Outcome::Done(id) => return Ok(id),
                Outcome::Refused(why) => return Err(ChangeError::Refused { why }),
                Outcome::Unknown(why) => return Err(ChangeError::Unknown { why }),
                Outcome::NoLeader(why) if Instant::now() + PAUSE >= deadline => {
                    return Err(ChangeError::NoLeader { why });
                }
                Outcome::NoLeader(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }

    async fn change_there(
        &self,
        running: &Running,
        id: u64,
        address: &str,
        change: Change,
        deadline: Instant,
    ) -> Outcome {
        let mut client = match self.peer(address) {
            Ok(client) => client,
            Err(why) => return Outcome::NoLeader(why),
        };
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout_ms = u64::try_from(left.as_millis()).unwrap_or(u64::MAX);
        let request = running.envelope(id).wrap(wire::ChangeRequest { change: Some(change), timeout_ms });
        match tokio::time::timeout_at(deadline, client.change(request)).await {
            Ok(Ok(reply)) => {
                reply.into_inner().result.unwrap_or_else(|| Outcome::Unknown("the leader's answer is empty".into()))
            }
            Ok(Err(status)) if certainly_unsent(&status) => Outcome::NoLeader(status.message().to_owned()),
            Ok(Err(status)) => Outcome::Unknown(status.message().to_owned()),
            Err(_) => Outcome::Unknown("the deadline passed".into()),
        }
    }

    /// Makes a change on this node, if it leads.
    pub(crate) async fn change_here(&self, running: &Running, change: Option<Change>, deadline: Instant) -> Outcome {
        if running.leader() != Leader::Me {
            return Outcome::NoLeader("this node does not lead".into());
        }
        let work = async {
            match change {
                None => Outcome::Refused("no change is given".into()),
                Some(Change::TransferTo(name)) => self.transfer_here(running, &name, deadline).await,
                Some(Change::Add(add)) => self.add_here(running, add).await,
                Some(Change::Remove(name)) => self.remove_here(running, &name).await,
                Some(Change::Readdress(member)) => match member_from_wire(member) {
                    Ok(member) => self.readdress_here(running, member).await,
                    Err(error) => Outcome::Refused(error.to_string()),
                },
            }
        };
        match tokio::time::timeout_at(deadline, work).await {
            Ok(outcome) => outcome,
            Err(_) => Outcome::Unknown("the deadline passed before the change was seen to be made".into()),
        }
    }

    /// openraft's transfer is best effort: watch and repeat.
    async fn transfer_here(&self, running: &Running, name: &str, deadline: Instant) -> Outcome {
        let metrics = running.metrics();
        let membership = metrics.membership_config.membership();
        let matched = |id: u64| metrics.replication.as_ref().and_then(|r| r.get(&id).copied().flatten());
        let target = if name.is_empty() {
            membership.voter_ids().filter(|id| *id != running.id).max_by_key(|id| matched(*id))
        } else {
            let voters: Vec<u64> = membership.voter_ids().collect();
            membership.nodes().find(|(id, m)| m.name == name && voters.contains(id)).map(|(id, _)| *id)
        };
        let Some(target) = target else {
            return Outcome::Refused(if name.is_empty() {
                "there is no other voter".into()
            } else {
                format!("{name:?} is not a voter")
            });
        };
        if target == running.id {
            return Outcome::Done(target);
        }
        let again = Duration::from_millis(self.options.election_ms.1);
        let mut last_try: Option<Instant> = None;
        while Instant::now() < deadline {
            match running.metrics().current_leader {
                Some(id) if id == target => return Outcome::Done(target),
                Some(id) if id != running.id && name.is_empty() => return Outcome::Done(id),
                Some(id) if id == running.id && last_try.is_none_or(|at| at.elapsed() >= again) => {
                    last_try = Some(Instant::now());
                    if running.raft.trigger().transfer_leader(target).await.is_err() {
                        return Outcome::Unknown("this node is stopping".into());
                    }
                }
                _ => {}
            }
            tokio::time::sleep(PAUSE).await;
        }
        Outcome::Unknown("leadership has not moved yet".into())
    }

    async fn add_here(&self, running: &Running, add: Add) -> Outcome {
        let hello = match self.ask(&add.address).await {
            Ok(hello) => hello,
            Err(why) => return Outcome::Refused(format!("no node answers at {}: {why}", add.address)),
        };
        if hello.name != add.name {
            return Outcome::Refused(format!("the node at {} is {:?}", add.address, hello.name));
        }
        if !hello.cluster_id.is_empty() && hello.cluster_id != running.cluster_id[..] {
            return Outcome::Refused(format!("{:?} is a member of another cluster", add.name));
        }
        let Ok(incarnation) = sixteen(&hello.incarnation, "incarnation") else {
            return Outcome::Refused("its answer is not valid".into());
        };
        let member = Member { name: add.name, address: add.address, incarnation, replica: add.replica };
        match self.admit_member(running, member, true).await {
            Ok(id) => Outcome::Done(id),
            Err(why) => Outcome::Refused(why),
        }
    }

    async fn remove_here(&self, running: &Running, name: &str) -> Outcome {
        let _one = running.changes.lock().await;
        let metrics = running.metrics();
        let membership = metrics.membership_config.membership();
        let Some(id) = membership.nodes().find(|(_, m)| m.name == name).map(|(id, _)| *id) else {
            return Outcome::Refused(format!("{name:?} is not a member"));
        };
        if membership.voter_ids().all(|voter| voter == id) {
            return Outcome::Refused("the last voter cannot be removed".into());
        }
        match self.remove_id(running, id).await {
            Ok(()) => Outcome::Done(id),
            Err(why) => Outcome::Unknown(why),
        }
    }

    /// Only the same directory may change its own address.
    async fn readdress_here(&self, running: &Running, member: Member) -> Outcome {
        let _one = running.changes.lock().await;
        let metrics = running.metrics();
        let membership = metrics.membership_config.membership();
        let known = membership.nodes().find(|(_, m)| m.name == member.name && m.incarnation == member.incarnation);
        let Some((&id, known)) = known else { return Outcome::Refused("unknown member".into()) };
        if known.address == member.address {
            return Outcome::Done(id);
        }
        if membership.nodes().any(|(other, m)| *other != id && m.address == member.address) {
            return Outcome::Refused("that address belongs to another member".into());
        }
        let nodes = BTreeMap::from([(id, Member { address: member.address, ..known.clone() })]);
        match self.change(running, ChangeMembers::SetNodes(nodes)).await {
            Ok(()) => Outcome::Done(id),
            Err(why) => Outcome::Unknown(why),
        }
    }
}
