//! What nodes ask of each other before they share a cluster.

use std::sync::Arc;

use bindery_proto::raft as wire;
use bindery_proto::raft::meeting_server::Meeting as MeetingService;
use bytes::Bytes;
use tonic::{Request, Response, Status};
use wire::join_reply::{Admitted, Result as Joined};

use super::plan::Plan;
use crate::cluster::inner::Inner;
use crate::cluster::leader::Leader;
use crate::codec::{member_from_wire, need};

#[derive(Clone)]
pub(crate) struct Meeting {
    pub inner: Arc<Inner>,
}

impl Inner {
    fn hello(&self) -> wire::HelloReply {
        let identity = self.identity.lock().get().clone();
        let plan = identity.plan.as_ref().map(Plan::to_wire);
        let mut reply = wire::HelloReply {
            incarnation: Bytes::copy_from_slice(&identity.incarnation),
            name: identity.name,
            founders: self.founder_names(),
            ..wire::HelloReply::default()
        };
        match identity.member {
            Some(member) => {
                reply.cluster_id = Bytes::copy_from_slice(&member.cluster_id);
                reply.node_id = member.node_id;
                reply.founding = plan.filter(|p| p.cluster_id == reply.cluster_id);
            }
            None => reply.prepared = plan,
        }
        if let Some(running) = self.running() {
            reply.leader_address = match running.leader() {
                Leader::Me => self.options.advertise.clone(),
                Leader::Other { address, .. } => address,
                Leader::Unknown => String::new(),
            };
        }
        reply
    }

    /// Takes a plan unless this node is a member. The error says why not.
    fn prepare(&self, plan: Plan) -> Result<(), String> {
        let mut identity = self.identity.lock();
        let own = identity.get();
        if own.member.is_some() {
            return Err("this node is a member already".into());
        }
        // The names must be this node's own idea of the founders: so two first founders, by two
        // configurations, can never both gather all they need.
        if plan.names() != self.founder_names() {
            return Err(format!("this node expects the founders {}", self.founder_names().join(", ")));
        }
        if plan.founder(&own.name, &own.incarnation).is_none() {
            return Err("the plan names another incarnation of this node".into());
        }
        identity.update(|i| i.plan = Some(plan)).map_err(|e| e.to_string())
    }
}

#[tonic::async_trait]
impl MeetingService for Meeting {
    async fn hello(&self, _request: Request<wire::HelloRequest>) -> Result<Response<wire::HelloReply>, Status> {
        Ok(Response::new(self.inner.hello()))
    }

    async fn prepare(&self, request: Request<wire::PrepareRequest>) -> Result<Response<wire::PrepareReply>, Status> {
        let plan = Plan::from_wire(need(request.into_inner().plan, "plan")?)?;
        let refused = self.inner.prepare(plan).err().unwrap_or_default();
        Ok(Response::new(wire::PrepareReply { refused }))
    }

    async fn join(&self, request: Request<wire::JoinRequest>) -> Result<Response<wire::JoinReply>, Status> {
        let member = member_from_wire(need(request.into_inner().member, "member")?)?;
        if member.name.is_empty() || member.address.is_empty() {
            return Err(Status::invalid_argument("a member needs a name and an address"));
        }
        let result = match self.inner.running() {
            None => Joined::Refused("this node is not a member itself".into()),
            Some(running) => match running.leader() {
                Leader::Unknown => Joined::Refused("no leader is known".into()),
                Leader::Other { address, .. } => Joined::LeaderAddress(address),
                Leader::Me => match self.inner.admit_member(&running, member, false).await {
                    Ok(node_id) => {
                        Joined::Admitted(Admitted { cluster_id: Bytes::copy_from_slice(&running.cluster_id), node_id })
                    }
                    Err(why) => Joined::Refused(why),
                },
            },
        };
        Ok(Response::new(wire::JoinReply { result: Some(result) }))
    }
}
