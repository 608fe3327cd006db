//! The counters of a directory, and reading and writing what `META` holds: counters, schema, settings and
//! index definitions.

use crate::command::{LogPosition, SchemaDefinition};
use crate::error::{DirectoryError, OpError, OpErrorKind};
use crate::index::config::IndexTypes;
use crate::index::posting::Records;
use crate::index::{Index, Indexes};
use crate::settings::Settings;
use crate::tables::{self, FIRST_ENTRY_ID, FIRST_INDEX_TREE, FORMAT, META};
use bindery_model::schema::{AttrId, Definition, DefinitionKind, Schema};
use bindery_store::{TreeId, WriteTxn};
use bytes::Bytes;
use prost::Message;
use std::collections::BTreeSet;

/// Counters that every command may move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct State {
    /// Position of the last log entry applied.
    pub(crate) applied: Option<LogPosition>,
    /// The id that the next entry gets.
    pub(crate) next_id: u64,
    /// The number that the next index tree gets.
    pub(crate) next_tree: u32,
    /// Time of the last command.
    pub(crate) time_us: u64,
    /// Entries renamed or moved so far.
    pub(crate) renames: u64,
    /// Time of the last change of the schema; 0 before bootstrap.
    pub(crate) schema_time_us: u64,
    /// Level up to which commands are accepted.
    pub(crate) feature_level: u32,
    /// Whether a bootstrap command has been applied.
    pub(crate) founded: bool,
}

impl State {
    /// The counters of a version of the store; those of a new directory when it is empty.
    pub(crate) fn load(records: &impl Records) -> Result<State, DirectoryError> {
        if let Some(format) = number32(records, tables::META_FORMAT)?
            && format != FORMAT
        {
            return Err(DirectoryError::Format { found: format, known: FORMAT });
        }
        let applied = match records.record(META, tables::META_APPLIED, LogPosition::parse)? {
            None => None,
            Some(Some(position)) => Some(position),
            Some(None) => return Err(DirectoryError::inconsistent("applied position")),
        };
        Ok(State {
            applied,
            next_id: number64(records, tables::META_NEXT_ID)?.unwrap_or(FIRST_ENTRY_ID),
            next_tree: number32(records, tables::META_NEXT_TREE)?.unwrap_or(FIRST_INDEX_TREE),
            time_us: number64(records, tables::META_TIME)?.unwrap_or(0),
            renames: number64(records, tables::META_RENAMES)?.unwrap_or(0),
            schema_time_us: number64(records, tables::META_SCHEMA_TIME)?.unwrap_or(0),
            feature_level: number32(records, tables::META_FEATURE)?.unwrap_or(1),
            founded: records.record(META, tables::META_SETTINGS, |_| ())?.is_some(),
        })
    }

    /// Writes the counters, in the transaction of the changes they belong to.
    pub(crate) fn save(&self, txn: &mut WriteTxn) -> Result<(), DirectoryError> {
        txn.put(META, tables::META_FORMAT, &FORMAT.to_be_bytes())?;
        if let Some(position) = self.applied {
            txn.put(META, tables::META_APPLIED, &position.encode())?;
        }
        txn.put(META, tables::META_NEXT_ID, &self.next_id.to_be_bytes())?;
        txn.put(META, tables::META_NEXT_TREE, &self.next_tree.to_be_bytes())?;
        txn.put(META, tables::META_TIME, &self.time_us.to_be_bytes())?;
        txn.put(META, tables::META_RENAMES, &self.renames.to_be_bytes())?;
        txn.put(META, tables::META_SCHEMA_TIME, &self.schema_time_us.to_be_bytes())?;
        txn.put(META, tables::META_FEATURE, &self.feature_level.to_be_bytes())?;
        Ok(())
    }
}

fn number64(records: &impl Records, key: &[u8]) -> Result<Option<u64>, DirectoryError> {
    match records.record(META, key, tables::parse_u64)? {
        None => Ok(None),
        Some(Some(number)) => Ok(Some(number)),
        Some(None) => Err(DirectoryError::inconsistent(String::from_utf8_lossy(key))),
    }
}

fn number32(records: &impl Records, key: &[u8]) -> Result<Option<u32>, DirectoryError> {
    match records.record(META, key, tables::parse_u32)? {
        None => Ok(None),
        Some(Some(number)) => Ok(Some(number)),
        Some(None) => Err(DirectoryError::inconsistent(String::from_utf8_lossy(key))),
    }
}

/// The membership set last at or before log index `index`, with its position.
pub(crate) fn membership_at(
    records: &impl Records,
    index: u64,
) -> Result<Option<(LogPosition, Bytes)>, DirectoryError> {
    let mut cursor = records.records(META);
    let after = match index.checked_add(1) {
        Some(next) => tables::membership_key(next),
        // Sorts after every membership key.
        None => tables::schema_prefix().to_vec(),
    };
    if !cursor.seek_last_before(&after)? || !cursor.key().starts_with(tables::membership_prefix()) {
        return Ok(None);
    }
    let value = cursor.value();
    let position = value.get(..24).and_then(LogPosition::parse);
    let position = position.ok_or_else(|| DirectoryError::inconsistent("membership record"))?;
    Ok(Some((position, Bytes::copy_from_slice(&value[24..]))))
}

/// The schema of a version of the store; the shipped one before bootstrap.
pub(crate) fn load_schema(records: &impl Records) -> Result<Schema, DirectoryError> {
    let mut definitions = Vec::new();
    let mut cursor = records.records(META);
    let mut found = cursor.seek(tables::schema_prefix())?;
    while found && cursor.key().starts_with(tables::schema_prefix()) {
        let definition = SchemaDefinition::decode(cursor.value())
            .map_err(|error| DirectoryError::inconsistent(format!("schema definition: {error}")))?;
        definitions.push(definition);
        found = cursor.next()?;
    }
    if definitions.is_empty() {
        return Ok(Schema::shipped());
    }
    schema_from(&definitions).map_err(|error| DirectoryError::inconsistent(error.to_string()))
}

const ATTRIBUTE_TYPE: u32 = 1;
const OBJECT_CLASS: u32 = 2;

/// The definitions of a schema as they are stored and carried by a bootstrap command.
pub(crate) fn schema_definitions(schema: &Schema) -> Vec<SchemaDefinition> {
    let carried = |definition: Definition<'_>| SchemaDefinition {
        kind: match definition.kind {
            DefinitionKind::AttributeType => ATTRIBUTE_TYPE,
            DefinitionKind::ObjectClass => OBJECT_CLASS,
        },
        text: definition.text.to_owned(),
        number: definition.id,
    };
    schema.definitions().map(carried).collect()
}

/// The schema of these definitions, with the same numbers.
pub(crate) fn schema_from(definitions: &[SchemaDefinition]) -> Result<Schema, OpError> {
    let refuse = |what: String| OpError::new(OpErrorKind::ConstraintViolation, format!("schema: {what}"));
    let mut list = Vec::with_capacity(definitions.len());
    for definition in definitions {
        let kind = match definition.kind {
            ATTRIBUTE_TYPE => DefinitionKind::AttributeType,
            OBJECT_CLASS => DefinitionKind::ObjectClass,
            other => return Err(refuse(format!("definition of unknown kind {other}"))),
        };
        list.push(Definition { kind, id: definition.number, text: &definition.text });
    }
    Schema::rebuild(list).map_err(|error| refuse(error.to_string()))
}

/// Writes the definitions of `new` that `old` does not have.
pub(crate) fn save_schema(txn: &mut WriteTxn, old: Option<&Schema>, new: &Schema) -> Result<(), DirectoryError> {
    let known: BTreeSet<(u32, u32)> = old.map_or_else(BTreeSet::new, |old| {
        schema_definitions(old).iter().map(|definition| (definition.kind, definition.number)).collect()
    });
    for definition in schema_definitions(new) {
        if !known.contains(&(definition.kind, definition.number)) {
            let key = tables::schema_key(definition.kind, definition.number);
            txn.put(META, &key, &definition.encode_to_vec())?;
        }
    }
    Ok(())
}

/// The settings of a version of the store; none before bootstrap.
pub(crate) fn load_settings(records: &impl Records, schema: &Schema) -> Result<Settings, DirectoryError> {
    match records.record(META, tables::META_SETTINGS, <[u8]>::to_vec)? {
        None => Ok(Settings::default()),
        Some(bytes) => Settings::parse(&bytes, schema),
    }
}

#[derive(Clone, PartialEq, Eq, Message)]
struct IndexRecord {
    #[prost(uint32, tag = "1")]
    attribute: u32,
    #[prost(uint32, tag = "2")]
    ready: u32,
    #[prost(uint32, tag = "3")]
    building: u32,
    #[prost(uint64, tag = "4")]
    next_id: u64,
}

/// The indexes of a version of the store.
pub(crate) fn load_indexes(records: &impl Records) -> Result<Indexes, DirectoryError> {
    let bad = || DirectoryError::inconsistent("index definition");
    let types = |bits: u32| u8::try_from(bits).ok().and_then(IndexTypes::from_bits).ok_or_else(bad);
    let mut list = Vec::new();
    let mut cursor = records.records(META);
    let mut found = cursor.seek(tables::index_prefix())?;
    while found && cursor.key().starts_with(tables::index_prefix()) {
        let tree = tables::parse_u32(&cursor.key()[tables::index_prefix().len()..]).ok_or_else(bad)?;
        let record = IndexRecord::decode(cursor.value()).map_err(|_| bad())?;
        list.push(Index {
            attribute: AttrId(record.attribute),
            tree: TreeId(tree),
            ready: types(record.ready)?,
            building: types(record.building)?,
            next_id: record.next_id,
        });
        found = cursor.next()?;
    }
    Ok(Indexes::new(list))
}

/// Writes one index definition.
pub(crate) fn save_index(txn: &mut WriteTxn, index: &Index) -> Result<(), DirectoryError> {
    let record = IndexRecord {
        attribute: index.attribute.0,
        ready: u32::from(index.ready.bits()),
        building: u32::from(index.building.bits()),
        next_id: index.next_id,
    };
    txn.put(META, &tables::index_key(index.tree), &record.encode_to_vec())?;
    Ok(())
}
