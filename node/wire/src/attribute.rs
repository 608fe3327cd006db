//! PartialAttribute (RFC 4511 section 4.1.7): a description with its values.

use std::fmt;

use crate::ber::{Reader, SEQUENCE, SET, write};
use crate::error::DecodeError;
use crate::list::{Element, List, OctetStrings};

/// An attribute description with values; the values may be empty except in an add.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Attribute<'a> {
    /// Attribute description as sent: type and options.
    pub description: &'a [u8],
    /// Values in the order sent.
    pub values: OctetStrings<'a>,
}

/// A list of attributes.
pub type Attributes<'a> = List<'a, Attribute<'a>>;

impl<'a> Element<'a> for Attribute<'a> {
    #[inline]
    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let mut attribute = reader.sequence("PartialAttribute")?;
        let description = attribute.octets("type")?;
        // The message's size is the bound on the number of values: they cost nothing until used.
        let values = List::decode(attribute.expect(SET, "vals")?.reader(), usize::MAX, "vals")?;
        attribute.skip_unknown("PartialAttribute")?;
        Ok(Attribute { description, values })
    }

    fn write(&self, out: &mut Vec<u8>) {
        write::put_constructed(out, SEQUENCE, |out| {
            write::put_octets(out, self.description);
            self.values.write(out, SET);
        });
    }
}

impl Attributes<'_> {
    /// Appends the encoded PartialAttributes without a header, as [`crate::entry::write_search_entry`]
    /// takes them.
    pub fn write_run(&self, out: &mut Vec<u8>) {
        self.write_elements(out);
    }
}

/// Values may be secrets, so that only their number is shown.
impl fmt::Debug for Attribute<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} values)", self.description.escape_ascii(), self.values.len())
    }
}
