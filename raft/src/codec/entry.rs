//! Log entries.

use bindery_proto::raft as wire;
use bytes::Bytes;
use openraft::EntryPayload;
use prost::Message;
use wire::entry::Payload;

use super::{CodecError, log_id_from_wire, log_id_to_wire, membership_from_wire, membership_to_wire, need, sixteen};
use crate::core::types::{Command, Entry};

/// Largest command: 20 MiB, above the largest LDAP message (16 MiB) and below [`MAX_MESSAGE_BYTES`].
pub(crate) const MAX_COMMAND_BYTES: usize = 20 << 20;
/// Largest gRPC message accepted: one command and its envelope, or several small ones.
pub(crate) const MAX_MESSAGE_BYTES: usize = 24 << 20;

pub(crate) fn entry_to_wire(entry: &Entry) -> wire::Entry {
    let payload = match &entry.payload {
        EntryPayload::Blank => Payload::Blank(wire::Empty {}),
        EntryPayload::Normal(command) => Payload::Command(wire::Command {
            time_us: command.time_us,
            random: Bytes::copy_from_slice(&command.random),
            payload: command.payload.clone(),
        }),
        EntryPayload::Membership(membership) => Payload::Membership(membership_to_wire(membership)),
    };
    wire::Entry { log_id: Some(log_id_to_wire(&entry.log_id)), payload: Some(payload) }
}

pub(crate) fn entry_from_wire(entry: wire::Entry) -> Result<Entry, CodecError> {
    let log_id = log_id_from_wire(need(entry.log_id, "log_id")?)?;
    let payload = match need(entry.payload, "payload")? {
        Payload::Blank(_) => EntryPayload::Blank,
        Payload::Command(command) => {
            if command.payload.len() > MAX_COMMAND_BYTES {
                return Err(CodecError::Invalid("command too large".into()));
            }
            EntryPayload::Normal(Command {
                time_us: command.time_us,
                random: sixteen(&command.random, "random")?,
                payload: command.payload,
            })
        }
        Payload::Membership(membership) => {
            let membership = membership_from_wire(membership)?;
            if membership.get_joint_config().is_empty() {
                return Err(CodecError::Invalid("membership without voters".into()));
            }
            EntryPayload::Membership(membership)
        }
    };
    Ok(Entry { log_id, payload })
}

pub(crate) fn encode_entry(entry: &Entry) -> Bytes {
    entry_to_wire(entry).encode_to_vec().into()
}

pub(crate) fn decode_entry(bytes: Bytes) -> Result<Entry, CodecError> {
    entry_from_wire(wire::Entry::decode(bytes)?)
}
