//! Copy-on-write B+trees. One concern per file.

pub mod build;
pub mod cells;
pub mod cursor;
pub mod insert;
pub mod node;
pub mod pages;
pub mod remove;
pub mod search;
pub mod value;
pub mod verify;
