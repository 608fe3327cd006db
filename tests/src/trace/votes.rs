//! Every granted vote follows a sync of the vote.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;

use bindery_proto::raft::{LogMeta, Vote, VoteResponse};
use prost::Message;

use super::{Call, synced_before};

/// HTTP/2 (RFC 9113 4.1): length, type, flags, stream.
const FRAME_HEADER_BYTES: usize = 9;
const DATA: u8 = 0;
/// gRPC: compressed flag and length.
const MESSAGE_HEADER_BYTES: usize = 5;

/// A granted vote, as it was sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Granted {
    /// To whom, in which term.
    pub vote: Vote,
    /// Line at which the sending call began.
    pub enter: usize,
}

/// What one connection has sent so far and is not yet taken apart.
#[derive(Default)]
struct Connection {
    bytes: Vec<u8>,
    /// gRPC bytes of each stream.
    streams: BTreeMap<u32, Vec<u8>>,
}

impl Connection {
    /// The gRPC messages completed by these bytes.
    fn messages(&mut self, sent: Vec<u8>) -> Vec<Vec<u8>> {
        self.bytes.extend(sent);
        let mut messages = Vec::new();
        while let Some(header) = self.bytes.get(..FRAME_HEADER_BYTES) {
            let length = usize::from(header[0]) << 16 | usize::from(header[1]) << 8 | usize::from(header[2]);
            let (kind, stream) = (header[3], u32::from_be_bytes([header[5] & 0x7f, header[6], header[7], header[8]]));
            if self.bytes.len() < FRAME_HEADER_BYTES + length {
                break;
            }
            let frame: Vec<u8> = self.bytes.drain(..FRAME_HEADER_BYTES + length).collect();
            if kind != DATA {
                continue;
            }
            let pending = self.streams.entry(stream).or_default();
            pending.extend(&frame[FRAME_HEADER_BYTES..]);
            while let Some(header) = pending.get(..MESSAGE_HEADER_BYTES) {
                let length = u32::from_be_bytes([header[1], header[2], header[3], header[4]]) as usize;
                if pending.len() < MESSAGE_HEADER_BYTES + length {
                    break;
                }
                messages.push(pending.drain(..MESSAGE_HEADER_BYTES + length).skip(MESSAGE_HEADER_BYTES).collect());
            }
        }
        messages
    }
}

/// All granted votes sent from the gRPC port, in order. No other answer of these services has the form of a
/// granted [`VoteResponse`]: they have no field 2 of this type beside a field 1 that is a [`Vote`].
pub fn granted(calls: &[Call], grpc_port: u16) -> Vec<Granted> {
    let mut connections: BTreeMap<SocketAddr, Connection> = BTreeMap::new();
    let mut found = Vec::new();
    for call in calls {
        let Some((local, remote)) = call.sends() else { continue };
        if local.port() != grpc_port {
            continue;
        }
        for message in connections.entry(remote).or_default().messages(call.data()) {
            let Ok(response) = VoteResponse::decode(message.as_slice()) else { continue };
            let Some(vote) = response.vote else { continue };
            if response.granted && vote.term > 0 && response.encode_to_vec() == message {
                found.push(Granted { vote, enter: call.enter });
            }
        }
    }
    found
}

/// Before each granted vote was sent, a record with this vote was written to the log's metadata and synced.
/// Returns what is wrong.
pub fn check(calls: &[Call], votes: &[Granted], is_meta: impl Fn(&Path) -> bool) -> Vec<String> {
    let writes: Vec<(&Call, Vec<u8>)> =
        calls.iter().filter(|c| c.is_write() && c.file().is_some_and(&is_meta)).map(|c| (c, c.data())).collect();
    let mut wrong = Vec::new();
    for granted in votes {
        // The record begins with the vote.
        let record = LogMeta { vote: Some(granted.vote), ..LogMeta::default() }.encode_to_vec();
        let kept = writes
            .iter()
            .filter(|(_, data)| data.windows(record.len()).any(|w| w == record))
            .any(|(write, _)| synced_before(calls, write, granted.enter));
        if !kept {
            wrong.push(format!("line {}: {:?} was not synced before it was granted", granted.enter + 1, granted.vote));
        }
    }
    wrong
}
