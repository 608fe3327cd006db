//! Subentries (RFC 3672): the value is a bare BOOLEAN.

use crate::ber::{read::whole, write};
use crate::error::DecodeError;

/// Decodes the value: true when subentries, and only they, are wanted.
pub fn decode(value: &[u8]) -> Result<bool, DecodeError> {
    whole(value, "visibility", |reader| reader.boolean("visibility"))
}

/// Appends the value.
pub fn write(out: &mut Vec<u8>, visibility: bool) {
    write::put_boolean(out, visibility);
}
