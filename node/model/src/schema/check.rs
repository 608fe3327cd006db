//! Checking an entry against the schema (RFC 4512, 2.4 and 3.3).
#![allow(clippy::unimplemented)]

use super::{ObjectClassId, Schema};
use crate::entry::Entry;
use crate::error::SchemaViolation;

/// What checking an entry found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checked {
    /// The entry's structural object class: the most subordinate one.
    pub structural: ObjectClassId,
}

impl Schema {
    /// Checks classes, required and allowed attributes, single values, syntaxes and duplicate values.
    pub fn check_entry(&self, _entry: &Entry) -> Result<Checked, SchemaViolation> {
        unimplemented!()
    }
}
