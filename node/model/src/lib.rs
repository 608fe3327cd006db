//! Skeleton.

pub mod ldif;
pub mod password;
