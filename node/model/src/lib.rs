//! The information model of RFC 4512: names, schema, syntaxes, matching rules and entries.
//!
//! Everything here is pure: no file, no socket, no clock, no randomness. Nothing can block.
//!
//! * [`dn`] reads, prints and normalises distinguished names (RFC 4514).
//! * [`schema`] holds attribute types and object classes, and checks entries against them.
//! * [`syntax`] says which values a syntax allows; [`matching`] turns values into comparable keys (RFC 4517).
//! * [`entry`] is an entry in memory, [`entry_codec`] its stored form, [`modify`] how it is changed.
//! * [`filter`] reads, prints, resolves and evaluates search filters.
//! * [`ldif`] reads and writes RFC 2849; [`password`] verifies and makes password values.

pub mod dn;
pub mod entry;
pub mod entry_codec;
mod error;
pub mod filter;
pub mod ldif;
pub mod matching;
pub mod modify;
pub mod password;
pub mod prep;
pub mod schema;
pub mod syntax;

pub use error::{DescriptionError, DnError, InvalidValue, SchemaError, SchemaViolation};
