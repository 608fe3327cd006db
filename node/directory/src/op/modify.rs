//! Modify (RFC 4511 4.6) with increment (RFC 4525).

use crate::access::Rights;
use crate::apply::{Batch, Context};
use crate::command::{AttributeValues, Change, ChangeKind, Command, Done, Modify, Operation};
use crate::error::{OpError, OpErrorKind, Stop};
use crate::identity::Identity;
use crate::op::{self, Name, Operational};
use crate::tables::{self, ID2ENTRY};
use crate::view::ReadView;
use bindery_model::dn::{Dn, Rdn};
use bindery_model::entry::Entry;
use bindery_model::modify::{ModOp, Modification, ModifyError, apply_modifications};
use bindery_model::schema::Schema;

/// Steps of one modify: each is looked up and checked.
pub const CHANGES_MAX: usize = 10_000;

/// What a client asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModifyRequest {
    /// DN of the entry.
    pub dn: String,
    /// Steps in order: what to do, attribute description, values; passwords hashed.
    pub changes: Vec<(ChangeKind, String, Vec<Vec<u8>>)>,
}

/// Refuses early what would be refused in any case, and makes the command.
///
/// # Errors
/// Access, the name, or the attribute descriptions. The values are judged by apply.
pub fn prepare(view: &ReadView, identity: &Identity, request: ModifyRequest) -> Result<Command, OpError> {
    let changes = request
        .changes
        .into_iter()
        .map(|(kind, description, values)| Change {
            kind: kind as i32,
            attribute: Some(AttributeValues { description, values }),
        })
        .collect();
    let modify = Modify { dn: request.dn, changes };
    if *identity == Identity::Anonymous {
        return Err(no_access());
    }
    Name::parse(&modify.dn, view.schema())?;
    modifications(modify.changes.clone(), view.schema())?;
    Ok(Command::new(identity, Operation::Modify(modify)))
}

fn no_access() -> OpError {
    OpError::new(OpErrorKind::InsufficientAccess, "no access to change this attribute of this entry")
}

pub(crate) fn apply(batch: &mut Batch, context: &Context, modify: Modify) -> Result<Done, Stop> {
    if context.identity == Identity::Anonymous {
        return Err(no_access().into());
    }
    op::require_known(&batch.txn, &context.identity)?;
    let name = Name::parse(&modify.dn, &batch.schema)?;
    let list = modifications(modify.changes, &batch.schema)?;
    let id = op::find(&batch.txn, &batch.settings, &name)?;
    let rules = batch.access.clone();
    let reader = rules.reader(&context.identity);
    if list.iter().any(|change| !reader.rights(change.description.id, id).has(Rights::WRITE)) {
        return Err(no_access().into());
    }
    let loaded = op::load(&batch.txn, id)?;
    let mut entry = loaded.entry.clone();
    apply_modifications(&mut entry, &list, &batch.schema).map_err(modify_error)?;
    if let Some(rdn) = stored_leaf_rdn(&loaded.rdn)? {
        op::require_rdn_values(&entry, &rdn, &batch.schema)?;
    }
    check_changed(&entry, &batch.schema)?;
    batch.touch(context, &mut entry);
    entry.arrange(&batch.schema);
    let bytes = batch.encode_entry(loaded.parent, &loaded.rdn, &entry)?;

    batch.txn.put(ID2ENTRY, &tables::id_key(id), &bytes)?;
    batch.change_indexes(id, Some(&loaded.entry), Some(&entry));
    Ok(Done { entry_id: id, entries: 1, ..Done::default() })
}

/// The RDN that names an entry: of a naming context the first one of its DN.
pub(crate) fn stored_leaf_rdn(rdn: &str) -> Result<Option<Rdn>, OpError> {
    let dn = Dn::parse(rdn).map_err(op::name_error)?;
    Ok(dn.rdn().cloned())
}

/// Reads the steps and refuses what no step may touch.
fn modifications(changes: Vec<Change>, schema: &Schema) -> Result<Vec<Modification>, OpError> {
    let protocol = |what: &str| OpError::new(OpErrorKind::Protocol, what);
    if changes.len() > CHANGES_MAX {
        return Err(OpError::new(OpErrorKind::AdminLimitExceeded, format!("a modify has at most {CHANGES_MAX} steps")));
    }
    let mut list = Vec::with_capacity(changes.len());
    for change in changes {
        let kind = ChangeKind::try_from(change.kind).map_err(|_| protocol("unknown kind of modification"))?;
        let given = change.attribute.ok_or_else(|| protocol("a modification without attribute"))?;
        let description = op::parse_description(&given.description, schema)?;
        op::refuse_unmodifiable(op::attribute_type(&description, schema)?)?;
        if given.values.is_empty() && matches!(kind, ChangeKind::Add | ChangeKind::Increment) {
            return Err(protocol("this kind of modification needs a value"));
        }
        let op = match kind {
            ChangeKind::Add => ModOp::Add,
            ChangeKind::Delete => ModOp::Delete,
            ChangeKind::Replace => ModOp::Replace,
            ChangeKind::Increment => ModOp::Increment,
        };
        list.push(Modification { op, description, values: given.values });
    }
    Ok(list)
}

fn modify_error(error: ModifyError) -> OpError {
    let kind = match error {
        ModifyError::NoSuchAttribute { .. } | ModifyError::NoSuchValue { .. } => OpErrorKind::NoSuchAttribute,
        ModifyError::ValueExists { .. } => OpErrorKind::AttributeOrValueExists,
        ModifyError::InvalidValue { .. } => OpErrorKind::InvalidAttributeSyntax,
        ModifyError::NoUserModification { .. } | ModifyError::NotInteger { .. } | ModifyError::TooManyDigits { .. } => {
            OpErrorKind::ConstraintViolation
        }
        ModifyError::NoValues { .. } | ModifyError::NotOneIncrement { .. } => OpErrorKind::Protocol,
        ModifyError::UnknownAttribute(_) => OpErrorKind::UndefinedAttributeType,
    };
    OpError::new(kind, error.to_string())
}

/// Checks a changed entry against the schema; its structural class must be the one it was added with
/// (RFC 4512 2.4.2: it does not change).
pub(crate) fn check_changed(entry: &Entry, schema: &Schema) -> Result<(), OpError> {
    let checked = schema.check_entry(entry).map_err(op::schema_error)?;
    let class = schema.object_class_by_id(checked.structural);
    let Some(before) = Operational::find(schema).structural(entry) else {
        return Ok(());
    };
    if schema.object_class(before).map(|class| class.id) != class.map(|class| class.id) {
        return Err(OpError::new(
            OpErrorKind::ObjectClassModsProhibited,
            format!(
                "the structural object class cannot change from {} to {}",
                String::from_utf8_lossy(before),
                class.map_or("none", |class| class.name())
            ),
        ));
    }
    Ok(())
}
