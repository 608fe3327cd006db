//! Consensus over opaque bytes: one replicated log, applied by a [`Machine`] on every node.

#[cfg(test)]
extern crate self as bindery_raft;

mod clock;
mod cluster;
mod codec;
mod core;
mod error;
mod log;
mod machine;
mod member;
mod network;
mod options;
mod position;
mod rpc;
mod status;

pub use clock::{Clock, Randomness, SystemClock, SystemRandomness};
pub use cluster::{Cluster, Proposed};
pub use error::{BarrierError, ChangeError, ProposeError, StartError};
pub use log::files::{LogFile, LogFiles, OsFiles};
pub use machine::{Applied, Body, Committed, Machine, MachineError, MembershipRecord, SnapshotSink, SnapshotSource};
pub use network::{ConnectError, Network, TcpNetwork, endpoint, server};
pub use options::{FatalHandler, LogKind, Options, Peer};
pub use position::{LogPosition, Stamp};
pub use status::{ClusterStatus, MemberStatus, Role};

#[cfg(test)]
#[allow(dead_code)] // shared with the integration tests, which use all of it
#[path = "../tests/support/machine.rs"]
mod test_machine;

#[cfg(test)]
#[path = "../tests/support/faulty_files.rs"]
mod test_files;
