//! A definition against the schema it joins: what it refers to, whether it is there already, whether it conflicts.

use std::sync::{Arc, LazyLock};

use super::parse::{AttributeDef, ClassDef};
use super::registry::{Def, Pending, read};
use super::{AttrId, AttributeType, ObjectClass, ObjectClassId, ObjectClassKind, Schema, Usage, slot};
use crate::matching::{MatchingRule, RuleKind};
use crate::syntax::Syntax;

/// Superiors above one another at most.
const MAX_DEPTH: usize = 32;

/// The extension that lets an auxiliary class stand as an entry's structural class when no other does.
const WHEN_ALONE: &str = "X-STRUCTURAL-WHEN-ALONE";

/// Definitions that others publish for shipped OIDs, which differ from ours without harm: adding one of them changes
/// nothing.
static ACCEPTED: LazyLock<Vec<Pending>> = LazyLock::new(|| {
    read(include_str!("../../schema/accepted.schema"), &mut Vec::new())
        .expect("the accepted definitions are part of the program and tested to be well-formed")
});

/// What became of a definition.
pub(super) enum Outcome<T> {
    New(T),
    Same,
    /// It refers to something that is not there; the text says to what.
    Waits(String),
}

impl Schema {
    /// Resolves an attribute type.
    pub(super) fn compile_attribute(&self, def: &AttributeDef, id: AttrId) -> Result<Outcome<AttributeType>, String> {
        let attribute = match self.resolve_attribute(def, id)? {
            Outcome::New(attribute) => attribute,
            other => return Ok(other),
        };
        let Some(existing) = self.attribute(&attribute.oid) else {
            for name in &attribute.names {
                if let Some(other) = self.attribute(name) {
                    return Err(conflict("attribute type", name, &other.text, &attribute.text));
                }
            }
            return Ok(Outcome::New(attribute));
        };
        let same = same_attribute(existing, &attribute)
            || ACCEPTED.iter().any(|pending| match &pending.def {
                Def::Attribute(def) if def.oid == attribute.oid => {
                    matches!(self.resolve_attribute(def, id), Ok(Outcome::New(accepted)) if same_attribute(&accepted, &attribute))
                }
                _ => false,
            });
        if same {
            Ok(Outcome::Same)
        } else {
            Err(conflict("attribute type", attribute.name(), &existing.text, &attribute.text))
        }
    }

    fn resolve_attribute(&self, def: &AttributeDef, id: AttrId) -> Result<Outcome<AttributeType>, String> {
        let shown = def.names.first().unwrap_or(&def.oid);
        let superior = match &def.superior {
            None => None,
            Some(name) => match self.attribute(name) {
                Some(superior) => Some(superior),
                None => {
                    return Ok(Outcome::Waits(format!("attribute type {shown}: its superior {name} is not defined")));
                }
            },
        };
        let mut depth = 0;
        let mut above = superior;
        while let Some(attribute) = above {
            depth += 1;
            if depth > MAX_DEPTH {
                return Err(format!("attribute type {shown}: more than {MAX_DEPTH} superiors above one another"));
            }
            above = attribute.superior.and_then(|id| self.attribute_by_id(id));
        }
        let syntax = match (&def.syntax, superior) {
            (Some(oid), _) => Syntax::from_oid(oid).ok_or_else(|| {
                format!("attribute type {shown}: syntax {oid} is not supported; use one that `ldapSyntaxes` lists")
            })?,
            (None, Some(superior)) => superior.syntax,
            (None, None) => return Err(format!("attribute type {shown}: it needs SYNTAX or SUP")),
        };
        let rule = |name: &Option<String>, kind: RuleKind, inherited: Option<MatchingRule>| match name {
            None => Ok(inherited),
            Some(name) => match MatchingRule::from_name_or_oid(name) {
                Some(rule) if rule.kind() == kind => Ok(Some(rule)),
                Some(_) => Err(format!("attribute type {shown}: {name} is not a matching rule of kind {kind:?}")),
                None => Err(format!("attribute type {shown}: matching rule {name} is not supported")),
            },
        };
        let equality = rule(&def.equality, RuleKind::Equality, superior.and_then(|superior| superior.equality))?;
        let ordering = rule(&def.ordering, RuleKind::Ordering, superior.and_then(|superior| superior.ordering))?;
        let substring = rule(&def.substring, RuleKind::Substring, superior.and_then(|superior| superior.substring))?;
        // The text names its superior as the schema does, not by a macro's expansion.
        let own = AttributeDef { superior: superior.map(|superior| superior.name().to_owned()), ..def.clone() };
        Ok(Outcome::New(AttributeType {
            id,
            oid: def.oid.clone(),
            names: def.names.clone(),
            description: def.description.clone(),
            obsolete: def.obsolete,
            superior: superior.map(|superior| superior.id),
            syntax,
            syntax_bound: def.syntax_bound.or_else(|| superior.and_then(|superior| superior.syntax_bound)),
            equality,
            ordering,
            substring,
            single_value: def.single_value,
            collective: def.collective,
            no_user_modification: def.no_user_modification,
            usage: def.usage.unwrap_or(Usage::UserApplications),
            text: own.to_text(),
        }))
    }

    /// Puts a new attribute type in its place.
    pub(super) fn insert_attribute(&mut self, attribute: AttributeType) -> Result<(), String> {
        let id = attribute.id;
        let Some(place) = slot(id.0) else { return Err("a number is out of range".to_owned()) };
        if self.attributes.len() <= place {
            self.attributes.resize(place + 1, None);
            self.subtypes.resize(place + 1, Vec::new());
        }
        if self.attributes[place].is_some() {
            return Err(format!("number {} is given to two attribute types", id.0));
        }
        for name in attribute.names.iter().chain([&attribute.oid]) {
            self.attribute_names.insert(name, id);
        }
        if attribute.oid == super::OBJECT_CLASS_OID {
            self.object_class = Some(id);
        }
        let mut above = attribute.superior;
        self.attributes[place] = Some(Arc::new(attribute));
        self.subtypes[place] = vec![id];
        // Bounded: the depth was checked when the type was resolved.
        while let Some(ancestor) = above {
            if let Some(family) = slot(ancestor.0).and_then(|place| self.subtypes.get_mut(place))
                && let Err(at) = family.binary_search(&id)
            {
                family.insert(at, id);
            }
            above = self.attribute_by_id(ancestor).and_then(|attribute| attribute.superior);
        }
        Ok(())
    }

    /// Resolves an object class.
    pub(super) fn compile_class(&self, def: &ClassDef, id: ObjectClassId) -> Result<Outcome<ObjectClass>, String> {
        let class = match self.resolve_class(def, id)? {
            Outcome::New(class) => class,
            other => return Ok(other),
        };
        let Some(existing) = self.object_class(&class.oid) else {
            for name in &class.names {
                if let Some(other) = self.object_class(name) {
                    return Err(conflict("object class", name, &other.text, &class.text));
                }
            }
            return Ok(Outcome::New(class));
        };
        let same = same_class(existing, &class)
            || ACCEPTED.iter().any(|pending| match &pending.def {
                Def::Class(def) if def.oid == class.oid => {
                    matches!(self.resolve_class(def, id), Ok(Outcome::New(accepted)) if same_class(&accepted, &class))
                }
                _ => false,
            });
        if same { Ok(Outcome::Same) } else { Err(conflict("object class", class.name(), &existing.text, &class.text)) }
    }

    fn resolve_class(&self, def: &ClassDef, id: ObjectClassId) -> Result<Outcome<ObjectClass>, String> {
        let shown = def.names.first().unwrap_or(&def.oid);
        let mut superiors = Vec::with_capacity(def.superiors.len());
        let mut ancestors = Vec::new();
        for name in &def.superiors {
            let Some(superior) = self.object_class(name) else {
                return Ok(Outcome::Waits(format!("object class {shown}: its superclass {name} is not defined")));
            };
            let fits = match superior.kind {
                ObjectClassKind::Abstract => true,
                kind => kind == def.kind,
            };
            if !fits {
                return Err(format!(
                    "object class {shown}: a class of kind {:?} cannot descend from {name}, which is {:?} (RFC 4512, \
                     2.4)",
                    def.kind, superior.kind
                ));
            }
            superiors.push(superior.id);
            ancestors.push(superior.id);
            ancestors.extend_from_slice(&superior.ancestors);
        }
        ancestors.sort_unstable();
        ancestors.dedup();
        if ancestors.len() > MAX_DEPTH {
            return Err(format!("object class {shown}: more than {MAX_DEPTH} superclasses"));
        }
        let must = self.attribute_list(shown, &def.must)?;
        let may = self.attribute_list(shown, &def.may)?;
        let when_alone = def.extensions.iter().any(|(keyword, values)| {
            keyword.eq_ignore_ascii_case(WHEN_ALONE) && values.iter().any(|value| value.eq_ignore_ascii_case("TRUE"))
        });
        let name_of = |id: &AttrId| self.attribute_by_id(*id).map_or_else(String::new, |at| at.name().to_owned());
        let own = ClassDef {
            superiors: superiors
                .iter()
                .map(|id| self.object_class_by_id(*id).map_or_else(String::new, |class| class.name().to_owned()))
                .collect(),
            must: must.iter().map(name_of).collect(),
            may: may.iter().map(name_of).collect(),
            ..def.clone()
        };
        Ok(Outcome::New(ObjectClass {
            id,
            oid: def.oid.clone(),
            names: def.names.clone(),
            description: def.description.clone(),
            obsolete: def.obsolete,
            kind: def.kind,
            structural_when_alone: when_alone && def.kind == ObjectClassKind::Auxiliary,
            superiors,
            ancestors,
            must,
            may,
            text: own.to_text(),
        }))
    }

    fn attribute_list(&self, class: &str, names: &[String]) -> Result<Vec<AttrId>, String> {
        names
            .iter()
            .map(|name| {
                self.attribute_id(name.as_bytes()).ok_or_else(|| {
                    format!("object class {class}: attribute type {name} is not defined; add its definition first")
                })
            })
            .collect()
    }

    /// Puts a new object class in its place.
    pub(super) fn insert_class(&mut self, class: ObjectClass) -> Result<(), String> {
        let id = class.id;
        let Some(place) = slot(id.0) else { return Err("a number is out of range".to_owned()) };
        if self.classes.len() <= place {
            self.classes.resize(place + 1, None);
        }
        if self.classes[place].is_some() {
            return Err(format!("number {} is given to two object classes", id.0));
        }
        for name in class.names.iter().chain([&class.oid]) {
            self.class_names.insert(name, id);
        }
        self.classes[place] = Some(Arc::new(class));
        Ok(())
    }
}

fn conflict(kind: &str, name: &str, there: &str, here: &str) -> String {
    format!("{kind} {name} is defined already, and differently: the schema has {there}, this text has {here}")
}

/// Equal in what decides about entries and matching. Descriptions, extensions and suggested bounds do not, and a
/// definition with fewer names says nothing against the others.
fn same_attribute(existing: &AttributeType, given: &AttributeType) -> bool {
    existing.superior == given.superior
        && existing.syntax == given.syntax
        && existing.equality == given.equality
        && existing.ordering == given.ordering
        && existing.substring == given.substring
        && existing.single_value == given.single_value
        && existing.collective == given.collective
        && existing.no_user_modification == given.no_user_modification
        && existing.usage == given.usage
        && names_within(&given.names, &existing.names)
}

fn same_class(existing: &ObjectClass, given: &ObjectClass) -> bool {
    existing.kind == given.kind
        && same_set(&existing.superiors, &given.superiors)
        && same_set(&existing.must, &given.must)
        && same_set(&existing.may, &given.may)
        && names_within(&given.names, &existing.names)
}

fn names_within(given: &[String], existing: &[String]) -> bool {
    given.iter().all(|name| existing.iter().any(|other| other.eq_ignore_ascii_case(name)))
}

fn same_set<T: Ord + Copy>(one: &[T], other: &[T]) -> bool {
    let sorted = |list: &[T]| {
        let mut list = list.to_vec();
        list.sort_unstable();
        list.dedup();
        list
    };
    sorted(one) == sorted(other)
}
