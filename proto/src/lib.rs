//! Generated gRPC types and nothing else.

/// Consensus traffic between nodes.
pub mod raft {
    tonic::include_proto!("bindery.raft.v1");
}

/// Administration: what the command line asks of a node.
pub mod admin {
    tonic::include_proto!("bindery.admin.v1");
}
