//! LDIF (RFC 2849): a streaming reader and a deterministic writer.
//!
//! Reading has two steps, so that a loader can spread the second over threads: [`Reader::read_raw`] cuts
//! the input into records (unfolding lines, dropping comments), and [`RawRecord::parse`] gives a record
//! that borrows from it. [`Reader::next_record`] does both.

mod error;
mod parse;
mod reader;
mod writer;

pub use error::{LdifError, LdifErrorKind};
pub use parse::{AttributeLine, Change, Content, Control, ModSpec, Record};
pub use reader::{DEFAULT_MAX_RECORD_BYTES, RawRecord, Reader};
pub use writer::Writer;

#[cfg(test)]
mod tests;
