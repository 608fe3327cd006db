//! Search filters as they are sent (RFC 4511 section 4.5.1.7): descriptions and assertion values are raw
//! bytes, nothing is looked up.

use std::fmt;

use crate::ber::{OCTET_STRING, Reader, SEQUENCE, Tlv, context, context_constructed, write};
use crate::error::{DecodeError, DecodeErrorKind};
use crate::limits::{Limits, MAX_FILTER_DEPTH};
use crate::list::{Element, List};

const AND: u8 = context_constructed(0);
const OR: u8 = context_constructed(1);
const NOT: u8 = context_constructed(2);
const EQUALITY: u8 = context_constructed(3);
const SUBSTRINGS: u8 = context_constructed(4);
const GREATER_OR_EQUAL: u8 = context_constructed(5);
const LESS_OR_EQUAL: u8 = context_constructed(6);
const PRESENT: u8 = context(7);
const APPROX: u8 = context_constructed(8);
const EXTENSIBLE: u8 = context_constructed(9);

const INITIAL: u8 = context(0);
const ANY: u8 = context(1);
const FINAL: u8 = context(2);

const MATCHING_RULE: u8 = context(1);
const TYPE: u8 = context(2);
const MATCH_VALUE: u8 = context(3);
const DN_ATTRIBUTES: u8 = context(4);

/// A filter. Nested at most [`MAX_FILTER_DEPTH`] deep when it was decoded.
#[derive(Clone, PartialEq, Eq)]
pub enum Filter<'a> {
    /// All of them; of none: absolute true (RFC 4526).
    And(Vec<Filter<'a>>),
    /// Any of them; of none: absolute false (RFC 4526).
    Or(Vec<Filter<'a>>),
    /// The opposite.
    Not(Box<Filter<'a>>),
    /// `(a=v)`.
    Equality(Assertion<'a>),
    /// `(a=i*n*f)`.
    Substrings(Substrings<'a>),
    /// `(a>=v)`.
    GreaterOrEqual(Assertion<'a>),
    /// `(a<=v)`.
    LessOrEqual(Assertion<'a>),
    /// `(a=*)`.
    Present(&'a [u8]),
    /// `(a~=v)`.
    Approx(Assertion<'a>),
    /// `(a:dn:rule:=v)`.
    Extensible(Extensible<'a>),
    /// A choice that LDAPv3 does not define; the CHOICE is extensible, so it evaluates to Undefined.
    Unknown {
        /// The identifier octet.
        tag: u8,
        /// The content, which is not looked into.
        content: &'a [u8],
    },
}

/// AttributeValueAssertion.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Assertion<'a> {
    /// Attribute description as sent.
    pub attribute: &'a [u8],
    /// Assertion value as sent.
    pub value: &'a [u8],
}

/// SubstringFilter: at least one piece, an initial one only first, a final one only last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Substrings<'a> {
    /// Attribute description as sent.
    pub attribute: &'a [u8],
    /// The pieces in order.
    pub pieces: List<'a, Piece<'a>>,
}

/// One piece of a substring filter.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// The value begins with it.
    Initial(&'a [u8]),
    /// The value has it after the piece before.
    Any(&'a [u8]),
    /// The value ends with it.
    Final(&'a [u8]),
}

/// MatchingRuleAssertion: a rule or an attribute, or both.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Extensible<'a> {
    /// Name or OID of the matching rule.
    pub matching_rule: Option<&'a [u8]>,
    /// Attribute description.
    pub attribute: Option<&'a [u8]>,
    /// Assertion value.
    pub value: &'a [u8],
    /// Match the attributes of the DN too.
    pub dn_attributes: bool,
}

impl<'a> Assertion<'a> {
    #[inline]
    fn read(mut reader: Reader<'a>) -> Result<Self, DecodeError> {
        let attribute = reader.octets("attributeDesc")?;
        let value = reader.octets("assertionValue")?;
        reader.skip_unknown("AttributeValueAssertion")?;
        Ok(Assertion { attribute, value })
    }

    fn write(&self, out: &mut Vec<u8>, tag: u8) {
        let size = write::tlv_size(self.attribute.len()) + write::tlv_size(self.value.len());
        write::put_header(out, tag, size);
        write::put_octets(out, self.attribute);
        write::put_octets(out, self.value);
    }

    /// Reads an AttributeValueAssertion that stands alone, as in a compare request.
    pub(crate) fn read_sequence(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Self::read(reader.sequence("AttributeValueAssertion")?)
    }

    /// Appends an AttributeValueAssertion that stands alone.
    pub(crate) fn write_sequence(&self, out: &mut Vec<u8>) {
        self.write(out, SEQUENCE);
    }
}

impl<'a> Element<'a> for Piece<'a> {
    #[inline]
    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let at = *reader;
        let piece = reader.any("substring")?;
        match piece.tag {
            INITIAL => Ok(Piece::Initial(piece.content)),
            ANY => Ok(Piece::Any(piece.content)),
            FINAL => Ok(Piece::Final(piece.content)),
            found => Err(at.fault("substring", DecodeErrorKind::UnexpectedTag { found })),
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Piece::Initial(value) => write::put_tlv(out, INITIAL, value),
            Piece::Any(value) => write::put_tlv(out, ANY, value),
            Piece::Final(value) => write::put_tlv(out, FINAL, value),
        }
    }
}

impl<'a> Substrings<'a> {
    fn read(mut reader: Reader<'a>, terms_left: &mut Budget) -> Result<Self, DecodeError> {
        let attribute = reader.octets("type")?;
        let pieces = reader.sequence("substrings")?;
        if pieces.is_empty() {
            return Err(pieces.fault("substrings", DecodeErrorKind::Empty));
        }
        let (mut first, mut ended) = (true, false);
        let pieces = List::decode_checked(pieces, usize::MAX, "substrings", |piece| {
            let misplaced = ended || (!first && matches!(piece, Piece::Initial(_)));
            if misplaced {
                return Err(DecodeErrorKind::Invalid("initial must come first and final last"));
            }
            (first, ended) = (false, matches!(piece, Piece::Final(_)));
            terms_left.take(1)
        })?;
        reader.skip_unknown("SubstringFilter")?;
        Ok(Substrings { attribute, pieces })
    }
}

impl<'a> Extensible<'a> {
    fn read(mut reader: Reader<'a>) -> Result<Self, DecodeError> {
        let start = reader;
        let matching_rule = reader.optional_octets(MATCHING_RULE, "matchingRule")?;
        let attribute = reader.optional_octets(TYPE, "type")?;
        let value = reader.expect(MATCH_VALUE, "matchValue")?.content;
        let dn_attributes = match reader.optional(DN_ATTRIBUTES, "dnAttributes")? {
            Some(tlv) => tlv.boolean("dnAttributes")?,
            None => false,
        };
        reader.skip_unknown("MatchingRuleAssertion")?;
        if matching_rule.is_none() && attribute.is_none() {
            let kind = DecodeErrorKind::Invalid("neither matchingRule nor type");
            return Err(start.fault("MatchingRuleAssertion", kind));
        }
        Ok(Extensible { matching_rule, attribute, value, dn_attributes })
    }

    fn write(&self, out: &mut Vec<u8>) {
        write::put_constructed(out, EXTENSIBLE, |out| {
            write::put_optional(out, MATCHING_RULE, self.matching_rule);
            write::put_optional(out, TYPE, self.attribute);
            write::put_tlv(out, MATCH_VALUE, self.value);
            if self.dn_attributes {
                write::put_tagged_boolean(out, DN_ATTRIBUTES, true);
            }
        });
    }
}

/// What is left of the number of nodes that one filter may have.
struct Budget {
    left: usize,
    limit: usize,
}

impl Budget {
    #[inline]
    fn take(&mut self, count: usize) -> Result<(), DecodeErrorKind> {
        match self.left.checked_sub(count) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(DecodeErrorKind::TooMany { limit: self.limit }),
        }
    }
}

impl<'a> Filter<'a> {
    /// Decodes a value that is one filter, as in the assertion control.
    pub fn decode(value: &'a [u8], limits: &Limits) -> Result<Self, DecodeError> {
        crate::ber::read::whole(value, "Filter", |reader| Self::read(reader, limits))
    }

    /// Reads the next element as a filter.
    #[inline]
    pub(crate) fn read(reader: &mut Reader<'a>, limits: &Limits) -> Result<Self, DecodeError> {
        let mut budget = Budget { left: limits.filter_terms, limit: limits.filter_terms };
        budget.take(1).map_err(|kind| reader.fault("Filter", kind))?;
        let depth = limits.filter_depth.min(MAX_FILTER_DEPTH);
        Self::read_node(reader.any("Filter")?, depth, limits, &mut budget)
    }

    /// One node; `depth_left` bounds the recursion, `budget` already holds this node.
    fn read_node(node: Tlv<'a>, depth_left: usize, limits: &Limits, budget: &mut Budget) -> Result<Self, DecodeError> {
        Ok(match node.tag {
            EQUALITY => Filter::Equality(Assertion::read(node.reader())?),
            PRESENT => Filter::Present(node.content),
            AND => Filter::And(Self::read_set(&node, depth_left, limits, budget)?),
            OR => Filter::Or(Self::read_set(&node, depth_left, limits, budget)?),
            NOT => {
                let depth_left = Self::descend(&node, depth_left, limits)?;
                budget.take(1).map_err(|kind| node.fault("not", kind))?;
                let mut reader = node.reader();
                let inner = reader.any("not")?;
                reader.finish("not")?;
                Filter::Not(Box::new(Self::read_node(inner, depth_left, limits, budget)?))
            }
            SUBSTRINGS => Filter::Substrings(Substrings::read(node.reader(), budget)?),
            GREATER_OR_EQUAL => Filter::GreaterOrEqual(Assertion::read(node.reader())?),
            LESS_OR_EQUAL => Filter::LessOrEqual(Assertion::read(node.reader())?),
            APPROX => Filter::Approx(Assertion::read(node.reader())?),
            EXTENSIBLE => Filter::Extensible(Extensible::read(node.reader())?),
            // A known choice in the wrong form (primitive or constructed) is a fault, not an extension.
            tag if tag & 0xC0 == 0x80 && tag & 0x1F > 9 => Filter::Unknown { tag, content: node.content },
            found => return Err(node.fault("Filter", DecodeErrorKind::UnexpectedTag { found })),
        })
    }

    #[inline]
    fn descend(node: &Tlv<'a>, depth_left: usize, limits: &Limits) -> Result<usize, DecodeError> {
        depth_left.checked_sub(1).ok_or_else(|| {
            let limit = limits.filter_depth.min(MAX_FILTER_DEPTH);
            node.fault("Filter", DecodeErrorKind::TooDeep { limit })
        })
    }

    /// The members of an and or an or. They are counted first, so that the limit is checked before
    /// anything is allocated, and the allocation is exact.
    fn read_set(
        node: &Tlv<'a>,
        depth_left: usize,
        limits: &Limits,
        budget: &mut Budget,
    ) -> Result<Vec<Self>, DecodeError> {
        let depth_left = Self::descend(node, depth_left, limits)?;
        let mut counting = node.reader();
        let mut count = 0;
        while !counting.is_empty() {
            budget.take(1).map_err(|kind| counting.fault("Filter", kind))?;
            counting.any("Filter")?;
            count += 1;
        }
        let mut members = Vec::with_capacity(count);
        let mut reader = node.reader();
        while !reader.is_empty() {
            members.push(Self::read_node(reader.any("Filter")?, depth_left, limits, budget)?);
        }
        Ok(members)
    }

    /// Appends the filter.
    pub fn write(&self, out: &mut Vec<u8>) {
        let set = |out: &mut Vec<u8>, tag, members: &[Filter<'_>]| {
            write::put_constructed(out, tag, |out| members.iter().for_each(|member| member.write(out)));
        };
        match self {
            Filter::And(members) => set(out, AND, members),
            Filter::Or(members) => set(out, OR, members),
            Filter::Not(inner) => write::put_constructed(out, NOT, |out| inner.write(out)),
            Filter::Equality(assertion) => assertion.write(out, EQUALITY),
            Filter::Substrings(substrings) => write::put_constructed(out, SUBSTRINGS, |out| {
                write::put_tlv(out, OCTET_STRING, substrings.attribute);
                substrings.pieces.write(out, SEQUENCE);
            }),
            Filter::GreaterOrEqual(assertion) => assertion.write(out, GREATER_OR_EQUAL),
            Filter::LessOrEqual(assertion) => assertion.write(out, LESS_OR_EQUAL),
            Filter::Present(attribute) => write::put_tlv(out, PRESENT, attribute),
            Filter::Approx(assertion) => assertion.write(out, APPROX),
            Filter::Extensible(extensible) => extensible.write(out),
            Filter::Unknown { tag, content } => write::put_tlv(out, *tag, content),
        }
    }

    /// True for a filter without and, or, not.
    pub fn is_item(&self) -> bool {
        !matches!(self, Filter::And(_) | Filter::Or(_) | Filter::Not(_))
    }
}

/// Like RFC 4515, but with every assertion value replaced by its length: values may be secrets.
impl fmt::Debug for Filter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let set = |f: &mut fmt::Formatter<'_>, sign, members: &[Filter<'_>]| {
            write!(f, "({sign}")?;
            members.iter().try_for_each(|member| write!(f, "{member:?}"))?;
            write!(f, ")")
        };
        let item = |f: &mut fmt::Formatter<'_>, assertion: &Assertion<'_>, sign| {
            write!(f, "({}{sign}<{} bytes>)", assertion.attribute.escape_ascii(), assertion.value.len())
        };
        match self {
            Filter::And(members) => set(f, '&', members),
            Filter::Or(members) => set(f, '|', members),
            Filter::Not(inner) => write!(f, "(!{inner:?})"),
            Filter::Equality(assertion) => item(f, assertion, "="),
            Filter::GreaterOrEqual(assertion) => item(f, assertion, ">="),
            Filter::LessOrEqual(assertion) => item(f, assertion, "<="),
            Filter::Approx(assertion) => item(f, assertion, "~="),
            Filter::Present(attribute) => write!(f, "({}=*)", attribute.escape_ascii()),
            Filter::Substrings(Substrings { attribute, pieces }) => {
                write!(f, "({}={pieces:?})", attribute.escape_ascii())
            }
            Filter::Extensible(extensible) => write!(f, "({extensible:?})"),
            Filter::Unknown { tag, content } => write!(f, "(0x{tag:02x}: <{} bytes>)", content.len()),
        }
    }
}

impl fmt::Debug for Assertion<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}=<{} bytes>", self.attribute.escape_ascii(), self.value.len())
    }
}

impl fmt::Debug for Piece<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Piece::Initial(value) => write!(f, "<{} bytes>*", value.len()),
            Piece::Any(value) => write!(f, "*<{} bytes>*", value.len()),
            Piece::Final(value) => write!(f, "*<{} bytes>", value.len()),
        }
    }
}

impl fmt::Debug for Extensible<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.attribute.unwrap_or_default().escape_ascii())?;
        if self.dn_attributes {
            write!(f, ":dn")?;
        }
        if let Some(rule) = self.matching_rule {
            write!(f, ":{}", rule.escape_ascii())?;
        }
        write!(f, ":=<{} bytes>", self.value.len())
    }
}
