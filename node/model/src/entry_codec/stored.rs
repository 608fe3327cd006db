//! A stored entry, read in place.

use super::ber::{self, OCTET_STRING, SEQUENCE, SET};
use super::encode::put_head;
use super::{CodecError, HEADER_BYTES, MAX_ENTRY_BYTES, ROW_BYTES, VERSION};
use crate::entry::{Attribute, AttributeDescription, Entry};
use crate::schema::AttrId;

/// A view of a stored entry. Its table is known to fit its body; the values are read, with bounds checked,
/// as they are asked for.
#[derive(Debug, Clone, Copy)]
pub struct StoredEntry<'a> {
    parent: u64,
    rdn: &'a str,
    table: &'a [u8],
    user_rows: usize,
    body: &'a [u8],
    user_bytes: usize,
}

/// One attribute of a stored entry.
#[derive(Debug, Clone, Copy)]
pub struct StoredAttribute<'a> {
    id: AttrId,
    tlv: &'a [u8],
    description: &'a [u8],
    values: &'a [u8],
}

/// The values of one attribute, in stored order.
#[derive(Debug, Clone)]
pub struct Values<'a> {
    rest: &'a [u8],
}

impl<'a> StoredEntry<'a> {
    /// Checks header and table; any bytes are safe to give.
    ///
    /// # Errors
    /// `Version`, `Malformed`.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, CodecError> {
        let malformed = CodecError::Malformed;
        let (header, rest) = bytes.split_first_chunk::<HEADER_BYTES>().ok_or(malformed("shorter than its header"))?;
        if header[0] != VERSION {
            return Err(CodecError::Version(header[0]));
        }
        if header[1..4] != [0; 3] {
            return Err(malformed("reserved bytes are not zero"));
        }
        let parent = u64::from_le_bytes(header[4..12].try_into().map_err(|_| malformed("parent"))?);
        let field = |at: usize| u32_at(header, at).ok_or(malformed("header"));
        let (rdn_bytes, user_rows, operational_rows) = (field(12)?, field(16)?, field(20)?);
        let (user_bytes, operational_bytes) = (field(24)?, field(28)?);
        // Lengths are 32 bits, so that these sums cannot overflow 64.
        let table_bytes = (user_rows as u64 + operational_rows as u64) * ROW_BYTES as u64;
        let (rdn, rest) = rest.split_at_checked(rdn_bytes).ok_or(malformed("RDN beyond the end"))?;
        let rdn = std::str::from_utf8(rdn).map_err(|_| malformed("RDN is not UTF-8"))?;
        let table_bytes = usize::try_from(table_bytes).map_err(|_| malformed("table beyond the end"))?;
        let (table, body) = rest.split_at_checked(table_bytes).ok_or(malformed("table beyond the end"))?;
        if body.len() as u64 != user_bytes as u64 + operational_bytes as u64 {
            return Err(malformed("body of another length than the header says"));
        }
        let entry = Self { parent, rdn, table, user_rows, body, user_bytes };
        entry.check_table()?;
        Ok(entry)
    }

    /// Rows follow one another without gap, and user and operational ones meet where the header says.
    fn check_table(&self) -> Result<(), CodecError> {
        let mut end = 0u64;
        for (index, (_, offset, length)) in self.rows().enumerate() {
            if index == self.user_rows && end != self.user_bytes as u64 {
                return Err(CodecError::Malformed("user attributes do not fill their part of the body"));
            }
            if offset as u64 != end {
                return Err(CodecError::Malformed("attributes are not contiguous"));
            }
            end += length as u64;
        }
        let user_fills = self.table.len() / ROW_BYTES > self.user_rows || self.user_bytes as u64 == end;
        if end != self.body.len() as u64 || !user_fills {
            return Err(CodecError::Malformed("attributes do not fill the body"));
        }
        Ok(())
    }

    /// Id of the parent.
    pub fn parent(&self) -> u64 {
        self.parent
    }

    /// The RDN as given.
    pub fn rdn(&self) -> &'a str {
        self.rdn
    }

    /// The user attributes as PartialAttribute elements, one after another, ready to send.
    pub fn user_attributes_ber(&self) -> &'a [u8] {
        &self.body[..self.user_bytes]
    }

    /// The operational attributes, likewise.
    pub fn operational_attributes_ber(&self) -> &'a [u8] {
        &self.body[self.user_bytes..]
    }

    /// All attributes: objectClass, user attributes, operational attributes.
    pub fn attributes(&self) -> impl Iterator<Item = StoredAttribute<'a>> {
        self.attributes_from(0, usize::MAX)
    }

    /// objectClass and the other user attributes.
    pub fn user_attributes(&self) -> impl Iterator<Item = StoredAttribute<'a>> {
        self.attributes_from(0, self.user_rows)
    }

    /// The operational attributes.
    pub fn operational_attributes(&self) -> impl Iterator<Item = StoredAttribute<'a>> {
        self.attributes_from(self.user_rows, usize::MAX)
    }

    /// The attributes of exactly this type, one for each set of options.
    pub fn attribute(&self, id: AttrId) -> impl Iterator<Item = StoredAttribute<'a>> {
        let entry = *self;
        self.rows()
            .filter(move |row| row.0 == id)
            .filter_map(move |(id, offset, length)| StoredAttribute::new(id, &entry.body[offset..offset + length]))
    }

    /// The values of exactly this type, whatever their options.
    pub fn values_of(&self, id: AttrId) -> impl Iterator<Item = &'a [u8]> {
        self.attribute(id).flat_map(|attribute| attribute.values())
    }

    /// Whether `visit` returns true for some attribute whose type `wanted` picks; attributes are taken apart only
    /// when they are picked.
    pub fn any_attribute(
        &self,
        wanted: impl Fn(AttrId) -> bool,
        mut visit: impl FnMut(StoredAttribute<'a>) -> bool,
    ) -> bool {
        self.rows().filter(|row| wanted(row.0)).any(|(id, offset, length)| {
            StoredAttribute::new(id, &self.body[offset..offset + length]).is_some_and(&mut visit)
        })
    }

    /// Whether there is an attribute of exactly this type.
    pub fn has(&self, id: AttrId) -> bool {
        self.rows().any(|row| row.0 == id)
    }

    /// The entry in memory.
    pub fn to_entry(&self) -> Entry {
        let attributes = self
            .attributes()
            .map(|attribute| {
                let options = attribute.options().map(str::to_owned).collect();
                let description = AttributeDescription { id: attribute.id, options };
                Attribute::new(description, attribute.values().map(<[u8]>::to_vec).collect())
            })
            .collect();
        Entry { attributes }
    }

    /// The same entry under another parent or another RDN: attributes are copied as they are.
    ///
    /// # Errors
    /// `TooLarge`.
    pub fn renamed(&self, parent: u64, rdn: &str) -> Result<Vec<u8>, CodecError> {
        let bytes = HEADER_BYTES + rdn.len() + self.table.len() + self.body.len();
        if bytes > MAX_ENTRY_BYTES {
            return Err(CodecError::TooLarge { bytes });
        }
        let rows = self.table.len() / ROW_BYTES;
        let counts = [self.user_rows, rows - self.user_rows, self.user_bytes, self.body.len() - self.user_bytes];
        let mut out = Vec::with_capacity(bytes);
        put_head(&mut out, parent, rdn, counts);
        out.extend_from_slice(self.table);
        out.extend_from_slice(self.body);
        Ok(out)
    }

    /// Reads everything, for structural checks: [`StoredEntry::parse`] looks at the table only.
    ///
    /// # Errors
    /// `Malformed`.
    pub fn check(&self) -> Result<(), CodecError> {
        for (id, offset, length) in self.rows() {
            let attribute = StoredAttribute::new(id, &self.body[offset..offset + length])
                .ok_or(CodecError::Malformed("an attribute is not a PartialAttribute"))?;
            if std::str::from_utf8(attribute.description).is_err() {
                return Err(CodecError::Malformed("an attribute description is not UTF-8"));
            }
            let mut rest = attribute.values;
            if rest.is_empty() {
                return Err(CodecError::Malformed("an attribute has no value"));
            }
            while !rest.is_empty() {
                (_, rest) =
                    ber::take(rest, OCTET_STRING).ok_or(CodecError::Malformed("a value is not an OCTET STRING"))?;
            }
        }
        Ok(())
    }

    fn attributes_from(&self, from: usize, to: usize) -> impl Iterator<Item = StoredAttribute<'a>> {
        let body = self.body;
        self.rows()
            .take(to)
            .skip(from)
            .filter_map(move |(id, offset, length)| StoredAttribute::new(id, &body[offset..offset + length]))
    }

    /// Id, offset and length of each attribute.
    fn rows(&self) -> impl Iterator<Item = (AttrId, usize, usize)> + use<'a> {
        self.table.chunks_exact(ROW_BYTES).map(|row| {
            let field = |at: usize| u32_at(row, at).unwrap_or_default();
            (AttrId(u32::from_le_bytes([row[0], row[1], row[2], row[3]])), field(4), field(8))
        })
    }
}

impl<'a> StoredAttribute<'a> {
    /// None when the bytes are not a PartialAttribute, which only damage that no checksum saw can bring about.
    fn new(id: AttrId, tlv: &'a [u8]) -> Option<Self> {
        let (content, after) = ber::take(tlv, SEQUENCE)?;
        let (description, rest) = ber::take(content, OCTET_STRING)?;
        let (values, end) = ber::take(rest, SET)?;
        (after.is_empty() && end.is_empty()).then_some(Self { id, tlv, description, values })
    }

    /// Its type.
    pub fn id(&self) -> AttrId {
        self.id
    }

    /// The whole PartialAttribute element, ready to send.
    pub fn tlv(&self) -> &'a [u8] {
        self.tlv
    }

    /// Type and options as they are sent.
    pub fn description(&self) -> &'a str {
        std::str::from_utf8(self.description).unwrap_or_default()
    }

    /// The options: lower case, sorted.
    pub fn options(&self) -> impl Iterator<Item = &'a str> + Clone + use<'a> {
        self.description().split(';').skip(1)
    }

    /// Whether all of `options` (lower case) are among this attribute's.
    pub fn has_options(&self, options: &[String]) -> bool {
        options.iter().all(|option| self.options().any(|own| own == option))
    }

    /// Its values, in the order given.
    pub fn values(&self) -> Values<'a> {
        Values { rest: self.values }
    }
}

impl<'a> Iterator for Values<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (value, rest) = ber::take(self.rest, OCTET_STRING)?;
        self.rest = rest;
        Some(value)
    }
}

impl std::iter::FusedIterator for Values<'_> {}

fn u32_at(bytes: &[u8], at: usize) -> Option<usize> {
    let field = bytes.get(at..at + 4)?.first_chunk::<4>()?;
    usize::try_from(u32::from_le_bytes(*field)).ok()
}
