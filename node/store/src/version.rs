//! Published versions: the roots of all trees at one moment.

use crate::error::StoreError;
use crate::layout::{PagePtr, ROOT_RECORD_BYTES, get_u32, get_u64};
use crate::space::ReleasedVersions;

/// Root of one tree, with what is counted about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeRoot {
    /// The tree.
    pub tree: u32,
    /// Its root node.
    pub pointer: PagePtr,
    /// Records in it.
    pub records: u64,
    /// Values of it that lie outside leaves.
    pub outside: u64,
}

impl TreeRoot {
    /// Appends the encoded record.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.tree.to_le_bytes());
        out.extend_from_slice(&self.pointer.encode());
        out.extend_from_slice(&self.records.to_le_bytes());
        out.extend_from_slice(&self.outside.to_le_bytes());
    }

    /// Decodes the payload of a roots page at block `at`.
    pub fn decode_all(payload: &[u8], at: u64) -> Result<Vec<TreeRoot>, StoreError> {
        let corrupt = |what| StoreError::Corrupt { block: at, what };
        if !payload.len().is_multiple_of(ROOT_RECORD_BYTES) {
            return Err(corrupt("roots page length"));
        }
        let mut roots: Vec<TreeRoot> = Vec::with_capacity(payload.len() / ROOT_RECORD_BYTES);
        for record in payload.chunks_exact(ROOT_RECORD_BYTES) {
            let root = TreeRoot {
                tree: get_u32(record, 0),
                pointer: PagePtr::decode(&record[4..16], at)?,
                records: get_u64(record, 16),
                outside: get_u64(record, 24),
            };
            if roots.last().is_some_and(|last| last.tree >= root.tree) {
                return Err(corrupt("roots page order"));
            }
            roots.push(root);
        }
        Ok(roots)
    }
}

/// One version. Its last reference going away lets the blocks go that only it needs.
pub struct Version {
    /// The transaction that made it.
    pub generation: u64,
    /// What the caller gave at commit.
    pub label: Vec<u8>,
    /// Roots in order of tree.
    pub roots: Vec<TreeRoot>,
    released: ReleasedVersions,
}

impl Version {
    /// A version; `released` is told when it is dropped.
    pub fn new(generation: u64, label: Vec<u8>, roots: Vec<TreeRoot>, released: ReleasedVersions) -> Version {
        Version { generation, label, roots, released }
    }

    /// Root of a tree.
    pub fn root(&self, tree: u32) -> Option<PagePtr> {
        let index = self.roots.binary_search_by_key(&tree, |root| root.tree).ok()?;
        Some(self.roots[index].pointer)
    }
}

impl Drop for Version {
    fn drop(&mut self) {
        // Only noted here: the space lock may be held by whoever drops this.
        self.released.lock().push(self.generation);
    }
}
