//! Writers of SearchResultEntry (RFC 4511 section 4.5.2), the hottest of all: from attributes that are
//! stored ready to send, or piece by piece.

use crate::ber::write::{self, Gather};
use crate::ber::{INTEGER, OCTET_STRING, SEQUENCE, SET};
use crate::control::Control;
use crate::response::{controls_size, message_id_size, put_controls};
use crate::tag::SEARCH_ENTRY;

/// Worst case of headers and message id before the DN: 10 + 6 + 10 + 10 bytes.
const HEAD_BYTES: usize = 40;

/// Appends an entry whose attribute list is the concatenation of `attributes`: runs of encoded
/// PartialAttributes, of one or several each.
#[inline]
pub fn write_search_entry(out: &mut Vec<u8>, id: i32, dn: &[u8], attributes: &[&[u8]], controls: &[Control<'_>]) {
    let list_bytes = attributes.iter().map(|run| run.len()).sum();
    put_head(out, id, dn, list_bytes, controls_size(controls), list_bytes);
    attributes.iter().for_each(|run| out.extend_from_slice(run));
    put_controls(out, controls);
}

/// Appends the message of an entry without controls up to its attribute list, which must follow with
/// exactly `list_bytes` bytes: for entries too large to be gathered before they are sent.
pub fn write_search_entry_head(out: &mut Vec<u8>, id: i32, dn: &[u8], list_bytes: usize) {
    put_head(out, id, dn, list_bytes, 0, 0);
}

/// Bytes of the message of an entry, controls aside: to bound an answer before it is made.
pub fn search_entry_bytes(id: i32, dn_bytes: usize, list_bytes: usize) -> usize {
    let operation = write::tlv_size(dn_bytes) + write::tlv_size(list_bytes);
    write::tlv_size(message_id_size(id) + write::tlv_size(operation))
}

#[inline]
fn put_head(out: &mut Vec<u8>, id: i32, dn: &[u8], list_bytes: usize, controls_bytes: usize, follows_bytes: usize) {
    let operation_bytes = write::tlv_size(dn.len()) + write::tlv_size(list_bytes);
    let message_bytes = message_id_size(id) + write::tlv_size(operation_bytes) + controls_bytes;
    let mut head = Gather::<HEAD_BYTES>::new();
    head.header(SEQUENCE, message_bytes);
    head.integer(INTEGER, id.into());
    head.header(SEARCH_ENTRY, operation_bytes);
    head.header(OCTET_STRING, dn.len());
    out.reserve(HEAD_BYTES + dn.len() + HEAD_BYTES + follows_bytes + controls_bytes);
    out.extend_from_slice(head.as_slice());
    out.extend_from_slice(dn);
    write::put_header(out, SEQUENCE, list_bytes);
}

/// An entry written piece by piece, where its attributes are not ready as they are wanted: names only,
/// chosen values, virtual attributes. Room for the headers is left in front and closed at the end by one
/// move.
#[derive(Debug)]
pub struct SearchEntryWriter<'o> {
    out: &'o mut Vec<u8>,
    /// Where the message begins.
    start: usize,
    /// Where the attribute list begins.
    list: usize,
    id: i32,
    dn_bytes: usize,
    finished: bool,
}

impl<'o> SearchEntryWriter<'o> {
    /// Begins an entry. Dropping the writer without [`Self::finish`] takes everything back.
    pub fn begin(out: &'o mut Vec<u8>, id: i32, dn: &[u8]) -> Self {
        let start = out.len();
        // The DN is kept at the end of the gap, from where the head is made.
        out.resize(start + 2 * HEAD_BYTES, 0);
        out.extend_from_slice(dn);
        let list = out.len();
        SearchEntryWriter { out, start, list, id, dn_bytes: dn.len(), finished: false }
    }

    /// Bytes of the attribute list so far.
    pub fn list_bytes(&self) -> usize {
        self.out.len() - self.list
    }

    /// Appends a run of encoded PartialAttributes.
    pub fn encoded(&mut self, run: &[u8]) {
        self.out.extend_from_slice(run);
    }

    /// Appends an attribute without values (typesOnly).
    pub fn type_only(&mut self, description: &[u8]) {
        write::put_header(self.out, SEQUENCE, write::tlv_size(description.len()) + 2);
        write::put_octets(self.out, description);
        write::put_header(self.out, SET, 0);
    }

    /// Appends an attribute with these values.
    pub fn values<V: AsRef<[u8]>>(&mut self, description: &[u8], values: impl IntoIterator<Item = V>) {
        write::put_constructed(self.out, SEQUENCE, |out| {
            write::put_octets(out, description);
            write::put_constructed(out, SET, |out| {
                values.into_iter().for_each(|value| write::put_octets(out, value.as_ref()));
            });
        });
    }

    /// Ends the entry.
    pub fn finish(mut self, controls: &[Control<'_>]) {
        let list_bytes = self.list_bytes();
        let operation_bytes = write::tlv_size(self.dn_bytes) + write::tlv_size(list_bytes);
        let message_bytes = message_id_size(self.id) + write::tlv_size(operation_bytes) + controls_size(controls);
        let mut head = Gather::<HEAD_BYTES>::new();
        head.header(SEQUENCE, message_bytes);
        head.integer(INTEGER, self.id.into());
        head.header(SEARCH_ENTRY, operation_bytes);
        head.header(OCTET_STRING, self.dn_bytes);
        let mut list_head = Gather::<HEAD_BYTES>::new();
        list_head.header(SEQUENCE, list_bytes);

        let mut at = self.start;
        let out = &mut *self.out;
        let put = |out: &mut Vec<u8>, at: usize, bytes: &[u8]| {
            out[at..at + bytes.len()].copy_from_slice(bytes);
            at + bytes.len()
        };
        at = put(out, at, head.as_slice());
        out.copy_within(self.list - self.dn_bytes..self.list, at);
        // Both heads together are shorter than the gap, so that this stays before the attribute list.
        at = put(out, at + self.dn_bytes, list_head.as_slice());
        out.copy_within(self.list.., at);
        out.truncate(at + list_bytes);
        put_controls(out, controls);
        self.finished = true;
    }
}

impl Drop for SearchEntryWriter<'_> {
    fn drop(&mut self) {
        if !self.finished {
            self.out.truncate(self.start);
        }
    }
}
