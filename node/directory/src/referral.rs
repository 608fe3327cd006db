//! Referral objects (RFC 3296): entries that stand for a part of the tree held elsewhere. Few directories have any, so
//! a version finds out once whether it has.

use crate::error::DirectoryError;
use crate::index::config::IndexTypes;
use crate::index::idset::IdSet;
use crate::index::posting::{self, Kind, record_key};
use crate::view::ReadView;
use bindery_model::entry_codec::StoredEntry;
use bindery_model::schema::{AttrId, ObjectClassId};
use std::sync::{Arc, OnceLock};

/// What one version knows of its referral objects; `None` inside when it has none.
pub(crate) type ReferralsOnce = Arc<OnceLock<Option<Referrals>>>;

/// How referral objects are told, and which entries may be some.
#[derive(Debug)]
pub(crate) struct Referrals {
    object_class: AttrId,
    class: ObjectClassId,
    /// The attribute `ref`.
    pub(crate) reference: AttrId,
    /// All referral objects; `None` when no index on objectClass knows them.
    pub(crate) ids: Option<IdSet>,
}

impl ReadView {
    /// The referral objects of this version, `None` when it has none.
    pub(crate) fn referrals(&self) -> Result<Option<&Referrals>, DirectoryError> {
        if let Some(known) = self.referrals.get() {
            return Ok(known.as_ref());
        }
        let found = self.find_referrals()?;
        Ok(self.referrals.get_or_init(|| found).as_ref())
    }

    fn find_referrals(&self) -> Result<Option<Referrals>, DirectoryError> {
        let schema = &self.schema;
        let Some(class) = schema.object_class("referral") else { return Ok(None) };
        let (Some(reference), Some(object_class)) = (schema.attribute_id(b"ref"), schema.object_class_attribute())
        else {
            return Ok(None);
        };
        let ids = match self.indexes.ready(object_class, IndexTypes::EQUALITY) {
            None => None,
            Some(tree) => {
                let key = record_key(Kind::Equality, class.oid.as_bytes());
                let ids = posting::read(&self.store, tree, &key, 0)?;
                if ids.is_empty() {
                    return Ok(None);
                }
                Some(ids)
            }
        };
        Ok(Some(Referrals { object_class, class: class.id, reference, ids }))
    }

    /// The URIs of `entry` if it is a referral object.
    pub(crate) fn referral_uris(
        &self,
        id: u64,
        entry: &StoredEntry<'_>,
        referrals: &Referrals,
    ) -> Option<Vec<Vec<u8>>> {
        let known = referrals.ids.as_ref().is_none_or(|ids| ids.contains(id));
        if !known || !entry.has(referrals.reference) {
            return None;
        }
        let is_class = |value: &[u8]| {
            let own = self.schema.object_class_id(value);
            own.is_some_and(|own| self.schema.is_subclass(own, referrals.class))
        };
        if !entry.values_of(referrals.object_class).any(is_class) {
            return None;
        }
        Some(entry.values_of(referrals.reference).map(<[u8]>::to_vec).collect())
    }

    /// The URIs of the entry `id` if it is a referral object.
    pub(crate) fn referral_of(&self, id: u64) -> Result<Option<Vec<Vec<u8>>>, DirectoryError> {
        let Some(referrals) = self.referrals()? else { return Ok(None) };
        if referrals.ids.as_ref().is_some_and(|ids| !ids.contains(id)) {
            return Ok(None);
        }
        Ok(self.with_entry(id, |entry| self.referral_uris(id, &entry, referrals))?.flatten())
    }
}
