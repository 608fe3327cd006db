//! Three-valued evaluation of a resolved filter against an entry (RFC 4511 4.5.1.7).

use super::{Assertion, AttributeTest, ResolvedFilter};
use crate::entry::Entry;
use crate::entry_codec::StoredEntry;
use crate::matching::{MatchingRule, substrings_match};
use crate::schema::{AttrId, Schema};

/// A truth value. The order makes And the least and Or the greatest of its members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tri {
    /// Not matched.
    False,
    /// Cannot be told: an unknown attribute, a value that its rule cannot take, an attribute that may not be read.
    Undefined,
    /// Matched: only such entries are found.
    True,
}

impl std::ops::Not for Tri {
    type Output = Self;

    fn not(self) -> Self {
        match self {
            Self::False => Self::True,
            Self::Undefined => Self::Undefined,
            Self::True => Self::False,
        }
    }
}

/// What a filter sees of an entry. Implemented by [`StoredEntry`] and [`Entry`]; the directory wraps one of them
/// to add attributes that are computed, the values of the DN, and access rules.
pub trait EntryValues {
    /// Calls `visit` with type and value for the values of each attribute that `test` looks at, until it returns
    /// true; tells whether it did.
    fn any_value(&self, test: &AttributeTest, visit: &mut dyn FnMut(AttrId, &[u8]) -> bool) -> bool;

    /// The same for each attribute value of the entry's DN, of whatever type.
    fn any_dn_value(&self, _visit: &mut dyn FnMut(AttrId, &[u8]) -> bool) -> bool {
        false
    }

    /// Whether the attribute may be read. An item on one that may not is Undefined, whether or not the entry has
    /// it: so nothing about it can be learned.
    fn is_readable(&self, _id: AttrId) -> bool {
        true
    }
}

impl ResolvedFilter {
    /// Evaluates the filter. `schema` is the one that it was resolved against.
    pub fn evaluate(&self, schema: &Schema, entry: &dyn EntryValues) -> Tri {
        evaluate(self, &mut Context { schema, entry, scratch: Vec::new() })
    }
}

struct Context<'a> {
    schema: &'a Schema,
    entry: &'a dyn EntryValues,
    /// Keys of values are made here, so that an entry costs one allocation at most.
    scratch: Vec<u8>,
}

fn evaluate(filter: &ResolvedFilter, context: &mut Context<'_>) -> Tri {
    match filter {
        ResolvedFilter::And(members) => {
            let mut result = Tri::True;
            for member in members {
                result = result.min(evaluate(member, context));
                if result == Tri::False {
                    break;
                }
            }
            result
        }
        ResolvedFilter::Or(members) => {
            let mut result = Tri::False;
            for member in members {
                result = result.max(evaluate(member, context));
                if result == Tri::True {
                    break;
                }
            }
            result
        }
        ResolvedFilter::Not(negated) => !evaluate(negated, context),
        ResolvedFilter::Undefined => Tri::Undefined,
        ResolvedFilter::Item { attribute, assertion } => item(attribute, assertion, context),
    }
}

fn item(test: &AttributeTest, assertion: &Assertion, context: &mut Context<'_>) -> Tri {
    let Context { schema, entry, scratch } = context;
    let mut visit = |id: AttrId, value: &[u8]| entry.is_readable(id) && matches(assertion, value, schema, scratch);
    if entry.any_value(test, &mut visit) {
        return Tri::True;
    }
    if test.dn_attributes && entry.any_dn_value(&mut |id, value| test.has_id(id) && visit(id, value)) {
        return Tri::True;
    }
    // Also when the entry does not have the attribute.
    if test.ids.iter().all(|id| entry.is_readable(*id)) { Tri::False } else { Tri::Undefined }
}

/// A value that its rule cannot take matches nothing.
fn matches(assertion: &Assertion, value: &[u8], schema: &Schema, scratch: &mut Vec<u8>) -> bool {
    scratch.clear();
    match assertion {
        Assertion::Present => true,
        Assertion::Equality { rule, key } => rule.normalize_into(value, schema, scratch).is_ok() && scratch == key,
        Assertion::ObjectClass { class } => {
            schema.object_class_id(value).is_some_and(|own| schema.is_subclass(own, *class))
        }
        Assertion::Substrings { rule, parts } => {
            (plain_substring_form(*rule, value, scratch) || rule.substring_value_into(value, schema, scratch).is_ok())
                && substrings_match(scratch, parts.initial.as_deref(), &parts.any, parts.last.as_deref())
        }
        Assertion::GreaterOrEqual { rule, key } => rule.ordering_key(value, schema).is_ok_and(|own| own >= *key),
        Assertion::LessOrEqual { rule, key } => rule.ordering_key(value, schema).is_ok_and(|own| own <= *key),
        Assertion::Less { rule, key } => rule.ordering_key(value, schema).is_ok_and(|own| own < *key),
        Assertion::Approx { rule, words, key } => {
            let equal = rule.normalize_into(value, schema, scratch).is_ok() && scratch == key;
            equal || !words.is_empty() && sounds_like(&rule.approx_key(value), words)
        }
        Assertion::Rule { rule, value: asserted } => {
            rule.extensible_match(value, asserted, schema).is_ok_and(|matches| matches)
        }
    }
}

/// [`MatchingRule::substring_value_into`] for the usual value: printable ASCII, single spaces inside only, and a
/// rule of plain text. False, with `form` untouched, for all others. A scan spends most of its time here.
fn plain_substring_form(rule: MatchingRule, value: &[u8], form: &mut Vec<u8>) -> bool {
    use MatchingRule as R;
    let fold = match rule {
        R::CaseIgnoreSubstringsMatch | R::CaseIgnoreIa5SubstringsMatch => true,
        R::CaseExactSubstringsMatch | R::CaseExactIa5SubstringsMatch => false,
        _ => return false,
    };
    let (mut last, mut plain) = (b' ', true);
    for &byte in value {
        plain &= (b' '..0x7f).contains(&byte) && !(byte == b' ' && last == b' ');
        last = byte;
    }
    if !plain || last == b' ' {
        return false;
    }
    // RFC 4518 2.6.1: one space at either end, two for one inside.
    form.push(b' ');
    for &byte in value {
        form.push(if fold { byte.to_ascii_lowercase() } else { byte });
        if byte == b' ' {
            form.push(b' ');
        }
    }
    form.push(b' ');
    true
}

fn sounds_like(own: &[Vec<u8>], words: &[Vec<u8>]) -> bool {
    words.iter().all(|word| own.contains(word))
}

impl EntryValues for StoredEntry<'_> {
    fn any_value(&self, test: &AttributeTest, visit: &mut dyn FnMut(AttrId, &[u8]) -> bool) -> bool {
        self.any_attribute(
            |id| test.has_id(id),
            |attribute| {
                (test.options.is_empty() || test.has_options(attribute.options()))
                    && attribute.values().any(|value| visit(attribute.id(), value))
            },
        )
    }
}

impl EntryValues for Entry {
    fn any_value(&self, test: &AttributeTest, visit: &mut dyn FnMut(AttrId, &[u8]) -> bool) -> bool {
        self.attributes.iter().any(|attribute| {
            let id = attribute.description.id;
            test.has_id(id)
                && test.has_options(attribute.description.options.iter().map(String::as_str))
                && attribute.values.iter().any(|value| visit(id, value))
        })
    }
}
