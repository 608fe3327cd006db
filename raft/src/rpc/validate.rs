//! What openraft takes for granted in a request, checked before it sees one.

use openraft::raft::{AppendEntriesRequest, VoteRequest};

use crate::codec::CodecError;
use crate::core::types::{LogId, SnapshotMeta, TC, Vote};

fn invalid<T>(why: &str) -> Result<T, CodecError> {
    Err(CodecError::Invalid(why.into()))
}

/// A vote may only be sent by the node it names, which is not this one.
fn own_vote(vote: &Vote, from: u64, me: u64) -> Result<(), CodecError> {
    if vote.leader_id.node_id != from || from == me {
        return invalid("the vote is not the sender's own");
    }
    Ok(())
}

fn not_beyond(id: &LogId, vote: &Vote) -> Result<(), CodecError> {
    if id.leader_id > vote.leader_id {
        return invalid("a log id is beyond the leader's term");
    }
    Ok(())
}

pub(super) fn append(request: &AppendEntriesRequest<TC>, from: u64, me: u64) -> Result<(), CodecError> {
    own_vote(&request.vote, from, me)?;
    if !request.vote.committed {
        return invalid("entries from a node that does not lead");
    }
    let mut last = request.prev_log_id;
    for entry in &request.entries {
        let follows = match &last {
            None => entry.log_id.index == 0,
            Some(last) => last.index + 1 == entry.log_id.index && last.leader_id <= entry.log_id.leader_id,
        };
        if !follows {
            return invalid("entries are not in order");
        }
        last = Some(entry.log_id);
    }
    for id in last.iter().chain(&request.leader_commit) {
        not_beyond(id, &request.vote)?;
    }
    Ok(())
}

pub(super) fn vote(request: &VoteRequest<TC>, from: u64, me: u64) -> Result<(), CodecError> {
    own_vote(&request.vote, from, me)?;
    if request.vote.committed {
        return invalid("a candidate's vote cannot be committed");
    }
    match &request.last_log_id {
        Some(id) => not_beyond(id, &request.vote),
        None => Ok(()),
    }
}

/// `committed` is what this node has committed; a snapshot ahead of it must also have a greater index.
pub(super) fn snapshot(
    vote: &Vote,
    meta: &SnapshotMeta,
    committed: Option<LogId>,
    from: u64,
    me: u64,
) -> Result<(), CodecError> {
    own_vote(vote, from, me)?;
    let Some(last) = &meta.last_log_id else { return invalid("an empty snapshot") };
    if !vote.committed {
        return invalid("a snapshot from a node that does not lead");
    }
    not_beyond(last, vote)?;
    if meta.last_membership.log_id().is_some_and(|m| m.index > last.index) {
        return invalid("the membership is newer than the snapshot");
    }
    if let Some(committed) = committed
        && *last > committed
        && last.index <= committed.index
    {
        return invalid("the snapshot contradicts what is committed here");
    }
    Ok(())
}
