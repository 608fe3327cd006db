//! What can be wrong with bytes that should be an LDAP message, a control value or an extended value.

use crate::result_code::ResultCode;
use crate::tag::{RequestTag, ResponseTag};

/// One fault in received bytes: which element, where, and what is wrong with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{what} at byte {offset}: {kind}")]
pub struct DecodeError {
    /// The element that was being read, by its name in the ASN.1 definition.
    pub what: &'static str,
    /// Offset in bytes from the start of the message or value.
    pub offset: usize,
    /// What is wrong.
    pub kind: DecodeErrorKind,
}

/// The kinds of fault. [`DecodeErrorKind::class`] sorts them by how a server must answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DecodeErrorKind {
    /// The element, or its header, ends beyond what holds it.
    #[error("longer than what holds it")]
    Truncated,
    /// What holds the element ends before it.
    #[error("missing")]
    Missing,
    /// Indefinite length, which RFC 4511 section 5.1 forbids.
    #[error("indefinite length")]
    IndefiniteLength,
    /// The length is written in more than four bytes.
    #[error("length written in {0} bytes")]
    LengthOfLength(u8),
    /// A tag number of 31 or more; LDAP has none.
    #[error("tag number above 30")]
    HighTagNumber,
    /// Another tag than the definition asks for.
    #[error("unexpected tag 0x{found:02x}")]
    UnexpectedTag {
        /// The identifier octet found.
        found: u8,
    },
    /// Bytes behind the end of something that is no extensible SEQUENCE.
    #[error("unexpected bytes behind it")]
    TrailingBytes,
    /// An INTEGER or ENUMERATED of no bytes or of more than eight.
    #[error("integer of {0} bytes")]
    IntegerLength(usize),
    /// A BOOLEAN that is not one byte long, or a NULL that is not empty.
    #[error("wrong content length {0}")]
    ContentLength(usize),
    /// A protocolOp that is no request (or, for a client, no response) of LDAPv3.
    #[error("unknown protocol operation 0x{0:02x}")]
    UnknownOperation(u8),
    /// A number outside the range or enumeration that the definition gives.
    #[error("value {0} out of range")]
    OutOfRange(i64),
    /// A list, or a choice of optional elements, that must not be empty.
    #[error("must not be empty")]
    Empty,
    /// Elements in an order, or a combination, that the definition forbids.
    #[error("{0}")]
    Invalid(&'static str),
    /// More elements than the limit in force.
    #[error("more than {limit}")]
    TooMany {
        /// The limit in force.
        limit: usize,
    },
    /// Nested deeper than the limit in force.
    #[error("nested deeper than {limit}")]
    TooDeep {
        /// The limit in force.
        limit: usize,
    },
}

/// How a server must treat a fault (RFC 4511 section 4.1.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorClass {
    /// Tags, lengths or the envelope are wrong: nothing behind it can be trusted, so disconnect.
    Structure,
    /// Well formed, but not what the definition allows: answer protocolError and go on.
    Value,
    /// Well formed, but beyond a limit of this server: answer adminLimitExceeded and go on.
    Limit,
}

impl DecodeErrorKind {
    /// Sorts the fault by how a server must answer it.
    pub fn class(self) -> ErrorClass {
        match self {
            Self::OutOfRange(_) | Self::Empty | Self::Invalid(_) => ErrorClass::Value,
            Self::TooMany { .. } | Self::TooDeep { .. } => ErrorClass::Limit,
            Self::Truncated
            | Self::Missing
            | Self::IndefiniteLength
            | Self::LengthOfLength(_)
            | Self::HighTagNumber
            | Self::UnexpectedTag { .. }
            | Self::TrailingBytes
            | Self::IntegerLength(_)
            | Self::ContentLength(_)
            | Self::UnknownOperation(_) => ErrorClass::Structure,
        }
    }
}

/// A message that could not be decoded, with as much of its envelope as could be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{cause}")]
pub struct MessageError {
    /// The message id, when it was read.
    pub message_id: Option<i32>,
    /// The identifier octet of protocolOp, when it was read.
    pub operation: Option<u8>,
    /// The fault.
    #[source]
    pub cause: DecodeError,
}

/// The answer that RFC 4511 asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorReply {
    /// Answer the request with this code; the connection goes on.
    Respond {
        /// Message id to answer.
        message_id: i32,
        /// Which response the request asks for.
        tag: ResponseTag,
        /// protocolError or adminLimitExceeded.
        code: ResultCode,
    },
    /// Send Notice of Disconnection with protocolError and close (section 4.1.1).
    Disconnect,
    /// The request has no response (abandon): drop it and go on.
    Ignore,
}

impl MessageError {
    /// How RFC 4511 section 4.1.1 wants this fault answered.
    pub fn reply(&self) -> ErrorReply {
        let code = match self.cause.kind.class() {
            ErrorClass::Structure => return ErrorReply::Disconnect,
            ErrorClass::Value => ResultCode::PROTOCOL_ERROR,
            ErrorClass::Limit => ResultCode::ADMIN_LIMIT_EXCEEDED,
        };
        let (Some(message_id), Some(operation)) = (self.message_id, self.operation.and_then(RequestTag::from_octet))
        else {
            return ErrorReply::Disconnect;
        };
        match operation.response() {
            Some(tag) => ErrorReply::Respond { message_id, tag, code },
            None if operation == RequestTag::Abandon => ErrorReply::Ignore,
            None => ErrorReply::Disconnect,
        }
    }
}
