//! Ordered walks. A cursor owns a copy of its leaf, so it holds no frame and no epoch between calls.

use super::node::{Node, ValueKind, decode_reference};
use super::search::{MAX_DEPTH, node_of, with_page_for};
use super::value;
use crate::cache::{Cache, Claimant};
use crate::error::StoreError;
use crate::layout::PagePtr;

/// Leaves that a cursor walks in a row before it counts as a scan, which may only replace cold pages: a short range is worth
/// caching, an export or an unindexed search must not empty the cache.
const SCAN_LEAVES: u32 = 16;

/// An ordered position in one tree of one version.
pub struct Cursor<'a> {
    cache: &'a Cache,
    root: Option<PagePtr>,
    /// Inner nodes from the root down, and which child was taken.
    path: Vec<(PagePtr, usize)>,
    leaf: Vec<u8>,
    leaf_pointer: Option<PagePtr>,
    index: usize,
    key: Vec<u8>,
    outside: Vec<u8>,
    is_outside: bool,
    valid: bool,
    keys_only: bool,
    /// Leaves walked since the last seek.
    walked: u32,
}

/// Which child to take on the way down.
#[derive(Clone, Copy)]
enum Towards<'k> {
    Key(&'k [u8]),
    First,
    Last,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(cache: &'a Cache, root: Option<PagePtr>) -> Cursor<'a> {
        Cursor {
            cache,
            root,
            path: Vec::new(),
            leaf: Vec::new(),
            leaf_pointer: None,
            index: 0,
            key: Vec::new(),
            outside: Vec::new(),
            is_outside: false,
            valid: false,
            keys_only: false,
            walked: 0,
        }
    }

    /// From now on values outside leaves are not loaded: [`Cursor::value`] is empty for them.
    pub fn keys_only(mut self) -> Self {
        self.keys_only = true;
        self
    }

    /// Moves to the first key >= `key`.
    pub fn seek(&mut self, key: &[u8]) -> Result<bool, StoreError> {
        if !self.walk_to_leaf(Towards::Key(key))? {
            return Ok(false);
        }
        self.index = match Node::new(&self.leaf).search(key) {
            Ok(index) | Err(index) => index,
        };
        self.settle_forward()
    }

    /// Moves to the last key < `key`.
    pub fn seek_last_before(&mut self, key: &[u8]) -> Result<bool, StoreError> {
        if !self.walk_to_leaf(Towards::Key(key))? {
            return Ok(false);
        }
        self.index = match Node::new(&self.leaf).search(key) {
            Ok(index) | Err(index) => index,
        };
        self.step_back()
    }

    /// Moves to the first key.
    pub fn seek_first(&mut self) -> Result<bool, StoreError> {
        if !self.walk_to_leaf(Towards::First)? {
            return Ok(false);
        }
        self.index = 0;
        self.settle_forward()
    }

    /// Moves to the last key.
    pub fn seek_last(&mut self) -> Result<bool, StoreError> {
        if !self.walk_to_leaf(Towards::Last)? {
            return Ok(false);
        }
        self.index = Node::new(&self.leaf).count();
        self.step_back()
    }

    /// Whether the cursor stands on a record.
    pub fn valid(&self) -> bool {
        self.valid
    }

    /// The key; empty when not valid.
    pub fn key(&self) -> &[u8] {
        if self.valid { &self.key } else { &[] }
    }

    /// The value; empty when not valid.
    pub fn value(&self) -> &[u8] {
        if !self.valid {
            &[]
        } else if self.is_outside {
            &self.outside
        } else {
            Node::new(&self.leaf).value(self.index).bytes
        }
    }

    /// Moves to the next record; false (and not valid) at the end.
    #[allow(clippy::should_implement_trait)] // Lending and fallible: no Iterator.
    pub fn next(&mut self) -> Result<bool, StoreError> {
        if !self.valid {
            return Ok(false);
        }
        self.index += 1;
        self.settle_forward()
    }

    /// Moves to the record before; false (and not valid) at the start.
    pub fn prev(&mut self) -> Result<bool, StoreError> {
        if !self.valid {
            return Ok(false);
        }
        self.step_back()
    }

    /// Stands on the record at `index`, or on the first one of the leaves behind.
    fn settle_forward(&mut self) -> Result<bool, StoreError> {
        self.valid = false;
        while self.index >= Node::new(&self.leaf).count() {
            if !self.neighbour(true)? {
                return Ok(false);
            }
            self.index = 0;
        }
        self.stand()
    }

    /// Stands on the record before `index`.
    fn step_back(&mut self) -> Result<bool, StoreError> {
        self.valid = false;
        while self.index == 0 {
            if !self.neighbour(false)? {
                return Ok(false);
            }
            self.index = Node::new(&self.leaf).count();
        }
        self.index -= 1;
        self.stand()
    }

    fn stand(&mut self) -> Result<bool, StoreError> {
        let node = Node::new(&self.leaf);
        self.key.clear();
        node.append_key(self.index, &mut self.key);
        let cell = node.value(self.index);
        self.is_outside = cell.kind != ValueKind::Inline;
        if self.is_outside {
            self.outside.clear();
            if !self.keys_only {
                let (length, pointer) = decode_reference(cell.bytes, self.leaf_pointer.map_or(0, |p| p.block))?;
                let claimant = self.claimant();
                let outside = &mut self.outside;
                value::with_outside(self.cache, claimant, cell.kind, length, pointer, |bytes| {
                    outside.clear();
                    outside.extend_from_slice(bytes);
                })?;
            }
        }
        self.valid = true;
        Ok(true)
    }

    fn claimant(&self) -> Claimant<'static> {
        if self.walked < SCAN_LEAVES { Claimant::Reader } else { Claimant::Scan }
    }

    fn walk_to_leaf(&mut self, towards: Towards<'_>) -> Result<bool, StoreError> {
        self.walked = 0;
        self.valid = false;
        self.path.clear();
        let Some(root) = self.root else { return Ok(false) };
        self.descend(root, towards)?;
        Ok(true)
    }

    /// Walks down from `pointer`, noting the path, and copies the leaf.
    fn descend(&mut self, mut pointer: PagePtr, towards: Towards<'_>) -> Result<(), StoreError> {
        loop {
            if self.path.len() > MAX_DEPTH {
                return Err(StoreError::Corrupt { block: pointer.block, what: "tree deeper than possible" });
            }
            let claimant = self.claimant();
            let leaf = &mut self.leaf;
            let down = with_page_for(self.cache, pointer, claimant, |bytes| {
                let node = node_of(bytes, pointer)?;
                if node.is_leaf() {
                    leaf.clear();
                    leaf.extend_from_slice(bytes);
                    return Ok::<_, StoreError>(None);
                }
                let index = match towards {
                    Towards::Key(key) => node.child_index(key),
                    Towards::First => 0,
                    Towards::Last => node.count() - 1,
                };
                Ok(Some((index, node.child(index)?)))
            })??;
            match down {
                None => {
                    self.leaf_pointer = Some(pointer);
                    return Ok(());
                }
                Some((index, child)) => {
                    self.path.push((pointer, index));
                    pointer = child;
                }
            }
        }
    }

    /// Goes to the leaf after or before this one.
    fn neighbour(&mut self, forward: bool) -> Result<bool, StoreError> {
        self.walked = self.walked.saturating_add(1);
        while let Some((pointer, index)) = self.path.pop() {
            let target = if forward { Some(index + 1) } else { index.checked_sub(1) };
            let Some(target) = target else { continue };
            let child = with_page_for(self.cache, pointer, Claimant::Reader, |bytes| {
                let node = node_of(bytes, pointer)?;
                if target < node.count() { node.child(target).map(Some) } else { Ok(None) }
            })??;
            if let Some(child) = child {
                self.path.push((pointer, target));
                self.descend(child, if forward { Towards::First } else { Towards::Last })?;
                return Ok(true);
            }
        }
        Ok(false)
    }
}
