//! Inserting and replacing, with splits.

use super::cells::Cells;
use super::node::{self, CellValue, Node, ValueKind};
use super::pages::TxnPages;
use super::search::{MAX_DEPTH, node_of};
use crate::cache::Owned;
use crate::error::StoreError;
use crate::layout::{INNER_ORDER, PagePtr};
use crate::page::PageKind;
use crate::version::TreeRoot;

/// A writable inner node on the way to a leaf, and which child was taken.
pub struct PathStep {
    /// Where the node is.
    pub pointer: PagePtr,
    /// Its frames.
    pub owned: Owned,
    /// The child taken.
    pub index: usize,
}

/// A writable leaf with the writable nodes above it, root first.
pub struct Path {
    /// Inner nodes.
    pub steps: Vec<PathStep>,
    /// Where the leaf is.
    pub pointer: PagePtr,
    /// Its frames.
    pub owned: Owned,
}

/// A value that was replaced or removed.
pub struct OldValue {
    /// Its kind.
    pub kind: ValueKind,
    /// The reference, empty for inline values.
    pub reference: Vec<u8>,
}

impl OldValue {
    /// Copies what is needed to free a value later.
    pub fn of(value: CellValue<'_>) -> OldValue {
        let reference = if value.kind == ValueKind::Inline { Vec::new() } else { value.bytes.to_vec() };
        OldValue { kind: value.kind, reference }
    }
}

/// Walks to the leaf of `key`, making every node on the way writable.
pub fn descend(pages: &mut TxnPages, root: &mut TreeRoot, key: &[u8]) -> Result<Path, StoreError> {
    let mut steps: Vec<PathStep> = Vec::new();
    let mut from = root.pointer;
    loop {
        let (pointer, owned) = pages.writable(from)?;
        if pointer != from {
            relink(pages, root, steps.last_mut(), pointer);
        }
        let node = node_of(pages.cache().bytes(&owned), pointer)?;
        if node.is_leaf() {
            return Ok(Path { steps, pointer, owned });
        }
        if steps.len() >= MAX_DEPTH {
            return Err(StoreError::Corrupt { block: pointer.block, what: "tree deeper than possible" });
        }
        let index = node.child_index(key);
        from = node.child(index)?;
        steps.push(PathStep { pointer, owned, index });
    }
}

/// Makes the parent (or the root) point to the new place of a child.
pub fn relink(pages: &TxnPages, root: &mut TreeRoot, parent: Option<&mut PathStep>, child: PagePtr) {
    match parent {
        None => root.pointer = child,
        Some(step) => {
            let value = CellValue { kind: ValueKind::Inline, bytes: &child.encode() };
            let done = node::overwrite(pages.cache().bytes_mut(&mut step.owned), step.index, value);
            assert!(done, "pointers have one length");
        }
    }
}

/// Puts a prepared value; answers the one it replaced.
pub fn insert(
    pages: &mut TxnPages,
    root: &mut TreeRoot,
    key: &[u8],
    value: CellValue<'_>,
) -> Result<Option<OldValue>, StoreError> {
    let Path { mut steps, pointer, mut owned } = descend(pages, root, key)?;
    let bytes = pages.cache().bytes_mut(&mut owned);
    let found = Node::new(bytes).search(key);
    let (index, old) = match found {
        Ok(index) => {
            let old = OldValue::of(Node::new(bytes).value(index));
            if node::overwrite(bytes, index, value) {
                return Ok(Some(old));
            }
            node::remove(bytes, index);
            (index, Some(old))
        }
        Err(index) => (index, None),
    };
    if !insert_in_place(bytes, index, key, value) {
        let mut cells = Cells::new(true);
        cells.append_node(Node::new(bytes), None);
        cells.insert(index, key, value);
        let appending = index + 1 == cells.len() && is_rightmost(pages, &steps);
        lay_out(pages, root, &mut steps, Laid { pointer, owned, level: 0 }, cells, index, appending)?;
    }
    Ok(old)
}

fn is_rightmost(pages: &TxnPages, steps: &[PathStep]) -> bool {
    steps.iter().all(|step| step.index + 1 == Node::new(pages.cache().bytes(&step.owned)).count())
}

fn insert_in_place(bytes: &mut [u8], index: usize, key: &[u8], value: CellValue<'_>) -> bool {
    let prefix = Node::new(bytes).prefix().len();
    if !key.starts_with(Node::new(bytes).prefix()) {
        return false;
    }
    node::insert(bytes, index, &key[prefix..], value)
}

/// A node about to be laid out anew.
pub struct Laid {
    /// Where it is now.
    pub pointer: PagePtr,
    /// Its frames.
    pub owned: Owned,
    /// Its level.
    pub level: u8,
}

/// Lays cells out in one page or two, and goes on with the parent when a separator must go there.
pub fn lay_out(
    pages: &mut TxnPages,
    root: &mut TreeRoot,
    steps: &mut Vec<PathStep>,
    mut node: Laid,
    mut cells: Cells,
    mut inserted: usize,
    appending: bool,
) -> Result<(), StoreError> {
    loop {
        let level = node.level;
        if let Some(order) = cells.single_order() {
            let all = 0..cells.len();
            let now = build_at(pages, root.tree, node, &cells, all, order)?;
            relink(pages, root, steps.last_mut(), now);
            return Ok(());
        }
        let at = cells.split_at(inserted, appending);
        let separator = cells.separator(at);
        let (low, high) = (0..at, at..cells.len());
        let (low_order, high_order) = (
            cells.order(&low).expect("split_at answers only splits that fit"),
            cells.order(&high).expect("split_at answers only splits that fit"),
        );
        let left = build_at(pages, root.tree, node, &cells, low, low_order)?;
        let (right, mut right_owned) = pages.create(high_order, kind_of(level), root.tree)?;
        cells.build(pages.cache().bytes_mut(&mut right_owned), level, high);
        relink(pages, root, steps.last_mut(), left);

        let right_pointer = right.encode();
        let value = CellValue { kind: ValueKind::Inline, bytes: &right_pointer };
        let Some(mut parent) = steps.pop() else {
            return grow_root(pages, root, level + 1, left, &separator, value);
        };
        let bytes = pages.cache().bytes_mut(&mut parent.owned);
        let index = parent.index + 1;
        if insert_in_place(bytes, index, &separator, value) {
            return Ok(());
        }
        cells = Cells::new(false);
        cells.append_node(Node::new(bytes), None);
        cells.insert(index, &separator, value);
        inserted = index;
        node = Laid { pointer: parent.pointer, owned: parent.owned, level: level + 1 };
    }
}

/// Kind of a node of this level.
pub fn kind_of(level: u8) -> PageKind {
    if level == 0 { PageKind::Leaf } else { PageKind::Inner }
}

/// Builds cells into the node's own page, or into one of another order when that fits them better.
pub fn build_at(
    pages: &mut TxnPages,
    tree: u32,
    mut node: Laid,
    cells: &Cells,
    range: std::ops::Range<usize>,
    order: u8,
) -> Result<PagePtr, StoreError> {
    if node.owned.order() == order {
        cells.build(pages.cache().bytes_mut(&mut node.owned), node.level, range);
        return Ok(node.pointer);
    }
    let (pointer, mut owned) = pages.create(order, kind_of(node.level), tree)?;
    cells.build(pages.cache().bytes_mut(&mut owned), node.level, range);
    pages.free(node.pointer);
    Ok(pointer)
}

fn grow_root(
    pages: &mut TxnPages,
    root: &mut TreeRoot,
    level: u8,
    left: PagePtr,
    separator: &[u8],
    right: CellValue<'_>,
) -> Result<(), StoreError> {
    let (pointer, mut owned) = pages.create(INNER_ORDER, PageKind::Inner, root.tree)?;
    let mut cells = Cells::new(false);
    cells.insert(0, &[], CellValue { kind: ValueKind::Inline, bytes: &left.encode() });
    cells.insert(1, separator, right);
    cells.build(pages.cache().bytes_mut(&mut owned), level, 0..2);
    root.pointer = pointer;
    Ok(())
}

/// Makes the first leaf of a tree.
pub fn create_tree(pages: &mut TxnPages, tree: u32) -> Result<TreeRoot, StoreError> {
    let (pointer, mut owned) = pages.create(0, PageKind::Leaf, tree)?;
    node::format(pages.cache().bytes_mut(&mut owned), 0);
    Ok(TreeRoot { tree, pointer, records: 0, outside: 0 })
}
