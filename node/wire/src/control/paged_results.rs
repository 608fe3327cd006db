//! Simple paged results (RFC 2696): one value for both directions.

use crate::ber::{SEQUENCE, read::whole, write};
use crate::error::DecodeError;

/// realSearchControlValue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PagedResults<'a> {
    /// In a request the page size, in a response the estimated total, 0 when unknown. Not negative.
    pub size: i32,
    /// Empty in the first request and in the last response.
    pub cookie: &'a [u8],
}

impl<'a> PagedResults<'a> {
    /// Decodes a control value.
    pub fn decode(value: &'a [u8]) -> Result<Self, DecodeError> {
        whole(value, "realSearchControlValue", |reader| {
            let mut reader = reader.sequence("realSearchControlValue")?;
            let size = reader.non_negative("size")?;
            let cookie = reader.octets("cookie")?;
            reader.skip_unknown("realSearchControlValue")?;
            Ok(PagedResults { size, cookie })
        })
    }

    /// Appends the control value.
    pub fn write(&self, out: &mut Vec<u8>) {
        write::put_constructed(out, SEQUENCE, |out| {
            write::put_integer(out, self.size.into());
            write::put_octets(out, self.cookie);
        });
    }
}
