//! Indexes: which keys an entry has, and which entries a key has.

pub mod config;
pub mod container;
pub mod idset;
pub mod posting;
