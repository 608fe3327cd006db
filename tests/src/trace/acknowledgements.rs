//! Every acknowledgement of a write follows a sync of the log.

use std::collections::BTreeMap;
use std::path::Path;

use bindery_wire::client::{Response, ResponseMessage};
use bindery_wire::{Limits, next_message};

use super::{Call, synced_before};

/// Largest answer expected.
const MESSAGE_BYTES: usize = 1 << 20;

/// A successful answer to an Add, as it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledgement {
    /// Port of the client's end.
    pub client_port: u16,
    /// Message id of the request.
    pub id: i32,
    /// Line at which the sending call began.
    pub enter: usize,
}

/// All acknowledged adds sent from the LDAP port, in order.
pub fn of_adds(calls: &[Call], ldap_port: u16) -> Vec<Acknowledgement> {
    let mut streams: BTreeMap<u16, Vec<u8>> = BTreeMap::new();
    let mut found = Vec::new();
    for call in calls {
        let Some((local, remote)) = call.sends() else { continue };
        if local.port() != ldap_port {
            continue;
        }
        let stream = streams.entry(remote.port()).or_default();
        stream.extend(call.data());
        while let Ok(Some(length)) = next_message(stream, MESSAGE_BYTES) {
            let message: Vec<u8> = stream.drain(..length).collect();
            let decoded = ResponseMessage::decode(&message, &Limits::default()).expect("the node sends LDAP");
            if let Response::Add(result) = decoded.response
                && result.code.0 == 0
            {
                found.push(Acknowledgement { client_port: remote.port(), id: decoded.id, enter: call.enter });
            }
        }
    }
    found
}

/// For a client that has one add under way at a time: before each acknowledgement, and after the one before,
/// the log was written and its last write synced. Returns what is wrong.
pub fn check(calls: &[Call], acknowledgements: &[Acknowledgement], is_log: impl Fn(&Path) -> bool) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut before = None;
    for ack in acknowledgements {
        let last = calls
            .iter()
            .rfind(|c| c.is_write() && Some(c.enter) > before && c.enter < ack.enter && c.file().is_some_and(&is_log));
        match last {
            None => wrong.push(format!("line {}: message {}: the log was not written", ack.enter + 1, ack.id)),
            Some(write) if !synced_before(calls, write, ack.enter) => wrong.push(format!(
                "line {}: message {}: the write of line {} was not synced",
                ack.enter + 1,
                ack.id,
                write.enter + 1
            )),
            Some(_) => {}
        }
        before = Some(ack.enter);
    }
    wrong
}
