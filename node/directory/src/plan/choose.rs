//! From a filter to a plan.
//!
//! Every part of the filter is asked for the set of entries that make it True, or, below a NOT, for those that
//! make it False: under three-valued logic (RFC 4511 4.5.1.7) those two are not each other's complement, since a
//! part that is Undefined is in neither. So negation is carried down to the items, and an item's False set is
//! planned as "all but those of its True set", a superset to re-test.

use super::Node;
use crate::access::Reader;
use crate::index::Indexes;
use crate::index::config::IndexTypes;
use crate::index::grams::{self, Piece};
use crate::index::keys::ordering_kind;
use crate::index::posting::{self, KeyRange, Kind, ORDERED_MAX, Peek, PostingError, record_key};
use bindery_model::filter::{Assertion, AttributeTest, ResolvedFilter, SubstringParts};
use bindery_model::schema::{AttrId, AttributeType, Schema};
use bindery_store::{TreeId, View};

/// Up to this many candidates are tested one by one without looking at further lists.
const FEW: u64 = 64;

/// Keys of a range that are looked at to estimate its size.
const RANGE_LOOK: usize = 256;

/// A range whose size is unknown, or known to be this many times that of the smallest list, is left to the
/// re-test: reading it touches every one of its keys.
const RANGE_WORTH: u64 = 8;

/// What choosing a plan looks at.
pub struct Chooser<'a> {
    /// Records of the version that is searched.
    pub view: &'a View,
    /// Its schema.
    pub schema: &'a Schema,
    /// Its indexes.
    pub indexes: &'a Indexes,
    /// Who searches: an item on an attribute that may be unreadable in some entry is never exact.
    pub reader: Reader<'a>,
    /// `entryDN`, if the schema has it.
    pub entry_dn: Option<AttrId>,
    /// The DNs that the filter compares it with.
    pub named: &'a [NamedEntry],
}

/// A DN in a filter, and the entry that has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedEntry {
    /// Key of the DN by distinguishedNameMatch.
    pub key: Vec<u8>,
    /// Id of the entry; `None` when there is none.
    pub id: Option<u64>,
}

/// The plan for `filter`, for all entries of the directory; the scope is tested later.
pub fn choose(chooser: &Chooser<'_>, filter: &ResolvedFilter) -> Result<Node, PostingError> {
    Ok(match chooser.plan(filter, true)? {
        Set::Of(node) => node,
        Set::AllBut(_) => Node::All { exact: false },
    })
}

/// A set, or the complement of one.
enum Set {
    Of(Node),
    AllBut(Node),
}

impl Chooser<'_> {
    fn plan(&self, filter: &ResolvedFilter, want: bool) -> Result<Set, PostingError> {
        match filter {
            ResolvedFilter::Undefined => Ok(Set::Of(Node::Nothing)),
            ResolvedFilter::Not(inner) => self.plan(inner, !want),
            ResolvedFilter::And(_) | ResolvedFilter::Or(_) => {
                let all_of = matches!(filter, ResolvedFilter::And(_)) == want;
                let mut sets = Vec::new();
                self.members(filter, want, all_of, &mut sets)?;
                Ok(Set::Of(if all_of { intersection(sets) } else { union(sets) }))
            }
            ResolvedFilter::Item { attribute, assertion } => {
                let node = self.item(attribute, assertion)?;
                Ok(match (want, node) {
                    (true, node) => Set::Of(node),
                    // True for every entry: False for none.
                    (false, Node::All { exact: true }) => Set::Of(Node::Nothing),
                    (false, Node::Nothing) => Set::Of(Node::All { exact: false }),
                    (false, node) if node.is_exact() => Set::AllBut(node),
                    (false, _) => Set::Of(Node::All { exact: false }),
                })
            }
        }
    }

    /// Members of nested operators of one kind, as one list: they are ordered together.
    fn members(
        &self,
        filter: &ResolvedFilter,
        want: bool,
        all_of: bool,
        out: &mut Vec<Set>,
    ) -> Result<(), PostingError> {
        match filter {
            ResolvedFilter::And(members) if want == all_of => {
                members.iter().try_for_each(|member| self.members(member, want, all_of, out))
            }
            ResolvedFilter::Or(members) if want != all_of => {
                members.iter().try_for_each(|member| self.members(member, want, all_of, out))
            }
            ResolvedFilter::Not(inner) => self.members(inner, !want, all_of, out),
            other => {
                out.push(self.plan(other, want)?);
                Ok(())
            }
        }
    }

    fn item(&self, test: &AttributeTest, assertion: &Assertion) -> Result<Node, PostingError> {
        let unindexed = Node::All { exact: false };
        let Some(attribute) = test.named.and_then(|id| self.schema.attribute_by_id(id)) else {
            return Ok(unindexed);
        };
        if test.dn_attributes {
            return Ok(unindexed);
        }
        // An index ignores options: `(cn;lang-fr=x)` finds `cn: x` too.
        let certain = test.options.is_empty() && test.ids.iter().all(|id| self.reader.may_search_everywhere(*id));
        // RFC 4512 2.4.2: every entry has an objectClass.
        if certain && *assertion == Assertion::Present && self.schema.object_class_attribute() == Some(attribute.id) {
            return Ok(Node::All { exact: true });
        }
        let node = self.lookup(attribute, assertion)?.unwrap_or(unindexed);
        Ok(if certain { node } else { node.inexact() })
    }

    fn ready(&self, attribute: &AttributeType, types: IndexTypes) -> Option<TreeId> {
        self.indexes.ready(attribute.id, types)
    }

    fn key(
        &self,
        attribute: AttrId,
        kind: Kind,
        tree: TreeId,
        value: &[u8],
        exact: bool,
    ) -> Result<Node, PostingError> {
        let key = record_key(kind, value);
        let (count, only) = match posting::peek(self.view, tree, &key)? {
            Peek::Empty => return Ok(Node::Nothing),
            Peek::One(id) => (1, Some(id)),
            Peek::Many(count) => (count, None),
        };
        Ok(Node::Key { attribute, kind, tree, key, count, only, exact })
    }

    fn range(
        &self,
        attribute: AttrId,
        kind: Kind,
        tree: TreeId,
        range: KeyRange,
        exact: bool,
    ) -> Result<Node, PostingError> {
        let count = posting::count_range(self.view, tree, &range, RANGE_LOOK)?;
        Ok(if count.count == 0 && count.complete {
            Node::Nothing
        } else {
            Node::Range { attribute, kind, tree, range, count, exact }
        })
    }

    /// What the indexes of `attribute` say about an assertion; `None` when none of them can say anything. An index
    /// holds the keys of the attribute's own rules, so an assertion by another rule finds nothing there.
    fn lookup(&self, attribute: &AttributeType, assertion: &Assertion) -> Result<Option<Node>, PostingError> {
        let id = attribute.id;
        match assertion {
            Assertion::Present => {
                let Some(tree) = self.ready(attribute, IndexTypes::PRESENCE) else { return Ok(None) };
                self.key(id, Kind::Presence, tree, &[], true).map(Some)
            }
            Assertion::Equality { rule, key } if attribute.equality == Some(*rule) => {
                if self.entry_dn == Some(id) {
                    let named = self.named.iter().find(|named| named.key == *key);
                    return Ok(named.map(|named| named.id.map_or(Node::Nothing, |id| Node::Entry { id })));
                }
                self.equal(attribute, key)
            }
            Assertion::ObjectClass { class } => match self.schema.object_class_by_id(*class) {
                Some(class) => self.equal(attribute, class.oid.as_bytes()),
                None => Ok(None),
            },
            Assertion::GreaterOrEqual { rule, key } if attribute.ordering == Some(*rule) => {
                self.ordered(attribute, key, KeyRange::at_least)
            }
            Assertion::LessOrEqual { rule, key } if attribute.ordering == Some(*rule) => {
                self.ordered(attribute, key, KeyRange::at_most)
            }
            Assertion::Substrings { rule, parts } if attribute.substring == Some(*rule) => {
                self.substrings(attribute, parts)
            }
            Assertion::Approx { rule, words, key } if attribute.equality == Some(*rule) => {
                if words.is_empty() {
                    return self.equal(attribute, key);
                }
                let Some(tree) = self.ready(attribute, IndexTypes::APPROX) else { return Ok(None) };
                let mut sets = Vec::with_capacity(words.len());
                for word in words {
                    sets.push(Set::Of(self.key(id, Kind::Approx, tree, word, false)?));
                }
                Ok(Some(intersection(sets)))
            }
            _ => Ok(None),
        }
    }

    fn equal(&self, attribute: &AttributeType, key: &[u8]) -> Result<Option<Node>, PostingError> {
        let Some(tree) = self.ready(attribute, IndexTypes::EQUALITY) else { return Ok(None) };
        self.key(attribute.id, Kind::Equality, tree, key, true).map(Some)
    }

    fn ordered(
        &self,
        attribute: &AttributeType,
        bound: &[u8],
        range: impl Fn(Kind, &[u8]) -> KeyRange,
    ) -> Result<Option<Node>, PostingError> {
        let kind = ordering_kind(attribute);
        let ready = self.ready(attribute, IndexTypes::ORDERING).or_else(|| {
            // Equal keys: the equality index is ordered as well.
            (kind == Kind::Equality).then(|| self.ready(attribute, IndexTypes::EQUALITY)).flatten()
        });
        let Some(tree) = ready else { return Ok(None) };
        let exact = bound.len() <= ORDERED_MAX;
        self.range(attribute.id, kind, tree, range(kind, bound), exact).map(Some)
    }

    fn substrings(&self, attribute: &AttributeType, parts: &SubstringParts) -> Result<Option<Node>, PostingError> {
        let Some(tree) = self.ready(attribute, IndexTypes::SUBSTRING) else { return Ok(None) };
        let any: Vec<&[u8]> = parts.any.iter().map(Vec::as_slice).collect();
        let demand = grams::demand(parts.initial.as_deref(), &any, parts.last.as_deref());
        if demand.pieces.is_empty() {
            return Ok(None);
        }
        let (id, kind) = (attribute.id, Kind::Substring);
        let mut sets = Vec::with_capacity(demand.pieces.len());
        for piece in demand.pieces {
            sets.push(Set::Of(match piece {
                Piece::Key(key) => self.key(id, kind, tree, &key, demand.exact)?,
                Piece::Prefixes(prefixes) => {
                    let mut either = Vec::with_capacity(prefixes.len());
                    for prefix in prefixes {
                        let range = KeyRange::prefix(kind, &prefix);
                        either.push(Set::Of(self.range(id, kind, tree, range, demand.exact)?));
                    }
                    union(either)
                }
            }));
        }
        let found = intersection(sets);
        // Values that are too long to be cut stand apart, and may match whatever is asked for.
        let long = self.key(id, kind, tree, grams::LONG_KEY, false)?;
        Ok(Some(union(vec![Set::Of(found), Set::Of(long)])))
    }
}

fn is_worth_reading(node: &Node, smallest: u64) -> bool {
    match node {
        Node::Nothing | Node::Entry { .. } => true,
        Node::All { .. } => false,
        // One record for each chunk of the smallest list, at most.
        Node::Key { .. } => true,
        Node::Range { count, .. } => count.complete && count.count <= smallest.saturating_mul(RANGE_WORTH),
        Node::And { of, .. } => of.first().is_some_and(|first| is_worth_reading(first, smallest)),
        Node::Or { of, .. } => {
            of.iter().all(|member| is_worth_reading(member, smallest))
                && node.estimate() <= smallest.saturating_mul(RANGE_WORTH)
        }
    }
}

fn intersection(sets: Vec<Set>) -> Node {
    let mut exact = true;
    let mut of = Vec::with_capacity(sets.len());
    let mut without = Vec::new();
    for set in sets {
        match set {
            Set::Of(Node::Nothing) => return Node::Nothing,
            Set::Of(Node::All { exact: all }) => exact &= all,
            Set::Of(node) => of.push(node),
            // False and Undefined entries are told apart by the re-test.
            Set::AllBut(node) => {
                exact = false;
                without.push(node);
            }
        }
    }
    of.sort_by_key(Node::estimate);
    let Some(smallest) = of.first().map(Node::estimate) else { return Node::All { exact } };
    let terms = of.len() + without.len();
    let worth = |node: &Node| smallest > FEW && is_worth_reading(node, smallest);
    let mut first = true;
    of.retain(|node| std::mem::take(&mut first) || worth(node));
    without.retain(worth);
    let skipped = terms - of.len() - without.len();
    exact &= skipped == 0 && of.iter().all(Node::is_exact);
    if of.len() == 1 && without.is_empty() && skipped == 0 {
        let only = of.remove(0);
        return if exact || !only.is_exact() { only } else { only.inexact() };
    }
    Node::And { of, without, skipped, exact }
}

fn union(sets: Vec<Set>) -> Node {
    let mut of = Vec::with_capacity(sets.len());
    let mut all = None;
    for set in sets {
        match set {
            Set::Of(Node::Nothing) => {}
            Set::Of(Node::All { exact }) => all = Some(all.unwrap_or(false) | exact),
            Set::Of(node) => of.push(node),
            Set::AllBut(_) => all = Some(all.unwrap_or(false)),
        }
    }
    if let Some(exact) = all {
        return Node::All { exact };
    }
    match of.len() {
        0 => Node::Nothing,
        1 => of.remove(0),
        _ => {
            let exact = of.iter().all(Node::is_exact);
            Node::Or { of, exact }
        }
    }
}
