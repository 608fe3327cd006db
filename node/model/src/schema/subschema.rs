//! The schema as the subschema subentry shows it (RFC 4512, 4.2).
#![allow(clippy::unimplemented)]

use super::Schema;

impl Schema {
    /// The attributes of the subschema subentry that describe the schema, with their values.
    pub fn subschema_attributes(&self) -> Vec<(&'static str, Vec<String>)> {
        unimplemented!()
    }
}
