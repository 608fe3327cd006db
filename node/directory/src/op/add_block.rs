//! Adding entries: up to 1,000 as one sorted batch, all or nothing. Adding a single entry is the block of one.

use crate::apply::{Batch, Context};
use crate::command::{Add, AddBlock, Command, Done, ENTRIES_MAX, ExistingMode, Operation};
use crate::dit;
use crate::error::{DirectoryError, OpError, OpErrorKind, Stop};
use crate::identity::Identity;
use crate::op::{self, Name, Operational};
use crate::settings::{Settings, suffix_rdn_key};
use crate::tables::{self, DN, ID2ENTRY, PARENT, ParentRecord, ROOT_ID};
use crate::view::ReadView;
use bindery_model::dn::NormDn;
use bindery_model::entry::Entry;
use bindery_model::schema::Schema;
use std::collections::BTreeMap;

/// Makes the command that adds `entries`, parents before children.
pub fn prepare(identity: &Identity, entries: Vec<Add>, mode: ExistingMode) -> Result<Command, OpError> {
    op::require_tree_access(identity, "load entries")?;
    check_count(entries.len())?;
    Ok(Command::new(identity, Operation::AddBlock(AddBlock { entries, mode: mode as i32 })))
}

fn check_count(entries: usize) -> Result<(), OpError> {
    if entries == 0 || entries > ENTRIES_MAX {
        return Err(OpError::new(
            OpErrorKind::AdminLimitExceeded,
            format!("a block has 1 to {ENTRIES_MAX} entries, not {entries}"),
        ));
    }
    Ok(())
}

/// Checks an entry of a block as far as that is possible without the tree: name, naming context, attributes and
/// schema. For a load that is only tried.
///
/// # Errors
/// What apply would refuse.
pub fn check(view: &ReadView, add: Add) -> Result<(), OpError> {
    let schema = view.schema();
    let name = Name::parse(&add.dn, schema)?;
    if name.norm.is_root() {
        return Err(OpError::new(OpErrorKind::UnwillingToPerform, "the root DSE cannot be added"));
    }
    if view.settings().naming_context_of(&name.norm).is_none() {
        return Err(no_naming_context(&name));
    }
    let entry = build(Origin::Load, schema, &name, add)?;
    schema.check_entry(&entry).map_err(op::schema_error)?;
    Ok(())
}

fn no_naming_context(name: &Name) -> OpError {
    OpError::new(OpErrorKind::NoGlobalSuperiorKnowledge, format!("no naming context holds {}", name.dn))
}

pub(crate) fn apply(batch: &mut Batch, context: &Context, block: AddBlock) -> Result<Done, Stop> {
    op::require_known(&batch.txn, &context.identity)?;
    op::require_tree_access(&context.identity, "load entries")?;
    check_count(block.entries.len())?;
    let mode = ExistingMode::try_from(block.mode)
        .map_err(|_| OpError::new(OpErrorKind::Protocol, "unknown mode for existing entries"))?;
    let mut plan = Plan::new(batch, context, mode, Origin::Load);
    for (at, add) in block.entries.into_iter().enumerate() {
        plan.decide(batch, add).map_err(|stop| match stop {
            Stop::Refused { error, .. } => Stop::Refused { error, entry: Some(at as u32) },
            failed => failed,
        })?;
    }
    plan.write(batch).map_err(Stop::Failed)
}

/// Where an entry comes from: what it may bring along.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A client: attributes that the server keeps are refused.
    Client,
    /// A dump of a directory: attributes that the server keeps are taken over, except those that follow from
    /// the tree.
    Load,
}

/// Attributes that are made from the tree when an entry is read; in loaded input they are left out.
/// structuralObjectClass is not among them: its value is replaced in its place, so that a dump that is loaded comes
/// out the same.
const DERIVED: [&str; 5] = ["entryDN", "hasSubordinates", "numSubordinates", "subschemaSubentry", "contextCSN"];

struct Write {
    id: u64,
    parent: u64,
    bytes: Vec<u8>,
    entry: Entry,
    /// The content that is replaced.
    old: Option<Entry>,
}

/// Everything that a block will write, decided before the first write.
pub(crate) struct Plan<'a> {
    context: &'a Context,
    mode: ExistingMode,
    origin: Origin,
    requester: String,
    operational: Operational,
    next_id: u64,
    ordinal: usize,
    writes: Vec<Write>,
    /// Names that the block adds: key in the tree of names -> id.
    names: BTreeMap<Vec<u8>, u64>,
    skipped: u64,
    replaced: u64,
}

enum Place {
    New { parent: u64, key: Vec<u8> },
    Existing { id: u64 },
}

enum Target {
    New { parent: u64, key: Vec<u8> },
    Replace { id: u64, loaded: op::Loaded },
}

impl<'a> Plan<'a> {
    pub(crate) fn new(batch: &Batch, context: &'a Context, mode: ExistingMode, origin: Origin) -> Plan<'a> {
        Plan {
            context,
            mode,
            origin,
            requester: context.requester_dn(&batch.settings),
            operational: Operational::find(&batch.schema),
            next_id: batch.state.next_id,
            ordinal: 0,
            writes: Vec::new(),
            names: BTreeMap::new(),
            skipped: 0,
            replaced: 0,
        }
    }

    /// Decides about one entry.
    pub(crate) fn decide(&mut self, batch: &Batch, add: Add) -> Result<(), Stop> {
        let schema = &*batch.schema;
        let name = Name::parse(&add.dn, schema)?;
        let place = self.place(batch, &name)?;
        let target = match (place, self.mode) {
            (Place::New { parent, key }, _) => Target::New { parent, key },
            (Place::Existing { .. }, ExistingMode::Error) => {
                return Err(OpError::new(OpErrorKind::EntryAlreadyExists, format!("{} exists", name.dn)).into());
            }
            (Place::Existing { .. }, ExistingMode::Skip) => {
                self.skipped += 1;
                self.ordinal += 1;
                return Ok(());
            }
            (Place::Existing { id }, ExistingMode::Replace) => {
                if self.writes.iter().any(|write| write.id == id) {
                    return Err(OpError::new(
                        OpErrorKind::EntryAlreadyExists,
                        format!("{} stands twice in the input", name.dn),
                    )
                    .into());
                }
                Target::Replace { id, loaded: op::load(&batch.txn, id)? }
            }
        };
        let mut entry = build(self.origin, schema, &name, add)?;
        let checked = schema.check_entry(&entry).map_err(op::schema_error)?;
        let class = schema.object_class_by_id(checked.structural).map(|class| class.name().to_owned());
        self.operational.set_structural(&mut entry, class.as_deref().unwrap_or_default());
        if let Target::Replace { loaded, .. } = &target {
            self.operational.keep(&mut entry, &loaded.entry);
        }
        self.operational.complete(&mut entry, self.context, &self.requester, self.ordinal);
        entry.arrange(schema);
        self.ordinal += 1;
        self.writes.push(match target {
            Target::Replace { id, loaded } => {
                self.replaced += 1;
                let op::Loaded { parent, rdn, entry: old } = loaded;
                let bytes = batch.encode_entry(parent, &rdn, &entry)?;
                Write { id, parent, bytes, entry, old: Some(old) }
            }
            Target::New { parent, key } => {
                let bytes = batch.encode_entry(parent, &stored_rdn(&batch.settings, &name), &entry)?;
                let id = self.next_id;
                self.next_id += 1;
                self.names.insert(key, id);
                Write { id, parent, bytes, entry, old: None }
            }
        });
        Ok(())
    }

    /// Where the entry goes, looking at the names of this block too.
    fn place(&self, batch: &Batch, name: &Name) -> Result<Place, Stop> {
        if name.norm.is_root() {
            return Err(OpError::new(OpErrorKind::UnwillingToPerform, "the root DSE cannot be added").into());
        }
        let Some(context) = batch.settings.naming_context_of(&name.norm) else {
            return Err(no_naming_context(name).into());
        };
        if context.norm == name.norm {
            let key = tables::dn_key(ROOT_ID, &suffix_rdn_key(&name.norm));
            return Ok(match self.lookup(batch, &key)? {
                Some(id) => Place::Existing { id },
                None => Place::New { parent: ROOT_ID, key },
            });
        }
        let parent = self.parent(batch, name, &context.norm)?;
        let leaf = name.norm.rdns().first().map(|rdn| rdn.as_bytes()).unwrap_or_default();
        let key = tables::dn_key(parent, leaf);
        Ok(match self.lookup(batch, &key)? {
            Some(id) => Place::Existing { id },
            None => Place::New { parent, key },
        })
    }

    fn lookup(&self, batch: &Batch, key: &[u8]) -> Result<Option<u64>, DirectoryError> {
        match self.names.get(key) {
            Some(id) => Ok(Some(*id)),
            None => dit::id_at(&batch.txn, key),
        }
    }

    fn parent(&self, batch: &Batch, name: &Name, context: &NormDn) -> Result<u64, Stop> {
        let rdns = name.norm.rdns();
        let below = rdns.len() - context.rdns().len();
        let missing = |count: usize, exists: bool| {
            let matched = if exists { name.above(count) } else { None };
            Stop::from(OpError::no_such_object(matched, format!("the parent of {} does not exist", name.dn)))
        };
        let key = tables::dn_key(ROOT_ID, &suffix_rdn_key(context));
        let mut id = self.lookup(batch, &key)?.ok_or_else(|| missing(below + 1, false))?;
        for at in (1..below).rev() {
            let key = tables::dn_key(id, rdns[at].as_bytes());
            id = self.lookup(batch, &key)?.ok_or_else(|| missing(at + 1, true))?;
        }
        Ok(id)
    }

    /// Writes what was decided: each tree in the order of its keys. Only the store can make this fail.
    pub(crate) fn write(self, batch: &mut Batch) -> Result<Done, DirectoryError> {
        let added = self.names.len() as u64;
        let mut children: BTreeMap<u64, u64> = BTreeMap::new();
        let mut done = Done { skipped: self.skipped, replaced: self.replaced, ..Done::default() };
        let mut writes = self.writes;
        writes.sort_by_key(|write| write.id);
        for write in &writes {
            batch.txn.put(ID2ENTRY, &tables::id_key(write.id), &write.bytes)?;
            batch.change_indexes(write.id, write.old.as_ref(), Some(&write.entry));
            done.entry_id = write.id;
            if write.old.is_none() {
                *children.entry(write.parent).or_default() += 1;
                let record = ParentRecord { parent: write.parent, children: 0 };
                batch.txn.put(PARENT, &tables::id_key(write.id), &record.encode())?;
            }
        }
        for (key, id) in &self.names {
            batch.txn.put(DN, key, &id.to_be_bytes())?;
        }
        for (parent, count) in children {
            batch.add_children(parent, count as i64)?;
        }
        batch.state.next_id = self.next_id;
        done.entries = added + self.replaced;
        Ok(done)
    }
}

/// The entry that the client or the input describes, completed by the values of its RDN.
fn build(origin: Origin, schema: &Schema, name: &Name, add: Add) -> Result<Entry, OpError> {
    let mut entry = Entry::new();
    for given in add.attributes {
        let description = op::parse_description(&given.description, schema)?;
        let attribute = op::attribute_type(&description, schema)?;
        if given.values.is_empty() {
            return Err(OpError::new(OpErrorKind::Protocol, format!("attribute {} has no value", attribute.name())));
        }
        match origin {
            Origin::Client => op::refuse_unmodifiable(attribute)?,
            Origin::Load if DERIVED.iter().any(|name| attribute.name().eq_ignore_ascii_case(name)) => continue,
            Origin::Load => {}
        }
        if entry.get(&description).is_some() {
            return Err(OpError::new(
                OpErrorKind::AttributeOrValueExists,
                format!("attribute {} is given twice", given.description),
            ));
        }
        entry.set(description, given.values);
    }
    if let Some(rdn) = name.dn.rdn() {
        op::add_rdn_values(&mut entry, rdn, schema)?;
    }
    Ok(entry)
}

/// The RDN text of an entry: of a naming context its whole DN, as configured.
fn stored_rdn(settings: &Settings, name: &Name) -> String {
    match settings.naming_context_of(&name.norm) {
        Some(context) if context.norm == name.norm => name.dn.to_string(),
        _ => name.dn.rdn().map(ToString::to_string).unwrap_or_default(),
    }
}
