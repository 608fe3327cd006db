//! The page store of Bindery: copy-on-write B+trees of byte keys and values in one file, with a bounded memory
//! arena, a buddy allocator and checkpoints. It knows bytes, not directories. `DESIGN.md` beside this crate says
//! how it works and which invariants it keeps.

mod alloc;
mod btree;
mod cache;
mod checkpoint;
mod error;
mod file;
mod layout;
mod meta;
mod open;
mod page;
mod sort;
mod space;
mod stats;
mod store;
mod store_file;
mod tree_builder;
mod txn;
mod version;

pub use alloc::{Allocator, AllocatorKind, AllocatorStats, Buddy, FirstFit};
pub use btree::cursor::Cursor;
pub use cache::CacheCounts;
pub use checkpoint::CheckpointInfo;
pub use error::StoreError;
pub use file::{File, FileSystem, OsFiles};
pub use layout::{BLOCK_BYTES, MAX_KEY_BYTES, MAX_LABEL_BYTES, MAX_VALUE_BYTES};
pub use sort::{Record, Sorted, Sorter};
pub use space::SpaceCounts;
pub use stats::StoreStats;
pub use store::{Store, StoreOptions, TreeId, TreeSize, VerifyReport, View};
pub use store_file::IoCounts;
pub use tree_builder::TreeBuilder;
pub use txn::WriteTxn;
