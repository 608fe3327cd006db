//! BER out, always with the shortest lengths. Sizes can be computed beforehand (two passes, for the hot
//! responses) or patched in behind (for nested and rare shapes).

use super::{BOOLEAN, ENUMERATED, INTEGER, OCTET_STRING};

/// Bytes that a length takes.
#[inline]
pub const fn length_size(length: usize) -> usize {
    if length < 0x80 { 1 } else { 1 + significant_bytes(length) }
}

/// Bytes that an element with so much content takes, tag and length included.
#[inline]
pub const fn tlv_size(content: usize) -> usize {
    1 + length_size(content) + content
}

/// Bytes that an INTEGER's content takes.
#[inline]
pub const fn integer_content_size(value: i64) -> usize {
    // Magnitude bits plus one sign bit, in bytes.
    let magnitude = if value < 0 { !value } else { value };
    (64 - magnitude.leading_zeros() as usize) / 8 + 1
}

const fn significant_bytes(length: usize) -> usize {
    (usize::BITS as usize - length.leading_zeros() as usize).div_ceil(8)
}

/// Longest tag and length together.
const MAX_TAG_AND_LENGTH: usize = 2 + size_of::<usize>();

/// A few headers and small elements gathered on the stack, so that the output grows once for all of them.
#[derive(Debug, Clone, Copy)]
pub struct Gather<const N: usize> {
    bytes: [u8; N],
    used: usize,
}

impl<const N: usize> Gather<N> {
    /// Room for `N` bytes, which the caller chooses for the worst case of what it gathers.
    #[inline]
    pub const fn new() -> Self {
        Gather { bytes: [0; N], used: 0 }
    }

    /// One byte.
    #[inline]
    pub const fn byte(&mut self, byte: u8) {
        self.bytes[self.used] = byte;
        self.used += 1;
    }

    /// Tag and length.
    #[inline]
    pub const fn header(&mut self, tag: u8, length: usize) {
        self.byte(tag);
        if length < 0x80 {
            self.byte(length as u8);
        } else {
            let mut left = significant_bytes(length);
            self.byte(0x80 | left as u8);
            while left > 0 {
                left -= 1;
                self.byte((length >> (8 * left)) as u8);
            }
        }
    }

    /// An integer element with this tag.
    #[inline]
    pub const fn integer(&mut self, tag: u8, value: i64) {
        let mut left = integer_content_size(value);
        self.byte(tag);
        self.byte(left as u8);
        while left > 0 {
            left -= 1;
            self.byte((value >> (8 * left)) as u8);
        }
    }

    /// What was gathered.
    #[inline]
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.used]
    }
}

impl<const N: usize> Default for Gather<N> {
    fn default() -> Self {
        Self::new()
    }
}

/// Tag and length.
#[inline]
pub fn put_header(out: &mut Vec<u8>, tag: u8, length: usize) {
    let mut header = Gather::<MAX_TAG_AND_LENGTH>::new();
    header.header(tag, length);
    out.extend_from_slice(header.as_slice());
}

/// A primitive element.
#[inline]
pub fn put_tlv(out: &mut Vec<u8>, tag: u8, content: &[u8]) {
    put_header(out, tag, content.len());
    out.extend_from_slice(content);
}

/// A primitive element, if there is one.
#[inline]
pub fn put_optional(out: &mut Vec<u8>, tag: u8, content: Option<&[u8]>) {
    if let Some(content) = content {
        put_tlv(out, tag, content);
    }
}

/// An OCTET STRING.
#[inline]
pub fn put_octets(out: &mut Vec<u8>, content: &[u8]) {
    put_tlv(out, OCTET_STRING, content);
}

/// An INTEGER-like element with this tag.
#[inline]
pub fn put_tagged_integer(out: &mut Vec<u8>, tag: u8, value: i64) {
    let mut element = Gather::<10>::new();
    element.integer(tag, value);
    out.extend_from_slice(element.as_slice());
}

/// An INTEGER.
#[inline]
pub fn put_integer(out: &mut Vec<u8>, value: i64) {
    put_tagged_integer(out, INTEGER, value);
}

/// An ENUMERATED.
#[inline]
pub fn put_enumerated(out: &mut Vec<u8>, value: i64) {
    put_tagged_integer(out, ENUMERATED, value);
}

/// A BOOLEAN-like element with this tag; TRUE is 0xFF (RFC 4511 section 5.1).
#[inline]
pub fn put_tagged_boolean(out: &mut Vec<u8>, tag: u8, value: bool) {
    out.extend_from_slice(&[tag, 1, if value { 0xFF } else { 0 }]);
}

/// A BOOLEAN.
#[inline]
pub fn put_boolean(out: &mut Vec<u8>, value: bool) {
    put_tagged_boolean(out, BOOLEAN, value);
}

/// A constructed element whose content `body` appends; its length is patched in behind.
pub fn put_constructed(out: &mut Vec<u8>, tag: u8, body: impl FnOnce(&mut Vec<u8>)) {
    out.extend_from_slice(&[tag, 0]);
    let start = out.len();
    body(out);
    let length = out.len() - start;
    if length < 0x80 {
        out[start - 1] = length as u8;
    } else {
        let mut header = Gather::<MAX_TAG_AND_LENGTH>::new();
        header.header(tag, length);
        let header = header.as_slice();
        let extra = header.len() - 2;
        out.resize(start + length + extra, 0);
        out.copy_within(start..start + length, start + extra);
        out[start - 2..start + extra].copy_from_slice(header);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ber::Reader;
    use proptest::prelude::*;

    #[test]
    fn lengths_are_the_shortest() {
        for (length, header) in [
            (0usize, &[4, 0][..]),
            (127, &[4, 127]),
            (128, &[4, 0x81, 128]),
            (255, &[4, 0x81, 255]),
            (256, &[4, 0x82, 1, 0]),
            (65_536, &[4, 0x83, 1, 0, 0]),
            (16_777_216, &[4, 0x84, 1, 0, 0, 0]),
        ] {
            let mut out = Vec::new();
            put_header(&mut out, 4, length);
            assert_eq!(out, header);
            assert_eq!(tlv_size(length), header.len() + length);
        }
    }

    #[test]
    fn constructed_lengths_are_patched() {
        for size in [0usize, 1, 127, 128, 255, 256, 65_535, 65_536] {
            let content = vec![7u8; size];
            let mut out = vec![1, 2, 3];
            put_constructed(&mut out, 0x30, |out| out.extend_from_slice(&content));
            assert_eq!(out.len(), 3 + tlv_size(size));
            let mut reader = Reader::new(&out[3..]);
            assert_eq!(reader.expect(0x30, "x").unwrap().content, content);
            assert!(reader.is_empty());
        }
    }

    proptest! {
        #[test]
        fn integers_round_trip_in_the_fewest_bytes(value: i64, shift in 0u32..64) {
            let value = value >> shift;
            let mut out = Vec::new();
            put_integer(&mut out, value);
            prop_assert_eq!(Reader::new(&out).integer("n").unwrap(), value);
            prop_assert_eq!(out.len(), 2 + integer_content_size(value));
            if out.len() > 3 {
                let padding = (out[2] == 0 && out[3] < 0x80) || (out[2] == 0xFF && out[3] >= 0x80);
                prop_assert!(!padding);
            }
        }
    }
}
