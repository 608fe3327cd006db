//! From a filter as received to one whose attributes are numbers and whose assertions are keys.

use super::{Filter, MAX_DEPTH};
use crate::entry::AttributeDescription;
use crate::matching::{MatchingRule, RuleKind};
use crate::schema::{AttrId, AttributeType, ObjectClassId, Schema};

/// A filter resolved against one version of the schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResolvedFilter {
    /// Without members True.
    And(Vec<ResolvedFilter>),
    /// Without members False.
    Or(Vec<ResolvedFilter>),
    /// Undefined stays.
    Not(Box<ResolvedFilter>),
    /// An item that is Undefined for every entry: the attribute or the rule is unknown, the attribute has no
    /// such rule, or the assertion value does not belong to the rule (RFC 4511 4.5.1.7).
    Undefined,
    /// An attribute and what one of its values must be.
    Item { attribute: AttributeTest, assertion: Assertion },
}

/// The attributes that an item looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttributeTest {
    /// The attribute that the filter names; None when it names only a rule.
    pub named: Option<AttrId>,
    /// It and its subtypes, or all attributes to which the rule applies; sorted.
    pub ids: Vec<AttrId>,
    /// Options that an attribute must have at least (RFC 4512 2.5.2), lower case. One that ends in "-" is a
    /// range (RFC 3866 2.4).
    pub options: Vec<String>,
    /// Also the attribute values of the entry's DN (`:dn`, RFC 4511 4.5.1.7.7).
    pub dn_attributes: bool,
}

/// What a value must be. Keys are those of [`MatchingRule::normalize`] unless said otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Assertion {
    /// Any value.
    Present,
    /// A value with this key.
    Equality { rule: MatchingRule, key: Vec<u8> },
    /// The value names `class` or a class below it: superclasses are implied (RFC 4512 2.4, 3.3).
    ObjectClass { class: ObjectClassId },
    /// A value with these parts in this order.
    Substrings { rule: MatchingRule, parts: SubstringParts },
    /// `key` is [`MatchingRule::ordering_key`]'s.
    GreaterOrEqual { rule: MatchingRule, key: Vec<u8> },
    /// `key` is [`MatchingRule::ordering_key`]'s.
    LessOrEqual { rule: MatchingRule, key: Vec<u8> },
    /// By an ordering rule in an extensible item. `key` is [`MatchingRule::ordering_key`]'s.
    Less { rule: MatchingRule, key: Vec<u8> },
    /// The value has all of `words` ([`MatchingRule::approx_key`]), or equals `key`.
    Approx { rule: MatchingRule, words: Vec<Vec<u8>>, key: Vec<u8> },
    /// By a rule that has no keys: those of bits.
    Rule { rule: MatchingRule, value: Vec<u8> },
}

/// The parts of a substring assertion, in the forms of the rule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SubstringParts {
    /// How the value begins.
    pub initial: Option<Vec<u8>>,
    /// What stands in between, in order.
    pub any: Vec<Vec<u8>>,
    /// How the value ends.
    pub last: Option<Vec<u8>>,
}

impl Filter {
    /// Resolves the filter. Never fails: what cannot be resolved is [`ResolvedFilter::Undefined`].
    pub fn resolve(&self, schema: &Schema) -> ResolvedFilter {
        self.resolve_at(schema, 1)
    }

    fn resolve_at(&self, schema: &Schema, depth: usize) -> ResolvedFilter {
        // Filters that were parsed are not as deep; those that a program made must not exhaust the stack.
        if depth > MAX_DEPTH {
            return ResolvedFilter::Undefined;
        }
        let members = |list: &[Filter]| list.iter().map(|member| member.resolve_at(schema, depth + 1)).collect();
        let item = match self {
            Self::And(list) => return ResolvedFilter::And(members(list)),
            Self::Or(list) => return ResolvedFilter::Or(members(list)),
            Self::Not(negated) => return ResolvedFilter::Not(Box::new(negated.resolve_at(schema, depth + 1))),
            Self::Present { description } => attribute(description, schema).map(|(test, _)| (test, Assertion::Present)),
            Self::Equality { description, value } => {
                with(description, schema, |attribute| equality(attribute, attribute.equality?, value, schema))
            }
            Self::Substrings { description, initial, any, last } => with(description, schema, |attribute| {
                let any = any.iter().map(Vec::as_slice);
                substrings(attribute.substring?, initial.as_deref(), any, last.as_deref(), schema)
            }),
            Self::GreaterOrEqual { description, value } => with(description, schema, |attribute| {
                let (rule, key) = ordering(attribute.ordering?, value, schema)?;
                Some(Assertion::GreaterOrEqual { rule, key })
            }),
            Self::LessOrEqual { description, value } => with(description, schema, |attribute| {
                let (rule, key) = ordering(attribute.ordering?, value, schema)?;
                Some(Assertion::LessOrEqual { rule, key })
            }),
            Self::Approx { description, value } => {
                with(description, schema, |attribute| approx(attribute, attribute.equality?, value, schema))
            }
            Self::Extensible { rule, description, value, dn_attributes } => {
                extensible(rule.as_deref(), description.as_deref(), value, *dn_attributes, schema)
            }
        };
        match item {
            Some((attribute, assertion)) => ResolvedFilter::Item { attribute, assertion },
            None => ResolvedFilter::Undefined,
        }
    }
}

impl ResolvedFilter {
    /// Calls `visit` for each item.
    pub fn for_each_item(&self, visit: &mut dyn FnMut(&AttributeTest, &Assertion)) {
        match self {
            Self::And(members) | Self::Or(members) => members.iter().for_each(|member| member.for_each_item(visit)),
            Self::Not(negated) => negated.for_each_item(visit),
            Self::Undefined => {}
            Self::Item { attribute, assertion } => visit(attribute, assertion),
        }
    }

    /// Whether some item looks at the attribute.
    pub fn mentions(&self, id: AttrId) -> bool {
        let mut found = false;
        self.for_each_item(&mut |attribute, _| found |= attribute.has_id(id));
        found
    }
}

impl AttributeTest {
    /// Whether attributes of this type are looked at.
    pub fn has_id(&self, id: AttrId) -> bool {
        match &*self.ids {
            [only] => *only == id,
            ids => ids.binary_search(&id).is_ok(),
        }
    }

    /// Whether an attribute with these options is looked at.
    pub fn has_options<'o>(&self, present: impl Iterator<Item = &'o str> + Clone) -> bool {
        self.options.iter().all(|wanted| present.clone().any(|option| option_covers(wanted, option)))
    }
}

/// RFC 3866 2.4: "lang-en-" is every language tag that begins so, and "lang-en" itself.
fn option_covers(wanted: &str, option: &str) -> bool {
    match wanted.strip_suffix('-') {
        Some(bare) => option == bare || option.starts_with(wanted),
        None => option == wanted,
    }
}

type Item = (AttributeTest, Assertion);

/// An item that names an attribute.
fn with<'s>(
    description: &[u8],
    schema: &'s Schema,
    assertion: impl FnOnce(&'s AttributeType) -> Option<Assertion>,
) -> Option<Item> {
    let (test, attribute) = attribute(description, schema)?;
    Some((test, assertion(attribute)?))
}

fn attribute<'s>(description: &[u8], schema: &'s Schema) -> Option<(AttributeTest, &'s AttributeType)> {
    let AttributeDescription { id, options } = AttributeDescription::parse(description, schema).ok()?;
    let ids = schema.subtypes(id).to_vec();
    let test = AttributeTest { named: Some(id), ids, options, dn_attributes: false };
    Some((test, schema.attribute_by_id(id)?))
}

fn equality(attribute: &AttributeType, rule: MatchingRule, value: &[u8], schema: &Schema) -> Option<Assertion> {
    if rule == MatchingRule::ObjectIdentifierMatch && Some(attribute.id) == schema.object_class_attribute() {
        // RFC 4517 4.2.26: Undefined when the descriptor is not recognised.
        return Some(Assertion::ObjectClass { class: schema.object_class_id(value.trim_ascii())? });
    }
    Some(Assertion::Equality { rule, key: rule.normalize_assertion(value, schema).ok()? })
}

fn ordering(rule: MatchingRule, value: &[u8], schema: &Schema) -> Option<(MatchingRule, Vec<u8>)> {
    Some((rule, rule.ordering_key(value, schema).ok()?))
}

fn approx(attribute: &AttributeType, rule: MatchingRule, value: &[u8], schema: &Schema) -> Option<Assertion> {
    // RFC 4511 4.5.1.7.6: where approximate matching is not supported, equality.
    if !rule.is_text() {
        return equality(attribute, rule, value, schema);
    }
    let key = rule.normalize_assertion(value, schema).ok()?;
    Some(Assertion::Approx { rule, words: rule.approx_key(value), key })
}

fn substrings<'v>(
    rule: MatchingRule,
    initial: Option<&[u8]>,
    any: impl Iterator<Item = &'v [u8]>,
    last: Option<&[u8]>,
    schema: &Schema,
) -> Option<Assertion> {
    let parts = SubstringParts {
        initial: initial.map(|part| rule.normalize_initial(part, schema)).transpose().ok()?,
        any: any.map(|part| rule.normalize_any(part, schema)).collect::<Result<_, _>>().ok()?,
        last: last.map(|part| rule.normalize_final(part, schema)).transpose().ok()?,
    };
    Some(Assertion::Substrings { rule, parts })
}

/// RFC 4511 4.5.1.7.7.
fn extensible(
    rule: Option<&[u8]>,
    description: Option<&[u8]>,
    value: &[u8],
    dn_attributes: bool,
    schema: &Schema,
) -> Option<Item> {
    let rule = match rule {
        Some(rule) => Some(MatchingRule::from_name_or_oid(rule)?),
        None => None,
    };
    let (mut test, assertion) = match (description, rule) {
        (Some(description), rule) => {
            let (test, attribute) = attribute(description, schema)?;
            let rule = rule.or(attribute.equality)?;
            let is_class = Some(attribute.id) == schema.object_class_attribute();
            let assertion = if is_class && rule == MatchingRule::ObjectIdentifierMatch {
                equality(attribute, rule, value, schema)?
            } else {
                by_rule(rule, value, schema)?
            };
            (test, assertion)
        }
        (None, Some(rule)) => {
            let applies = |attribute: &&AttributeType| rule_applies(rule, attribute);
            let ids = schema.attributes().filter(applies).map(|attribute| attribute.id).collect();
            let test = AttributeTest { named: None, ids, options: Vec::new(), dn_attributes: false };
            (test, by_rule(rule, value, schema)?)
        }
        (None, None) => return None,
    };
    test.dn_attributes = dn_attributes;
    Some((test, assertion))
}

/// Whether a rule that stands alone is meant for this attribute: it is one of its rules, or compares its syntax.
fn rule_applies(rule: MatchingRule, attribute: &AttributeType) -> bool {
    let own = [attribute.equality, attribute.ordering, attribute.substring];
    own.contains(&Some(rule)) || rule.syntax() == attribute.syntax
}

fn by_rule(rule: MatchingRule, value: &[u8], schema: &Schema) -> Option<Assertion> {
    match rule.kind() {
        RuleKind::Equality => Some(Assertion::Equality { rule, key: rule.normalize_assertion(value, schema).ok()? }),
        RuleKind::Ordering => {
            let (rule, key) = ordering(rule, value, schema)?;
            Some(Assertion::Less { rule, key })
        }
        RuleKind::Substring => {
            let pieces = split_substring_assertion(value)?;
            let [initial, any @ .., last] = &*pieces else { return None };
            let filled = |part: &'_ Vec<u8>| !part.is_empty();
            let any = any.iter().filter(|part| filled(part)).map(Vec::as_slice);
            let (initial, last) = (Some(initial).filter(|part| filled(part)), Some(last).filter(|part| filled(part)));
            substrings(rule, initial.map(Vec::as_slice), any, last.map(Vec::as_slice), schema)
        }
        RuleKind::Extensible => {
            rule.syntax().validate(value).ok()?;
            Some(Assertion::Rule { rule, value: value.to_vec() })
        }
    }
}

/// RFC 4517 3.3.30: parts between "*", in which "\2A" and "\5C" stand for "*" and "\". None without a "*".
fn split_substring_assertion(value: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut pieces = vec![Vec::new()];
    let mut rest = value;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        let byte = match byte {
            b'*' => {
                pieces.push(Vec::new());
                continue;
            }
            b'\\' => {
                let (digits, after) = rest.split_first_chunk::<2>()?;
                rest = after;
                match digits {
                    b"2A" | b"2a" => b'*',
                    b"5C" | b"5c" => b'\\',
                    _ => return None,
                }
            }
            _ => byte,
        };
        pieces.last_mut()?.push(byte);
    }
    (pieces.len() > 1).then_some(pieces)
}
