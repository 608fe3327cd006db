//! The directory: a tree of entries with its schema, indexes, settings and access rules, kept in one
//! store file and changed only by applying log entries in order.
//!
//! Synchronous. It knows no socket, no clock, no source of randomness and no Raft: what apply needs of
//! time and randomness travels in the log entry (see `DESIGN.md` beside this crate's manifest).

pub mod access;
mod apply;
mod candidate;
pub mod command;
mod digest;
mod directory;
mod dit;
mod emit;
mod error;
mod identity;
pub mod index;
mod lookup;
mod names;
pub mod op;
pub mod plan;
mod referral;
mod root_dse;
mod scope;
mod search;
mod selection;
mod settings;
mod snapshot;
mod stamp;
mod state;
mod tables;
mod view;
mod virtuals;
mod walk;

pub use digest::TreeDigest;
pub use directory::{Applied, Directory, DirectoryOptions};
pub use emit::{Attributes, SearchItem};
pub use error::{DirectoryError, OpError, OpErrorKind};
pub use identity::Identity;
pub use lookup::BindTarget;
pub use root_dse::ServerAttributes;
pub use scope::Scope;
pub use search::{Check, Flow, SearchOutcome, SearchRequest};
pub use selection::Selection;
pub use settings::{NamingContext, Settings};
pub use snapshot::{SnapshotReader, SnapshotWriter};
pub use view::ReadView;
pub use virtuals::SUBSCHEMA_DN;
pub use walk::Walk;

#[cfg(test)]
mod tests;
