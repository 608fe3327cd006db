//! From a stored entry to what is sent: slices of its finished attribute list.

use crate::access::Reader;
use crate::selection::Selection;
use bindery_model::entry_codec::{StoredAttribute, StoredEntry};
use bindery_model::schema::AttrId;
use std::ops::Range;

/// Tags of the BER forms that are made here (RFC 4511 4.1.7: PartialAttribute).
const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const OCTET_STRING: u8 = 0x04;

/// Something that a search found.
#[derive(Debug)]
pub enum SearchItem<'a> {
    /// An entry.
    Entry {
        /// Its id, for resuming.
        id: u64,
        /// Its DN.
        dn: &'a str,
        /// Its attributes, ready to send.
        attributes: Attributes<'a>,
    },
    /// A continuation reference (RFC 4511 4.5.3): values of `ref` of a referral object in the search's scope.
    Reference {
        /// Its id, for resuming.
        id: u64,
        /// DN of the referral object.
        dn: &'a str,
        /// The URIs.
        uris: &'a [Vec<u8>],
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    User(Range<usize>),
    Operational(Range<usize>),
    Made(Range<usize>),
}

/// The attributes of one answer: finished PartialAttribute elements in a few contiguous pieces.
#[derive(Debug, Clone, Copy)]
pub struct Attributes<'a> {
    user: &'a [u8],
    operational: &'a [u8],
    made: &'a [u8],
    parts: &'a [Part],
}

impl<'a> Attributes<'a> {
    /// The pieces, to be sent one after another.
    pub fn slices(&self) -> impl Iterator<Item = &'a [u8]> {
        let own = *self;
        self.parts.iter().map(move |part| match part {
            Part::User(range) => &own.user[range.clone()],
            Part::Operational(range) => &own.operational[range.clone()],
            Part::Made(range) => &own.made[range.clone()],
        })
    }

    /// Bytes of all pieces together.
    pub fn len(&self) -> usize {
        self.slices().map(<[u8]>::len).sum()
    }

    /// Whether no attribute is sent.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }
}

/// Buffers for one answer, used again for the next.
#[derive(Debug, Default)]
pub(crate) struct Picker {
    parts: Vec<Part>,
    made: Vec<u8>,
    /// Hidden ranges of the present half.
    cuts: Vec<Range<usize>>,
}

impl Picker {
    /// Bytes that it holds on to.
    pub(crate) fn capacity(&self) -> usize {
        self.made.capacity() + self.parts.capacity() * size_of::<Part>()
    }

    /// Begins an answer.
    pub(crate) fn begin(&mut self) {
        self.parts.clear();
        self.made.clear();
    }

    /// The attributes picked so far.
    pub(crate) fn attributes<'a>(&'a self, entry: &StoredEntry<'a>) -> Attributes<'a> {
        Attributes {
            user: entry.user_attributes_ber(),
            operational: entry.operational_attributes_ber(),
            made: &self.made,
            parts: &self.parts,
        }
    }

    /// Picks what `selection` asks for and `reader` may see of a stored entry.
    pub(crate) fn pick(
        &mut self,
        entry: &StoredEntry<'_>,
        id: u64,
        selection: &Selection,
        reader: &Reader<'_>,
        types_only: bool,
    ) {
        if selection.is_none() {
            return;
        }
        let hides = reader.hidden(id).any(|attribute| entry.has(attribute));
        for operational in [false, true] {
            let (body, all) = if operational {
                (entry.operational_attributes_ber(), selection.all_operational_attributes())
            } else {
                (entry.user_attributes_ber(), selection.all_user_attributes())
            };
            if body.is_empty() || !all && !selection.has_named() {
                continue;
            }
            if all && !types_only {
                self.push_around(operational, body, entry, id, reader);
                continue;
            }
            let mut each = |attribute: StoredAttribute<'_>| {
                let wanted = all || selection.names(attribute.id(), |options| attribute.has_options(options));
                if wanted && !(hides && is_hidden(reader, id, attribute.id())) {
                    if types_only {
                        self.make(attribute.description(), &[]);
                    } else {
                        self.push(operational, range_in(body, attribute.tlv()));
                    }
                }
            };
            if operational {
                entry.operational_attributes().for_each(&mut each);
            } else {
                entry.user_attributes().for_each(&mut each);
            }
        }
    }

    /// The whole of one half of the body, but for what is hidden.
    fn push_around(&mut self, operational: bool, body: &[u8], entry: &StoredEntry<'_>, id: u64, reader: &Reader<'_>) {
        self.cuts.clear();
        for hidden in reader.hidden(id).filter(|hidden| entry.has(*hidden)) {
            let before = self.cuts.len();
            // Attributes of the other half of the body lie outside of this one.
            self.cuts.extend(entry.attribute(hidden).map(|attribute| range_in(body, attribute.tlv())));
            if self.cuts.len() == before {
                // Damage that no checksum saw: what cannot be told apart is not sent.
                return;
            }
        }
        self.cuts.retain(|cut| cut.start < body.len());
        self.cuts.sort_unstable_by_key(|cut| cut.start);
        let mut start = 0;
        for at in 0..self.cuts.len() {
            let cut = self.cuts[at].clone();
            if start < cut.start {
                self.push(operational, start..cut.start);
            }
            start = cut.end;
        }
        if start < body.len() {
            self.push(operational, start..body.len());
        }
    }

    fn push(&mut self, operational: bool, range: Range<usize>) {
        match self.parts.last_mut() {
            Some(Part::User(last)) if !operational && last.end == range.start => last.end = range.end,
            Some(Part::Operational(last)) if operational && last.end == range.start => last.end = range.end,
            _ if operational => self.parts.push(Part::Operational(range)),
            _ => self.parts.push(Part::User(range)),
        }
    }

    /// Adds an attribute that is not stored, or one without its values.
    pub(crate) fn make(&mut self, description: &str, values: &[&[u8]]) {
        let start = self.made.len();
        let set: usize = values.iter().map(|value| element_len(value.len())).sum();
        let content = element_len(description.len()) + element_len(set);
        put_header(SEQUENCE, content, &mut self.made);
        put_header(OCTET_STRING, description.len(), &mut self.made);
        self.made.extend_from_slice(description.as_bytes());
        put_header(SET, set, &mut self.made);
        for value in values {
            put_header(OCTET_STRING, value.len(), &mut self.made);
            self.made.extend_from_slice(value);
        }
        let end = self.made.len();
        match self.parts.last_mut() {
            Some(Part::Made(last)) => last.end = end,
            _ => self.parts.push(Part::Made(start..end)),
        }
    }
}

/// Where `part`, a slice of the stored entry, stands in `body`; at or beyond the end of `body` if it is not in it.
fn range_in(body: &[u8], part: &[u8]) -> Range<usize> {
    let start = (part.as_ptr() as usize).wrapping_sub(body.as_ptr() as usize).min(body.len());
    start..(start + part.len()).min(body.len())
}

fn is_hidden(reader: &Reader<'_>, id: u64, attribute: AttrId) -> bool {
    reader.hidden(id).any(|hidden| hidden == attribute)
}

fn length_len(content: usize) -> usize {
    match content {
        0..=0x7f => 1,
        0x80..=0xff => 2,
        0x100..=0xffff => 3,
        0x1_0000..=0xff_ffff => 4,
        _ => 5,
    }
}

fn element_len(content: usize) -> usize {
    1 + length_len(content) + content
}

/// Tag and minimal definite length. Contents stay below 4 GiB: an entry is at most 1 GiB.
fn put_header(tag: u8, content: usize, out: &mut Vec<u8>) {
    out.push(tag);
    let bytes = (content as u64).to_be_bytes();
    match length_len(content) {
        1 => out.push(bytes[7]),
        n => {
            out.push(0x80 | (n - 1) as u8);
            out.extend_from_slice(&bytes[9 - n..]);
        }
    }
}
