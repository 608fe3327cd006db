//! Indexes: which keys an entry has, and which entries a key has.

mod definition;

pub use definition::{Index, Indexes};
