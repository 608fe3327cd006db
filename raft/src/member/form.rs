//! A blank node's way into a cluster: forming one, once, or joining the one there is.

use std::sync::Arc;

use bindery_proto::raft as wire;
use bindery_proto::raft::meeting_client::MeetingClient;
use bytes::Bytes;
use futures_util::future::join_all;
use tokio::time::Duration;
use tonic::transport::Channel;
use wire::join_reply::Result as Joined;

use super::identity::Membership;
use super::plan::{Founder, Plan};
use crate::clock::random_16;
use crate::cluster::inner::{Inner, Phase};
use crate::codec::{member_to_wire, need, sixteen};
use crate::core::types::Member;
use crate::error::StartError;
use crate::options::Peer;
use crate::rpc::channels::Purpose;

/// Pause between rounds of asking around.
const ROUND_PAUSE: Duration = Duration::from_millis(200);
/// Deadline of one question.
const ASK_TIMEOUT: Duration = Duration::from_secs(1);
/// Deadline of a request to join: the leader writes several entries for it.
const JOIN_TIMEOUT: Duration = Duration::from_secs(15);

/// A peer's answer.
struct Answer {
    peer: Peer,
    incarnation: [u8; 16],
    reply: wire::HelloReply,
}

/// What a round came to.
enum Step {
    Member(Membership, Option<Plan>),
    Wait(String),
}

impl Inner {
    fn meeting(&self, address: &str) -> Result<MeetingClient<Channel>, String> {
        let channel = self.channels.get(address, Purpose::Meeting).map_err(|e| e.to_string())?;
        Ok(MeetingClient::new(channel))
    }

    /// Asks the node at `address` who it is.
    pub(super) async fn ask(&self, address: &str) -> Result<wire::HelloReply, String> {
        let mut client = self.meeting(address)?;
        let incarnation = Bytes::copy_from_slice(&self.identity.lock().get().incarnation);
        let request = wire::HelloRequest { name: self.options.name.clone(), incarnation };
        match tokio::time::timeout(ASK_TIMEOUT, client.hello(request)).await {
            Ok(Ok(reply)) => Ok(reply.into_inner()),
            Ok(Err(status)) => Err(status.message().to_owned()),
            Err(_) => Err("no answer".into()),
        }
    }
}

/// Runs until this node is a member.
pub(crate) async fn meet(inner: &Arc<Inner>) {
    loop {
        let step = match round(inner).await {
            Ok(step) => step,
            Err(why) => Step::Wait(why),
        };
        match step {
            Step::Member(member, plan) => {
                let stored = inner.identity.lock().update(|i| {
                    i.member = Some(member);
                    i.plan = plan;
                });
                let result = match stored {
                    Ok(()) => crate::cluster::run(inner, member).await,
                    Err(source) => Err(StartError::Io { path: inner.options.data_dir.clone(), source }),
                };
                if let Err(error) = result {
                    tracing::error!(%error, "this node cannot become a member");
                    inner.phase.send_replace(Phase::Failed(error.to_string()));
                }
                return;
            }
            Step::Wait(why) => {
                inner.phase.send_if_modified(|phase| match phase {
                    Phase::Joining(old) if *old != why => {
                        tracing::info!(why, "waiting to become a member");
                        *phase = Phase::Joining(why);
                        true
                    }
                    _ => false,
                });
            }
        }
        tokio::time::sleep(ROUND_PAUSE).await;
    }
}

async fn round(inner: &Inner) -> Result<Step, String> {
    let identity = inner.identity.lock().get().clone();
    let asked = join_all(inner.others().map(|peer| async { (peer.clone(), inner.ask(&peer.address).await) })).await;
    let mut answers = Vec::new();
    let mut silent = Vec::new();
    for (peer, result) in asked {
        match result {
            Ok(reply) if reply.name == peer.name => {
                let incarnation = sixteen(&reply.incarnation, "incarnation").map_err(|e| e.to_string())?;
                answers.push(Answer { peer, incarnation, reply });
            }
            Ok(reply) => {
                return Err(format!("the node at {} is {:?}, not {:?}", peer.address, reply.name, peer.name));
            }
            Err(_) => silent.push(peer.name),
        }
    }
    // Someone knows that a plan with this directory in it was carried out.
    for answer in &answers {
        let Some(plan) = answer.reply.founding.clone() else { continue };
        let plan = Plan::from_wire(plan).map_err(|e| e.to_string())?;
        if let Some(founder) = plan.founder(&identity.name, &identity.incarnation) {
            let member = Membership { cluster_id: plan.cluster_id, node_id: founder.id };
            return Ok(Step::Member(member, Some(plan)));
        }
    }
    if let Some(member) = answers.iter().find(|a| !a.reply.cluster_id.is_empty()) {
        let leader = answers.iter().map(|a| &a.reply.leader_address).find(|address| !address.is_empty());
        return join(inner, leader.unwrap_or(&member.peer.address)).await;
    }
    let names = inner.founder_names();
    if names.first() != Some(&identity.name) {
        if silent.is_empty() {
            return Err(format!("waiting for {} to form the cluster", names.join(", ")));
        }
        return Err(format!("no cluster found; not reached: {}", silent.join(", ")));
    }
    // Whoever is silent may hold a cluster.
    if !silent.is_empty() {
        return Err(format!("waiting for {} to form the cluster", silent.join(", ")));
    }
    form(inner, &names, &answers).await
}

/// As the first founder: all configured nodes have answered, and none is a member.
async fn form(inner: &Inner, names: &[String], answers: &[Answer]) -> Result<Step, String> {
    if let Some(other) = answers.iter().find(|a| a.reply.founders != names) {
        return Err(format!(
            "{} expects the founders {}, this node {}",
            other.peer.name,
            other.reply.founders.join(", "),
            names.join(", ")
        ));
    }
    let identity = inner.identity.lock().get().clone();
    let mut founders = Vec::new();
    for (name, id) in names.iter().zip(1..) {
        let (address, incarnation) = if *name == identity.name {
            (inner.options.advertise.clone(), identity.incarnation)
        } else {
            let answer = answers.iter().find(|a| a.peer.name == *name).ok_or("a founder did not answer")?;
            (answer.peer.address.clone(), answer.incarnation)
        };
        founders.push(Founder { id, name: name.clone(), address, incarnation });
    }
    // An interrupted attempt goes on with its plan, unless someone's disk was wiped meanwhile. Nobody but
    // this node could have carried that plan out.
    let plan = match identity.plan {
        Some(plan) if plan.founders == founders => plan,
        _ => Plan { cluster_id: random_16(&*inner.randomness), founders },
    };
    inner.identity.lock().update(|i| i.plan = Some(plan.clone())).map_err(|e| e.to_string())?;
    let others: Vec<_> = plan.founders.iter().filter(|f| f.name != identity.name).collect();
    let prepared = join_all(others.iter().map(|founder| async {
        let mut client = inner.meeting(&founder.address)?;
        let request = wire::PrepareRequest { plan: Some(plan.to_wire()) };
        match tokio::time::timeout(ASK_TIMEOUT, client.prepare(request)).await {
            Ok(Ok(reply)) => match reply.into_inner().refused {
                refused if refused.is_empty() => Ok(()),
                refused => Err(format!("{} refused to form the cluster: {refused}", founder.name)),
            },
            Ok(Err(status)) => Err(status.message().to_owned()),
            Err(_) => Err(format!("{} does not answer", founder.name)),
        }
    }))
    .await;
    prepared.into_iter().collect::<Result<Vec<()>, String>>()?;
    // All have stored the plan: storing the membership now is the commit point.
    tracing::info!(founders = names.join(", "), "forming a new cluster");
    let own = plan.founder(&identity.name, &identity.incarnation).ok_or("this node is not in its own plan")?;
    let member = Membership { cluster_id: plan.cluster_id, node_id: own.id };
    Ok(Step::Member(member, Some(plan)))
}

/// Asks to be admitted, following one hint to the leader.
async fn join(inner: &Inner, address: &str) -> Result<Step, String> {
    let member = Member {
        name: inner.options.name.clone(),
        address: inner.options.advertise.clone(),
        incarnation: inner.identity.lock().get().incarnation,
        replica: inner.options.replica,
    };
    let mut address = address.to_owned();
    for _ in 0..2 {
        let mut client = inner.meeting(&address)?;
        let request = wire::JoinRequest { member: Some(member_to_wire(&member)) };
        let reply = match tokio::time::timeout(JOIN_TIMEOUT, client.join(request)).await {
            Ok(Ok(reply)) => reply.into_inner(),
            Ok(Err(status)) => return Err(status.message().to_owned()),
            Err(_) => return Err("the leader did not answer the request to join".into()),
        };
        match need(reply.result, "result").map_err(|e| e.to_string())? {
            Joined::LeaderAddress(leader) => address = leader,
            Joined::Refused(why) => return Err(why),
            Joined::Admitted(admitted) => {
                let cluster_id = sixteen(&admitted.cluster_id, "cluster_id").map_err(|e| e.to_string())?;
                return Ok(Step::Member(Membership { cluster_id, node_id: admitted.node_id }, None));
            }
        }
    }
    Err("the leader is changing".into())
}
