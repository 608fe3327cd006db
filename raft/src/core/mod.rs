//! openraft's types, runtime and state machine.

pub(crate) mod apply;
pub(crate) mod block;
pub(crate) mod runtime;
pub(crate) mod snapshot;
pub(crate) mod types;
pub(crate) mod waiters;
