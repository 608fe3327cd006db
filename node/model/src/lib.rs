//! Skeleton.

pub mod filter;
pub mod ldif;
pub mod password;
