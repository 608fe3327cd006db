//! Running a plan: reading the lists that it names, cheapest first.

use super::Node;
use crate::index::idset::{IdSet, Union};
use crate::index::posting::{self, PostingError};
use bindery_store::View;

/// Below this many candidates left, reading another list costs more than testing them.
const ENOUGH: u64 = 16;

impl Node {
    /// The candidates with ids from `from` on, `None` for all entries.
    ///
    /// Chunks below `from` are not read; single ids below it may still be in the set.
    pub fn candidates(&self, view: &View, from: u64) -> Result<Option<IdSet>, PostingError> {
        match self {
            Node::All { .. } => Ok(None),
            node => node.read(view, from).map(Some),
        }
    }

    fn read(&self, view: &View, from: u64) -> Result<IdSet, PostingError> {
        match self {
            Node::Nothing => Ok(IdSet::Empty),
            // Never inside another node: whoever builds nodes folds it away.
            Node::All { .. } => Ok(IdSet::Empty),
            Node::Entry { id } => Ok(IdSet::One(*id)),
            Node::Key { only: Some(id), .. } => Ok(IdSet::One(*id)),
            Node::Key { tree, key, .. } => posting::read(view, *tree, key, from),
            Node::Range { tree, range, .. } => posting::read_range(view, *tree, range, from),
            Node::Or { of, .. } => {
                let mut union = Union::default();
                for node in of {
                    union.add(&node.read(view, from)?);
                }
                Ok(union.finish())
            }
            Node::And { of, without, exact, .. } => {
                let Some((first, rest)) = of.split_first() else { return Ok(IdSet::Empty) };
                let mut set = first.read(view, from)?;
                for node in rest {
                    if set.is_empty() || !exact && set.len() <= ENOUGH {
                        return Ok(set);
                    }
                    set = node.read_within(view, from, &set)?;
                }
                for node in without {
                    if set.is_empty() || set.len() <= ENOUGH {
                        return Ok(set);
                    }
                    set = set.and_not(&node.read_within(view, from, &set)?);
                }
                Ok(set)
            }
        }
    }

    fn read_within(&self, view: &View, from: u64, within: &IdSet) -> Result<IdSet, PostingError> {
        match self {
            Node::Key { tree, key, only: None, .. } => posting::read_within(view, *tree, key, within),
            node => Ok(within.and(&node.read(view, from)?)),
        }
    }
}
