//! Index changes of a batch: gathered, sorted, and merged into each posting list once.
//!
//! Nothing reads an index while a batch is applied, so the changes of all its commands can wait for its
//! end. They are kept in the order in which they were made; of several for one id in one list the last
//! decides.

use super::config::IndexTypes;
use super::posting;
use super::{Index, Indexes, keys};
use crate::error::DirectoryError;
use bindery_model::entry::{Attribute, Entry};
use bindery_model::schema::{AttrId, Schema};
use bindery_store::{TreeId, WriteTxn};

struct Delta {
    tree: u32,
    /// The first eight bytes of the key as a number: most comparisons end here, without touching the key.
    prefix: u64,
    key_start: usize,
    key_len: u32,
    add: bool,
    id: u64,
}

/// Changes of posting lists that are not written yet.
pub(crate) struct Deltas {
    keys: Vec<u8>,
    list: Vec<Delta>,
    /// Above this many gathered bytes the changes are written although the batch goes on: they are sorted in
    /// memory beside the store's frames.
    bytes_max: usize,
}

impl Deltas {
    /// None gathered yet, and about `bytes_max` at most.
    pub(crate) fn new(bytes_max: usize) -> Deltas {
        Deltas { keys: Vec::new(), list: Vec::new(), bytes_max }
    }

    fn push(&mut self, tree: TreeId, key: &[u8], id: u64, add: bool) {
        let key_start = self.keys.len();
        self.keys.extend_from_slice(key);
        let mut prefix = [0; 8];
        let known = key.len().min(prefix.len());
        prefix[..known].copy_from_slice(&key[..known]);
        let prefix = u64::from_be_bytes(prefix);
        self.list.push(Delta { tree: tree.0, prefix, key_start, key_len: key.len() as u32, add, id });
    }

    /// Gathers the changes of every index that is kept up, when entry `id` changes from `old` to `new`; `None`
    /// stands for no entry.
    pub(crate) fn change(
        &mut self,
        indexes: &Indexes,
        schema: &Schema,
        id: u64,
        old: Option<&Entry>,
        new: Option<&Entry>,
    ) {
        let (old, new) = match (old, new) {
            (Some(old), Some(new)) => (old, new),
            (None, Some(entry)) => return self.all(indexes, schema, id, entry, true),
            (Some(entry), None) => return self.all(indexes, schema, id, entry, false),
            (None, None) => return,
        };
        let changed = changed_attributes(old, new);
        for (index, types) in keys::maintained(indexes) {
            if !keys::concerns(index, &changed, schema) {
                continue;
            }
            let (removed, added) = keys::changed_keys(index, types, Some(old), Some(new), schema);
            for key in &removed {
                self.push(index.tree, key, id, false);
            }
            for key in &added {
                self.push(index.tree, key, id, true);
            }
        }
    }

    fn all(&mut self, indexes: &Indexes, schema: &Schema, id: u64, entry: &Entry, add: bool) {
        for (index, types) in keys::maintained(indexes) {
            for key in keys::entry_keys(index, types, entry, schema) {
                self.push(index.tree, &key, id, add);
            }
        }
    }

    /// Gathers the keys of an entry that an index being built has come to.
    pub(crate) fn build(&mut self, index: &Index, types: IndexTypes, schema: &Schema, id: u64, entry: &Entry) {
        for key in keys::entry_keys(index, types, entry, schema) {
            self.push(index.tree, &key, id, true);
        }
    }

    /// Whether it is time to write them.
    pub(crate) fn is_large(&self) -> bool {
        self.keys.len() + self.list.len() * size_of::<Delta>() > self.bytes_max
    }

    /// Forgets the changes of a tree that has been dropped.
    pub(crate) fn forget(&mut self, tree: TreeId) {
        self.list.retain(|delta| delta.tree != tree.0);
    }

    /// Writes all changes, ordered by tree and key.
    pub(crate) fn write(&mut self, txn: &mut WriteTxn) -> Result<(), DirectoryError> {
        let mut list = std::mem::take(&mut self.list);
        let keys = std::mem::take(&mut self.keys);
        let key = |delta: &Delta| &keys[delta.key_start..delta.key_start + delta.key_len as usize];
        // Stable: changes of one id in one list stay in their order.
        list.sort_by(|a, b| (a.tree, a.prefix, key(a), a.id).cmp(&(b.tree, b.prefix, key(b), b.id)));
        let (mut added, mut removed) = (Vec::new(), Vec::new());
        for same in list.chunk_by(|a, b| a.tree == b.tree && a.prefix == b.prefix && key(a) == key(b)) {
            added.clear();
            removed.clear();
            for of_id in same.chunk_by(|a, b| a.id == b.id) {
                let Some(last) = of_id.last() else { continue };
                if last.add { added.push(last.id) } else { removed.push(last.id) }
            }
            let tree = TreeId(same[0].tree);
            if !removed.is_empty() {
                posting::remove(txn, tree, key(&same[0]), &removed)?;
            }
            if !added.is_empty() {
                posting::add(txn, tree, key(&same[0]), &added)?;
            }
        }
        Ok(())
    }
}

/// The attribute types whose values differ.
fn changed_attributes(old: &Entry, new: &Entry) -> Vec<AttrId> {
    let differs = |a: &Entry, b: &Entry| -> Vec<AttrId> {
        let changed =
            |attribute: &&Attribute| b.get(&attribute.description).is_none_or(|other| other.values != attribute.values);
        a.attributes.iter().filter(changed).map(|attribute| attribute.description.id).collect()
    };
    let mut changed = differs(old, new);
    changed.extend(differs(new, old));
    changed.sort_unstable_by_key(|id| id.0);
    changed.dedup();
    changed
}
