//! Modify DN (RFC 4511 4.9): a new RDN, a new parent, or both. Moving a subtree touches one entry: names below it
//! are kept relative to their parents.

use crate::apply::{Batch, Context};
use crate::command::{Command, Done, ModifyDn, Operation};
use crate::dit;
use crate::error::{DirectoryError, OpError, OpErrorKind, Stop};
use crate::identity::Identity;
use crate::op::{self, Name, modify};
use crate::tables::{self, DN, ID2ENTRY, PARENT, ParentRecord, ROOT_ID};
use crate::view::ReadView;
use bindery_model::dn::Rdn;
use bindery_model::entry::{AttributeDescription, Entry};
use bindery_model::schema::Schema;

/// Deepest level that something may be moved to: a bound for the walk that looks for the entry itself above its
/// new parent.
const MOVE_DEPTH_MAX: usize = 1_000;

/// What a client asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModifyDnRequest {
    /// DN of the entry.
    pub dn: String,
    /// Its new RDN.
    pub new_rdn: String,
    /// Whether values of the old RDN that are not in the new one leave the entry.
    pub delete_old_rdn: bool,
    /// DN of the new parent.
    pub new_superior: Option<String>,
}

/// Refuses early what would be refused in any case, and makes the command.
///
/// # Errors
/// Access or the names.
pub fn prepare(view: &ReadView, identity: &Identity, request: ModifyDnRequest) -> Result<Command, OpError> {
    op::require_tree_access(identity, "rename entries")?;
    let schema = view.schema();
    Name::parse(&request.dn, schema)?;
    new_rdn(&request.new_rdn, schema)?;
    if let Some(superior) = &request.new_superior {
        Name::parse(superior, schema)?;
    }
    let ModifyDnRequest { dn, new_rdn, delete_old_rdn, new_superior } = request;
    Ok(Command::new(identity, Operation::ModifyDn(ModifyDn { dn, new_rdn, delete_old_rdn, new_superior })))
}

/// Reads the new RDN and checks that its types can name an entry and may be set by a client.
fn new_rdn(text: &str, schema: &Schema) -> Result<Rdn, OpError> {
    let rdn = Rdn::parse(text).map_err(op::name_error)?;
    for ava in rdn.avas() {
        op::refuse_unmodifiable(op::rdn_attribute(ava.attribute(), schema)?)?;
    }
    Ok(rdn)
}

pub(crate) fn apply(batch: &mut Batch, context: &Context, request: ModifyDn) -> Result<Done, Stop> {
    op::require_known(&batch.txn, &context.identity)?;
    op::require_tree_access(&context.identity, "rename entries")?;
    let refuse = |what: String| Stop::from(OpError::new(OpErrorKind::UnwillingToPerform, what));
    let name = Name::parse(&request.dn, &batch.schema)?;
    let rdn = new_rdn(&request.new_rdn, &batch.schema)?;
    let norm = rdn.normalize(&batch.schema).map_err(op::name_error)?;
    let id = op::find(&batch.txn, &batch.settings, &name)?;
    let loaded = op::load(&batch.txn, id)?;
    if loaded.parent == ROOT_ID {
        return Err(refuse(format!("{} is a naming context and cannot be renamed or moved", name.dn)));
    }
    let parent = match &request.new_superior {
        None => loaded.parent,
        Some(superior) => {
            let superior = Name::parse(superior, &batch.schema)?;
            let parent = op::find(&batch.txn, &batch.settings, &superior)?;
            if dit::depth(&batch.txn, parent, MOVE_DEPTH_MAX)?.is_none() {
                return Err(refuse(format!("{} is too deep to move something below it", superior.dn)));
            }
            if dit::is_within(&batch.txn, parent, id)? {
                return Err(refuse(format!("{} cannot be moved below itself", name.dn)));
            }
            parent
        }
    };
    let old_key = tables::dn_key(loaded.parent, &batch.leaf_key(&name.norm));
    let new_key = tables::dn_key(parent, norm.as_bytes());
    if dit::id_at(&batch.txn, &new_key)?.is_some_and(|other| other != id) {
        return Err(OpError::new(OpErrorKind::EntryAlreadyExists, format!("{rdn} exists there already")).into());
    }
    let mut entry = loaded.entry.clone();
    if request.delete_old_rdn
        && let Some(old) = modify::stored_leaf_rdn(&loaded.rdn)?
    {
        remove_rdn_values(&mut entry, &old, &rdn, &batch.schema)?;
    }
    op::add_rdn_values(&mut entry, &rdn, &batch.schema)?;
    modify::check_changed(&entry, &batch.schema)?;
    batch.touch(context, &mut entry);
    entry.arrange(&batch.schema);
    let bytes = batch.encode_entry(parent, &rdn.to_string(), &entry)?;

    write(batch, id, &loaded, &old_key, Target { parent, key: new_key, bytes, entry }).map_err(Stop::Failed)?;
    Ok(Done { entry_id: id, entries: 1, ..Done::default() })
}

struct Target {
    parent: u64,
    key: Vec<u8>,
    bytes: Vec<u8>,
    entry: Entry,
}

fn write(
    batch: &mut Batch,
    id: u64,
    loaded: &op::Loaded,
    old_key: &[u8],
    target: Target,
) -> Result<(), DirectoryError> {
    batch.state.renames = batch.state.renames.saturating_add(1);
    if *old_key != *target.key {
        batch.txn.delete(DN, old_key)?;
        batch.txn.put(DN, &target.key, &id.to_be_bytes())?;
    }
    if loaded.parent != target.parent {
        let record = dit::parent_record(&batch.txn, id)?
            .ok_or_else(|| DirectoryError::inconsistent(format!("entry {id} has no parent record")))?;
        let record = ParentRecord { parent: target.parent, children: record.children };
        batch.txn.put(PARENT, &tables::id_key(id), &record.encode())?;
        batch.add_children(loaded.parent, -1)?;
        batch.add_children(target.parent, 1)?;
    }
    batch.txn.put(ID2ENTRY, &tables::id_key(id), &target.bytes)?;
    batch.change_indexes(id, Some(&loaded.entry), Some(&target.entry));
    Ok(())
}

/// Removes the values of `old` that are not in `new` (RFC 4511 4.9, deleteoldrdn).
fn remove_rdn_values(entry: &mut Entry, old: &Rdn, new: &Rdn, schema: &Schema) -> Result<(), OpError> {
    for ava in old.avas() {
        let attribute = op::rdn_attribute(ava.attribute(), schema)?;
        let Some(rule) = &attribute.equality else { continue };
        let normal = |value: &[u8]| rule.normalize(value, schema).ok();
        let Some(gone) = normal(ava.value()) else { continue };
        let stays = new.avas().iter().any(|other| {
            schema.attribute(other.attribute()).is_some_and(|other| other.id == attribute.id)
                && normal(other.value()).as_ref() == Some(&gone)
        });
        if stays {
            continue;
        }
        let description = AttributeDescription::plain(attribute.id);
        let left = entry.plain_values(attribute.id);
        let left = left.iter().filter(|value| normal(value).as_ref() != Some(&gone)).cloned().collect();
        entry.set(description, left);
    }
    Ok(())
}
