//! Going through a subtree, parents before their children: what an export needs.
//!
//! The order is that of the normalised names below each parent, so that it depends on nothing but what the
//! directory holds. Memory grows with the depth of the tree, not with its size.

use crate::dit::{self, Resolved};
use crate::error::{DirectoryError, OpError};
use crate::op::Name;
use crate::tables::{self, DN, ID2ENTRY, ROOT_ID};
use crate::view::ReadView;
use bindery_model::entry_codec::StoredEntry;
use std::collections::VecDeque;

/// Children listed at once: one descent of the tree of names for so many entries.
const LISTED: usize = 256;

/// Children of one entry that are still to come.
struct Level {
    parent: u64,
    /// DN of the parent; empty for the root.
    dn: String,
    listed: VecDeque<u64>,
    /// Where the listing goes on; `None` when it has reached the end.
    next_key: Option<Vec<u8>>,
}

/// A walk through one version of the directory.
pub struct Walk {
    view: ReadView,
    /// The base, while it is still to come.
    base: Option<(u64, String)>,
    levels: Vec<Level>,
}

impl Walk {
    /// From the entry named `base` downwards; everything when it is empty.
    ///
    /// # Errors
    /// `NoSuchObject`, names that are none, the store's errors.
    pub fn new(view: ReadView, base: &str) -> Result<Walk, OpError> {
        let name = Name::parse(base, &view.schema)?;
        let mut walk = Walk { view, base: None, levels: Vec::new() };
        match dit::resolve(&walk.view.store, &walk.view.settings, &name.norm).map_err(OpError::from)? {
            Resolved::Root => walk.descend(ROOT_ID, String::new()),
            Resolved::Found { id } => {
                let dn = dit::dn_text(&walk.view.store, id).map_err(OpError::from)?.unwrap_or_default();
                walk.base = Some((id, dn));
            }
            Resolved::Missing { .. } => {
                return Err(OpError::no_such_object(None, format!("{} does not exist", name.dn)));
            }
        }
        Ok(walk)
    }

    /// Gives `visit` the next entry with its DN. False when there is none.
    ///
    /// # Errors
    /// The store's.
    pub fn step(&mut self, visit: &mut dyn FnMut(&str, &StoredEntry<'_>)) -> Result<bool, DirectoryError> {
        let id = match self.base.take() {
            Some((id, dn)) => {
                self.visit(id, Some(dn), visit)?;
                return Ok(true);
            }
            None => self.next_id()?,
        };
        match id {
            Some(id) => self.visit(id, None, visit)?,
            None => return Ok(false),
        }
        Ok(true)
    }

    fn visit(
        &mut self,
        id: u64,
        dn: Option<String>,
        visit: &mut dyn FnMut(&str, &StoredEntry<'_>),
    ) -> Result<(), DirectoryError> {
        let missing = || DirectoryError::inconsistent(format!("entry {id} has a name but no content"));
        let bytes = self.view.store.get_vec(ID2ENTRY, &tables::id_key(id))?.ok_or_else(missing)?;
        let entry =
            StoredEntry::parse(&bytes).map_err(|error| DirectoryError::inconsistent(format!("entry {id}: {error}")))?;
        let dn = dn.unwrap_or_else(|| match self.levels.last() {
            Some(level) if !level.dn.is_empty() => format!("{},{}", entry.rdn(), level.dn),
            _ => entry.rdn().to_owned(),
        });
        visit(&dn, &entry);
        if dit::parent_record(&self.view.store, id)?.is_some_and(|record| record.children > 0) {
            self.descend(id, dn);
        }
        Ok(())
    }

    fn descend(&mut self, parent: u64, dn: String) {
        let next_key = Some(tables::dn_prefix(parent).to_vec());
        self.levels.push(Level { parent, dn, listed: VecDeque::new(), next_key });
    }

    fn next_id(&mut self) -> Result<Option<u64>, DirectoryError> {
        while let Some(level) = self.levels.last_mut() {
            if level.listed.is_empty() {
                list(&self.view, level)?;
            }
            match level.listed.pop_front() {
                Some(id) => return Ok(Some(id)),
                None => {
                    self.levels.pop();
                }
            }
        }
        Ok(None)
    }
}

fn list(view: &ReadView, level: &mut Level) -> Result<(), DirectoryError> {
    let Some(from) = level.next_key.take() else { return Ok(()) };
    let prefix = tables::dn_prefix(level.parent);
    let mut cursor = view.store.cursor(DN);
    let mut valid = cursor.seek(&from)?;
    while valid && cursor.key().starts_with(&prefix) {
        if level.listed.len() == LISTED {
            level.next_key = Some(cursor.key().to_vec());
            return Ok(());
        }
        let id = tables::parse_u64(cursor.value())
            .ok_or_else(|| DirectoryError::inconsistent("a value of the name tree is no id"))?;
        level.listed.push_back(id);
        valid = cursor.next()?;
    }
    Ok(())
}
