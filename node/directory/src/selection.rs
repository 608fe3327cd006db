//! Which attributes a search returns (RFC 4511 4.5.1.8; RFC 3673 `+`; RFC 4529 `@class`).

use bindery_model::entry::AttributeDescription;
use bindery_model::schema::{AttrId, ObjectClass, Schema};

/// Attributes asked for, resolved against a schema.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// All user attributes.
    user: bool,
    /// All operational attributes.
    operational: bool,
    /// Single ones that the above do not cover, subtypes included, by ascending id.
    named: Vec<AttributeDescription>,
}

impl Selection {
    /// All user attributes: what a search without a list returns.
    pub fn all_user() -> Selection {
        Selection { user: true, ..Selection::default() }
    }

    /// Reads the list of a request. Names that the schema does not know select nothing; `1.1` selects nothing and
    /// is ignored beside others.
    pub fn parse<'a>(names: impl IntoIterator<Item = &'a [u8]>, schema: &Schema) -> Selection {
        let mut selection = Selection::default();
        let mut empty = true;
        for name in names {
            empty = false;
            match name {
                b"*" => selection.user = true,
                b"+" => selection.operational = true,
                b"1.1" => {}
                [b'@', class @ ..] => {
                    if let Some(class) = schema.object_class(class) {
                        selection.add_class(class, schema);
                    }
                }
                name => {
                    if let Ok(description) = AttributeDescription::parse(name, schema) {
                        selection.add(&description, schema);
                    }
                }
            }
        }
        if empty {
            return Selection::all_user();
        }
        let (user, operational) = (selection.user, selection.operational);
        selection.named.retain(|named| match is_operational(named.id, schema) {
            true => !operational,
            false => !user,
        });
        selection.named.sort();
        selection.named.dedup();
        selection
    }

    fn add(&mut self, description: &AttributeDescription, schema: &Schema) {
        for id in schema.subtypes(description.id) {
            self.named.push(AttributeDescription { id: *id, options: description.options.clone() });
        }
    }

    /// Every attribute that the class or its superclasses require or allow.
    fn add_class(&mut self, class: &ObjectClass, schema: &Schema) {
        let ancestors = class.ancestors.iter().filter_map(|id| schema.object_class_by_id(*id));
        for class in std::iter::once(class).chain(ancestors) {
            for id in class.must.iter().chain(&class.may) {
                self.add(&AttributeDescription::plain(*id), schema);
            }
        }
    }

    /// Whether nothing is selected.
    pub fn is_none(&self) -> bool {
        !self.user && !self.operational && self.named.is_empty()
    }

    /// Whether all user attributes are selected.
    pub fn all_user_attributes(&self) -> bool {
        self.user
    }

    /// Whether all operational attributes are selected.
    pub fn all_operational_attributes(&self) -> bool {
        self.operational
    }

    /// Whether single attributes are selected beside or instead of all of a kind.
    pub fn has_named(&self) -> bool {
        !self.named.is_empty()
    }

    /// Whether an attribute is among the single ones; `has_options` says whether the attribute has all of the
    /// options given.
    pub fn names(&self, id: AttrId, has_options: impl Fn(&[String]) -> bool) -> bool {
        let start = self.named.partition_point(|named| named.id < id);
        self.named[start..].iter().take_while(|named| named.id == id).any(|named| has_options(&named.options))
    }
}

fn is_operational(id: AttrId, schema: &Schema) -> bool {
    schema.attribute_by_id(id).is_some_and(|attribute| attribute.is_operational())
}
