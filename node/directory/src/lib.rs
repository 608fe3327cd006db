//! The directory.
pub mod index;
