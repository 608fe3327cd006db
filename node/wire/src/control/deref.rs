//! Dereference (draft-masarati-ldap-deref): attributes of the entries that DN values point to.

use crate::attribute::Attributes;
use crate::ber::{Reader, SEQUENCE, context_constructed, read::whole, write};
use crate::error::DecodeError;
use crate::limits::Limits;
use crate::list::{Element, List, OctetStrings};

const ATTRIBUTE_VALUES: u8 = context_constructed(0);

/// derefSpec: one DN-valued attribute and what is wanted of its targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DerefSpec<'a> {
    /// The DN-valued attribute.
    pub attribute: &'a [u8],
    /// Attributes wanted of each target.
    pub wanted: OctetStrings<'a>,
}

/// derefRes: one target and what was found there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DerefResult<'a> {
    /// The DN-valued attribute.
    pub attribute: &'a [u8],
    /// The target's DN.
    pub target_dn: &'a [u8],
    /// Attributes of the target; absent and empty are the same.
    pub attributes: Attributes<'a>,
}

impl<'a> Element<'a> for DerefSpec<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let mut spec = reader.sequence("derefSpec")?;
        let attribute = spec.octets("derefAttr")?;
        let wanted = List::decode(spec.sequence("attributes")?, Limits::DEFAULT.selectors, "attributes")?;
        spec.skip_unknown("derefSpec")?;
        Ok(DerefSpec { attribute, wanted })
    }

    fn write(&self, out: &mut Vec<u8>) {
        write::put_constructed(out, SEQUENCE, |out| {
            write::put_octets(out, self.attribute);
            self.wanted.write(out, SEQUENCE);
        });
    }
}

impl<'a> Element<'a> for DerefResult<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let mut result = reader.sequence("derefRes")?;
        let attribute = result.octets("derefAttr")?;
        let target_dn = result.octets("derefVal")?;
        let attributes = match result.optional(ATTRIBUTE_VALUES, "attrVals")? {
            Some(tlv) => List::decode(tlv.reader(), Limits::DEFAULT.attributes, "attrVals")?,
            None => List::EMPTY,
        };
        result.skip_unknown("derefRes")?;
        Ok(DerefResult { attribute, target_dn, attributes })
    }

    fn write(&self, out: &mut Vec<u8>) {
        write::put_constructed(out, SEQUENCE, |out| {
            write::put_octets(out, self.attribute);
            write::put_octets(out, self.target_dn);
            if !self.attributes.is_empty() {
                self.attributes.write(out, ATTRIBUTE_VALUES);
            }
        });
    }
}

/// Decodes the value of a request.
pub fn decode_request<'a>(value: &'a [u8], limits: &Limits) -> Result<List<'a, DerefSpec<'a>>, DecodeError> {
    whole(value, "derefControlValue", |reader| {
        List::decode(reader.sequence("derefControlValue")?, limits.control_elements, "derefControlValue")
    })
}

/// Appends the value of a request.
pub fn write_request(out: &mut Vec<u8>, specs: List<'_, DerefSpec<'_>>) {
    specs.write(out, SEQUENCE);
}

/// Decodes the value of a response, which has one element for each target.
pub fn decode_response(value: &[u8]) -> Result<List<'_, DerefResult<'_>>, DecodeError> {
    whole(value, "derefResponse", |reader| List::decode(reader.sequence("derefResponse")?, usize::MAX, "derefResponse"))
}

/// Appends the value of a response.
pub fn write_response(out: &mut Vec<u8>, results: List<'_, DerefResult<'_>>) {
    results.write(out, SEQUENCE);
}
