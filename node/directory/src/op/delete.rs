//! Delete (RFC 4511 4.8), and the steps of deleting a subtree.

use crate::apply::{Batch, Context};
use crate::command::{Command, Delete, Done, ENTRIES_MAX, Operation};
use crate::dit::{self, DEPTH_MAX};
use crate::error::{DirectoryError, OpError, OpErrorKind, Stop};
use crate::identity::Identity;
use crate::op::{self, Name};
use crate::tables::{self, DN, ID2ENTRY, PARENT};
use crate::view::ReadView;

/// What a client asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeleteRequest {
    /// DN of the entry.
    pub dn: String,
    /// Delete what is below it too.
    pub subtree: bool,
}

/// Refuses early what would be refused in any case, and makes the command. With `subtree`, the command is to be
/// repeated while its reply says `more`.
///
/// # Errors
/// Access or the name.
pub fn prepare(view: &ReadView, identity: &Identity, request: DeleteRequest) -> Result<Command, OpError> {
    op::require_tree_access(identity, "delete entries")?;
    Name::parse(&request.dn, view.schema())?;
    Ok(Command::new(identity, Operation::Delete(Delete { dn: request.dn, subtree: request.subtree })))
}

pub(crate) fn apply(batch: &mut Batch, context: &Context, delete: Delete) -> Result<Done, Stop> {
    op::require_known(&batch.txn, &context.identity)?;
    op::require_tree_access(&context.identity, "delete entries")?;
    let name = Name::parse(&delete.dn, &batch.schema)?;
    let id = op::find(&batch.txn, &batch.settings, &name)?;
    let record = dit::parent_record(&batch.txn, id)?
        .ok_or_else(|| DirectoryError::inconsistent(format!("entry {id} has no parent record")))?;
    if record.children > 0 {
        if delete.subtree {
            return delete_below(batch, id).map_err(Stop::Failed);
        }
        return Err(OpError::new(
            OpErrorKind::NotAllowedOnNonLeaf,
            format!("{} has {} entries immediately below it", name.dn, record.children),
        )
        .into());
    }
    let key = tables::dn_key(record.parent, &batch.leaf_key(&name.norm));
    remove_leaf(batch, id, record.parent, &key)?;
    Ok(Done { entry_id: id, entries: 1, ..Done::default() })
}

/// Removes an entry that has no children.
fn remove_leaf(batch: &mut Batch, id: u64, parent: u64, key: &[u8]) -> Result<(), DirectoryError> {
    let loaded = op::load(&batch.txn, id)?;
    batch.change_indexes(id, Some(&loaded.entry), None);
    batch.txn.delete(ID2ENTRY, &tables::id_key(id))?;
    batch.txn.delete(DN, key)?;
    batch.txn.delete(PARENT, &tables::id_key(id))?;
    batch.add_children(parent, -1)
}

/// Removes up to [`ENTRIES_MAX`] entries below `top`, leaves first: always the first child of the first child, so
/// that a step costs what it removes.
fn delete_below(batch: &mut Batch, top: u64) -> Result<Done, DirectoryError> {
    let mut done = Done { entry_id: top, more: true, ..Done::default() };
    // The way down to the present entry: (id, its key in the tree of names).
    let mut path: Vec<(u64, Vec<u8>)> = Vec::new();
    // Going down is not counted: it is bounded by the depth of the tree and by what has been removed.
    while done.entries < ENTRIES_MAX as u64 && path.len() < DEPTH_MAX {
        let at = path.last().map_or(top, |(id, _)| *id);
        if let Some((key, child)) = dit::first_child(&batch.txn, at)? {
            path.push((child, key));
            continue;
        }
        let Some((id, key)) = path.pop() else {
            break;
        };
        let parent = path.last().map_or(top, |(id, _)| *id);
        remove_leaf(batch, id, parent, &key)?;
        done.entries += 1;
    }
    Ok(done)
}
