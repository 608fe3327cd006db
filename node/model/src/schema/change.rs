//! Removing and replacing definitions. Whether entries or indexes use them is for the caller to know.

use super::registry::{Added, Def, Pending, read};
use super::{AttrId, DefinitionKind, ObjectClassId, Schema, parse, slot};
use crate::error::SchemaError;

impl Schema {
    /// Removes a definition that no other definition refers to. Returns its number.
    pub fn remove(&mut self, kind: DefinitionKind, name_or_oid: &str) -> Result<u32, SchemaError> {
        let fail = |problem| SchemaError { line: 0, problem };
        match kind {
            DefinitionKind::AttributeType => {
                let id = self
                    .attribute_id(name_or_oid.as_bytes())
                    .ok_or_else(|| fail(format!("attribute type {name_or_oid} is not defined")))?;
                self.remove_attribute(id).map_err(fail)?;
                Ok(id.0)
            }
            DefinitionKind::ObjectClass => {
                let id = self
                    .object_class_id(name_or_oid.as_bytes())
                    .ok_or_else(|| fail(format!("object class {name_or_oid} is not defined")))?;
                self.remove_class(id).map_err(fail)?;
                Ok(id.0)
            }
        }
    }

    fn remove_attribute(&mut self, id: AttrId) -> Result<(), String> {
        let in_use = |by: &str| Err(format!("it is in use: {by} refers to it; remove that first"));
        if let Some(subtype) = self.attributes().find(|attribute| attribute.superior == Some(id)) {
            return in_use(subtype.name());
        }
        if let Some(class) = self.object_classes().find(|class| class.must.contains(&id) || class.may.contains(&id)) {
            return in_use(class.name());
        }
        let place = slot(id.0).filter(|place| *place < self.attributes.len());
        let Some(attribute) = place.and_then(|place| self.attributes[place].take()) else { return Ok(()) };
        for name in attribute.names.iter().chain([&attribute.oid]) {
            self.attribute_names.remove(name);
        }
        for family in &mut self.subtypes {
            family.retain(|member| *member != id);
        }
        if self.object_class == Some(id) {
            self.object_class = None;
        }
        // The next number is one more than the last in use, as it is in a schema rebuilt from its definitions.
        while self.attributes.last().is_some_and(Option::is_none) {
            self.attributes.pop();
            self.subtypes.pop();
        }
        Ok(())
    }

    fn remove_class(&mut self, id: ObjectClassId) -> Result<(), String> {
        if let Some(class) = self.object_classes().find(|class| class.superiors.contains(&id)) {
            return Err(format!("it is in use: {} descends from it; remove that first", class.name()));
        }
        let place = slot(id.0).filter(|place| *place < self.classes.len());
        let Some(class) = place.and_then(|place| self.classes[place].take()) else { return Ok(()) };
        for name in class.names.iter().chain([&class.oid]) {
            self.class_names.remove(name);
        }
        while self.classes.last().is_some_and(Option::is_none) {
            self.classes.pop();
        }
        Ok(())
    }

    /// Adds the definitions of a text like [`Schema::add_text`], but one whose OID is defined already takes that
    /// definition's place and number. All or nothing. The result names what is new or replaced.
    pub fn replace_text(&mut self, text: &str) -> Result<Added, SchemaError> {
        let mut skipped = Vec::new();
        let mut pending = read(text, &mut skipped)?;
        let mut next_attribute = self.attributes.len();
        let mut next_class = self.classes.len();
        let mut named = Added { skipped, ..Added::default() };
        let mut replaced = Vec::new();
        for one in &mut pending {
            let (kind, known, next, list) = match &one.def {
                Def::Attribute(def) => (
                    DefinitionKind::AttributeType,
                    self.attribute_id(def.oid.as_bytes()).map(|id| id.0),
                    &mut next_attribute,
                    &mut named.attribute_types,
                ),
                Def::Class(def) => (
                    DefinitionKind::ObjectClass,
                    self.object_class_id(def.oid.as_bytes()).map(|id| id.0),
                    &mut next_class,
                    &mut named.object_classes,
                ),
            };
            let number = known.or_else(|| {
                *next += 1;
                u32::try_from(*next).ok()
            });
            one.number = number;
            replaced.extend(number.map(|number| (kind, number)));
            list.push(shown(&one.def));
        }
        named.attribute_types.sort_unstable();
        named.object_classes.sort_unstable();
        for definition in self.definitions() {
            if replaced.contains(&(definition.kind, definition.id)) {
                continue;
            }
            let def = match definition.kind {
                DefinitionKind::AttributeType => parse::attribute_type(definition.text).map(Def::Attribute),
                DefinitionKind::ObjectClass => parse::object_class(definition.text).map(Def::Class),
            };
            let def = def.map_err(|problem| SchemaError { line: 0, problem })?;
            pending.push(Pending { line: 0, number: Some(definition.id), def });
        }
        let mut schema = Self::empty();
        schema.add_all(pending, &mut Added::default())?;
        *self = schema;
        Ok(named)
    }
}

fn shown(def: &Def) -> String {
    let (names, oid) = match def {
        Def::Attribute(def) => (&def.names, &def.oid),
        Def::Class(def) => (&def.names, &def.oid),
    };
    names.first().unwrap_or(oid).clone()
}
