//! From an entry to its stored bytes.

use super::ber::{self, OCTET_STRING, SEQUENCE, SET};
use super::{CodecError, HEADER_BYTES, MAX_ENTRY_BYTES, ROW_BYTES, VERSION};
use crate::entry::{Attribute, Entry};
use crate::schema::{AttributeType, Schema};

/// One attribute to write, with the lengths that its headers need.
struct Row<'a> {
    attribute: &'a Attribute,
    name: &'a str,
    type_bytes: usize,
    set_bytes: usize,
    sequence_bytes: usize,
}

impl<'a> Row<'a> {
    fn new(attribute: &'a Attribute, attribute_type: &'a AttributeType) -> Self {
        let name = attribute_type.name();
        let options = attribute.description.options.iter().map(|option| 1 + option.len()).sum::<usize>();
        let type_bytes = name.len() + options;
        let set_bytes = attribute.values.iter().map(|value| ber::element_bytes(value.len())).sum();
        let sequence_bytes = ber::element_bytes(type_bytes) + ber::element_bytes(set_bytes);
        Self { attribute, name, type_bytes, set_bytes, sequence_bytes }
    }

    fn bytes(&self) -> usize {
        ber::element_bytes(self.sequence_bytes)
    }

    fn put(&self, out: &mut Vec<u8>) {
        ber::put_header(out, SEQUENCE, self.sequence_bytes);
        ber::put_header(out, OCTET_STRING, self.type_bytes);
        out.extend_from_slice(self.name.as_bytes());
        for option in &self.attribute.description.options {
            out.push(b';');
            out.extend_from_slice(option.as_bytes());
        }
        ber::put_header(out, SET, self.set_bytes);
        for value in &self.attribute.values {
            ber::put_header(out, OCTET_STRING, value.len());
            out.extend_from_slice(value);
        }
    }
}

/// Encodes an entry under `parent` with the RDN `rdn`. Attributes without values are left out.
///
/// # Errors
/// `TooLarge`, `UnknownAttribute`.
pub fn encode(parent: u64, rdn: &str, entry: &Entry, schema: &Schema) -> Result<Vec<u8>, CodecError> {
    let object_class = schema.object_class_attribute();
    let mut user = Vec::with_capacity(entry.attributes.len());
    let mut operational = Vec::new();
    let mut object_classes = 0;
    for attribute in entry.attributes.iter().filter(|attribute| !attribute.values.is_empty()) {
        let id = attribute.description.id;
        let attribute_type = schema.attribute_by_id(id).ok_or(CodecError::UnknownAttribute(id))?;
        let row = Row::new(attribute, attribute_type);
        if Some(id) == object_class {
            user.insert(object_classes, row);
            object_classes += 1;
        } else if attribute_type.is_operational() {
            operational.push(row);
        } else {
            user.push(row);
        }
    }
    let body_of = |rows: &[Row<'_>]| rows.iter().map(Row::bytes).sum::<usize>();
    let (user_bytes, operational_bytes) = (body_of(&user), body_of(&operational));
    let table_bytes = (user.len() + operational.len()) * ROW_BYTES;
    let bytes = HEADER_BYTES + rdn.len() + table_bytes + user_bytes + operational_bytes;
    if bytes > MAX_ENTRY_BYTES {
        return Err(CodecError::TooLarge { bytes });
    }

    let mut out = Vec::with_capacity(bytes);
    put_head(&mut out, parent, rdn, [user.len(), operational.len(), user_bytes, operational_bytes]);
    let mut offset = 0;
    for row in user.iter().chain(&operational) {
        put_u32(&mut out, row.attribute.description.id.0 as usize);
        put_u32(&mut out, offset);
        put_u32(&mut out, row.bytes());
        offset += row.bytes();
    }
    for row in user.iter().chain(&operational) {
        row.put(&mut out);
    }
    assert_eq!(out.len(), bytes, "the lengths computed are those written");
    Ok(out)
}

/// The header and the RDN. `counts` are the last four fields of the header.
pub(super) fn put_head(out: &mut Vec<u8>, parent: u64, rdn: &str, counts: [usize; 4]) {
    out.extend_from_slice(&[VERSION, 0, 0, 0]);
    out.extend_from_slice(&parent.to_le_bytes());
    put_u32(out, rdn.len());
    for count in counts {
        put_u32(out, count);
    }
    out.extend_from_slice(rdn.as_bytes());
}

fn put_u32(out: &mut Vec<u8>, value: usize) {
    let value = u32::try_from(value).expect("every length is below MAX_ENTRY_BYTES");
    out.extend_from_slice(&value.to_le_bytes());
}
