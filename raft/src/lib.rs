//! Consensus over opaque bytes: one replicated log, applied by a [`Machine`] on every node.
#![allow(dead_code)]

mod clock;
mod cluster;
mod error;
mod machine;
mod network;
mod options;
mod position;
mod status;

pub use clock::{Clock, Randomness, SystemClock, SystemRandomness};
pub use cluster::{Cluster, Proposed};
pub use error::{BarrierError, ChangeError, ProposeError, StartError};
pub use machine::{Applied, Body, Committed, Machine, MachineError, MembershipRecord, SnapshotSink, SnapshotSource};
pub use network::{ConnectError, Network, TcpNetwork, endpoint};
pub use options::{LogKind, Options, Peer};
pub use position::{LogPosition, Stamp};
pub use status::{ClusterStatus, MemberStatus, Role};
