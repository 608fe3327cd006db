//! From the wire's words to the model's.

use bindery_model::filter::Filter;
use bindery_wire::filter::{self as wire, Piece};

/// A filter as the model knows it. The wire's decoder has bounded depth and size.
pub fn filter(filter: &wire::Filter<'_>) -> Filter {
    match filter {
        wire::Filter::And(members) => Filter::And(members.iter().map(self::filter).collect()),
        wire::Filter::Or(members) => Filter::Or(members.iter().map(self::filter).collect()),
        wire::Filter::Not(member) => Filter::Not(Box::new(self::filter(member))),
        wire::Filter::Equality(a) => Filter::Equality { description: a.attribute.to_vec(), value: a.value.to_vec() },
        wire::Filter::GreaterOrEqual(a) => {
            Filter::GreaterOrEqual { description: a.attribute.to_vec(), value: a.value.to_vec() }
        }
        wire::Filter::LessOrEqual(a) => {
            Filter::LessOrEqual { description: a.attribute.to_vec(), value: a.value.to_vec() }
        }
        wire::Filter::Approx(a) => Filter::Approx { description: a.attribute.to_vec(), value: a.value.to_vec() },
        wire::Filter::Present(description) => Filter::Present { description: description.to_vec() },
        wire::Filter::Substrings(substrings) => substring(substrings),
        wire::Filter::Extensible(e) => Filter::Extensible {
            rule: e.matching_rule.map(<[u8]>::to_vec),
            description: e.attribute.map(<[u8]>::to_vec),
            value: e.value.to_vec(),
            dn_attributes: e.dn_attributes,
        },
        // The CHOICE is extensible (RFC 4511 4.5.1.7): what is not known is Undefined, which is what the
        // empty description of no attribute evaluates to.
        wire::Filter::Unknown { .. } => Filter::Present { description: Vec::new() },
    }
}

fn substring(substrings: &wire::Substrings<'_>) -> Filter {
    let (mut initial, mut any, mut last) = (None, Vec::new(), None);
    for piece in substrings.pieces.iter() {
        match piece {
            Piece::Initial(text) => initial = Some(text.to_vec()),
            Piece::Any(text) => any.push(text.to_vec()),
            Piece::Final(text) => last = Some(text.to_vec()),
        }
    }
    Filter::Substrings { description: substrings.attribute.to_vec(), initial, any, last }
}
