//! The root DSE and the subschema subentry (RFC 4512 5.1 and 4.2): entries that are made, not stored.

use crate::access::Rights;
use crate::emit::{Picker, SearchItem};
use crate::error::{OpError, OpErrorKind};
use crate::identity::Identity;
use crate::selection::Selection;
use crate::stamp::generalized_time;
use crate::view::ReadView;
use crate::virtuals::SUBSCHEMA_DN;
use bindery_model::entry::{Attribute, AttributeDescription, Entry};
use bindery_model::entry_codec::{self, StoredEntry};
use bindery_model::filter::Filter;

/// Attributes of the root DSE that the server around the directory knows: name and values. Those without values
/// are left out.
pub type ServerAttributes = Vec<(String, Vec<Vec<u8>>)>;

/// Attributes of the root DSE that are sent although they are operational, when no attribute is asked for by
/// name: Jenkins and others read the root DSE without naming any (RFC 4512 5.1 lets a server choose).
const ALWAYS_SHOWN: [&str; 3] = ["namingContexts", "defaultNamingContext", "subschemaSubentry"];

/// Object classes that the root DSE claims.
const ROOT_CLASSES: [&str; 2] = ["top", "OpenLDAProotDSE"];

impl ReadView {
    /// Answers a base search of the empty name. `server` holds what the directory cannot know: supportedControl and
    /// the like.
    ///
    /// # Errors
    /// A filter that cannot be evaluated.
    pub fn root_dse(
        &self,
        filter: &Filter,
        selection: &[&[u8]],
        types_only: bool,
        server: &ServerAttributes,
        identity: &Identity,
        sink: &mut dyn FnMut(SearchItem<'_>),
    ) -> Result<(), OpError> {
        let mut entry = Entry::new();
        for class in ROOT_CLASSES.iter().filter(|class| self.schema.object_class(class).is_some()) {
            self.push(&mut entry, "objectClass", class.as_bytes().to_vec());
        }
        let contexts = self.settings.naming_contexts();
        for context in contexts {
            self.push(&mut entry, "namingContexts", context.dn.to_string().into_bytes());
        }
        if let Some(context) = contexts.first() {
            self.push(&mut entry, "defaultNamingContext", context.dn.to_string().into_bytes());
        }
        self.push(&mut entry, "subschemaSubentry", SUBSCHEMA_DN.as_bytes().to_vec());
        for (name, values) in server {
            for value in values {
                self.push(&mut entry, name, value.clone());
            }
        }
        let all = Selection::parse(selection.iter().copied(), &self.schema);
        let mut names: Vec<&[u8]> = selection.to_vec();
        if all.all_user_attributes() {
            names.push(b"*");
            names.extend(ALWAYS_SHOWN.iter().map(|name| name.as_bytes()));
        }
        let selection = Selection::parse(names, &self.schema);
        self.made_entry("", &entry, filter, &selection, types_only, identity, sink)
    }

    /// Answers a base search of the subschema subentry.
    pub(crate) fn subschema(
        &self,
        filter: &Filter,
        selection: &Selection,
        types_only: bool,
        identity: &Identity,
        sink: &mut dyn FnMut(SearchItem<'_>),
    ) -> Result<(), OpError> {
        let mut entry = Entry::new();
        for class in ["top", "subentry", "subschema", "extensibleObject"] {
            if self.schema.object_class(class).is_some() {
                self.push(&mut entry, "objectClass", class.as_bytes().to_vec());
            }
        }
        self.push(&mut entry, "cn", b"Subschema".to_vec());
        for (name, values) in self.schema.subschema_attributes() {
            for value in values {
                self.push(&mut entry, name, value.into_bytes());
            }
        }
        // Programs re-read the schema when this changes.
        let time = generalized_time(self.schema_time_us).into_bytes();
        self.push(&mut entry, "createTimestamp", time.clone());
        self.push(&mut entry, "modifyTimestamp", time);
        self.push(&mut entry, "entryDN", SUBSCHEMA_DN.as_bytes().to_vec());
        self.push(&mut entry, "subschemaSubentry", SUBSCHEMA_DN.as_bytes().to_vec());
        self.push(&mut entry, "hasSubordinates", b"FALSE".to_vec());
        self.made_entry(SUBSCHEMA_DN, &entry, filter, selection, types_only, identity, sink)
    }

    /// Adds a value, if the schema has the attribute: an answer names nothing that the subschema does not define.
    fn push(&self, entry: &mut Entry, name: &str, value: Vec<u8>) {
        let Some(id) = self.schema.attribute_id(name.as_bytes()) else { return };
        let description = AttributeDescription::plain(id);
        match entry.get_mut(&description) {
            Some(attribute) => attribute.values.push(value),
            None => entry.attributes.push(Attribute::new(description, vec![value])),
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn made_entry(
        &self,
        dn: &str,
        entry: &Entry,
        filter: &Filter,
        selection: &Selection,
        types_only: bool,
        identity: &Identity,
        sink: &mut dyn FnMut(SearchItem<'_>),
    ) -> Result<(), OpError> {
        let reader = self.access.reader(identity);
        if !reader.server_rights().has(Rights::READ) {
            return Err(OpError::new(OpErrorKind::InsufficientAccess, "no access to the root DSE"));
        }
        let inconsistent =
            |error: entry_codec::CodecError| OpError::new(OpErrorKind::Internal, format!("{dn}: {error}"));
        let bytes = entry_codec::encode(0, "", entry, &self.schema).map_err(inconsistent)?;
        let stored = StoredEntry::parse(&bytes).map_err(inconsistent)?;
        if !self.made_matches(&stored, filter) {
            return Ok(());
        }
        let mut picker = Picker::default();
        picker.begin();
        // The rules on entries do not reach here: these two are public as a whole or not at all.
        let all = crate::access::everything();
        picker.pick(&stored, 0, selection, &all, types_only);
        sink(SearchItem::Entry { id: 0, dn, attributes: picker.attributes(&stored) });
        Ok(())
    }
}
