//! The log: vote, entries, and what openraft wants remembered. See `raft/DESIGN.md`.

pub(crate) mod backend;
pub mod files;
#[cfg(test)]
mod log_test;
mod reader;
mod segmented;
mod sled;
mod storage;
mod store;
#[cfg(test)]
mod suite_test;
mod tail;
mod writer;

pub(crate) use backend::{LogError, LogIdentity, LogMeta, Record};
pub(crate) use store::{LogStore, StoreOptions};
