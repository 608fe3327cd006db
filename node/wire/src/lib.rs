//! LDAPv3 messages (RFC 4511) to bytes and back. No I/O, no schema, no structure of names: DNs, attribute
//! descriptions and values are raw bytes.
//!
//! A server cuts its input with [`frame::next_message`], decodes with [`message::RequestMessage`], and
//! appends answers with the writers of [`response`] and [`entry`]. [`client`] is the other direction.
//! Decoding borrows from the message; only filters allocate. Everything received is checked: a fault is a
//! [`error::MessageError`], which knows how RFC 4511 wants it answered.

pub mod attribute;
pub mod ber;
pub mod client;
pub mod control;
pub mod entry;
pub mod error;
pub mod extended;
pub mod filter;
pub mod frame;
pub mod limits;
pub mod list;
pub mod message;
pub mod oid;
pub mod request;
pub mod response;
pub mod result_code;
pub mod tag;

pub use attribute::{Attribute, Attributes};
pub use control::{Control, Controls};
pub use error::{DecodeError, DecodeErrorKind, ErrorClass, ErrorReply, MessageError};
pub use filter::Filter;
pub use frame::{FrameError, message_size, next_message};
pub use limits::Limits;
pub use list::{List, OctetStrings};
pub use message::RequestMessage;
pub use request::Request;
pub use response::LdapResult;
pub use result_code::ResultCode;
pub use tag::{RequestTag, ResponseTag};
