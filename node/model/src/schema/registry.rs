//! Adding definitions: resolving what they refer to, numbering them, refusing conflicts.
#![allow(clippy::unimplemented)]

use super::{Definition, Schema};
use crate::error::SchemaError;

/// What a text added.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Added {
    /// Names of the new attribute types.
    pub attribute_types: Vec<String>,
    /// Names of the new object classes.
    pub object_classes: Vec<String>,
    /// Definitions that were there already, with the same meaning.
    pub unchanged: usize,
}

impl Schema {
    /// Adds the definitions of an OpenLDAP `.schema` text, an `olcSchemaConfig` LDIF or a subschema LDIF. All or
    /// nothing: on an error the schema is as before.
    pub fn add_text(&mut self, _text: &str) -> Result<Added, SchemaError> {
        unimplemented!()
    }

    /// The schema of these definitions (see [`Schema::definitions`]), with the same numbers.
    pub fn rebuild<'a>(_definitions: impl IntoIterator<Item = Definition<'a>>) -> Result<Self, SchemaError> {
        unimplemented!()
    }
}
