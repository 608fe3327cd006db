//! openraft's values as the messages of `proto/bindery/raft.proto`, and back with every field checked.

mod entry;
mod messages;
mod value;

pub(crate) use entry::{
    MAX_COMMAND_BYTES, MAX_MESSAGE_BYTES, decode_entry, encode_entry, entry_from_wire, entry_to_wire,
};
pub(crate) use messages::*;
pub(crate) use value::*;

/// Why bytes or a message are refused.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum CodecError {
    #[error("not a protobuf message: {0}")]
    Protobuf(String),
    #[error("field {0} is missing")]
    Missing(&'static str),
    #[error("field {field} has {length} bytes instead of {expected}")]
    Length { field: &'static str, length: usize, expected: usize },
    #[error("{0}")]
    Invalid(String),
}

impl From<prost::DecodeError> for CodecError {
    fn from(error: prost::DecodeError) -> Self {
        CodecError::Protobuf(error.to_string())
    }
}

impl From<CodecError> for std::io::Error {
    fn from(error: CodecError) -> Self {
        std::io::Error::new(std::io::ErrorKind::InvalidData, error)
    }
}

impl From<CodecError> for tonic::Status {
    fn from(error: CodecError) -> Self {
        tonic::Status::invalid_argument(error.to_string())
    }
}

/// A field that must be there.
pub(crate) fn need<T>(value: Option<T>, field: &'static str) -> Result<T, CodecError> {
    value.ok_or(CodecError::Missing(field))
}

/// A field of exactly sixteen bytes.
pub(crate) fn sixteen(bytes: &[u8], field: &'static str) -> Result<[u8; 16], CodecError> {
    bytes.try_into().map_err(|_| CodecError::Length { field, length: bytes.len(), expected: 16 })
}
