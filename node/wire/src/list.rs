//! Lists without allocation: either a checked run of encoded elements inside the message, or a slice of
//! values that the caller holds. So one struct serves both directions, and a list of eight million empty
//! values costs no more than the message that carries it.

use std::fmt;

use crate::ber::{Reader, write};
use crate::error::{DecodeError, DecodeErrorKind};

/// What can stand in a [`List`].
pub trait Element<'a>: Copy {
    /// Reads one element.
    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError>;
    /// Appends one element.
    fn write(&self, out: &mut Vec<u8>);
}

/// An OCTET STRING: an attribute value, an attribute selector, a referral URI.
impl<'a> Element<'a> for &'a [u8] {
    #[inline]
    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.octets("value")
    }

    #[inline]
    fn write(&self, out: &mut Vec<u8>) {
        write::put_octets(out, self);
    }
}

/// A SEQUENCE OF or SET OF.
#[derive(Clone, Copy)]
pub struct List<'a, T>(Repr<'a, T>);

#[derive(Clone, Copy)]
enum Repr<'a, T> {
    /// Encoded elements, each of which was read once without error.
    Encoded { bytes: &'a [u8], count: usize },
    /// Values held by the caller.
    Items(&'a [T]),
}

/// A list of octet strings.
pub type OctetStrings<'a> = List<'a, &'a [u8]>;

impl<'a, T: Element<'a>> List<'a, T> {
    /// The empty list.
    pub const EMPTY: List<'a, T> = List(Repr::Items(&[]));

    /// Checks every element up to the end of `reader` and keeps the run; more than `limit` elements are
    /// an error of `what`.
    #[inline]
    pub(crate) fn decode(reader: Reader<'a>, limit: usize, what: &'static str) -> Result<Self, DecodeError> {
        Self::decode_checked(reader, limit, what, |_| Ok(()))
    }

    /// The same, with a further check of each element; its error is located behind the element.
    #[inline]
    pub(crate) fn decode_checked(
        reader: Reader<'a>,
        limit: usize,
        what: &'static str,
        mut check: impl FnMut(&T) -> Result<(), DecodeErrorKind>,
    ) -> Result<Self, DecodeError> {
        let mut rest = reader;
        let mut count = 0;
        while !rest.is_empty() {
            if count == limit {
                return Err(rest.fault(what, DecodeErrorKind::TooMany { limit }));
            }
            let element = T::read(&mut rest)?;
            check(&element).map_err(|kind| rest.fault(what, kind))?;
            count += 1;
        }
        Ok(List(Repr::Encoded { bytes: reader.rest(), count }))
    }

    /// Number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        match self.0 {
            Repr::Encoded { count, .. } => count,
            Repr::Items(items) => items.len(),
        }
    }

    /// True without elements.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements in order.
    #[inline]
    pub fn iter(&self) -> Iter<'a, T> {
        match self.0 {
            Repr::Encoded { bytes, count } => Iter { repr: IterRepr::Encoded(Reader::new(bytes)), left: count },
            Repr::Items(items) => Iter { repr: IterRepr::Items(items.iter()), left: items.len() },
        }
    }

    /// Appends the elements, without a header.
    #[inline]
    pub(crate) fn write_elements(&self, out: &mut Vec<u8>) {
        match self.0 {
            Repr::Encoded { bytes, .. } => out.extend_from_slice(bytes),
            Repr::Items(items) => items.iter().for_each(|item| item.write(out)),
        }
    }

    /// Appends the list under this tag.
    pub(crate) fn write(&self, out: &mut Vec<u8>, tag: u8) {
        match self.0 {
            Repr::Encoded { bytes, .. } => write::put_tlv(out, tag, bytes),
            Repr::Items(_) => write::put_constructed(out, tag, |out| self.write_elements(out)),
        }
    }
}

impl<'a> OctetStrings<'a> {
    /// Bytes that the elements take when encoded, without a header.
    pub(crate) fn elements_size(&self) -> usize {
        match self.0 {
            Repr::Encoded { bytes, .. } => bytes.len(),
            Repr::Items(items) => items.iter().map(|item| write::tlv_size(item.len())).sum(),
        }
    }
}

impl<'a, T: Element<'a>> Default for List<'a, T> {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl<'a, T> From<&'a [T]> for List<'a, T> {
    fn from(items: &'a [T]) -> Self {
        List(Repr::Items(items))
    }
}

impl<'a, T> From<&'a Vec<T>> for List<'a, T> {
    fn from(items: &'a Vec<T>) -> Self {
        List(Repr::Items(items))
    }
}

impl<'a, T, const N: usize> From<&'a [T; N]> for List<'a, T> {
    fn from(items: &'a [T; N]) -> Self {
        List(Repr::Items(items))
    }
}

impl<'a, T: Element<'a>> IntoIterator for List<'a, T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<'a, T: Element<'a>> IntoIterator for &List<'a, T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<'a, T: Element<'a> + PartialEq> PartialEq for List<'a, T> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl<'a, T: Element<'a> + Eq> Eq for List<'a, T> {}

impl<'a, T: Element<'a> + fmt::Debug> fmt::Debug for List<'a, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// The elements of a [`List`].
#[derive(Clone)]
pub struct Iter<'a, T> {
    repr: IterRepr<'a, T>,
    left: usize,
}

#[derive(Clone)]
enum IterRepr<'a, T> {
    Encoded(Reader<'a>),
    Items(std::slice::Iter<'a, T>),
}

impl<'a, T: Element<'a>> Iterator for Iter<'a, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        let item = match &mut self.repr {
            IterRepr::Encoded(reader) if reader.is_empty() => None,
            // The run was checked when the list was made, so this does not fail.
            IterRepr::Encoded(reader) => T::read(reader).ok(),
            IterRepr::Items(items) => items.next().copied(),
        };
        self.left = if item.is_some() { self.left.saturating_sub(1) } else { 0 };
        item
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<'a, T: Element<'a>> ExactSizeIterator for Iter<'a, T> {}
