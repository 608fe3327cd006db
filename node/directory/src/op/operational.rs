//! Operational attributes that the server keeps in each entry (RFC 4512 3.4, RFC 4530, and OpenLDAP's entryCSN).
//! Those that follow from the tree (entryDN, hasSubordinates, numSubordinates, subschemaSubentry) are made when
//! an entry is read.

use crate::apply::Context;
use crate::stamp;
use bindery_model::entry::{AttributeDescription, Entry};
use bindery_model::schema::{AttrId, Schema};

/// The ids of the attributes, each absent when the schema does not define it.
pub(crate) struct Operational {
    entry_uuid: Option<AttrId>,
    entry_csn: Option<AttrId>,
    creators_name: Option<AttrId>,
    create_timestamp: Option<AttrId>,
    modifiers_name: Option<AttrId>,
    modify_timestamp: Option<AttrId>,
    structural_object_class: Option<AttrId>,
}

impl Operational {
    pub(crate) fn find(schema: &Schema) -> Operational {
        let id = |name: &str| schema.attribute(name).map(|attribute| attribute.id);
        Operational {
            entry_uuid: id("entryUUID"),
            entry_csn: id("entryCSN"),
            creators_name: id("creatorsName"),
            create_timestamp: id("createTimestamp"),
            modifiers_name: id("modifiersName"),
            modify_timestamp: id("modifyTimestamp"),
            structural_object_class: id("structuralObjectClass"),
        }
    }

    /// Sets what a new entry lacks. `ordinal` is its number within the command.
    pub(crate) fn complete(&self, entry: &mut Entry, context: &Context, requester: &str, ordinal: usize) {
        let mut fill = |id: Option<AttrId>, value: &dyn Fn() -> String| {
            if let Some(id) = id
                && entry.plain_values(id).is_empty()
            {
                entry.set(AttributeDescription::plain(id), vec![value().into_bytes()]);
            }
        };
        let time = || stamp::generalized_time(context.time_us);
        fill(self.entry_uuid, &|| stamp::entry_uuid(&context.random, ordinal));
        fill(self.creators_name, &|| requester.to_owned());
        fill(self.create_timestamp, &time);
        fill(self.modifiers_name, &|| requester.to_owned());
        fill(self.modify_timestamp, &time);
        fill(self.entry_csn, &|| stamp::entry_csn(context.time_us, context.position, ordinal));
    }

    /// Keeps who the entry is and who made it when, where the content that replaces it does not say.
    pub(crate) fn keep(&self, entry: &mut Entry, old: &Entry) {
        for id in [self.entry_uuid, self.creators_name, self.create_timestamp].into_iter().flatten() {
            if entry.plain_values(id).is_empty() {
                entry.set(AttributeDescription::plain(id), old.plain_values(id).to_vec());
            }
        }
    }

    /// Sets who changed the entry, and when.
    pub(crate) fn touch(&self, entry: &mut Entry, context: &Context, requester: &str, ordinal: usize) {
        let mut put = |id: Option<AttrId>, value: String| {
            if let Some(id) = id {
                entry.set(AttributeDescription::plain(id), vec![value.into_bytes()]);
            }
        };
        put(self.modifiers_name, requester.to_owned());
        put(self.modify_timestamp, stamp::generalized_time(context.time_us));
        put(self.entry_csn, stamp::entry_csn(context.time_us, context.position, ordinal));
    }

    /// Sets `structuralObjectClass` (RFC 4512 3.4.8).
    pub(crate) fn set_structural(&self, entry: &mut Entry, class: &str) {
        if let Some(id) = self.structural_object_class {
            entry.set(AttributeDescription::plain(id), vec![class.as_bytes().to_vec()]);
        }
    }

    /// The stored `structuralObjectClass`.
    pub(crate) fn structural<'a>(&self, entry: &'a Entry) -> Option<&'a [u8]> {
        entry.plain_values(self.structural_object_class?).first().map(Vec::as_slice)
    }
}
