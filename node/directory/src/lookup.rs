//! Reading single entries: by name, to compare, to bind.

use crate::access::Rights;
use crate::dit::{self, Resolved};
use crate::error::{DirectoryError, OpError, OpErrorKind};
use crate::identity::Identity;
use crate::names::Place;
use crate::op::{self, Name};
use crate::tables::{self, ID2ENTRY};
use crate::view::ReadView;
use crate::virtuals::Virtuals;
use bindery_model::entry_codec::StoredEntry;
use std::sync::Arc;

/// What a bind is checked against. Verifying takes long and much memory, so the caller does it, on threads that
/// are few.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BindTarget {
    /// Who is bound when the password is right.
    pub identity: Identity,
    /// `userPassword` values as stored; empty when the entry has none that may be used.
    pub passwords: Vec<Vec<u8>>,
}

impl ReadView {
    /// The id of the entry named `name`. A refusal names the nearest entry above (RFC 4511 4.1.9) if `identity` may see
    /// entries at all.
    ///
    /// # Errors
    /// `NoSuchObject`, names that are none, the store's errors.
    pub fn locate(&self, name: &str, identity: &Identity) -> Result<u64, OpError> {
        let name = Name::parse(name, &self.schema)?;
        match dit::resolve(&self.store, &self.settings, &name.norm).map_err(OpError::from)? {
            Resolved::Found { id } => Ok(id),
            Resolved::Root => Err(OpError::no_such_object(None, "the root DSE is not an entry")),
            Resolved::Missing { nearest, .. } => Err(self.missing(&name, nearest, identity).map_err(OpError::from)?),
        }
    }

    /// The refusal for a name that leads nowhere.
    pub(crate) fn missing(
        &self,
        name: &Name,
        nearest: Option<u64>,
        identity: &Identity,
    ) -> Result<OpError, DirectoryError> {
        let matched = match nearest {
            Some(id) if self.access.reader(identity).entry_rights(id).has(Rights::READ) => {
                self.place(id)?.map(|place| place.dn.clone())
            }
            _ => None,
        };
        Ok(OpError::no_such_object(matched, format!("{} does not exist", name.dn)))
    }

    /// Where the entry `id` stands. Kept for later, so meant for entries that are parents.
    pub(crate) fn place(&self, id: u64) -> Result<Option<Arc<Place>>, DirectoryError> {
        self.names.place(&self.store, self.naming_generation, id)
    }

    /// The DN of the entry `id` as stored; `None` when there is no such entry.
    ///
    /// # Errors
    /// The store's.
    pub fn dn_of(&self, id: u64) -> Result<Option<String>, DirectoryError> {
        dit::dn_text(&self.store, id)
    }

    /// Calls `read` with the stored form of the entry `id`; `None` when there is no such entry.
    pub(crate) fn with_entry<R>(
        &self,
        id: u64,
        mut read: impl FnMut(StoredEntry<'_>) -> R,
    ) -> Result<Option<R>, DirectoryError> {
        let found = self.store.get(ID2ENTRY, &tables::id_key(id), |bytes| {
            StoredEntry::parse(bytes).map(&mut read).map_err(|error| error.to_string())
        })?;
        found.transpose().map_err(|error| DirectoryError::inconsistent(format!("entry {id}: {error}")))
    }

    /// Compares `value` with the values of `description` in the entry `name` (RFC 4511 4.10).
    ///
    /// # Errors
    /// `NoSuchAttribute` when there is no such attribute or it may not be compared, `UndefinedAttributeType`,
    /// `InappropriateMatching` without an equality rule, `InvalidAttributeSyntax`, and those of [`ReadView::locate`].
    pub fn compare(&self, name: &str, description: &str, value: &[u8], identity: &Identity) -> Result<bool, OpError> {
        let reader = self.access.reader(identity);
        if !reader.sees_entries() {
            return Err(bind_first());
        }
        let id = self.locate(name, identity)?;
        let description = op::parse_description(description, &self.schema)?;
        let attribute = op::attribute_type(&description, &self.schema)?;
        let rule = attribute.equality.ok_or_else(|| {
            OpError::new(
                OpErrorKind::InappropriateMatching,
                format!("attribute {} has no equality rule", attribute.name()),
            )
        })?;
        let wanted = rule
            .normalize_assertion(value, &self.schema)
            .map_err(|error| OpError::new(OpErrorKind::InvalidAttributeSyntax, error.to_string()))?;
        let absent =
            || OpError::new(OpErrorKind::NoSuchAttribute, format!("no attribute {} in {name}", attribute.name()));
        let virtuals = Virtuals::of(&self.schema);
        let mut found = false;
        let mut equal = false;
        for subtype in self.schema.subtypes(attribute.id) {
            if !reader.rights(*subtype, id).has(Rights::COMPARE) {
                continue;
            }
            if let Some(kind) = virtuals.get(*subtype) {
                let dn = self.dn_of(id).map_err(OpError::from)?.unwrap_or_default();
                let own = kind.value(&self.store, id, &dn).map_err(OpError::from)?;
                found = true;
                equal |= rule.normalize(&own, &self.schema).is_ok_and(|own| own == wanted);
                continue;
            }
            let tested = self
                .with_entry(id, |entry| {
                    let mut seen = (false, false);
                    for own in entry.attribute(*subtype) {
                        if !own.has_options(&description.options) {
                            continue;
                        }
                        seen.0 = true;
                        seen.1 |=
                            own.values().any(|own| rule.normalize(own, &self.schema).is_ok_and(|own| own == wanted));
                    }
                    seen
                })
                .map_err(OpError::from)?;
            if let Some((here, same)) = tested {
                found |= here;
                equal |= same;
            }
        }
        if found { Ok(equal) } else { Err(absent()) }
    }

    /// What a simple bind as `name` is checked against; `None` for a name that is nobody's, which the caller must
    /// not tell from a wrong password.
    ///
    /// # Errors
    /// `InvalidDnSyntax`, the store's errors.
    pub fn bind_target(&self, name: &str) -> Result<Option<BindTarget>, OpError> {
        let name = Name::parse(name, &self.schema)?;
        if self.settings.is_admin(&name.norm) {
            let password = self.settings.admin_password();
            let passwords = if password.is_empty() { Vec::new() } else { vec![password.to_vec()] };
            return Ok(Some(BindTarget { identity: Identity::Admin, passwords }));
        }
        let resolved = dit::resolve(&self.store, &self.settings, &name.norm).map_err(OpError::from)?;
        let Resolved::Found { id } = resolved else { return Ok(None) };
        let Some(dn) = self.dn_of(id).map_err(OpError::from)? else { return Ok(None) };
        let mut passwords = Vec::new();
        if let Some(attribute) = self.schema.attribute_id(b"userPassword")
            && self.access.reader(&Identity::Anonymous).rights(attribute, id).has(Rights::AUTH)
        {
            let values =
                self.with_entry(id, |entry| entry.values_of(attribute).map(<[u8]>::to_vec).collect::<Vec<_>>());
            passwords = values.map_err(OpError::from)?.unwrap_or_default();
        }
        Ok(Some(BindTarget { identity: Identity::User { dn, id }, passwords }))
    }
}

/// The refusal for an asker whom no rule grants anything: the same whether or not what it asks for exists.
pub(crate) fn bind_first() -> OpError {
    OpError::new(OpErrorKind::InsufficientAccess, "bind first, or run `bindery access preset anonymous-posix`")
}
