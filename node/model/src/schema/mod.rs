//! The schema: attribute types and object classes (RFC 4512, 4.1), read from text, numbered, looked up and
//! enforced.

mod change;
mod check;
mod compile;
mod lookup;
mod parse;
mod registry;
mod shipped;
mod subschema;
#[cfg(test)]
mod tests;
mod text;

use std::sync::Arc;

pub use check::Checked;
pub use registry::Added;

use crate::matching::MatchingRule;
use crate::syntax::Syntax;
use lookup::NameMap;

/// The attribute objectClass (RFC 4512, 3.3).
const OBJECT_CLASS_OID: &str = "2.5.4.0";

/// The number of an attribute type: from 1, given in the order of definition, kept as long as the definition stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AttrId(pub u32);

/// The number of an object class: from 1, given in the order of definition, kept as long as the definition stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectClassId(pub u32);

/// What an attribute is used for (RFC 4512, 2.5.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Usage {
    /// A user attribute.
    UserApplications,
    /// Operational, of the directory.
    DirectoryOperation,
    /// Operational, shared by servers.
    DistributedOperation,
    /// Operational, of this server.
    DsaOperation,
}

/// An attribute type with its inherited syntax and rules resolved.
#[derive(Debug, Clone)]
pub struct AttributeType {
    /// Its number.
    pub id: AttrId,
    /// Its object identifier.
    pub oid: String,
    /// Its names, the preferred one first; may be empty.
    pub names: Vec<String>,
    /// Its description; may be empty.
    pub description: String,
    /// Marked obsolete.
    pub obsolete: bool,
    /// The type it descends from.
    pub superior: Option<AttrId>,
    /// Its syntax, own or inherited.
    pub syntax: Syntax,
    /// The suggested minimum upper bound of a value; not enforced (RFC 4512, 4.1.2).
    pub syntax_bound: Option<u32>,
    /// Its equality rule, own or inherited.
    pub equality: Option<MatchingRule>,
    /// Its ordering rule, own or inherited.
    pub ordering: Option<MatchingRule>,
    /// Its substrings rule, own or inherited.
    pub substring: Option<MatchingRule>,
    /// At most one value.
    pub single_value: bool,
    /// A collective attribute (RFC 3671).
    pub collective: bool,
    /// Users cannot modify it.
    pub no_user_modification: bool,
    /// Its usage.
    pub usage: Usage,
    /// The definition in RFC 4512's form, as the subschema shows it.
    pub text: String,
}

impl AttributeType {
    /// The preferred name, or the OID when it has none.
    pub fn name(&self) -> &str {
        self.names.first().unwrap_or(&self.oid)
    }

    /// True unless the usage is userApplications.
    pub fn is_operational(&self) -> bool {
        self.usage != Usage::UserApplications
    }
}

/// The kind of an object class (RFC 4512, 2.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ObjectClassKind {
    /// Only a base for others.
    Abstract,
    /// What an entry is.
    Structural,
    /// What an entry may have besides.
    Auxiliary,
}

/// An object class.
#[derive(Debug, Clone)]
pub struct ObjectClass {
    /// Its number.
    pub id: ObjectClassId,
    /// Its object identifier.
    pub oid: String,
    /// Its names, the preferred one first; may be empty.
    pub names: Vec<String>,
    /// Its description; may be empty.
    pub description: String,
    /// Marked obsolete.
    pub obsolete: bool,
    /// Its kind.
    pub kind: ObjectClassKind,
    /// An auxiliary class that stands as structural in an entry that has no structural class: RFC 2307's posixGroup
    /// became auxiliary in its successor, and data of both kinds exists.
    pub structural_when_alone: bool,
    /// Its direct superclasses.
    pub superiors: Vec<ObjectClassId>,
    /// All superclasses, direct and indirect, sorted; not itself.
    pub ancestors: Vec<ObjectClassId>,
    /// Attributes its own definition requires.
    pub must: Vec<AttrId>,
    /// Attributes its own definition allows.
    pub may: Vec<AttrId>,
    /// The definition in RFC 4512's form, as the subschema shows it.
    pub text: String,
}

impl ObjectClass {
    /// The preferred name, or the OID when it has none.
    pub fn name(&self) -> &str {
        self.names.first().unwrap_or(&self.oid)
    }
}

/// What a definition defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DefinitionKind {
    /// An attribute type.
    AttributeType,
    /// An object class.
    ObjectClass,
}

/// One definition as the schema keeps it: enough, with all others, to rebuild the same schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition<'a> {
    /// What it defines.
    pub kind: DefinitionKind,
    /// Its number: an [`AttrId`] or an [`ObjectClassId`].
    pub id: u32,
    /// The definition in RFC 4512's form, OIDs resolved.
    pub text: &'a str,
}

/// A set of definitions. Cloning is cheap enough for every schema change, not for every operation: share it by
/// `Arc`.
#[derive(Debug, Clone, Default)]
pub struct Schema {
    /// By number less one; a dropped definition leaves a hole.
    attributes: Vec<Option<Arc<AttributeType>>>,
    /// By number less one.
    classes: Vec<Option<Arc<ObjectClass>>>,
    attribute_names: NameMap<AttrId>,
    class_names: NameMap<ObjectClassId>,
    /// By attribute number less one: itself and all that descend from it, sorted.
    subtypes: Vec<Vec<AttrId>>,
    object_class: Option<AttrId>,
}

impl Schema {
    /// A schema without definitions.
    pub fn empty() -> Self {
        Self::default()
    }

    /// The attribute type of a name or OID, in any case.
    pub fn attribute(&self, name_or_oid: impl AsRef<[u8]>) -> Option<&AttributeType> {
        self.attribute_by_id(self.attribute_id(name_or_oid.as_ref())?)
    }

    /// The number of an attribute type by name or OID, in any case. Does not allocate.
    pub fn attribute_id(&self, name_or_oid: &[u8]) -> Option<AttrId> {
        self.attribute_names.get(name_or_oid)
    }

    /// The attribute type of a number.
    pub fn attribute_by_id(&self, id: AttrId) -> Option<&AttributeType> {
        self.attributes.get(slot(id.0)?)?.as_deref()
    }

    /// All attribute types, by number.
    pub fn attributes(&self) -> impl Iterator<Item = &AttributeType> {
        self.attributes.iter().filter_map(Option::as_deref)
    }

    /// The type and all types that descend from it, sorted; empty for an unknown number.
    pub fn subtypes(&self, id: AttrId) -> &[AttrId] {
        slot(id.0).and_then(|slot| self.subtypes.get(slot)).map_or(&[], Vec::as_slice)
    }

    /// The object class of a name or OID, in any case.
    pub fn object_class(&self, name_or_oid: impl AsRef<[u8]>) -> Option<&ObjectClass> {
        self.object_class_by_id(self.object_class_id(name_or_oid.as_ref())?)
    }

    /// The number of an object class by name or OID, in any case. Does not allocate.
    pub fn object_class_id(&self, name_or_oid: &[u8]) -> Option<ObjectClassId> {
        self.class_names.get(name_or_oid)
    }

    /// The object class of a number.
    pub fn object_class_by_id(&self, id: ObjectClassId) -> Option<&ObjectClass> {
        self.classes.get(slot(id.0)?)?.as_deref()
    }

    /// All object classes, by number.
    pub fn object_classes(&self) -> impl Iterator<Item = &ObjectClass> {
        self.classes.iter().filter_map(Option::as_deref)
    }

    /// The number of the attribute objectClass, once it is defined.
    pub fn object_class_attribute(&self) -> Option<AttrId> {
        self.object_class
    }

    /// True when `class` is `ancestor` or descends from it.
    pub fn is_subclass(&self, class: ObjectClassId, ancestor: ObjectClassId) -> bool {
        class == ancestor
            || self.object_class_by_id(class).is_some_and(|class| class.ancestors.binary_search(&ancestor).is_ok())
    }

    /// The classes that these objectClass values name, and all their superclasses (RFC 4512, 3.3: superclasses are
    /// implied), sorted. Unknown names are left out.
    pub fn expand_object_classes<'v>(&self, values: impl IntoIterator<Item = &'v [u8]>) -> Vec<ObjectClassId> {
        let mut expanded = Vec::new();
        for value in values {
            if let Some(class) = self.object_class(value) {
                expanded.push(class.id);
                expanded.extend_from_slice(&class.ancestors);
            }
        }
        expanded.sort_unstable();
        expanded.dedup();
        expanded
    }

    /// All definitions: attribute types by number, then object classes by number.
    pub fn definitions(&self) -> impl Iterator<Item = Definition<'_>> {
        let attributes = self.attributes().map(|attribute| Definition {
            kind: DefinitionKind::AttributeType,
            id: attribute.id.0,
            text: &attribute.text,
        });
        let classes = self.object_classes().map(|class| Definition {
            kind: DefinitionKind::ObjectClass,
            id: class.id.0,
            text: &class.text,
        });
        attributes.chain(classes)
    }
}

fn slot(id: u32) -> Option<usize> {
    usize::try_from(id.checked_sub(1)?).ok()
}
