//! Checking an entry against the schema (RFC 4512, 2.4 and 3.3).

use std::collections::HashSet;

use super::{AttrId, AttributeType, ObjectClass, ObjectClassId, ObjectClassKind, Schema};
use crate::entry::{Attribute, Entry, printable};
use crate::error::SchemaViolation;

/// The class that allows every user attribute (RFC 4512, 4.3).
const EXTENSIBLE_OBJECT_OID: &str = "1.3.6.1.4.1.1466.101.120.111";

/// What checking an entry found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checked {
    /// The entry's structural object class: the most subordinate one.
    pub structural: ObjectClassId,
}

impl Schema {
    /// Checks classes, required and allowed attributes, single values, syntaxes and duplicate values. Operational
    /// attributes are allowed everywhere; who may write them is for the caller.
    pub fn check_entry(&self, entry: &Entry) -> Result<Checked, SchemaViolation> {
        let structural = self.check_structure(entry)?;
        for attribute in &entry.attributes {
            let Some(attribute_type) = self.attribute_by_id(attribute.description.id) else {
                return Err(SchemaViolation::UnknownAttribute(attribute.description.id.0));
            };
            self.check_values(attribute_type, attribute)?;
        }
        Ok(Checked { structural })
    }

    /// The part of [`Schema::check_entry`] that does not look at values but those of objectClass: to be checked
    /// again after any change, while unchanged values need not be.
    pub fn check_structure(&self, entry: &Entry) -> Result<ObjectClassId, SchemaViolation> {
        let given = self.given_classes(entry)?;
        let mut all: Vec<ObjectClassId> = Vec::with_capacity(given.len() * 2);
        for class in &given {
            all.push(class.id);
            all.extend_from_slice(&class.ancestors);
        }
        all.sort_unstable();
        all.dedup();
        let structural = self.structural_class(&given)?;
        for class in given.iter().filter(|class| class.kind == ObjectClassKind::Abstract) {
            if !given.iter().any(|other| other.ancestors.binary_search(&class.id).is_ok()) && class.name() != "top" {
                return Err(SchemaViolation::AbstractClassAlone(class.name().to_owned()));
            }
        }
        self.check_attributes(entry, &all)?;
        Ok(structural)
    }

    fn given_classes(&self, entry: &Entry) -> Result<Vec<&ObjectClass>, SchemaViolation> {
        let values = self.object_class.map_or(&[][..], |id| entry.plain_values(id));
        if values.is_empty() {
            return Err(SchemaViolation::NoObjectClass);
        }
        values
            .iter()
            .map(|value| self.object_class(value).ok_or_else(|| SchemaViolation::UnknownObjectClass(printable(value))))
            .collect()
    }

    /// The one class that all other structural classes of the entry are superclasses of (RFC 4512, 2.4.2).
    fn structural_class(&self, given: &[&ObjectClass]) -> Result<ObjectClassId, SchemaViolation> {
        let mut lowest: Option<&ObjectClass> = None;
        for &class in given.iter().filter(|class| class.kind == ObjectClassKind::Structural) {
            lowest = match lowest {
                Some(so_far) if self.is_subclass(so_far.id, class.id) => Some(so_far),
                Some(so_far) if !self.is_subclass(class.id, so_far.id) => {
                    return Err(SchemaViolation::TwoStructuralClasses(
                        so_far.name().to_owned(),
                        class.name().to_owned(),
                    ));
                }
                _ => Some(class),
            };
        }
        match lowest.or_else(|| given.iter().copied().find(|class| class.structural_when_alone)) {
            Some(class) => Ok(class.id),
            None => Err(SchemaViolation::NoStructuralClass),
        }
    }

    fn check_attributes(&self, entry: &Entry, classes: &[ObjectClassId]) -> Result<(), SchemaViolation> {
        let mut present: Vec<AttrId> = entry.attributes.iter().map(|attribute| attribute.description.id).collect();
        present.sort_unstable();
        present.dedup();
        let mut allowed: Vec<AttrId> = Vec::with_capacity(64);
        let mut extensible = false;
        for class in classes.iter().filter_map(|id| self.object_class_by_id(*id)) {
            for &required in &class.must {
                if present.binary_search(&required).is_err() {
                    return Err(SchemaViolation::MissingAttribute {
                        class: class.name().to_owned(),
                        attribute: self.attribute_name(required),
                    });
                }
            }
            allowed.extend_from_slice(&class.must);
            allowed.extend_from_slice(&class.may);
            extensible |= class.oid == EXTENSIBLE_OBJECT_OID;
        }
        allowed.sort_unstable();
        for id in present {
            let Some(attribute) = self.attribute_by_id(id) else {
                return Err(SchemaViolation::UnknownAttribute(id.0));
            };
            if !extensible && !attribute.is_operational() && allowed.binary_search(&id).is_err() {
                return Err(SchemaViolation::AttributeNotAllowed(attribute.name().to_owned()));
            }
        }
        Ok(())
    }

    fn attribute_name(&self, id: AttrId) -> String {
        self.attribute_by_id(id).map_or_else(|| id.0.to_string(), |attribute| attribute.name().to_owned())
    }

    /// Checks one attribute's values: at least one, at most one if single-valued, each of the syntax, none twice.
    pub fn check_values(&self, attribute_type: &AttributeType, attribute: &Attribute) -> Result<(), SchemaViolation> {
        let name = || attribute.description.to_text(self).unwrap_or_else(|| attribute_type.name().to_owned());
        let values = &attribute.values;
        match values.len() {
            0 => return Err(SchemaViolation::NoValue(name())),
            2.. if attribute_type.single_value => return Err(SchemaViolation::SingleValued(name())),
            _ => {}
        }
        let refused = |at: usize, source| SchemaViolation::InvalidSyntax { attribute: name(), index: at + 1, source };
        for (at, value) in values.iter().enumerate() {
            attribute_type.syntax.validate(value).map_err(|source| refused(at, source))?;
        }
        let Some(rule) = attribute_type.equality else {
            let mut seen = HashSet::with_capacity(values.len());
            return match values.iter().position(|value| !seen.insert(value)) {
                Some(at) => Err(SchemaViolation::DuplicateValue { attribute: name(), index: at + 1 }),
                None => Ok(()),
            };
        };
        // A value alone has no duplicate: its key is made only where making it can fail.
        if values.len() == 1 && !rule.depends_on_schema() {
            return Ok(());
        }
        let mut seen = HashSet::with_capacity(values.len());
        for (at, value) in values.iter().enumerate() {
            let key = rule.normalize(value, self).map_err(|source| refused(at, source))?;
            if !seen.insert(key) {
                return Err(SchemaViolation::DuplicateValue { attribute: name(), index: at + 1 });
            }
        }
        Ok(())
    }
}
