//! Removing, with merges; removing whole trees.

use super::cells::Cells;
use super::insert::{Laid, OldValue, Path, PathStep, build_at, descend, relink};
use super::node::{self, Node, ValueKind, decode_reference};
use super::pages::TxnPages;
use super::search::{MAX_DEPTH, node_of};
use super::value;
use crate::cache::Owned;
use crate::error::StoreError;
use crate::layout::PagePtr;
use crate::version::TreeRoot;

/// Removes a key that is there. The tree may be empty afterwards: then its last page is freed and false answered.
pub fn remove(pages: &mut TxnPages, root: &mut TreeRoot, key: &[u8]) -> Result<(OldValue, bool), StoreError> {
    let Path { mut steps, pointer, mut owned } = descend(pages, root, key)?;
    let bytes = pages.cache().bytes_mut(&mut owned);
    let Ok(index) = Node::new(bytes).search(key) else {
        return Err(StoreError::Corrupt { block: pointer.block, what: "a key that was found is not there" });
    };
    let old = OldValue::of(Node::new(bytes).value(index));
    node::remove(bytes, index);
    let (mut pointer, mut owned) = (pointer, owned);
    loop {
        if Node::new(pages.cache().bytes(&owned)).count() == 0 {
            pages.free(pointer);
            let Some(mut parent) = steps.pop() else { return Ok((old, false)) };
            node::remove(pages.cache().bytes_mut(&mut parent.owned), parent.index);
            (pointer, owned) = (parent.pointer, parent.owned);
            continue;
        }
        let Some(parent) = steps.pop() else { break };
        if !is_sparse(pages, &owned) {
            return Ok((old, true));
        }
        match merge(pages, root, parent, pointer, owned)? {
            Some(up) => (pointer, owned) = (up.pointer, up.owned),
            None => return Ok((old, true)),
        }
    }
    collapse(pages, root)?;
    Ok((old, true))
}

fn is_sparse(pages: &TxnPages, owned: &Owned) -> bool {
    let bytes = pages.cache().bytes(owned);
    Node::new(bytes).used_bytes() < bytes.len() / 4
}

/// Joins a sparse node with a neighbour under the same parent if one page holds both comfortably. Answers the parent,
/// which has lost a child, or None.
fn merge(
    pages: &mut TxnPages,
    root: &mut TreeRoot,
    mut parent: PathStep,
    pointer: PagePtr,
    owned: Owned,
) -> Result<Option<PathStep>, StoreError> {
    let parent_node = Node::new(pages.cache().bytes(&parent.owned));
    let count = parent_node.count();
    if count < 2 {
        // An only child: the parent itself may find a neighbour.
        return Ok(if is_sparse(pages, &parent.owned) { Some(parent) } else { None });
    }
    let with_right = parent.index + 1 < count;
    let right_index = if with_right { parent.index + 1 } else { parent.index };
    let neighbour = parent_node.child(if with_right { right_index } else { right_index - 1 })?;
    let mut separator = Vec::new();
    parent_node.append_key(right_index, &mut separator);

    let node = Node::new(pages.cache().bytes(&owned));
    let (leaf, level, own_used) = (node.is_leaf(), node.level(), node.used_bytes());
    let room = pages.cache().bytes(&owned).len().max(neighbour.bytes());
    let neighbour_used = pages.read(neighbour, |bytes| node_of(bytes, neighbour).map(Node::used_bytes))??;
    if own_used + neighbour_used > room / 4 * 3 {
        return Ok(None);
    }
    let mut cells = Cells::new(leaf);
    if with_right {
        cells.append_node(Node::new(pages.cache().bytes(&owned)), None);
    }
    let first_key = if leaf { None } else { Some(&separator[..]) };
    let before = cells.len();
    pages.read(neighbour, |bytes| {
        // The closure may be tried once only: a page that was looked at is not looked at again.
        debug_assert_eq!(cells.len(), before);
        node_of(bytes, neighbour).map(|node| cells.append_node(node, if with_right { first_key } else { None }))
    })??;
    if !with_right {
        cells.append_node(Node::new(pages.cache().bytes(&owned)), first_key);
    }
    let Some(order) = cells.single_order() else { return Ok(None) };
    let all = 0..cells.len();
    let merged = build_at(pages, root.tree, Laid { pointer, owned, level }, &cells, all, order)?;
    pages.free(neighbour);
    let dropped = right_index;
    parent.index = right_index - 1;
    relink(pages, root, Some(&mut parent), merged);
    node::remove(pages.cache().bytes_mut(&mut parent.owned), dropped);
    Ok(Some(parent))
}

/// An inner root with one child gives way to the child.
fn collapse(pages: &mut TxnPages, root: &mut TreeRoot) -> Result<(), StoreError> {
    for _ in 0..MAX_DEPTH {
        let at = root.pointer;
        let only = pages.read(at, |bytes| {
            let node = node_of(bytes, at)?;
            if node.is_leaf() || node.count() > 1 { Ok(None) } else { node.child(0).map(Some) }
        })??;
        let Some(child) = only else { return Ok(()) };
        pages.free(at);
        root.pointer = child;
    }
    Ok(())
}

/// Frees all pages of a tree.
pub fn free_tree(pages: &mut TxnPages, root: &TreeRoot) -> Result<(), StoreError> {
    free_node(pages, root.pointer, root.outside > 0, MAX_DEPTH)
}

fn free_node(pages: &mut TxnPages, pointer: PagePtr, outside: bool, depth: usize) -> Result<(), StoreError> {
    if depth == 0 {
        return Err(StoreError::Corrupt { block: pointer.block, what: "tree deeper than possible" });
    }
    let (level, children, values) = pages.read(pointer, |bytes| {
        let node = node_of(bytes, pointer)?;
        let mut children: Vec<PagePtr> = Vec::new();
        let mut values: Vec<(ValueKind, Vec<u8>)> = Vec::new();
        for index in 0..node.count() {
            if !node.is_leaf() {
                children.push(node.child(index)?);
                continue;
            }
            let value = node.value(index);
            if value.kind != ValueKind::Inline {
                decode_reference(value.bytes, pointer.block)?;
                values.push((value.kind, value.bytes.to_vec()));
            }
        }
        Ok::<_, StoreError>((node.level(), children, values))
    })??;
    for (kind, reference) in values {
        value::free(pages, kind, &reference, pointer.block)?;
    }
    for child in children {
        // Leaves need no look when the tree has no value outside them.
        if level == 1 && !outside {
            pages.free(child);
        } else {
            free_node(pages, child, outside, depth - 1)?;
        }
    }
    pages.free(pointer);
    Ok(())
}
