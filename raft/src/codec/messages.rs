//! Requests and responses of openraft.

use bindery_proto::raft as wire;
use openraft::raft::{
    AppendEntriesRequest, StreamAppendError, StreamAppendResult, TransferLeaderError, TransferLeaderRequest,
    TransferLeaderResponse, VoteRequest, VoteResponse,
};

use super::{
    CodecError, entry_from_wire, entry_to_wire, log_id_from_wire, log_id_option, log_id_to_wire, need,
    stored_membership_from_wire, stored_membership_to_wire, vote_from_wire, vote_to_wire,
};
use crate::core::types::{SnapshotMeta, TC, Vote};

pub(crate) fn append_to_wire(request: &AppendEntriesRequest<TC>) -> wire::AppendRequest {
    wire::AppendRequest {
        vote: Some(vote_to_wire(&request.vote)),
        prev: request.prev_log_id.as_ref().map(log_id_to_wire),
        entries: request.entries.iter().map(entry_to_wire).collect(),
        commit: request.leader_commit.as_ref().map(log_id_to_wire),
    }
}

pub(crate) fn append_from_wire(request: wire::AppendRequest) -> Result<AppendEntriesRequest<TC>, CodecError> {
    Ok(AppendEntriesRequest {
        vote: vote_from_wire(need(request.vote, "vote")?),
        prev_log_id: log_id_option(request.prev)?,
        entries: request.entries.into_iter().map(entry_from_wire).collect::<Result<_, _>>()?,
        leader_commit: log_id_option(request.commit)?,
    })
}

pub(crate) fn append_result_to_wire(result: &StreamAppendResult<TC>) -> wire::AppendResponse {
    use wire::append_response::{Matched, Result as R};
    let result = match result {
        Ok(id) => R::Matched(Matched { log_id: id.as_ref().map(log_id_to_wire) }),
        Err(StreamAppendError::Conflict(id)) => R::Conflict(log_id_to_wire(id)),
        Err(StreamAppendError::HigherVote(vote)) => R::HigherVote(vote_to_wire(vote)),
    };
    wire::AppendResponse { result: Some(result) }
}

pub(crate) fn append_result_from_wire(response: wire::AppendResponse) -> Result<StreamAppendResult<TC>, CodecError> {
    use wire::append_response::Result as R;
    Ok(match need(response.result, "result")? {
        R::Matched(matched) => Ok(log_id_option(matched.log_id)?),
        R::Conflict(id) => Err(StreamAppendError::Conflict(log_id_from_wire(id)?)),
        R::HigherVote(vote) => Err(StreamAppendError::HigherVote(vote_from_wire(vote))),
    })
}

pub(crate) fn vote_request_to_wire(request: &VoteRequest<TC>) -> wire::VoteRequest {
    wire::VoteRequest {
        vote: Some(vote_to_wire(&request.vote)),
        last_log: request.last_log_id.as_ref().map(log_id_to_wire),
        leadership_transfer: request.leadership_transfer,
    }
}

pub(crate) fn vote_request_from_wire(request: wire::VoteRequest) -> Result<VoteRequest<TC>, CodecError> {
    Ok(VoteRequest {
        vote: vote_from_wire(need(request.vote, "vote")?),
        last_log_id: log_id_option(request.last_log)?,
        leadership_transfer: request.leadership_transfer,
    })
}

pub(crate) fn vote_response_to_wire(response: &VoteResponse<TC>) -> wire::VoteResponse {
    wire::VoteResponse {
        vote: Some(vote_to_wire(&response.vote)),
        granted: response.vote_granted,
        last_log: response.last_log_id.as_ref().map(log_id_to_wire),
    }
}

pub(crate) fn vote_response_from_wire(response: wire::VoteResponse) -> Result<VoteResponse<TC>, CodecError> {
    Ok(VoteResponse {
        vote: vote_from_wire(need(response.vote, "vote")?),
        vote_granted: response.granted,
        last_log_id: log_id_option(response.last_log)?,
    })
}

pub(crate) fn transfer_to_wire(request: &TransferLeaderRequest<TC>) -> wire::TransferRequest {
    wire::TransferRequest {
        from_leader: Some(vote_to_wire(request.from_leader())),
        to: *request.to_node_id(),
        last_log: request.last_log_id().map(log_id_to_wire),
    }
}

pub(crate) fn transfer_from_wire(request: wire::TransferRequest) -> Result<TransferLeaderRequest<TC>, CodecError> {
    Ok(TransferLeaderRequest::new(
        vote_from_wire(need(request.from_leader, "from_leader")?),
        request.to,
        log_id_option(request.last_log)?,
    ))
}

pub(crate) fn transfer_result_to_wire(result: &TransferLeaderResponse<TC>) -> wire::TransferResponse {
    use wire::transfer_response::{LogNotFlushed, Result as R, VoteChanged};
    let result = match result {
        Ok(()) => R::Accepted(wire::Empty {}),
        Err(TransferLeaderError::VoteChanged { expected, actual }) => {
            R::VoteChanged(VoteChanged { expected: Some(vote_to_wire(expected)), actual: Some(vote_to_wire(actual)) })
        }
        Err(TransferLeaderError::LogNotFlushed { expected, actual }) => R::LogNotFlushed(LogNotFlushed {
            expected: expected.as_ref().map(log_id_to_wire),
            actual: actual.as_ref().map(log_id_to_wire),
        }),
    };
    wire::TransferResponse { result: Some(result) }
}

pub(crate) fn transfer_result_from_wire(
    response: wire::TransferResponse,
) -> Result<TransferLeaderResponse<TC>, CodecError> {
    use wire::transfer_response::Result as R;
    Ok(match need(response.result, "result")? {
        R::Accepted(_) => Ok(()),
        R::VoteChanged(changed) => Err(TransferLeaderError::VoteChanged {
            expected: vote_from_wire(need(changed.expected, "expected")?),
            actual: vote_from_wire(need(changed.actual, "actual")?),
        }),
        R::LogNotFlushed(log) => Err(TransferLeaderError::LogNotFlushed {
            expected: log_id_option(log.expected)?,
            actual: log_id_option(log.actual)?,
        }),
    })
}

pub(crate) fn snapshot_head_to_wire(vote: &Vote, meta: &SnapshotMeta) -> wire::snapshot_frame::Head {
    wire::snapshot_frame::Head {
        vote: Some(vote_to_wire(vote)),
        last_log: meta.last_log_id.as_ref().map(log_id_to_wire),
        membership: Some(stored_membership_to_wire(&meta.last_membership)),
    }
}

pub(crate) fn snapshot_head_from_wire(head: wire::snapshot_frame::Head) -> Result<(Vote, SnapshotMeta), CodecError> {
    let vote = vote_from_wire(need(head.vote, "vote")?);
    let last_log_id = Some(log_id_from_wire(need(head.last_log, "last_log")?)?);
    let last_membership = stored_membership_from_wire(need(head.membership, "membership")?)?;
    Ok((vote, SnapshotMeta { last_log_id, last_membership }))
}
