//! Search filters (RFC 4511 4.5.1.7): as received, in their string form (RFC 4515), resolved against a
//! schema, and evaluated with three truth values.

mod display;
mod evaluate;
mod parse;
mod resolve;

pub use evaluate::{EntryValues, Tri};
pub use parse::FilterError;
pub use resolve::{Assertion, AttributeTest, ResolvedFilter, SubstringParts};

/// Deepest nesting of `&`, `|` and `!` in a filter, its items included. Evaluating recurses.
pub const MAX_DEPTH: usize = 64;

/// Most items and operators in one filter: what clients make by program stays below it, and a filter of
/// this size is still evaluated in about a millisecond an entry.
pub const MAX_NODES: usize = 16_384;

/// Longest string form: the largest message that carries a filter, before authentication, has 256 KiB.
pub const MAX_STRING_BYTES: usize = 1 << 20;

/// A filter as a client sent it: descriptions and assertion values are bytes, not yet understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Filter {
    /// Without members it is True (RFC 4526).
    And(Vec<Filter>),
    /// Without members it is False (RFC 4526).
    Or(Vec<Filter>),
    /// True when its member is False; Undefined stays.
    Not(Box<Filter>),
    /// `(attr=value)`
    Equality { description: Vec<u8>, value: Vec<u8> },
    /// `(attr=initial*any*last)`; at least one part is there, and none is empty.
    Substrings { description: Vec<u8>, initial: Option<Vec<u8>>, any: Vec<Vec<u8>>, last: Option<Vec<u8>> },
    /// `(attr>=value)`
    GreaterOrEqual { description: Vec<u8>, value: Vec<u8> },
    /// `(attr<=value)`
    LessOrEqual { description: Vec<u8>, value: Vec<u8> },
    /// `(attr~=value)`
    Approx { description: Vec<u8>, value: Vec<u8> },
    /// `(attr=*)`
    Present { description: Vec<u8> },
    /// `(attr:dn:rule:=value)`; the attribute or the rule is there.
    Extensible { rule: Option<Vec<u8>>, description: Option<Vec<u8>>, value: Vec<u8>, dn_attributes: bool },
}

#[cfg(test)]
mod tests;
