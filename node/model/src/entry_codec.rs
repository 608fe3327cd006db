//! How an entry is stored: a table of its attributes before a body that is ready to send.
//!
//! ```text
//! offset  bytes  field (integers are little endian)
//!      0      1  version, 1
//!      1      3  zero
//!      4      8  id of the parent
//!     12      4  bytes of the RDN
//!     16      4  user attributes
//!     20      4  operational attributes
//!     24      4  bytes of the user attributes' body
//!     28      4  bytes of the operational attributes' body
//!     32         RDN, as given (UTF-8)
//!                table: for each attribute  id (4)  offset in the body (4)  length (4)
//!                body: for each attribute  PartialAttribute ::= 30 len { 04 type, 31 len { 04 value ... } }
//! ```
//!
//! The attributes stand objectClass first, then user attributes, then operational ones; so the answer to "all
//! user attributes" is one copy of [`StoredEntry::user_attributes_ber`]. The type is the preferred name with the
//! options. Lengths are definite and minimal, as RFC 4511 5.1 asks. The same entry gives the same bytes.

mod ber;
mod encode;
mod stored;

pub use encode::encode;
pub use stored::{StoredAttribute, StoredEntry, Values};

use crate::schema::AttrId;

/// The layout above.
const VERSION: u8 = 1;

const HEADER_BYTES: usize = 32;

const ROW_BYTES: usize = 12;

/// The largest encoded entry: what the store keeps as one value.
pub const MAX_ENTRY_BYTES: usize = 1 << 30;

/// The bytes are no entry, or the entry cannot become bytes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    #[error("the entry would take {bytes} bytes; the most is {MAX_ENTRY_BYTES}")]
    TooLarge { bytes: usize },
    #[error("the entry has an attribute whose number {} is not in the schema", .0.0)]
    UnknownAttribute(AttrId),
    #[error("stored entry: version {0} is unknown")]
    Version(u8),
    #[error("stored entry: {0}")]
    Malformed(&'static str),
}

#[cfg(test)]
mod tests;
