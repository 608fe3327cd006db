//! What can go wrong in the store.

use std::io;

/// The one error type of this crate.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Reading or writing the file failed. The store is latched: every later call answers `Poisoned`.
    #[error("{what}: {source}")]
    Io {
        /// The operation that failed.
        what: &'static str,
        /// The error of the file layer.
        source: io::Error,
    },
    /// A page, bitmap or meta block is not what its reference says (torn, lost, stale, misdirected or rotten).
    #[error("corrupt block {block}: {what}")]
    Corrupt {
        /// First block of the damaged page.
        block: u64,
        /// Which check failed.
        what: &'static str,
    },
    /// The file is no store, or one of another format version.
    #[error("not a store of this format: {0}")]
    Format(&'static str),
    /// An earlier I/O error latched the store; what it says now could be untrue. Reopen it.
    #[error("the store is stopped after an I/O error")]
    Poisoned,
    /// The disk is full, or the file has reached the largest size this format can address. The transaction can only be
    /// dropped; the store works on.
    #[error("no space left for the store file")]
    Full,
    /// A key is empty or longer than 1,024 bytes.
    #[error("key of {0} bytes (allowed: 1 to 1024)")]
    KeySize(usize),
    /// A value is longer than 1 GiB.
    #[error("value of {0} bytes (allowed: up to 1 GiB)")]
    ValueSize(usize),
    /// A label is longer than 256 bytes.
    #[error("label of {0} bytes (allowed: up to 256)")]
    LabelSize(usize),
    /// More trees than one checkpoint can name.
    #[error("too many trees")]
    TooManyTrees,
    /// A tree is built from keys in ascending order, each once.
    #[error("a key that is not above the one before it")]
    KeyOrder,
    /// Only a tree without records can be built.
    #[error("tree {0} has records already")]
    TreeExists(u32),
    /// The options contradict each other or are below the minimum.
    #[error("options: {0}")]
    Options(&'static str),
    /// No frame could be had for the writer for several seconds: the arena is too small for what is going on.
    #[error("the arena is too small: no frame could be freed")]
    NoFrames,
    /// A read was made inside the closure of another read; the closure must only look at its bytes.
    #[error("a read inside the closure of another read")]
    Reentrant,
    /// An earlier call on this transaction failed half way; it can only be dropped.
    #[error("the transaction failed earlier and can only be dropped")]
    TxnFailed,
}
