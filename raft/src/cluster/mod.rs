//! What callers hold: [`Cluster`].

mod barrier;
mod checkpoint;
mod forward;
mod handle;
pub(crate) mod inner;
pub(crate) mod leader;
mod peer_server;
mod propose;
mod proposer;
pub(crate) mod running;
mod start;
mod status;

pub use handle::{Cluster, Proposed};
pub(crate) use start::run;
