//! A digest of the logical content, by which replicas are compared.
//!
//! For each tree the sum of the hashes of its records: the order in which they were written does not matter. The
//! records of an index count as (key, id) pairs, since lists of one content may have several forms.

use crate::error::DirectoryError;
use crate::index::posting;
use crate::tables::FIRST_INDEX_TREE;
use crate::view::ReadView;
use bindery_store::TreeId;
use xxhash_rust::xxh3::Xxh3Default;

/// Digest of one tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeDigest {
    /// The tree.
    pub tree: TreeId,
    /// Records, or of an index (key, id) pairs.
    pub records: u64,
    /// Sum of their hashes.
    pub sum: u128,
}

fn hash(tree: TreeId, key: &[u8], value: &[u8]) -> u128 {
    let mut hasher = Xxh3Default::new();
    hasher.update(&tree.0.to_be_bytes());
    hasher.update(&(key.len() as u64).to_be_bytes());
    hasher.update(key);
    hasher.update(value);
    hasher.digest128()
}

impl ReadView {
    /// The digest of every tree of this version, by walking all of it. Two replicas that have applied the same log
    /// up to the same position have the same digests.
    ///
    /// # Errors
    /// The store's.
    pub fn digest(&self) -> Result<Vec<TreeDigest>, DirectoryError> {
        let mut trees = self.store.trees()?;
        trees.sort_by_key(|tree| tree.0);
        let mut digests = Vec::with_capacity(trees.len());
        for tree in trees {
            let mut digest = TreeDigest { tree, records: 0, sum: 0 };
            let mut count = |key: &[u8], value: &[u8]| {
                digest.records += 1;
                digest.sum = digest.sum.wrapping_add(hash(tree, key, value));
            };
            let mut cursor = self.store.cursor(tree);
            let mut found = cursor.seek_first()?;
            while found {
                if tree.0 < FIRST_INDEX_TREE {
                    count(cursor.key(), cursor.value());
                } else {
                    posting::visit_record(tree, cursor.key(), cursor.value(), |key, id| {
                        count(key, &id.to_be_bytes());
                    })?;
                }
                found = cursor.next()?;
            }
            // A tree that has been emptied is as one that never was.
            if digest.records > 0 {
                digests.push(digest);
            }
        }
        Ok(digests)
    }
}
