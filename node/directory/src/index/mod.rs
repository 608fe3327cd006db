//! Indexes: which keys an entry has, and which entries a key has.

pub mod config;
pub mod container;
mod definition;
pub(crate) mod grams;
pub mod idset;
pub mod keys;
pub(crate) mod maintain;
pub mod posting;

pub use definition::{Index, Indexes};
