//! Which entries a search looks at: its scope, and the cheapest way to walk it.

use crate::dit;
use crate::error::DirectoryError;
use crate::index::idset::IdSet;
use crate::plan::Node;
use crate::tables::{self, DN, ROOT_ID};
use bindery_store::View;

/// How far below the base a search looks (RFC 4511 4.5.1.2; `Subordinates` from draft-sermersheim).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The base.
    Base,
    /// Its children.
    OneLevel,
    /// The base and everything below.
    Subtree,
    /// Everything below the base.
    Subordinates,
}

/// Children that are listed rather than looked for among all entries: 8 bytes each.
const CHILDREN_LISTED: u64 = 131_072;

/// Entries of a subtree that are listed rather than looked for among all entries. Listing costs one walk of the
/// subtree's names, in vain when the subtree turns out to be larger.
const SUBTREE_LISTED: usize = 4096;

/// The entries to look at.
#[derive(Debug)]
pub(crate) enum Walk {
    /// These.
    Ids(IdSet),
    /// All entries, in order of their ids.
    All,
}

/// Entries to look at, and what is known about them.
#[derive(Debug)]
pub(crate) struct Candidates {
    pub(crate) walk: Walk,
    /// Whether the filter is known to be True for all of them.
    pub(crate) exact: bool,
    /// Whether all of them are known to be in scope.
    pub(crate) in_scope: bool,
}

/// Which part of the results is wanted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pages {
    /// The first id.
    pub(crate) from: u64,
    /// Whether only a part of what follows is.
    pub(crate) paged: bool,
}

/// Chooses between walking the scope and reading the indexes. `single_suffix`: the base is the only naming context,
/// so that everything is below it.
pub(crate) fn candidates(
    view: &View,
    base: u64,
    scope: Scope,
    single_suffix: bool,
    plan: &Node,
    pages: Pages,
) -> Result<Candidates, DirectoryError> {
    let expected = plan.estimate();
    if *plan == Node::Nothing {
        return Ok(Candidates { walk: Walk::Ids(IdSet::Empty), exact: true, in_scope: true });
    }
    let listed = match scope {
        Scope::Base => Some(vec![base]),
        Scope::OneLevel => {
            let children = dit::parent_record(view, base)?.map_or(0, |record| record.children);
            // A list is made anew for each page.
            let most = if pages.paged { SUBTREE_LISTED as u64 } else { CHILDREN_LISTED };
            if children <= expected && children <= most { Some(children_of(view, base)?) } else { None }
        }
        Scope::Subtree | Scope::Subordinates if base == ROOT_ID || single_suffix => None,
        Scope::Subtree | Scope::Subordinates if expected > SUBTREE_LISTED as u64 => {
            let ids = descendants(view, base, SUBTREE_LISTED)?;
            ids.map(|mut ids| {
                if scope == Scope::Subtree {
                    ids.push(base);
                }
                ids
            })
        }
        Scope::Subtree | Scope::Subordinates => None,
    };
    if let Some(mut ids) = listed {
        ids.sort_unstable();
        ids.dedup();
        let exact = matches!(plan, Node::All { exact: true });
        return Ok(Candidates { walk: Walk::Ids(IdSet::from_sorted(ids)), exact, in_scope: true });
    }
    let everything = scope == Scope::Subtree && (base == ROOT_ID || single_suffix);
    let walk = match plan.candidates(view, pages.from)? {
        Some(ids) => Walk::Ids(ids),
        None => Walk::All,
    };
    Ok(Candidates { walk, exact: plan.is_exact(), in_scope: everything })
}

/// Ids of the children of `parent`, in the order of their names.
pub(crate) fn children_of(view: &View, parent: u64) -> Result<Vec<u64>, DirectoryError> {
    let mut out = Vec::new();
    each_child(view, parent, |id| {
        out.push(id);
        true
    })?;
    Ok(out)
}

fn each_child(view: &View, parent: u64, mut visit: impl FnMut(u64) -> bool) -> Result<(), DirectoryError> {
    let prefix = tables::dn_prefix(parent);
    let mut cursor = view.cursor(DN);
    let mut valid = cursor.seek(&prefix)?;
    while valid && cursor.key().starts_with(&prefix) {
        let id = tables::parse_u64(cursor.value())
            .ok_or_else(|| DirectoryError::inconsistent("a value of the name tree is no id"))?;
        if !visit(id) {
            return Ok(());
        }
        valid = cursor.next()?;
    }
    Ok(())
}

/// Everything below `base`, or `None` when that is more than `most`.
fn descendants(view: &View, base: u64, most: usize) -> Result<Option<Vec<u64>>, DirectoryError> {
    let mut out = Vec::new();
    let mut open = vec![base];
    while let Some(parent) = open.pop() {
        // Known before the walk: one huge flat container is given up at once.
        let children = dit::parent_record(view, parent)?.map_or(0, |record| record.children);
        if children > (most - out.len()) as u64 {
            return Ok(None);
        }
        if children == 0 {
            continue;
        }
        let start = out.len();
        each_child(view, parent, |id| {
            out.push(id);
            out.len() <= most
        })?;
        if out.len() > most {
            return Ok(None);
        }
        open.extend_from_slice(&out[start..]);
    }
    Ok(Some(out))
}
