//! From an entry and an index to the keys under which the entry stands, and from assertion values to the same
//! keys. Whatever writes an index and whatever reads it meet here.

use super::config::IndexTypes;
use super::grams;
use super::posting::{Kind, write_record_key};
use super::{Index, Indexes};
use bindery_model::entry::Entry;
use bindery_model::matching::MatchingRule;
use bindery_model::schema::{AttrId, AttributeType, Schema};
use std::collections::BTreeSet;

/// Keys of one entry in one index tree, ascending.
pub type Keys = BTreeSet<Vec<u8>>;

/// The keys of `entry` in the tree of `index`, for those of `types` that its attribute's rules allow.
///
/// A value that its rule cannot normalise has no key: it matches nothing.
pub fn entry_keys(index: &Index, types: IndexTypes, entry: &Entry, schema: &Schema) -> Keys {
    let mut keys = Keys::new();
    let Some(attribute) = schema.attribute_by_id(index.attribute) else {
        return keys;
    };
    let subtypes = schema.subtypes(index.attribute);
    let class_chain = schema.object_class_attribute() == Some(index.attribute);
    for own in &entry.attributes {
        let id = own.description.id;
        if id != index.attribute && !subtypes.contains(&id) {
            continue;
        }
        for value in &own.values {
            if class_chain {
                if types.has(IndexTypes::EQUALITY) {
                    class_keys(value, schema, &mut keys);
                }
                value_keys(attribute, types.without(IndexTypes::EQUALITY), value, schema, &mut keys);
            } else {
                value_keys(attribute, types, value, schema, &mut keys);
            }
        }
    }
    keys
}

/// Keys to remove and keys to add when an entry changes from `old` to `new`; `None` stands for no entry.
pub fn changed_keys(
    index: &Index,
    types: IndexTypes,
    old: Option<&Entry>,
    new: Option<&Entry>,
    schema: &Schema,
) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let keys = |entry: Option<&Entry>| entry.map_or_else(Keys::new, |entry| entry_keys(index, types, entry, schema));
    let (old, new) = (keys(old), keys(new));
    (old.difference(&new).cloned().collect(), new.difference(&old).cloned().collect())
}

/// Whether an entry that changes only in `attributes` can change its keys in `index`.
pub fn concerns(index: &Index, attributes: &[AttrId], schema: &Schema) -> bool {
    let subtypes = schema.subtypes(index.attribute);
    attributes.iter().any(|id| *id == index.attribute || subtypes.contains(id))
}

/// Every index that is kept up, with the types to write.
pub fn maintained(indexes: &Indexes) -> impl Iterator<Item = (&Index, IndexTypes)> {
    indexes.iter().map(|index| (index, index.maintained())).filter(|(_, types)| !types.is_empty())
}

/// The types of `types` that can be kept for `attribute`: a type without its matching rule indexes nothing.
pub fn supported(attribute: &AttributeType, types: IndexTypes) -> IndexTypes {
    let mut out = types;
    if attribute.equality.is_none() {
        out = out.without(IndexTypes::EQUALITY).without(IndexTypes::APPROX);
    }
    // Parts of an octet string may begin and end within a character; grams are of characters.
    if matches!(attribute.substring, None | Some(MatchingRule::OctetStringSubstringsMatch)) {
        out = out.without(IndexTypes::SUBSTRING);
    }
    if attribute.ordering.is_none() {
        out = out.without(IndexTypes::ORDERING);
    }
    out
}

/// The kind of index tree keys that `(attr>=value)` walks: an equality index sorts as the ordering rule does
/// where both rules make the same keys, and then needs no second copy of every value.
pub fn ordering_kind(attribute: &AttributeType) -> Kind {
    match (attribute.equality, attribute.ordering) {
        (Some(equality), Some(ordering)) if ORDERED_EQUALITY.contains(&(equality, ordering)) => Kind::Equality,
        _ => Kind::Ordering,
    }
}

/// Pairs of rules of which the equality key is the ordering key. A test compares the keys of every pair.
const ORDERED_EQUALITY: [(MatchingRule, MatchingRule); 8] = [
    (MatchingRule::CaseIgnoreMatch, MatchingRule::CaseIgnoreOrderingMatch),
    (MatchingRule::CaseExactMatch, MatchingRule::CaseExactOrderingMatch),
    (MatchingRule::NumericStringMatch, MatchingRule::NumericStringOrderingMatch),
    (MatchingRule::IntegerMatch, MatchingRule::IntegerOrderingMatch),
    (MatchingRule::OctetStringMatch, MatchingRule::OctetStringOrderingMatch),
    (MatchingRule::GeneralizedTimeMatch, MatchingRule::GeneralizedTimeOrderingMatch),
    (MatchingRule::UuidMatch, MatchingRule::UuidOrderingMatch),
    (MatchingRule::CsnMatch, MatchingRule::CsnOrderingMatch),
];

fn insert(keys: &mut Keys, kind: Kind, value: &[u8]) {
    let mut key = Vec::new();
    write_record_key(kind, value, &mut key);
    keys.insert(key);
}

fn value_keys(attribute: &AttributeType, types: IndexTypes, value: &[u8], schema: &Schema, keys: &mut Keys) {
    let types = supported(attribute, types);
    if types.has(IndexTypes::PRESENCE) {
        insert(keys, Kind::Presence, &[]);
    }
    let ordering = ordering_kind(attribute);
    if (types.has(IndexTypes::EQUALITY) || types.has(IndexTypes::ORDERING) && ordering == Kind::Equality)
        && let Some(Ok(normal)) = attribute.equality.map(|rule| rule.normalize(value, schema))
    {
        insert(keys, Kind::Equality, &normal);
    }
    if types.has(IndexTypes::ORDERING)
        && ordering == Kind::Ordering
        && let Some(Ok(key)) = attribute.ordering.map(|rule| rule.ordering_key(value, schema))
    {
        insert(keys, Kind::Ordering, &key);
    }
    if types.has(IndexTypes::APPROX)
        && let Some(rule) = attribute.equality
    {
        for word in rule.approx_key(value) {
            insert(keys, Kind::Approx, &word);
        }
    }
    if types.has(IndexTypes::SUBSTRING)
        && let Some(rule) = attribute.substring
    {
        let mut form = Vec::with_capacity(value.len() + 8);
        if rule.substring_value_into(value, schema, &mut form).is_err() {
            return;
        }
        grams::value_keys(&form, |piece| insert(keys, Kind::Substring, piece));
    }
}

/// An entry belongs to the superclasses of its classes whether they are listed or not (RFC 4512 2.4.2, 3.3). Classes
/// are known by their OIDs: a value may be any of their names.
fn class_keys(value: &[u8], schema: &Schema, keys: &mut Keys) {
    let Some(class) = schema.object_class(value) else { return };
    let ancestors = class.ancestors.iter().filter_map(|id| schema.object_class_by_id(*id));
    for class in std::iter::once(class).chain(ancestors) {
        insert(keys, Kind::Equality, class.oid.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The planner walks an equality index for `>=` where this holds.
    #[test]
    fn ordered_equality_rules_have_equal_keys() {
        let schema = Schema::shipped();
        let values: [&[u8]; 7] = [
            b"20250101000000Z",
            b"202501010000Z",
            b"42",
            b"-17",
            b"597ae2f6-16a6-1027-98f4-d28b5365dc14",
            b"20250101000000.000000Z#000000#000#000000",
            b"Some  Text",
        ];
        for (equality, ordering) in ORDERED_EQUALITY {
            for value in values {
                assert_eq!(
                    equality.normalize(value, &schema).ok(),
                    ordering.ordering_key(value, &schema).ok(),
                    "{} of {}",
                    equality.name(),
                    value.escape_ascii()
                );
            }
        }
    }
}
