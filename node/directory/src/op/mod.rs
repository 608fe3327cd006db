//! The operations: one file each, with `prepare` (early refusal on the node that was asked, result a command) and
//! `apply` (the decision, on every node). What several of them need stands here.

pub mod add;
pub mod add_block;
pub mod bootstrap;
pub mod configure;
pub mod delete;
pub mod index_build;
pub mod index_change;
pub mod modify;
pub mod modify_dn;
mod operational;
pub mod schema_add;

pub(crate) use operational::Operational;

use crate::apply::{Batch, Context};
use crate::dit::{self, Resolved};
use crate::error::{DirectoryError, OpError, OpErrorKind, Stop};
use crate::identity::Identity;
use crate::index::posting::Records;
use crate::settings::Settings;
use crate::tables::{self, ID2ENTRY, ROOT_ID};
use bindery_model::dn::{Dn, NormDn, Rdn};
use bindery_model::entry::{AttributeDescription, Entry};
use bindery_model::entry_codec::{self, StoredEntry};
use bindery_model::schema::{AttributeType, Schema};
use bindery_model::{DescriptionError, DnError, SchemaViolation};

/// A DN as written and in its normal form.
pub(crate) struct Name {
    pub(crate) dn: Dn,
    pub(crate) norm: NormDn,
}

impl Name {
    /// Reads a DN that a client sent.
    pub(crate) fn parse(text: &str, schema: &Schema) -> Result<Name, OpError> {
        let dn = Dn::parse(text).map_err(name_error)?;
        let norm = dn.normalize(schema).map_err(name_error)?;
        Ok(Name { dn, norm })
    }

    /// The text of the DN without its first `missing` RDNs; `None` when nothing is left.
    fn above(&self, missing: usize) -> Option<String> {
        let left = self.dn.rdns().len().saturating_sub(missing);
        (left > 0).then(|| self.dn.ancestor(left).to_string())
    }
}

/// The refusal for a name that cannot be used.
pub(crate) fn name_error(error: DnError) -> OpError {
    let kind = match error {
        DnError::DuplicateType(_) | DnError::NoEqualityRule(_) => OpErrorKind::NamingViolation,
        DnError::Syntax { .. } | DnError::TooLarge { .. } | DnError::UnknownType(_) | DnError::Value { .. } => {
            OpErrorKind::InvalidDnSyntax
        }
    };
    OpError::new(kind, error.to_string())
}

/// The refusal for an entry that breaks the schema.
pub(crate) fn schema_error(error: SchemaViolation) -> OpError {
    let kind = match error {
        SchemaViolation::UnknownAttribute(_) => OpErrorKind::UndefinedAttributeType,
        SchemaViolation::SingleValued(_) => OpErrorKind::ConstraintViolation,
        SchemaViolation::InvalidSyntax { .. } => OpErrorKind::InvalidAttributeSyntax,
        SchemaViolation::DuplicateValue { .. } => OpErrorKind::AttributeOrValueExists,
        SchemaViolation::NoValue(_) => OpErrorKind::Protocol,
        _ => OpErrorKind::ObjectClassViolation,
    };
    OpError::new(kind, error.to_string())
}

/// Reads an attribute description that a client sent (RFC 4512 2.5).
pub(crate) fn parse_description(text: &str, schema: &Schema) -> Result<AttributeDescription, OpError> {
    AttributeDescription::parse(text.as_bytes(), schema).map_err(|error| {
        let kind = match error {
            DescriptionError::UnknownType(_) => OpErrorKind::UndefinedAttributeType,
            DescriptionError::Syntax(_) => OpErrorKind::Protocol,
        };
        OpError::new(kind, error.to_string())
    })
}

/// The attribute type of a description that was read with the same schema.
pub(crate) fn attribute_type<'a>(
    description: &AttributeDescription,
    schema: &'a Schema,
) -> Result<&'a AttributeType, OpError> {
    schema.attribute_by_id(description.id).ok_or_else(|| {
        OpError::new(OpErrorKind::UndefinedAttributeType, "an attribute type that the schema does not define")
    })
}

/// Refuses an attribute that only the server sets (RFC 4512 4.1.2 NO-USER-MODIFICATION).
pub(crate) fn refuse_unmodifiable(attribute: &AttributeType) -> Result<(), OpError> {
    if attribute.no_user_modification {
        return Err(OpError::new(
            OpErrorKind::ConstraintViolation,
            format!("attribute {} is maintained by the server", attribute.name()),
        ));
    }
    Ok(())
}

/// The entry that `name` names, or a refusal with the nearest entry above (RFC 4511 4.1.9).
pub(crate) fn find(records: &impl Records, settings: &Settings, name: &Name) -> Result<u64, Stop> {
    match dit::resolve(records, settings, &name.norm)? {
        Resolved::Found { id } => Ok(id),
        Resolved::Root => Err(OpError::new(
            OpErrorKind::UnwillingToPerform,
            "the root DSE is made by the server and cannot be changed",
        )
        .into()),
        Resolved::Missing { nearest, missing } => {
            let matched = if nearest.is_some() { name.above(missing) } else { None };
            Err(OpError::no_such_object(matched, format!("{} does not exist", name.dn)).into())
        }
    }
}

/// Refuses an identity whose entry is gone: it was deleted after the request was accepted.
pub(crate) fn require_known(records: &impl Records, identity: &Identity) -> Result<(), Stop> {
    if let Identity::User { id, .. } = identity
        && (*id == ROOT_ID || dit::parent_record(records, *id)?.is_none())
    {
        return Err(OpError::new(OpErrorKind::InsufficientAccess, "the entry that you are bound as is gone").into());
    }
    Ok(())
}

/// Refuses everybody but the administrator: the default rules grant nobody the right to change the tree.
pub(crate) fn require_tree_access(identity: &Identity, what: &str) -> Result<(), OpError> {
    match identity {
        Identity::Admin => Ok(()),
        Identity::Anonymous => {
            Err(OpError::new(OpErrorKind::InsufficientAccess, format!("bind first: no access to {what}")))
        }
        Identity::User { .. } => Err(OpError::new(OpErrorKind::InsufficientAccess, format!("no access to {what}"))),
    }
}

/// An entry as the store has it.
pub(crate) struct Loaded {
    pub(crate) parent: u64,
    pub(crate) rdn: String,
    pub(crate) entry: Entry,
}

/// Reads entry `id`, which the tree of names says exists.
pub(crate) fn load(records: &impl Records, id: u64) -> Result<Loaded, DirectoryError> {
    let loaded = records.record(ID2ENTRY, &tables::id_key(id), |bytes| {
        let stored = StoredEntry::parse(bytes).map_err(|error| error.to_string())?;
        let entry = stored.to_entry();
        Ok::<_, String>(Loaded { parent: stored.parent(), rdn: stored.rdn().to_owned(), entry })
    })?;
    match loaded {
        Some(Ok(loaded)) => Ok(loaded),
        Some(Err(error)) => Err(DirectoryError::inconsistent(format!("entry {id}: {error}"))),
        None => Err(DirectoryError::inconsistent(format!("entry {id} has a name but no content"))),
    }
}

/// Adds the values of `rdn` that `entry` lacks (RFC 4511 4.7 lets the server add them), and checks that their
/// types may be set.
pub(crate) fn add_rdn_values(entry: &mut Entry, rdn: &Rdn, schema: &Schema) -> Result<(), OpError> {
    for ava in rdn.avas() {
        let attribute = rdn_attribute(ava.attribute(), schema)?;
        if !has_value(entry, attribute, ava.value(), schema) {
            entry.push(AttributeDescription::plain(attribute.id), ava.value().to_vec());
        }
    }
    Ok(())
}

/// Refuses an entry that lacks a value of its RDN (RFC 4512 2.3.1).
pub(crate) fn require_rdn_values(entry: &Entry, rdn: &Rdn, schema: &Schema) -> Result<(), OpError> {
    for ava in rdn.avas() {
        let attribute = rdn_attribute(ava.attribute(), schema)?;
        if !has_value(entry, attribute, ava.value(), schema) {
            return Err(OpError::new(
                OpErrorKind::NotAllowedOnRdn,
                format!("the value of {} that names the entry cannot be removed", attribute.name()),
            ));
        }
    }
    Ok(())
}

/// The attribute type of an RDN; one that cannot name entries is refused.
pub(crate) fn rdn_attribute<'a>(name: &str, schema: &'a Schema) -> Result<&'a AttributeType, OpError> {
    let attribute = schema
        .attribute(name)
        .ok_or_else(|| OpError::new(OpErrorKind::InvalidDnSyntax, format!("attribute type {name} is not defined")))?;
    if attribute.equality.is_none() || attribute.is_operational() {
        return Err(OpError::new(
            OpErrorKind::NamingViolation,
            format!("attribute {} cannot name an entry", attribute.name()),
        ));
    }
    Ok(attribute)
}

/// Whether `entry` has `value` in `attribute` without options, by its equality rule.
pub(crate) fn has_value(entry: &Entry, attribute: &AttributeType, value: &[u8], schema: &Schema) -> bool {
    let Some(rule) = &attribute.equality else {
        return entry.plain_values(attribute.id).iter().any(|own| own == value);
    };
    let Ok(wanted) = rule.normalize(value, schema) else {
        return false;
    };
    entry.plain_values(attribute.id).iter().any(|own| rule.normalize(own, schema).is_ok_and(|own| own == wanted))
}

impl Batch {
    /// The stored form of an entry; one that is too large is refused. Part of deciding, before the first write.
    pub(crate) fn encode_entry(&self, parent: u64, rdn: &str, entry: &Entry) -> Result<Vec<u8>, OpError> {
        entry_codec::encode(parent, rdn, entry, &self.schema)
            .map_err(|error| OpError::new(OpErrorKind::AdminLimitExceeded, error.to_string()))
    }

    /// Gathers the index changes of one entry; `None` stands for no entry.
    pub(crate) fn change_indexes(&mut self, id: u64, old: Option<&Entry>, new: Option<&Entry>) {
        self.deltas.change(&self.indexes, &self.schema, id, old, new);
    }

    /// Adds `by` to the number of children of `parent`.
    pub(crate) fn add_children(&mut self, parent: u64, by: i64) -> Result<(), DirectoryError> {
        let mut record = match dit::parent_record(&self.txn, parent)? {
            Some(record) => record,
            None if parent == ROOT_ID => tables::ParentRecord { parent: ROOT_ID, children: 0 },
            None => return Err(DirectoryError::inconsistent(format!("entry {parent} has no parent record"))),
        };
        record.children = record
            .children
            .checked_add_signed(by)
            .ok_or_else(|| DirectoryError::inconsistent(format!("number of children of entry {parent}")))?;
        self.txn.put(tables::PARENT, &tables::id_key(parent), &record.encode())?;
        Ok(())
    }

    /// The RDN part of the key of `name` in the tree of names: of a naming context its whole DN.
    pub(crate) fn leaf_key(&self, name: &NormDn) -> Vec<u8> {
        match self.settings.naming_context_of(name) {
            Some(context) if context.norm == *name => crate::settings::suffix_rdn_key(name),
            _ => name.rdns().first().map(|rdn| rdn.as_bytes().to_vec()).unwrap_or_default(),
        }
    }

    /// Sets `modifiersName`, `modifyTimestamp` and `entryCSN` (RFC 4512 3.4).
    pub(crate) fn touch(&self, context: &Context, entry: &mut Entry) {
        Operational::find(&self.schema).touch(entry, context, &context.requester_dn(&self.settings), 0);
    }
}
