//! The envelope, LDAPMessage (RFC 4511 section 4.1.1), of a request.

use crate::ber::{Reader, Tlv, read};
use crate::control::{Control, Controls};
use crate::error::{DecodeError, DecodeErrorKind, MessageError};
use crate::limits::Limits;
use crate::list::List;
use crate::request::Request;
use crate::tag::{CONTROLS, RequestTag};

/// A request with its envelope. Borrows from the bytes it was decoded from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestMessage<'a> {
    /// Message id, 0 to 2^31-1. Zero is for unsolicited notifications only; refusing it is up to the
    /// server.
    pub id: i32,
    /// The operation.
    pub request: Request<'a>,
    /// Controls in the order sent, unknown ones included; their values are not looked into.
    pub controls: Controls<'a>,
}

impl<'a> RequestMessage<'a> {
    /// Decodes one whole message, as [`crate::frame::next_message`] cut it.
    #[inline]
    pub fn decode(bytes: &'a [u8], limits: &Limits) -> Result<Self, MessageError> {
        let (id, request, controls) = decode_envelope(bytes, limits, |operation| {
            let Some(tag) = RequestTag::from_octet(operation.tag) else {
                return Err(operation.fault("protocolOp", DecodeErrorKind::UnknownOperation(operation.tag)));
            };
            Request::decode(tag, &operation, limits)
        })?;
        Ok(RequestMessage { id, request, controls })
    }
}

/// Decodes the envelope; `decode_operation` gets protocolOp.
#[inline]
pub(crate) fn decode_envelope<'a, T>(
    bytes: &'a [u8],
    limits: &Limits,
    decode_operation: impl FnOnce(Tlv<'a>) -> Result<T, DecodeError>,
) -> Result<(i32, T, Controls<'a>), MessageError> {
    let (mut message_id, mut operation) = (None, None);
    let read = || {
        let mut outer = Reader::new(bytes);
        let mut message = outer.sequence("LDAPMessage")?;
        outer.finish("LDAPMessage")?;
        let id = message.expect(crate::ber::INTEGER, "messageID")?;
        let id = read::non_negative(&id, "messageID")?;
        message_id = Some(id);
        let protocol_op = message.any("protocolOp")?;
        operation = Some(protocol_op.tag);
        // Where the envelope behind the operation is broken, nothing in it may be carried out, so it is
        // checked first; the operation's own faults then leave the connection usable.
        let controls = match message.optional(CONTROLS, "controls")? {
            Some(controls) => List::<Control<'a>>::decode(controls.reader(), limits.controls, "controls")?,
            None => List::EMPTY,
        };
        message.skip_unknown("LDAPMessage")?;
        Ok((id, decode_operation(protocol_op)?, controls))
    };
    read().map_err(|cause| MessageError { message_id, operation, cause })
}
