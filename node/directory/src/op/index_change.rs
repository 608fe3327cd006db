//! Defining and dropping indexes. An index that is defined is built by steps (`index_build`).

use crate::apply::{Batch, Context};
use crate::command::{Command, Done, IndexChange, Operation};
use crate::error::{OpError, OpErrorKind, Stop};
use crate::identity::Identity;
use crate::index::config::IndexTypes;
use crate::index::{Index, Indexes, keys};
use crate::op::configure::require_founded;
use crate::state;
use crate::tables::{self, FIRST_ENTRY_ID, ID2ENTRY, META};
use crate::view::ReadView;
use bindery_model::schema::{AttributeType, Schema};
use bindery_store::TreeId;
use std::sync::Arc;

/// Indexed attributes: each is looked at for every change of an entry.
pub const INDEXES_MAX: usize = 1_000;

/// Makes the command that defines `types` of `attribute`.
///
/// # Errors
/// Access, or an attribute that the schema does not define or whose rules do not allow the types.
pub fn prepare_add(
    view: &ReadView,
    identity: &Identity,
    attribute: &str,
    types: IndexTypes,
) -> Result<Command, OpError> {
    let change = prepare(view, identity, attribute, types)?;
    Ok(Command::new(identity, Operation::IndexAdd(change)))
}

/// Makes the command that drops `types` of `attribute`.
///
/// # Errors
/// Access, or an attribute that the schema does not define.
pub fn prepare_drop(
    view: &ReadView,
    identity: &Identity,
    attribute: &str,
    types: IndexTypes,
) -> Result<Command, OpError> {
    let change = prepare(view, identity, attribute, types)?;
    Ok(Command::new(identity, Operation::IndexDrop(change)))
}

fn prepare(view: &ReadView, identity: &Identity, attribute: &str, types: IndexTypes) -> Result<IndexChange, OpError> {
    if *identity != Identity::Admin {
        return Err(OpError::new(OpErrorKind::InsufficientAccess, "only the administrator may change indexes"));
    }
    let change = IndexChange { attribute: attribute.to_owned(), types: u32::from(types.bits()) };
    wanted(view.schema(), &change)?;
    Ok(change)
}

/// The attribute and those types that its matching rules allow.
pub(crate) fn wanted<'a>(schema: &'a Schema, change: &IndexChange) -> Result<(&'a AttributeType, IndexTypes), OpError> {
    let attribute = schema.attribute(&change.attribute).ok_or_else(|| {
        OpError::new(OpErrorKind::UndefinedAttributeType, format!("attribute type {} is not defined", change.attribute))
    })?;
    let types = u8::try_from(change.types).ok().and_then(IndexTypes::from_bits).unwrap_or_default();
    let supported = keys::supported(attribute, types);
    if supported.is_empty() {
        return Err(OpError::new(
            OpErrorKind::InappropriateMatching,
            format!("the matching rules of {} allow none of these indexes", attribute.name()),
        ));
    }
    Ok((attribute, supported))
}

pub(crate) fn add(batch: &mut Batch, context: &Context, change: IndexChange) -> Result<Done, Stop> {
    context.require_admin("change indexes")?;
    require_founded(batch)?;
    let (attribute, types) = wanted(&batch.schema, &change)?;
    let attribute = attribute.id;
    if batch.indexes.find(attribute).is_none() && batch.indexes.iter().count() >= INDEXES_MAX {
        return Err(OpError::new(
            OpErrorKind::AdminLimitExceeded,
            format!("at most {INDEXES_MAX} attributes have indexes"),
        )
        .into());
    }
    let nothing_to_build = batch.is_without_entries()?;
    let mut next_tree = batch.state.next_tree;
    let mut index = batch.indexes.find(attribute).copied().unwrap_or_else(|| {
        next_tree += 1;
        Index {
            attribute,
            tree: TreeId(next_tree - 1),
            ready: IndexTypes::default(),
            building: IndexTypes::default(),
            next_id: 0,
        }
    });
    let new = types.without(index.ready).without(index.building);
    if new.is_empty() {
        return Ok(Done { more: !index.building.is_empty(), ..Done::default() });
    }
    if nothing_to_build {
        index.ready = index.ready.or(new);
    } else {
        // A build under way starts again: keys that are there already are added to no effect.
        index.building = index.building.or(new);
        index.next_id = FIRST_ENTRY_ID;
    }
    batch.state.next_tree = next_tree;
    batch.put_index(index)?;
    Ok(Done { more: !index.building.is_empty(), ..Done::default() })
}

pub(crate) fn drop(batch: &mut Batch, context: &Context, change: IndexChange) -> Result<Done, Stop> {
    context.require_admin("change indexes")?;
    require_founded(batch)?;
    let index = batch.schema.attribute(&change.attribute).and_then(|attribute| batch.indexes.find(attribute.id));
    let types = u8::try_from(change.types).ok().and_then(IndexTypes::from_bits).unwrap_or_default();
    let Some(index) = index.copied().filter(|index| index.maintained().without(types) != index.maintained()) else {
        return Err(OpError::new(
            OpErrorKind::NoSuchAttribute,
            format!("there is no such index on {}", change.attribute),
        )
        .into());
    };
    let left = index.maintained().without(types);
    batch.remove_index(index)?;
    if left.is_empty() {
        return Ok(Done::default());
    }
    // What is left moves to a tree of its own and is built again: the old tree goes as a whole, which costs no more
    // than its pages.
    let tree = TreeId(batch.state.next_tree);
    batch.state.next_tree += 1;
    let (ready, building, next_id) = if batch.is_without_entries()? {
        (left, IndexTypes::default(), 0)
    } else {
        (IndexTypes::default(), left, FIRST_ENTRY_ID)
    };
    batch.put_index(Index { attribute: index.attribute, tree, ready, building, next_id })?;
    Ok(Done { more: !building.is_empty(), ..Done::default() })
}

impl Batch {
    fn is_without_entries(&self) -> Result<bool, crate::error::DirectoryError> {
        Ok(!self.txn.cursor(ID2ENTRY).seek_first()?)
    }

    /// Writes a definition, in place of the attribute's former one.
    pub(crate) fn put_index(&mut self, index: Index) -> Result<(), crate::error::DirectoryError> {
        state::save_index(&mut self.txn, &index)?;
        let mut list: Vec<Index> =
            self.indexes.iter().filter(|other| other.attribute != index.attribute).copied().collect();
        list.push(index);
        self.indexes = Arc::new(Indexes::new(list));
        Ok(())
    }

    fn remove_index(&mut self, index: Index) -> Result<(), crate::error::DirectoryError> {
        self.txn.delete(META, &tables::index_key(index.tree))?;
        self.deltas.forget(index.tree);
        self.txn.delete_tree(index.tree)?;
        let list = self.indexes.iter().filter(|other| other.attribute != index.attribute).copied().collect();
        self.indexes = Arc::new(Indexes::new(list));
        Ok(())
    }
}
