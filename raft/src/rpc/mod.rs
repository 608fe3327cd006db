//! openraft's messages over gRPC.

pub(crate) mod channels;
pub(crate) mod client;
pub(crate) mod envelope;
pub(crate) mod server;
mod snapshot_receive;
mod snapshot_send;
mod validate;
