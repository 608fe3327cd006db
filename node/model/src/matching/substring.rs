//! Substring forms.
#![allow(clippy::unimplemented)]
use super::MatchingRule;
use crate::error::InvalidValue;
use crate::schema::Schema;

/// Where a part stands in a substring assertion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    Initial,
    Any,
    Final,
}

pub(super) fn value(_r: MatchingRule, _v: &[u8], _s: &Schema, _o: &mut Vec<u8>) -> Result<(), InvalidValue> {
    unimplemented!()
}
pub(super) fn part(_r: MatchingRule, _p: &[u8], _at: Position, _s: &Schema) -> Result<Vec<u8>, InvalidValue> {
    unimplemented!()
}

/// Whether a value in substring form begins with `initial`, ends with `last` and holds all of `any` in order
/// between them, none overlapping (RFC 4511, 4.5.1.7.2).
pub fn substrings_match<P: AsRef<[u8]>>(value: &[u8], initial: Option<&[u8]>, any: &[P], last: Option<&[u8]>) -> bool {
    let mut rest = value;
    if let Some(initial) = initial {
        match rest.strip_prefix(initial) {
            Some(after) => rest = after,
            None => return false,
        }
    }
    if let Some(last) = last {
        match rest.strip_suffix(last) {
            Some(before) => rest = before,
            None => return false,
        }
    }
    for part in any {
        let part = part.as_ref();
        match find(rest, part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    if part.is_empty() {
        return Some(0);
    }
    text.windows(part.len()).position(|window| window == part)
}
