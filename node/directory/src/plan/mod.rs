//! Plans: how the candidates of a search are found. A plan is a value, made from a filter and the counts in
//! the indexes, that can be run and printed.

mod choose;
mod explain;
mod run;

pub use choose::{Chooser, NamedEntry, choose};
pub use explain::explain;

use crate::index::posting::{KeyRange, Kind, RangeCount};
use bindery_model::schema::AttrId;
use bindery_store::TreeId;

/// Where candidates come from. Each node stands for a set that holds every entry for which its part of the
/// filter is True; it is *exact* when it holds no other, and a superset to re-test otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// No entry can match.
    Nothing,
    /// Every entry is a candidate.
    All {
        /// Whether every entry matches, too.
        exact: bool,
    },
    /// One entry, known by its name or id.
    Entry {
        /// Its id.
        id: u64,
    },
    /// The posting list of one index key.
    Key {
        /// Indexed attribute.
        attribute: AttrId,
        /// Which of its indexes.
        kind: Kind,
        /// Tree of the index.
        tree: TreeId,
        /// Header key of the list.
        key: Vec<u8>,
        /// Its length.
        count: u64,
        /// Its id when it has but one: known without reading the list.
        only: Option<u64>,
        /// See [`Node`].
        exact: bool,
    },
    /// The posting lists of a range of index keys.
    Range {
        /// Indexed attribute.
        attribute: AttrId,
        /// Which of its indexes.
        kind: Kind,
        /// Tree of the index.
        tree: TreeId,
        /// The keys.
        range: KeyRange,
        /// What a bounded walk over them counted.
        count: RangeCount,
        /// See [`Node`].
        exact: bool,
    },
    /// In all of these, cheapest first, and in none of `without`.
    And {
        /// Sets to intersect.
        of: Vec<Node>,
        /// Sets to take away.
        without: Vec<Node>,
        /// Terms left to the re-test, because reading their lists costs more than testing what is left.
        skipped: usize,
        /// See [`Node`].
        exact: bool,
    },
    /// In any of these.
    Or {
        /// Sets to unite.
        of: Vec<Node>,
        /// See [`Node`].
        exact: bool,
    },
}

/// What is assumed of a range whose walk was cut short, as a multiple of what was counted.
const UNSEEN_FACTOR: u64 = 16;

impl Node {
    /// Whether candidates need no re-test.
    pub fn is_exact(&self) -> bool {
        match self {
            Node::Nothing | Node::Entry { .. } => true,
            Node::All { exact }
            | Node::Key { exact, .. }
            | Node::Range { exact, .. }
            | Node::And { exact, .. }
            | Node::Or { exact, .. } => *exact,
        }
    }

    /// How many candidates to expect; `u64::MAX` for all entries.
    pub fn estimate(&self) -> u64 {
        match self {
            Node::Nothing => 0,
            Node::Entry { .. } => 1,
            Node::All { .. } => u64::MAX,
            Node::Key { count, .. } => *count,
            Node::Range { count, .. } if count.complete => count.count,
            Node::Range { count, .. } => count.count.saturating_mul(UNSEEN_FACTOR),
            Node::And { of, .. } => of.iter().map(Node::estimate).min().unwrap_or(0),
            Node::Or { of, .. } => of.iter().fold(0u64, |sum, node| sum.saturating_add(node.estimate())),
        }
    }

    pub(crate) fn inexact(mut self) -> Node {
        match &mut self {
            // An entry found by its name still has to be tested against the rest of the filter.
            Node::Nothing => {}
            Node::Entry { id } => {
                let of = vec![Node::Entry { id: *id }];
                return Node::And { of, without: Vec::new(), skipped: 0, exact: false };
            }
            Node::All { exact }
            | Node::Key { exact, .. }
            | Node::Range { exact, .. }
            | Node::And { exact, .. }
            | Node::Or { exact, .. } => *exact = false,
        }
        self
    }
}
