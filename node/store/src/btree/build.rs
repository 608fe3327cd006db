//! Building a tree from keys in order, leaves first.
//!
//! A put walks down from the root; here each page is laid out once, full, and named in the node above it. At any
//! moment one page of each level is being gathered, in memory of its own.

use super::cells::{Cells, common_prefix};
use super::insert::kind_of;
use super::node::{CellValue, ValueKind};
use super::pages::TxnPages;
use crate::error::StoreError;
use crate::layout::PagePtr;
use crate::version::TreeRoot;

/// A tree whose last pages are not laid out yet.
pub struct Builder {
    tree: u32,
    leaf: Cells,
    /// The shortest key that tells the leaf being gathered from the one before it.
    separator: Vec<u8>,
    /// Children that no page names yet, by level above the leaves.
    inner: Vec<Cells>,
    records: u64,
    outside: u64,
}

impl Builder {
    /// A tree without records.
    pub fn new(tree: u32) -> Builder {
        Builder { tree, leaf: Cells::new(true), separator: Vec::new(), inner: Vec::new(), records: 0, outside: 0 }
    }

    /// The last key.
    pub fn last_key(&self) -> Option<&[u8]> {
        self.leaf.len().checked_sub(1).map(|last| self.leaf.key(last))
    }

    /// Appends a record; its key is above the last one.
    pub fn push(&mut self, pages: &mut TxnPages, key: &[u8], value: CellValue<'_>) -> Result<(), StoreError> {
        if !self.leaf.takes(key, value) {
            let last = self.leaf.key(self.leaf.len() - 1);
            let next = key[..(common_prefix(last, key) + 1).min(key.len())].to_vec();
            self.leaf_out(pages)?;
            self.separator = next;
        }
        self.leaf.insert(self.leaf.len(), key, value);
        self.records += 1;
        self.outside += u64::from(value.kind != ValueKind::Inline);
        Ok(())
    }

    fn leaf_out(&mut self, pages: &mut TxnPages) -> Result<(), StoreError> {
        let leaf = page_out(pages, self.tree, 0, &mut self.leaf)?;
        let separator = std::mem::take(&mut self.separator);
        self.add_child(pages, 1, separator, leaf)
    }

    /// Names a finished page of the level below in `level`, finishing pages upwards as they fill.
    fn add_child(
        &mut self,
        pages: &mut TxnPages,
        mut level: usize,
        mut separator: Vec<u8>,
        mut child: PagePtr,
    ) -> Result<(), StoreError> {
        loop {
            if self.inner.len() < level {
                self.inner.push(Cells::new(false));
            }
            let cells = &mut self.inner[level - 1];
            let pointer = child.encode();
            let value = CellValue { kind: ValueKind::Inline, bytes: &pointer };
            if cells.takes(&separator, value) {
                cells.insert(cells.len(), &separator, value);
                return Ok(());
            }
            // The node does not keep the key of its cell 0: the level above does.
            let first = cells.key(0).to_vec();
            let full = page_out(pages, self.tree, level as u8, cells)?;
            cells.insert(0, &separator, value);
            (separator, child) = (first, full);
            level += 1;
        }
    }

    /// Lays the last pages out; None when there is no record.
    pub fn finish(mut self, pages: &mut TxnPages) -> Result<Option<TreeRoot>, StoreError> {
        if self.records == 0 {
            return Ok(None);
        }
        self.leaf_out(pages)?;
        let mut level = 1;
        loop {
            let cells = &self.inner[level - 1];
            if cells.len() == 1 && level == self.inner.len() {
                let pointer = cells.pointer(0)?;
                return Ok(Some(TreeRoot { tree: self.tree, pointer, records: self.records, outside: self.outside }));
            }
            let first = self.inner[level - 1].key(0).to_vec();
            let page = page_out(pages, self.tree, level as u8, &mut self.inner[level - 1])?;
            self.add_child(pages, level + 1, first, page)?;
            level += 1;
        }
    }
}

/// Lays gathered cells out in a page of their own, and forgets them.
fn page_out(pages: &mut TxnPages, tree: u32, level: u8, cells: &mut Cells) -> Result<PagePtr, StoreError> {
    let all = 0..cells.len();
    let order = cells.order(&all).expect("cells are taken only while one page holds them");
    let (pointer, mut owned) = pages.create(order, kind_of(level), tree)?;
    cells.build(pages.cache().bytes_mut(&mut owned), level, all);
    pages.let_go();
    cells.clear();
    Ok(pointer)
}
