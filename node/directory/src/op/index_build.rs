//! One step of building indexes: at most 1,000 entries, so that building goes on beside other writes. Whoever wants
//! indexes built repeats the command while its reply says `more`.

use crate::apply::{Batch, Context};
use crate::command::{Command, Done, ENTRIES_MAX, IndexBuild, Operation};
use crate::error::{DirectoryError, Stop};
use crate::identity::Identity;
use crate::index::Index;
use crate::index::config::IndexTypes;
use crate::tables::{self, ID2ENTRY};
use bindery_model::entry_codec::StoredEntry;

/// The command for the next step.
pub fn prepare() -> Command {
    Command::new(&Identity::Admin, Operation::IndexBuild(IndexBuild {}))
}

pub(crate) fn apply(batch: &mut Batch, context: &Context) -> Result<Done, Stop> {
    context.require_admin("build indexes")?;
    let building = |index: &&Index| !index.building.is_empty();
    let Some(from) = batch.indexes.iter().filter(building).map(|index| index.next_id).min() else {
        return Ok(Done { next_id: batch.state.next_id, end_id: batch.state.next_id, ..Done::default() });
    };
    // Those that are equally far go on together; one that started later catches up first.
    let group: Vec<Index> =
        batch.indexes.iter().filter(building).filter(|index| index.next_id == from).copied().collect();
    let mut entries = 0;
    let mut next_id = from;
    let mut cursor = batch.txn.cursor(ID2ENTRY);
    let mut found = cursor.seek(&tables::id_key(from))?;
    while found && entries < ENTRIES_MAX {
        let id = tables::parse_u64(cursor.key())
            .ok_or_else(|| DirectoryError::inconsistent("a key of the entry tree is no id"))?;
        let entry = StoredEntry::parse(cursor.value())
            .map_err(|error| DirectoryError::inconsistent(format!("entry {id}: {error}")))?
            .to_entry();
        for index in &group {
            batch.deltas.build(index, index.building, &batch.schema, id, &entry);
        }
        entries += 1;
        next_id = id + 1;
        found = cursor.next()?;
    }
    drop(cursor);
    for mut index in group {
        if found {
            index.next_id = next_id;
        } else {
            index.ready = index.ready.or(index.building);
            index.building = IndexTypes::default();
            index.next_id = 0;
        }
        batch.put_index(index)?;
    }
    let more = batch.indexes.iter().any(|index| !index.building.is_empty());
    Ok(Done { entries: entries as u64, more, next_id, end_id: batch.state.next_id, ..Done::default() })
}
