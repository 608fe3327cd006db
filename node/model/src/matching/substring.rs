//! Substring matching (RFC 4517, 4.2: the substrings rules; RFC 4511, 4.5.1.7.2).

use super::normalize::{LINE_SEPARATOR, unescape, unescape_line};
use super::{MatchingRule, RuleKind};
use crate::error::InvalidValue;
use crate::prep::{self, Fold, Part};
use crate::schema::Schema;

/// Parts of a substring assertion given as text at most.
const MAX_PARTS: usize = 64;

/// Appends the form of a stored value that parts are sought in.
pub(super) fn value(rule: MatchingRule, value: &[u8], schema: &Schema, out: &mut Vec<u8>) -> Result<(), InvalidValue> {
    if rule == MatchingRule::CaseIgnoreListSubstringsMatch {
        // No part may span two lines: parts never hold the separator.
        for (at, line) in value.split(|&byte| byte == b'$').enumerate() {
            if at > 0 {
                out.push(LINE_SEPARATOR);
            }
            prep::prepare_part_into(&unescape_line(line), Fold::Ignore, Part::Value, out)?;
        }
        return Ok(());
    }
    prepared(rule, value, Part::Value, schema, out)
}

/// The form of one part.
pub(super) fn part(rule: MatchingRule, part: &[u8], role: Part, schema: &Schema) -> Result<Vec<u8>, InvalidValue> {
    let mut out = Vec::with_capacity(part.len() + 2);
    prepared(rule, part, role, schema, &mut out)?;
    Ok(out)
}

fn prepared(
    rule: MatchingRule,
    text: &[u8],
    role: Part,
    schema: &Schema,
    out: &mut Vec<u8>,
) -> Result<(), InvalidValue> {
    use MatchingRule as R;
    match rule {
        R::CaseIgnoreSubstringsMatch | R::CaseIgnoreIa5SubstringsMatch | R::CaseIgnoreListSubstringsMatch => {
            prep::prepare_part_into(text, Fold::Ignore, role, out)
        }
        R::CaseExactSubstringsMatch | R::CaseExactIa5SubstringsMatch => {
            prep::prepare_part_into(text, Fold::Exact, role, out)
        }
        // Spaces do not count at all in these, and octets are compared as they are.
        _ if rule.kind() == RuleKind::Substring => super::normalize::assertion(rule, text, schema, out),
        _ => Err(InvalidValue::new(rule.name(), "this rule does not match substrings")),
    }
}

/// Matches a value against `initial*any*final` with `\2A` and `\5C` escaped (RFC 4517, 3.3.30).
pub(super) fn text_assertion(
    rule: MatchingRule,
    stored: &[u8],
    asserted: &[u8],
    schema: &Schema,
) -> Result<bool, InvalidValue> {
    let parts: Vec<&[u8]> = asserted.split(|&byte| byte == b'*').collect();
    let refused = |reason| Err(InvalidValue::new(rule.name(), reason));
    if parts.len() > MAX_PARTS {
        return refused("it has too many parts");
    }
    let [first, middle @ .., last] = parts.as_slice() else { return refused("it needs an asterisk") };
    let form = |text: &[u8], role| part(rule, &unescape_part(text), role, schema);
    let initial = if first.is_empty() { None } else { Some(form(first, Part::Initial)?) };
    let end = if last.is_empty() { None } else { Some(form(last, Part::Final)?) };
    let any = middle
        .iter()
        .filter(|part| !part.is_empty())
        .map(|part| form(part, Part::Any))
        .collect::<Result<Vec<_>, _>>()?;
    let mut text = Vec::with_capacity(stored.len() + 8);
    value(rule, stored, schema, &mut text)?;
    Ok(substrings_match(&text, initial.as_deref(), &any, end.as_deref()))
}

fn unescape_part(text: &[u8]) -> Vec<u8> {
    unescape(text, b"2A", b'*')
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

/// Above this product of lengths the quadratic search gives way to a linear one: a long value and a long part of
/// one repeated letter must not occupy a core.
const QUADRATIC_LIMIT: usize = 1 << 16;

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    let Some((&first, more)) = part.split_first() else { return Some(0) };
    let last_start = text.len().checked_sub(part.len())?;
    if text.len().saturating_mul(part.len()) > QUADRATIC_LIMIT
        && let (Ok(text), Ok(part)) = (std::str::from_utf8(text), std::str::from_utf8(part))
    {
        return text.find(part);
    }
    (0..=last_start).find(|&at| text[at] == first && &text[at + 1..at + part.len()] == more)
}
