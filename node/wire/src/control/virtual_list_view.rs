//! Virtual list view (draft-ietf-ldapext-ldapv3-vlv-09).

use crate::ber::{ENUMERATED, OCTET_STRING, SEQUENCE, context, context_constructed, read, write};
use crate::error::{DecodeError, DecodeErrorKind};
use crate::result_code::ResultCode;

const BY_OFFSET: u8 = context_constructed(0);
const GREATER_THAN_OR_EQUAL: u8 = context(1);

/// VirtualListViewRequest. No number is negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VlvRequest<'a> {
    /// Entries wanted before the target.
    pub before: i32,
    /// Entries wanted after the target.
    pub after: i32,
    /// The target.
    pub target: VlvTarget<'a>,
    /// What the last response gave.
    pub context_id: Option<&'a [u8]>,
}

/// The entry that a view is built around.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VlvTarget<'a> {
    /// By position.
    Offset {
        /// From 1; relative to `content_count`.
        offset: i32,
        /// What the client takes for the size of the list; 0 when unknown.
        content_count: i32,
    },
    /// The first entry whose primary sort key is not less.
    GreaterOrEqual(&'a [u8]),
}

/// VirtualListViewResponse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VlvResponse<'a> {
    /// Position of the target.
    pub target_position: i32,
    /// Size of the list.
    pub content_count: i32,
    /// Outcome.
    pub result: ResultCode,
    /// To be sent with the next request.
    pub context_id: Option<&'a [u8]>,
}

impl<'a> VlvRequest<'a> {
    /// Decodes a control value.
    pub fn decode(value: &'a [u8]) -> Result<Self, DecodeError> {
        read::whole(value, "VirtualListViewRequest", |reader| {
            let mut reader = reader.sequence("VirtualListViewRequest")?;
            let before = reader.non_negative("beforeCount")?;
            let after = reader.non_negative("afterCount")?;
            let at = reader;
            let choice = reader.any("target")?;
            let target = match choice.tag {
                BY_OFFSET => {
                    let mut by_offset = choice.reader();
                    let offset = by_offset.non_negative("offset")?;
                    let content_count = by_offset.non_negative("contentCount")?;
                    by_offset.skip_unknown("byOffset")?;
                    VlvTarget::Offset { offset, content_count }
                }
                GREATER_THAN_OR_EQUAL => VlvTarget::GreaterOrEqual(choice.content),
                found => return Err(at.fault("target", DecodeErrorKind::UnexpectedTag { found })),
            };
            let context_id = reader.optional_octets(OCTET_STRING, "contextID")?;
            reader.skip_unknown("VirtualListViewRequest")?;
            Ok(VlvRequest { before, after, target, context_id })
        })
    }

    /// Appends the control value.
    pub fn write(&self, out: &mut Vec<u8>) {
        write::put_constructed(out, SEQUENCE, |out| {
            write::put_integer(out, self.before.into());
            write::put_integer(out, self.after.into());
            match self.target {
                VlvTarget::Offset { offset, content_count } => write::put_constructed(out, BY_OFFSET, |out| {
                    write::put_integer(out, offset.into());
                    write::put_integer(out, content_count.into());
                }),
                VlvTarget::GreaterOrEqual(value) => write::put_tlv(out, GREATER_THAN_OR_EQUAL, value),
            }
            write::put_optional(out, OCTET_STRING, self.context_id);
        });
    }
}

impl<'a> VlvResponse<'a> {
    /// Decodes a control value.
    pub fn decode(value: &'a [u8]) -> Result<Self, DecodeError> {
        read::whole(value, "VirtualListViewResponse", |reader| {
            let mut reader = reader.sequence("VirtualListViewResponse")?;
            let target_position = reader.non_negative("targetPosition")?;
            let content_count = reader.non_negative("contentCount")?;
            let result = reader.expect(ENUMERATED, "virtualListViewResult")?;
            let result = ResultCode(read::non_negative(&result, "virtualListViewResult")?.cast_unsigned());
            let context_id = reader.optional_octets(OCTET_STRING, "contextID")?;
            reader.skip_unknown("VirtualListViewResponse")?;
            Ok(VlvResponse { target_position, content_count, result, context_id })
        })
    }

    /// Appends the control value.
    pub fn write(&self, out: &mut Vec<u8>) {
        write::put_constructed(out, SEQUENCE, |out| {
            write::put_integer(out, self.target_position.into());
            write::put_integer(out, self.content_count.into());
            write::put_enumerated(out, self.result.0.into());
            write::put_optional(out, OCTET_STRING, self.context_id);
        });
    }
}
