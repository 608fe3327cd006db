//! Server-side sorting (RFC 2891).

use crate::ber::{ENUMERATED, Reader, SEQUENCE, context, read::whole, write};
use crate::error::{DecodeError, DecodeErrorKind};
use crate::limits::Limits;
use crate::list::{Element, List};
use crate::result_code::ResultCode;

const ORDERING_RULE: u8 = context(0);
const REVERSE_ORDER: u8 = context(1);
const ATTRIBUTE_TYPE: u8 = context(0);

/// SortKeyList: most significant key first, at least one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SortRequest<'a> {
    /// The keys.
    pub keys: List<'a, SortKey<'a>>,
}

/// One sort key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SortKey<'a> {
    /// Attribute description.
    pub attribute: &'a [u8],
    /// Ordering rule; absent: the attribute's own.
    pub ordering_rule: Option<&'a [u8]>,
    /// Descending.
    pub reverse: bool,
}

/// SortResult.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SortResponse<'a> {
    /// Outcome of the sorting.
    pub result: ResultCode,
    /// The attribute at fault.
    pub attribute: Option<&'a [u8]>,
}

impl<'a> Element<'a> for SortKey<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let mut key = reader.sequence("sortKey")?;
        let attribute = key.octets("attributeType")?;
        let ordering_rule = key.optional_octets(ORDERING_RULE, "orderingRule")?;
        let reverse = match key.optional(REVERSE_ORDER, "reverseOrder")? {
            Some(tlv) => tlv.boolean("reverseOrder")?,
            None => false,
        };
        key.skip_unknown("sortKey")?;
        Ok(SortKey { attribute, ordering_rule, reverse })
    }

    fn write(&self, out: &mut Vec<u8>) {
        write::put_constructed(out, SEQUENCE, |out| {
            write::put_octets(out, self.attribute);
            write::put_optional(out, ORDERING_RULE, self.ordering_rule);
            if self.reverse {
                write::put_tagged_boolean(out, REVERSE_ORDER, true);
            }
        });
    }
}

impl<'a> SortRequest<'a> {
    /// Decodes a control value.
    pub fn decode(value: &'a [u8], limits: &Limits) -> Result<Self, DecodeError> {
        whole(value, "SortKeyList", |reader| {
            let list = reader.sequence("SortKeyList")?;
            if list.is_empty() {
                return Err(list.fault("SortKeyList", DecodeErrorKind::Empty));
            }
            Ok(SortRequest { keys: List::decode(list, limits.control_elements, "SortKeyList")? })
        })
    }

    /// Appends the control value.
    pub fn write(&self, out: &mut Vec<u8>) {
        self.keys.write(out, SEQUENCE);
    }
}

impl<'a> SortResponse<'a> {
    /// Decodes a control value.
    pub fn decode(value: &'a [u8]) -> Result<Self, DecodeError> {
        whole(value, "SortResult", |reader| {
            let mut reader = reader.sequence("SortResult")?;
            let code = crate::ber::read::non_negative(&reader.expect(ENUMERATED, "sortResult")?, "sortResult")?;
            let attribute = reader.optional_octets(ATTRIBUTE_TYPE, "attributeType")?;
            reader.skip_unknown("SortResult")?;
            Ok(SortResponse { result: ResultCode(code.cast_unsigned()), attribute })
        })
    }

    /// Appends the control value.
    pub fn write(&self, out: &mut Vec<u8>) {
        write::put_constructed(out, SEQUENCE, |out| {
            write::put_enumerated(out, self.result.0.into());
            write::put_optional(out, ATTRIBUTE_TYPE, self.attribute);
        });
    }
}
