//! Between the words of the protocol and those of the directory and the cluster. gRPC codes are chosen here only.

use bindery_directory::index::config::IndexTypes;
use bindery_directory::{OpError, OpErrorKind};
use bindery_proto::admin::{self as proto, IndexKind};
use bindery_raft::{ChangeError, ClusterStatus, MemberStatus, ProposeError, Role};
use tonic::{Code, Status};

use crate::write::WriteError;

/// A refusal of the directory.
pub fn of_refusal(error: &OpError) -> Status {
    use OpErrorKind as Kind;
    let code = match error.kind {
        Kind::NoSuchObject | Kind::NoSuchAttribute | Kind::NoGlobalSuperiorKnowledge => Code::NotFound,
        Kind::EntryAlreadyExists | Kind::AttributeOrValueExists => Code::AlreadyExists,
        Kind::InsufficientAccess => Code::PermissionDenied,
        Kind::AdminLimitExceeded | Kind::SizeLimitExceeded | Kind::TimeLimitExceeded => Code::ResourceExhausted,
        Kind::Busy | Kind::UnwillingToPerform | Kind::NotAllowedOnNonLeaf | Kind::AssertionFailed => {
            Code::FailedPrecondition
        }
        Kind::Internal => Code::Internal,
        Kind::ObjectClassViolation
        | Kind::UndefinedAttributeType
        | Kind::InvalidAttributeSyntax
        | Kind::ConstraintViolation
        | Kind::NamingViolation
        | Kind::NotAllowedOnRdn
        | Kind::ObjectClassModsProhibited
        | Kind::InappropriateMatching
        | Kind::InvalidDnSyntax
        | Kind::Protocol
        | Kind::AliasProblem => Code::InvalidArgument,
    };
    Status::new(code, refusal_text(error))
}

/// The sentence, with the nearest entry that exists.
pub fn refusal_text(error: &OpError) -> String {
    match &error.matched_dn {
        Some(matched) => format!("{} (the nearest entry that exists is {matched})", error.diagnostic),
        None => error.diagnostic.clone(),
    }
}

/// A proposal without a reply.
pub fn of_propose(error: &ProposeError) -> Status {
    match error {
        ProposeError::NotApplied { .. } => Status::unavailable(error.to_string()),
        ProposeError::Unknown { .. } => Status::unknown(error.to_string()),
    }
}

/// A write that was not done, or may not have been.
pub fn of_write(error: &WriteError) -> Status {
    match error {
        WriteError::Refused(error) => of_refusal(error),
        WriteError::Propose(error) => of_propose(error),
    }
}

/// A change of the cluster.
pub fn of_change(error: &ChangeError) -> Status {
    match error {
        ChangeError::NoLeader { .. } => Status::unavailable(error.to_string()),
        ChangeError::Refused { .. } => Status::failed_precondition(error.to_string()),
        ChangeError::Unknown { .. } => Status::unknown(error.to_string()),
    }
}

/// The word for a role.
pub fn role(role: Role) -> proto::Role {
    match role {
        Role::Joining => proto::Role::Joining,
        Role::Learner => proto::Role::Learner,
        Role::Follower => proto::Role::Follower,
        Role::Candidate => proto::Role::Candidate,
        Role::Leader => proto::Role::Leader,
        Role::Stopped => proto::Role::Stopped,
    }
}

/// What is known of a member that has not been asked.
pub fn member(member: &MemberStatus) -> proto::NodeStatus {
    proto::NodeStatus {
        name: member.name.clone(),
        id: Some(member.id),
        address: member.address.clone(),
        voter: member.voter,
        matched: member.matched,
        ..proto::NodeStatus::default()
    }
}

/// What consensus on this node knows of itself.
pub fn own(status: &ClusterStatus) -> proto::NodeStatus {
    let member = status.members.iter().find(|member| Some(member.id) == status.node_id);
    proto::NodeStatus {
        name: status.name.clone(),
        id: status.node_id,
        address: member.map(|member| member.address.clone()).unwrap_or_default(),
        reachable: true,
        trouble: status.trouble.clone().unwrap_or_default(),
        voter: member.is_some_and(|member| member.voter),
        role: role(status.role).into(),
        term: status.term,
        commit: status.commit,
        applied: status.applied.map(|position| position.index),
        last_log: status.last_log,
        purged: status.purged,
        checkpoint: status.durable,
        matched: member.and_then(|member| member.matched),
        ..proto::NodeStatus::default()
    }
}

const KINDS: [(IndexKind, IndexTypes); 5] = [
    (IndexKind::Presence, IndexTypes::PRESENCE),
    (IndexKind::Equality, IndexTypes::EQUALITY),
    (IndexKind::Substring, IndexTypes::SUBSTRING),
    (IndexKind::Approximate, IndexTypes::APPROX),
    (IndexKind::Ordering, IndexTypes::ORDERING),
];

/// The index types of a definition.
pub fn index_types(definition: &proto::IndexDefinition) -> Result<IndexTypes, Status> {
    let mut types = IndexTypes::default();
    for kind in definition.kinds() {
        let known = KINDS.iter().find(|(known, _)| *known == kind);
        let (_, one) = known.ok_or_else(|| {
            Status::invalid_argument(format!("{}: an index type that this node does not know", definition.attribute))
        })?;
        types = types.or(*one);
    }
    if types.is_empty() {
        return Err(Status::invalid_argument(format!("{}: no index type", definition.attribute)));
    }
    Ok(types)
}

/// The single types in a set, in the order of their bits.
pub fn index_kinds(types: IndexTypes) -> impl Iterator<Item = IndexKind> {
    KINDS.iter().filter(move |(_, one)| types.has(*one)).map(|(kind, _)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_means_exit_status_1() {
        for kind in OpErrorKind::ALL.into_iter().filter(|kind| *kind != OpErrorKind::Internal) {
            let status = of_refusal(&OpError::new(kind, "x"));
            assert_eq!(bindery_ctl::CtlError::of_change(&status).exit_status(), 1, "{kind:?}");
        }
    }

    #[test]
    fn an_unknown_outcome_means_exit_status_3() {
        for error in [ProposeError::NotApplied { why: "x".into() }, ProposeError::Unknown { why: "x".into() }] {
            let status = of_propose(&error);
            assert_eq!(bindery_ctl::CtlError::of_change(&status).exit_status(), 3, "{error}");
        }
    }

    #[test]
    fn index_types_both_ways() {
        let kinds = [IndexKind::Equality, IndexKind::Substring];
        let definition = proto::IndexDefinition {
            attribute: "cn".into(),
            kinds: kinds.iter().map(|kind| i32::from(*kind)).collect(),
        };
        let types = index_types(&definition).unwrap();
        assert_eq!(index_kinds(types).collect::<Vec<_>>(), kinds);
        let none = proto::IndexDefinition { attribute: "cn".into(), kinds: vec![] };
        assert!(index_types(&none).is_err());
        let unknown = proto::IndexDefinition { attribute: "cn".into(), kinds: vec![99] };
        assert!(index_types(&unknown).is_err());
    }
}
