//! Log ids, votes, members, memberships.

use std::collections::{BTreeMap, BTreeSet};

use bindery_proto::raft as wire;
use bytes::Bytes;

use super::{CodecError, need, sixteen};
use crate::core::types::{LeaderId, LogId, Member, Membership, StoredMembership, Vote, make_log_id};

/// Longest member name and address accepted, so that a membership entry stays small.
const MAX_NAME_BYTES: usize = 255;
/// Most members of one cluster: bounds a membership message.
const MAX_MEMBERS: usize = 256;

pub(crate) fn log_id_to_wire(id: &LogId) -> wire::LogId {
    wire::LogId { term: id.leader_id.term, leader: id.leader_id.node_id, index: id.index }
}

/// The last index is reserved: `index + 1` must not overflow anywhere.
pub(crate) fn log_id_from_wire(id: wire::LogId) -> Result<LogId, CodecError> {
    if id.index == u64::MAX {
        return Err(CodecError::Invalid("log index out of range".into()));
    }
    Ok(make_log_id(id.term, id.leader, id.index))
}

pub(crate) fn log_id_option(id: Option<wire::LogId>) -> Result<Option<LogId>, CodecError> {
    id.map(log_id_from_wire).transpose()
}

pub(crate) fn vote_to_wire(vote: &Vote) -> wire::Vote {
    wire::Vote { term: vote.leader_id.term, node: vote.leader_id.node_id, committed: vote.committed }
}

pub(crate) fn vote_from_wire(vote: wire::Vote) -> Vote {
    Vote { leader_id: LeaderId { term: vote.term, node_id: vote.node }, committed: vote.committed }
}

pub(crate) fn member_to_wire(member: &Member) -> wire::Member {
    wire::Member {
        name: member.name.clone(),
        address: member.address.clone(),
        incarnation: Bytes::copy_from_slice(&member.incarnation),
        replica: member.replica,
    }
}

pub(crate) fn member_from_wire(member: wire::Member) -> Result<Member, CodecError> {
    if member.name.len() > MAX_NAME_BYTES || member.address.len() > MAX_NAME_BYTES {
        return Err(CodecError::Invalid("member name or address is too long".into()));
    }
    Ok(Member {
        incarnation: sixteen(&member.incarnation, "incarnation")?,
        name: member.name,
        address: member.address,
        replica: member.replica,
    })
}

pub(crate) fn membership_to_wire(membership: &Membership) -> wire::Membership {
    wire::Membership {
        configs: membership
            .get_joint_config()
            .iter()
            .map(|set| wire::VoterSet { ids: set.iter().copied().collect() })
            .collect(),
        nodes: membership
            .nodes()
            .map(|(id, member)| wire::MemberWithId { id: *id, member: Some(member_to_wire(member)) })
            .collect(),
    }
}

/// A membership without any voter set is the one before the first; openraft's default.
pub(crate) fn membership_from_wire(membership: wire::Membership) -> Result<Membership, CodecError> {
    if membership.nodes.len() > MAX_MEMBERS || membership.configs.len() > 2 {
        return Err(CodecError::Invalid("membership too large".into()));
    }
    let mut nodes = BTreeMap::new();
    for node in membership.nodes {
        let member = member_from_wire(need(node.member, "member")?)?;
        if nodes.insert(node.id, member).is_some() {
            return Err(CodecError::Invalid("member id given twice".into()));
        }
    }
    let configs: Vec<BTreeSet<u64>> = membership.configs.into_iter().map(|set| set.ids.into_iter().collect()).collect();
    if configs.is_empty() && nodes.is_empty() {
        return Ok(Membership::default());
    }
    Membership::new(configs, nodes).map_err(|e| CodecError::Invalid(e.to_string()))
}

pub(crate) fn stored_membership_to_wire(membership: &StoredMembership) -> wire::StoredMembership {
    wire::StoredMembership {
        log_id: membership.log_id().as_ref().map(log_id_to_wire),
        membership: Some(membership_to_wire(membership.membership())),
    }
}

pub(crate) fn stored_membership_from_wire(membership: wire::StoredMembership) -> Result<StoredMembership, CodecError> {
    let log_id = log_id_option(membership.log_id)?;
    let membership = membership_from_wire(need(membership.membership, "membership")?)?;
    Ok(StoredMembership::new(log_id, membership))
}
