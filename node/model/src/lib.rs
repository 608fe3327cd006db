//! Skeleton.

pub mod ldif;
