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

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use proptest::prelude::*;
    use prost::Message;

    use super::*;
    use crate::log::LogMeta;

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = decode_entry(Bytes::from(bytes.clone()));
            let _ = LogMeta::decode(&bytes);
            if let Ok(request) = bindery_proto::raft::AppendRequest::decode(&bytes[..]) {
                let _ = append_from_wire(request);
            }
            if let Ok(head) = bindery_proto::raft::snapshot_frame::Head::decode(&bytes[..]) {
                let _ = snapshot_head_from_wire(head);
            }
        }

        #[test]
        fn a_damaged_entry_is_refused_or_decodes(at in 0usize..60, bit in 0u8..8) {
            let command = crate::core::types::Command { time_us: 7, random: [9; 16], payload: Bytes::from_static(b"abc") };
            let entry = crate::core::types::Entry {
                log_id: crate::core::types::make_log_id(3, 2, 1),
                payload: openraft::EntryPayload::Normal(command),
            };
            let bytes = encode_entry(&entry);
            prop_assert_eq!(&decode_entry(bytes.clone()).unwrap(), &entry);
            let mut damaged = bytes.to_vec();
            if let Some(byte) = damaged.get_mut(at) {
                *byte ^= 1 << bit;
            }
            let _ = decode_entry(damaged.into());
        }
    }

    #[test]
    fn missing_fields_and_impossible_memberships_are_refused() {
        use bindery_proto::raft as wire;
        assert!(entry_from_wire(wire::Entry::default()).is_err());
        assert!(append_from_wire(wire::AppendRequest::default()).is_err());
        assert!(log_id_from_wire(wire::LogId { term: 1, leader: 1, index: u64::MAX }).is_err());
        // A voter without a node.
        let membership = wire::Membership { configs: vec![wire::VoterSet { ids: vec![1] }], nodes: vec![] };
        assert!(membership_from_wire(membership).is_err());
        let membership = wire::Membership { configs: vec![wire::VoterSet { ids: vec![] }], nodes: vec![] };
        assert!(membership_from_wire(membership).is_err());
    }
}
