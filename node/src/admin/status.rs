//! The status: what this node knows, completed by what the others say of themselves.

use std::time::Duration;

use bindery_proto::admin::peer_client::PeerClient;
use bindery_proto::admin::{NodeStatus, ReportRequest, StatusReply};
use bindery_raft::{MemberStatus, Network, TcpNetwork};
use futures_util::future::join_all;

use super::{Shared, convert, process};

/// A node that does not answer within this is shown as unreachable.
const REPORT_TIMEOUT: Duration = Duration::from_secs(1);
/// What is said of a node that cannot confirm what it reads.
const NO_QUORUM: &str = "no quorum is reached: reads show the last applied state, writes wait";
/// What is said of a node whose directory has no naming context yet.
const NOT_FOUNDED: &str = "the directory is not founded yet";

/// What this node says of itself.
pub fn own(shared: &Shared) -> NodeStatus {
    let parts = &shared.parts;
    let mut status = convert::own(&parts.cluster.status());
    if status.address.is_empty() {
        status.address = parts.config.grpc.advertise.clone();
    }
    if status.trouble.is_empty() && parts.directory.view().settings().naming_contexts().is_empty() {
        status.trouble = NOT_FOUNDED.to_owned();
    }
    if status.trouble.is_empty() && parts.reads.cut_off() {
        status.trouble = NO_QUORUM.to_owned();
    }
    status.unconfirmed_reads = parts.reads.fallbacks();
    status.store_bytes = Some(parts.directory.store_stats().file_bytes);
    status.resident_bytes = process::resident_bytes();
    status.memory_bytes = Some(parts.config.memory_bytes);
    status.version = env!("CARGO_PKG_VERSION").to_owned();
    status.uptime_s = shared.started.elapsed().as_secs();
    status.ldap = parts.config.ldap_listen.iter().map(ToString::to_string).collect();
    status.pid = std::process::id();
    status
}

/// The whole cluster; without asking the others if `local`.
pub async fn cluster(shared: &Shared, local: bool) -> StatusReply {
    let status = shared.parts.cluster.status();
    let own = own(shared);
    let others: Vec<&MemberStatus> = status.members.iter().filter(|member| Some(member.id) != status.node_id).collect();
    let mut nodes = if local {
        others.iter().map(|member| convert::member(member)).collect()
    } else {
        join_all(others.iter().map(|member| report(member))).await
    };
    nodes.push(own);
    nodes.sort_by(|a, b| a.name.cmp(&b.name));
    StatusReply {
        cluster_id: status.cluster_id.unwrap_or_default(),
        answered_by: status.name,
        leader: status.leader_name.unwrap_or_default(),
        term: nodes.iter().map(|node| node.term).max().unwrap_or_default(),
        commit: nodes.iter().filter_map(|node| node.commit).max(),
        changing: status.joint,
        nodes,
    }
}

/// Asks one member about itself. Voting and progress are what this node knows, not what the member believes.
async fn report(member: &MemberStatus) -> NodeStatus {
    let known = convert::member(member);
    let asked = async {
        let channel = TcpNetwork.connect(&member.address).map_err(|error| error.to_string())?;
        let reply = PeerClient::new(channel).report(ReportRequest {}).await;
        reply.map(tonic::Response::into_inner).map_err(|status| status.message().to_owned())
    };
    let trouble = match tokio::time::timeout(REPORT_TIMEOUT, asked).await {
        Ok(Ok(report)) if report.name == member.name => {
            return NodeStatus { voter: known.voter, matched: known.matched, ..report };
        }
        Ok(Ok(report)) => format!("{} answers at {}", report.name, member.address),
        Ok(Err(why)) => format!("not reached at {}: {why}", member.address),
        Err(_) => format!("no answer from {} within {} s", member.address, REPORT_TIMEOUT.as_secs()),
    };
    NodeStatus { trouble, ..known }
}
