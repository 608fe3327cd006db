//! A cursor over BER that hands out only sub-slices it has checked.

use super::{BOOLEAN, ENUMERATED, INTEGER, OCTET_STRING, SEQUENCE};
use crate::error::{DecodeError, DecodeErrorKind};

/// Longest length-of-length accepted: four bytes say 4 GiB, far above any message limit.
pub const MAX_LENGTH_OF_LENGTH: u8 = 4;

/// Longest INTEGER accepted, in bytes; padding with leading zeros is allowed up to here.
const MAX_INTEGER_BYTES: usize = 8;

/// One element: tag and content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tlv<'a> {
    /// The identifier octet.
    pub tag: u8,
    /// The content octets.
    pub content: &'a [u8],
    /// Offset of the content from the start of the message, in bytes.
    pub offset: usize,
}

impl<'a> Tlv<'a> {
    /// A cursor over the content.
    #[inline]
    pub fn reader(&self) -> Reader<'a> {
        Reader { rest: self.content, offset: self.offset }
    }

    /// The content as a two's complement integer.
    #[inline]
    pub fn integer(&self, what: &'static str) -> Result<i64, DecodeError> {
        let [first, others @ ..] = self.content else {
            return Err(self.fault(what, DecodeErrorKind::IntegerLength(0)));
        };
        if others.len() >= MAX_INTEGER_BYTES {
            return Err(self.fault(what, DecodeErrorKind::IntegerLength(self.content.len())));
        }
        let signed = i64::from(first.cast_signed());
        Ok(others.iter().fold(signed, |value, byte| (value << 8) | i64::from(*byte)))
    }

    /// The content as a BOOLEAN; any non-zero byte is TRUE, as 2251 clients send 01.
    #[inline]
    pub fn boolean(&self, what: &'static str) -> Result<bool, DecodeError> {
        match self.content {
            [byte] => Ok(*byte != 0),
            other => Err(self.fault(what, DecodeErrorKind::ContentLength(other.len()))),
        }
    }

    /// A fault located at this element's content.
    #[cold]
    pub fn fault(&self, what: &'static str, kind: DecodeErrorKind) -> DecodeError {
        DecodeError { what, offset: self.offset, kind }
    }
}

/// A cursor over the content of one constructed element.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    rest: &'a [u8],
    offset: usize,
}

impl<'a> Reader<'a> {
    /// A cursor over a whole message or value.
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { rest: bytes, offset: 0 }
    }

    /// What has not been read yet.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// True at the end of the content.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The identifier octet of the next element.
    #[inline]
    pub fn peek_tag(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// A fault located at the next element.
    #[cold]
    pub fn fault(&self, what: &'static str, kind: DecodeErrorKind) -> DecodeError {
        DecodeError { what, offset: self.offset, kind }
    }

    /// The next element, whatever its tag.
    #[inline]
    pub fn any(&mut self, what: &'static str) -> Result<Tlv<'a>, DecodeError> {
        let [tag, first, after @ ..] = self.rest else {
            let kind = if self.rest.is_empty() { DecodeErrorKind::Missing } else { DecodeErrorKind::Truncated };
            return Err(self.fault(what, kind));
        };
        if tag & 0x1F == 0x1F {
            return Err(self.fault(what, DecodeErrorKind::HighTagNumber));
        }
        let (length, body, header_bytes) = if *first < 0x80 {
            (usize::from(*first), after, 2)
        } else {
            let (length, body) = long_length(*first, after).map_err(|kind| self.fault(what, kind))?;
            (length, body, 2 + after.len() - body.len())
        };
        let Some((content, rest)) = body.split_at_checked(length) else {
            return Err(self.fault(what, DecodeErrorKind::Truncated));
        };
        let offset = self.offset + header_bytes;
        self.rest = rest;
        self.offset = offset + length;
        Ok(Tlv { tag: *tag, content, offset })
    }

    /// The next element, which must have this tag.
    #[inline]
    pub fn expect(&mut self, tag: u8, what: &'static str) -> Result<Tlv<'a>, DecodeError> {
        match self.peek_tag() {
            Some(found) if found != tag => Err(self.fault(what, DecodeErrorKind::UnexpectedTag { found })),
            _ => self.any(what),
        }
    }

    /// The next element if it has this tag: an OPTIONAL one. The same tag in the other form (primitive or
    /// constructed) is a fault; passing over it as unknown would drop what the sender meant.
    #[inline]
    pub fn optional(&mut self, tag: u8, what: &'static str) -> Result<Option<Tlv<'a>>, DecodeError> {
        match self.peek_tag() {
            Some(found) if found == tag => self.any(what).map(Some),
            Some(found) if found == tag ^ 0x20 => Err(self.fault(what, DecodeErrorKind::UnexpectedTag { found })),
            _ => Ok(None),
        }
    }

    /// The content of an OPTIONAL string with this tag.
    #[inline]
    pub fn optional_octets(&mut self, tag: u8, what: &'static str) -> Result<Option<&'a [u8]>, DecodeError> {
        Ok(self.optional(tag, what)?.map(|tlv| tlv.content))
    }

    /// An OCTET STRING.
    #[inline]
    pub fn octets(&mut self, what: &'static str) -> Result<&'a [u8], DecodeError> {
        Ok(self.expect(OCTET_STRING, what)?.content)
    }

    /// An INTEGER.
    #[inline]
    pub fn integer(&mut self, what: &'static str) -> Result<i64, DecodeError> {
        self.expect(INTEGER, what)?.integer(what)
    }

    /// An INTEGER from 0 to 2^31-1: MessageID, and everything that RFC 4511 bounds by maxInt.
    #[inline]
    pub fn non_negative(&mut self, what: &'static str) -> Result<i32, DecodeError> {
        let tlv = self.expect(INTEGER, what)?;
        non_negative(&tlv, what)
    }

    /// An ENUMERATED.
    #[inline]
    pub fn enumerated(&mut self, what: &'static str) -> Result<i64, DecodeError> {
        self.expect(ENUMERATED, what)?.integer(what)
    }

    /// A BOOLEAN.
    #[inline]
    pub fn boolean(&mut self, what: &'static str) -> Result<bool, DecodeError> {
        self.expect(BOOLEAN, what)?.boolean(what)
    }

    /// A cursor over the content of a SEQUENCE.
    #[inline]
    pub fn sequence(&mut self, what: &'static str) -> Result<Reader<'a>, DecodeError> {
        Ok(self.expect(SEQUENCE, what)?.reader())
    }

    /// Passes over trailing elements that this version does not know: RFC 4511 section 4 asks for it
    /// in every SEQUENCE. They must still be well formed.
    #[inline]
    pub fn skip_unknown(&mut self, what: &'static str) -> Result<(), DecodeError> {
        while !self.is_empty() {
            self.any(what)?;
        }
        Ok(())
    }

    /// Checks that nothing follows, where the definition is no extensible SEQUENCE.
    #[inline]
    pub fn finish(&self, what: &'static str) -> Result<(), DecodeError> {
        if self.is_empty() { Ok(()) } else { Err(self.fault(what, DecodeErrorKind::TrailingBytes)) }
    }
}

/// An integer element that must lie between 0 and 2^31-1.
#[inline]
pub(crate) fn non_negative(tlv: &Tlv<'_>, what: &'static str) -> Result<i32, DecodeError> {
    let value = tlv.integer(what)?;
    match i32::try_from(value) {
        Ok(value) if value >= 0 => Ok(value),
        _ => Err(tlv.fault(what, DecodeErrorKind::OutOfRange(value))),
    }
}

/// The long form of a length: `first` has its high bit set, `after` follows it.
fn long_length(first: u8, after: &[u8]) -> Result<(usize, &[u8]), DecodeErrorKind> {
    let count = first & 0x7F;
    if count == 0 {
        return Err(DecodeErrorKind::IndefiniteLength);
    }
    if count > MAX_LENGTH_OF_LENGTH {
        return Err(DecodeErrorKind::LengthOfLength(count));
    }
    let Some((length_bytes, body)) = after.split_at_checked(usize::from(count)) else {
        return Err(DecodeErrorKind::Truncated);
    };
    let length = length_bytes.iter().fold(0u32, |length, byte| (length << 8) | u32::from(*byte));
    // A length that does not fit the address space cannot fit the buffer either.
    let length = usize::try_from(length).map_err(|_| DecodeErrorKind::Truncated)?;
    Ok((length, body))
}

/// Decodes a whole value that must be one element, with nothing behind it.
pub(crate) fn whole<'a, T>(
    bytes: &'a [u8],
    what: &'static str,
    read: impl FnOnce(&mut Reader<'a>) -> Result<T, DecodeError>,
) -> Result<T, DecodeError> {
    let mut reader = Reader::new(bytes);
    let value = read(&mut reader)?;
    reader.finish(what)?;
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind<T: std::fmt::Debug>(result: Result<T, DecodeError>) -> DecodeErrorKind {
        result.unwrap_err().kind
    }

    #[test]
    fn lengths_may_be_padded_up_to_four_bytes() {
        for bytes in [
            &[4, 1, b'x'][..],
            &[4, 0x81, 1, b'x'],
            &[4, 0x82, 0, 1, b'x'],
            &[4, 0x83, 0, 0, 1, b'x'],
            &[4, 0x84, 0, 0, 0, 1, b'x'],
        ] {
            let mut reader = Reader::new(bytes);
            assert_eq!(reader.octets("x").unwrap(), b"x");
            assert!(reader.is_empty());
        }
        let five = [4, 0x85, 0, 0, 0, 0, 1, b'x'];
        assert_eq!(kind(Reader::new(&five).octets("x")), DecodeErrorKind::LengthOfLength(5));
    }

    #[test]
    fn indefinite_high_tag_and_truncation_are_refused() {
        assert_eq!(kind(Reader::new(&[4, 0x80, 0, 0]).octets("x")), DecodeErrorKind::IndefiniteLength);
        assert_eq!(kind(Reader::new(&[0x1F, 1, 0]).any("x")), DecodeErrorKind::HighTagNumber);
        assert_eq!(kind(Reader::new(&[]).any("x")), DecodeErrorKind::Missing);
        assert_eq!(kind(Reader::new(&[4]).any("x")), DecodeErrorKind::Truncated);
        assert_eq!(kind(Reader::new(&[4, 2, 0]).any("x")), DecodeErrorKind::Truncated);
        assert_eq!(kind(Reader::new(&[4, 0x82, 1]).any("x")), DecodeErrorKind::Truncated);
        assert_eq!(kind(Reader::new(&[4, 0x84, 255, 255, 255, 255]).any("x")), DecodeErrorKind::Truncated);
    }

    #[test]
    fn integers_of_one_to_eight_bytes() {
        for (bytes, value) in [
            (&[2, 1, 0][..], 0i64),
            (&[2, 1, 0x80], -128),
            (&[2, 2, 0, 0x80], 128),
            (&[2, 4, 0, 0, 0, 5], 5),
            (&[2, 2, 0xFF, 0xFF], -1),
            (&[2, 8, 0x7F, 255, 255, 255, 255, 255, 255, 255], i64::MAX),
            (&[2, 8, 0x80, 0, 0, 0, 0, 0, 0, 0], i64::MIN),
        ] {
            assert_eq!(Reader::new(bytes).integer("n").unwrap(), value);
        }
        assert_eq!(kind(Reader::new(&[2, 0]).integer("n")), DecodeErrorKind::IntegerLength(0));
        assert_eq!(
            kind(Reader::new(&[2, 9, 0, 0, 0, 0, 0, 0, 0, 0, 1]).integer("n")),
            DecodeErrorKind::IntegerLength(9)
        );
        assert_eq!(kind(Reader::new(&[2, 1, 0xFF]).non_negative("n")), DecodeErrorKind::OutOfRange(-1));
        assert_eq!(
            kind(Reader::new(&[2, 5, 0, 0x80, 0, 0, 0]).non_negative("n")),
            DecodeErrorKind::OutOfRange(1 << 31)
        );
    }

    #[test]
    fn offsets_name_the_faulty_element() {
        let bytes = [0x30, 6, 4, 1, b'a', 2, 1, 1];
        let mut inner = Reader::new(&bytes).sequence("s").unwrap();
        inner.octets("a").unwrap();
        assert_eq!(inner.octets("b").unwrap_err().offset, 5);
    }

    #[test]
    fn booleans_are_true_for_any_non_zero_byte() {
        assert!(Reader::new(&[1, 1, 1]).boolean("b").unwrap());
        assert!(Reader::new(&[1, 1, 0xFF]).boolean("b").unwrap());
        assert!(!Reader::new(&[1, 1, 0]).boolean("b").unwrap());
        assert_eq!(kind(Reader::new(&[1, 0]).boolean("b")), DecodeErrorKind::ContentLength(0));
        assert_eq!(kind(Reader::new(&[1, 2, 0, 0]).boolean("b")), DecodeErrorKind::ContentLength(2));
    }
}
