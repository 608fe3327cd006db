//! Which indexes exist, and in which state. Changed by log entries only.

use super::config::IndexTypes;
use bindery_model::schema::AttrId;
use bindery_store::TreeId;

/// The indexes of one attribute type: one tree, whose keys begin with the index type.
///
/// A type that is in neither set is absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Index {
    /// The attribute type; values of its subtypes are indexed under it too.
    pub attribute: AttrId,
    /// The tree that holds the posting lists.
    pub tree: TreeId,
    /// Complete: the planner may use these.
    pub ready: IndexTypes,
    /// Being built: kept up by every change, but entries from `next_id` on may be missing.
    pub building: IndexTypes,
    /// The first id that the next building step looks at; 0 when nothing is being built.
    pub next_id: u64,
}

impl Index {
    /// The types that a change of an entry must be written to. Building ones too, whether the build has
    /// passed the entry or not: adding and removing an id are idempotent.
    pub fn maintained(&self) -> IndexTypes {
        self.ready.or(self.building)
    }
}

/// All indexes of one version of the directory, ordered by attribute id.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Indexes {
    list: Vec<Index>,
}

impl Indexes {
    /// From definitions in any order, at most one for each attribute.
    pub fn new(mut list: Vec<Index>) -> Indexes {
        list.sort_by_key(|index| index.attribute.0);
        Indexes { list }
    }

    /// Every index, ordered by attribute id.
    pub fn iter(&self) -> std::slice::Iter<'_, Index> {
        self.list.iter()
    }

    /// The indexes of `attribute`, in whatever state.
    pub fn find(&self, attribute: AttrId) -> Option<&Index> {
        let at = self.list.binary_search_by_key(&attribute.0, |index| index.attribute.0).ok()?;
        Some(&self.list[at])
    }

    /// The tree of `attribute` if all of `types` are complete: what the planner may use.
    pub fn ready(&self, attribute: AttrId, types: IndexTypes) -> Option<TreeId> {
        self.find(attribute).filter(|index| index.ready.has(types)).map(|index| index.tree)
    }
}
