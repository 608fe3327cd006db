//! The directory: a tree of entries with its schema, indexes, settings and access rules, kept in one
//! store file and changed only by applying log entries in order.
//!
//! Synchronous. It knows no socket, no clock, no source of randomness and no Raft: what apply needs of
//! time and randomness travels in the log entry (see `DESIGN.md` beside this crate's manifest).

#![allow(dead_code)]

pub mod access;
mod apply;
pub mod command;
mod digest;
mod directory;
mod dit;
mod error;
mod identity;
pub mod index;
mod names;
pub mod op;
mod settings;
mod snapshot;
mod stamp;
mod state;
mod tables;
mod view;

pub use digest::TreeDigest;
pub use directory::{Applied, Directory, DirectoryOptions};
pub use error::{DirectoryError, OpError, OpErrorKind};
pub use identity::Identity;
pub use settings::{NamingContext, Settings};
pub use snapshot::{SnapshotReader, SnapshotWriter};
pub use view::ReadView;

#[cfg(test)]
mod tests;
