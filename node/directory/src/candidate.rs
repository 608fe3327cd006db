//! What is known of an entry that a search looks at, before it is known to match.

use crate::access::{Reader, Rights};
use crate::error::DirectoryError;
use crate::names::Place;
use crate::tables::ROOT_ID;
use crate::view::ReadView;
use crate::virtuals::{Virtual, Virtuals};
use bindery_model::dn::Dn;
use bindery_model::entry_codec::StoredEntry;
use bindery_model::filter::{AttributeTest, EntryValues};
use bindery_model::schema::AttrId;
use std::cell::{OnceCell, RefCell};
use std::sync::Arc;

/// The parent of a candidate, looked up when it is needed.
pub(crate) struct Parent<'a> {
    pub(crate) view: &'a ReadView,
    pub(crate) id: u64,
    pub(crate) place: OnceCell<Option<Arc<Place>>>,
}

impl Parent<'_> {
    /// `None` for the root, and for a parent that is gone.
    fn place(&self) -> Result<Option<&Place>, DirectoryError> {
        if self.id == ROOT_ID {
            return Ok(None);
        }
        if self.place.get().is_none() {
            let place = self.view.place(self.id)?;
            let _ = self.place.set(place);
        }
        Ok(self.place.get().and_then(|place| place.as_deref()))
    }

    pub(crate) fn is_within(&self, ancestor: u64) -> Result<bool, DirectoryError> {
        Ok(ancestor == ROOT_ID || self.id == ancestor || self.place()?.is_some_and(|place| place.is_within(ancestor)))
    }

    pub(crate) fn write_dn(&self, rdn: &str, out: &mut String) -> Result<(), DirectoryError> {
        out.clear();
        out.push_str(rdn);
        if self.id == ROOT_ID {
            return Ok(());
        }
        let place = self
            .place()?
            .ok_or_else(|| DirectoryError::inconsistent(format!("entry {} is a parent and missing", self.id)))?;
        out.push(',');
        out.push_str(&place.dn);
        Ok(())
    }
}

/// What the filter sees of a candidate.
pub(crate) struct Candidate<'a> {
    pub(crate) view: &'a ReadView,
    pub(crate) reader: &'a Reader<'a>,
    /// Looked up by the first item that needs them.
    pub(crate) virtuals: &'a OnceCell<Virtuals>,
    pub(crate) id: u64,
    pub(crate) entry: &'a StoredEntry<'a>,
    pub(crate) parent: &'a Parent<'a>,
    /// The trait cannot fail, the store can.
    pub(crate) failed: RefCell<Option<DirectoryError>>,
}

impl Candidate<'_> {
    fn dn(&self) -> Result<String, DirectoryError> {
        let mut dn = String::new();
        self.parent.write_dn(self.entry.rdn(), &mut dn)?;
        Ok(dn)
    }

    fn virtual_value(&self, kind: Virtual) -> Option<Vec<u8>> {
        let value = self.dn().and_then(|dn| kind.value(&self.view.store, self.id, &dn));
        value.map_err(|error| *self.failed.borrow_mut() = Some(error)).ok()
    }
}

impl EntryValues for Candidate<'_> {
    fn any_value(&self, test: &AttributeTest, visit: &mut dyn FnMut(AttrId, &[u8]) -> bool) -> bool {
        if self.entry.any_value(test, visit) {
            return true;
        }
        // A computed attribute has no options and no subtypes; a test by a rule alone does not reach it.
        let (Some(id), true) = (test.named, test.options.is_empty()) else { return false };
        match self.virtuals.get_or_init(|| Virtuals::of(&self.view.schema)).get(id) {
            Some(kind) => self.virtual_value(kind).is_some_and(|value| visit(id, &value)),
            None => false,
        }
    }

    fn any_dn_value(&self, visit: &mut dyn FnMut(AttrId, &[u8]) -> bool) -> bool {
        let dn = match self.dn() {
            Ok(dn) => dn,
            Err(error) => {
                *self.failed.borrow_mut() = Some(error);
                return false;
            }
        };
        // A name that is stored has been read before.
        let Ok(dn) = Dn::parse(&dn) else { return false };
        dn.rdns().iter().flat_map(|rdn| rdn.avas()).any(|ava| {
            let id = self.view.schema.attribute_id(ava.attribute().as_bytes());
            id.is_some_and(|id| visit(id, ava.value()))
        })
    }

    fn is_readable(&self, id: AttrId) -> bool {
        self.reader.rights(id, self.id).has(Rights::SEARCH)
    }
}
