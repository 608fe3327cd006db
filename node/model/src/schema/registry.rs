//! Adding definitions: reading a text, resolving what definitions refer to, in any order, and numbering them.

use std::collections::HashMap;

use super::compile::Outcome;
use super::parse::{self, AttributeDef, ClassDef};
use super::text::{Piece, PieceKind, split};
use super::{AttrId, Definition, DefinitionKind, ObjectClassId, Schema};
use crate::error::SchemaError;
use crate::syntax::is_numeric_oid;

/// Definitions of one kind at most, dropped ones included: a bound on what a damaged store can make us allocate.
pub(super) const MAX_NUMBER: u32 = 65_536;

/// Macros that build on macros at most.
const MAX_MACRO_DEPTH: usize = 32;

/// What a text added.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Added {
    /// Names of the new attribute types.
    pub attribute_types: Vec<String>,
    /// Names of the new object classes.
    pub object_classes: Vec<String>,
    /// Definitions that were there already, with the same meaning.
    pub unchanged: usize,
    /// What was left out, and where, for people.
    pub skipped: Vec<String>,
}

/// A definition that waits for what it refers to.
#[derive(Debug, Clone)]
pub(super) struct Pending {
    pub line: usize,
    /// The number it must get; a new one if none.
    pub number: Option<u32>,
    pub def: Def,
}

#[derive(Debug, Clone)]
pub(super) enum Def {
    Attribute(AttributeDef),
    Class(ClassDef),
}

impl Schema {
    /// Adds the definitions of an OpenLDAP `.schema` text, an `olcSchemaConfig` LDIF or a subschema LDIF, in which
    /// they may stand in any order. A definition that is there already is left alone; one that differs from the one
    /// that is there is refused. All or nothing: on an error the schema is as before.
    pub fn add_text(&mut self, text: &str) -> Result<Added, SchemaError> {
        let mut added = Added::default();
        let pending = read(text, &mut added.skipped)?;
        let mut next = self.clone();
        next.add_all(pending, &mut added)?;
        *self = next;
        Ok(added)
    }

    /// The schema of these definitions (see [`Schema::definitions`]), with the same numbers.
    pub fn rebuild<'a>(definitions: impl IntoIterator<Item = Definition<'a>>) -> Result<Self, SchemaError> {
        let mut pending = Vec::new();
        for definition in definitions {
            let fail = |problem| SchemaError { line: 0, problem: format!("{problem}: {}", definition.text) };
            if definition.id == 0 || definition.id > MAX_NUMBER {
                return Err(fail("a number is out of range".to_owned()));
            }
            let def = match definition.kind {
                DefinitionKind::AttributeType => parse::attribute_type(definition.text).map(Def::Attribute),
                DefinitionKind::ObjectClass => parse::object_class(definition.text).map(Def::Class),
            };
            pending.push(Pending { line: 0, number: Some(definition.id), def: def.map_err(fail)? });
        }
        let mut schema = Self::empty();
        schema.add_all(pending, &mut Added::default())?;
        Ok(schema)
    }

    /// Adds until nothing waits. Each round resolves at least one level of superiors, whose depth is bounded.
    pub(super) fn add_all(&mut self, pending: Vec<Pending>, added: &mut Added) -> Result<(), SchemaError> {
        let (attributes, classes): (Vec<_>, Vec<_>) =
            pending.into_iter().partition(|pending| matches!(pending.def, Def::Attribute(_)));
        for mut waiting in [attributes, classes] {
            while !waiting.is_empty() {
                let before = waiting.len();
                let mut still = Vec::new();
                let mut missing = String::new();
                for pending in waiting {
                    if let Some(what) = self.add_one(&pending, added)? {
                        if still.is_empty() {
                            missing = what;
                        }
                        still.push(pending);
                    }
                }
                if still.len() == before {
                    return Err(SchemaError {
                        line: still[0].line,
                        problem: format!("{missing}: define it first, or break the cycle"),
                    });
                }
                waiting = still;
            }
        }
        Ok(())
    }

    /// Adds one definition; says what it waits for if it has to.
    fn add_one(&mut self, pending: &Pending, added: &mut Added) -> Result<Option<String>, SchemaError> {
        let fail = |problem| SchemaError { line: pending.line, problem };
        match &pending.def {
            Def::Attribute(def) => {
                let number = self.number(pending.number, self.attributes.len()).map_err(fail)?;
                match self.compile_attribute(def, AttrId(number)).map_err(fail)? {
                    Outcome::New(attribute) => {
                        added.attribute_types.push(attribute.name().to_owned());
                        self.insert_attribute(attribute).map_err(fail)?;
                    }
                    Outcome::Same => added.unchanged += 1,
                    Outcome::Waits(what) => return Ok(Some(what)),
                }
            }
            Def::Class(def) => {
                let number = self.number(pending.number, self.classes.len()).map_err(fail)?;
                match self.compile_class(def, ObjectClassId(number)).map_err(fail)? {
                    Outcome::New(class) => {
                        added.object_classes.push(class.name().to_owned());
                        self.insert_class(class).map_err(fail)?;
                    }
                    Outcome::Same => added.unchanged += 1,
                    Outcome::Waits(what) => return Ok(Some(what)),
                }
            }
        }
        Ok(None)
    }

    fn number(&self, wanted: Option<u32>, count: usize) -> Result<u32, String> {
        match wanted.or_else(|| u32::try_from(count + 1).ok()) {
            Some(number) if number <= MAX_NUMBER => Ok(number),
            _ => Err(format!("the schema has {MAX_NUMBER} definitions of this kind already")),
        }
    }
}

/// Reads a text into definitions, macros and substituted syntaxes resolved.
pub(super) fn read(text: &str, skipped: &mut Vec<String>) -> Result<Vec<Pending>, SchemaError> {
    let pieces = split(text)?;
    let names = Names::collect(&pieces)?;
    let mut pending = Vec::with_capacity(pieces.len());
    for piece in &pieces {
        let fail = |problem| SchemaError { line: piece.line, problem };
        let def = match piece.kind {
            PieceKind::AttributeType => {
                let def = parse::attribute_type(&piece.text).and_then(|def| names.attribute(def));
                Def::Attribute(def.map_err(fail)?)
            }
            PieceKind::ObjectClass => {
                let def = parse::object_class(&piece.text).and_then(|def| names.class(def));
                Def::Class(def.map_err(fail)?)
            }
            PieceKind::ObjectIdentifier | PieceKind::Syntax => continue,
            PieceKind::Other(what) => {
                skipped.push(format!("line {}: {what} left out", piece.line));
                continue;
            }
        };
        pending.push(Pending { line: piece.line, number: None, def });
    }
    Ok(pending)
}

/// Macros and substituted syntaxes of one text.
struct Names {
    macros: HashMap<String, String>,
    syntaxes: HashMap<String, String>,
}

impl Names {
    fn collect(pieces: &[Piece]) -> Result<Self, SchemaError> {
        let mut given = Vec::new();
        let mut names = Self { macros: HashMap::new(), syntaxes: HashMap::new() };
        for piece in pieces.iter().filter(|piece| piece.kind == PieceKind::ObjectIdentifier) {
            let words: Vec<_> = piece.text.split_whitespace().map(|word| word.trim_matches(['\'', '"'])).collect();
            let [name, oid] = words.as_slice() else {
                return Err(SchemaError {
                    line: piece.line,
                    problem: "expected `objectidentifier NAME OID`".to_owned(),
                });
            };
            given.push((piece.line, name.to_ascii_lowercase(), (*oid).to_owned()));
        }
        for _ in 0..MAX_MACRO_DEPTH {
            given.retain(|(_, name, oid)| match names.numeric(oid) {
                Some(oid) => {
                    names.macros.insert(name.clone(), oid);
                    false
                }
                None => true,
            });
            if given.is_empty() {
                break;
            }
        }
        if let Some((line, name, oid)) = given.first() {
            return Err(SchemaError {
                line: *line,
                problem: format!("objectidentifier {name}: {oid:?} is neither an OID nor a macro defined in this text"),
            });
        }
        for piece in pieces.iter().filter(|piece| piece.kind == PieceKind::Syntax) {
            let fail = |problem| SchemaError { line: piece.line, problem };
            let def = parse::ldap_syntax(&piece.text).map_err(fail)?;
            if let Some(substitute) = def.substitute {
                names.syntaxes.insert(names.numeric(&def.oid).unwrap_or(def.oid), substitute);
            }
        }
        Ok(names)
    }

    /// The OID that a number, a macro, or a macro with a suffix stands for.
    fn numeric(&self, text: &str) -> Option<String> {
        if is_numeric_oid(text.as_bytes()) {
            return Some(text.to_owned());
        }
        match text.split_once(':') {
            Some((name, suffix)) => Some(format!("{}.{suffix}", self.macros.get(&name.to_ascii_lowercase())?))
                .filter(|oid| oid.len() <= 128),
            None => self.macros.get(&text.to_ascii_lowercase()).cloned(),
        }
    }

    /// A definition's own OID.
    fn own(&self, oid: &str) -> Result<String, String> {
        match self.numeric(oid) {
            Some(numeric) => Ok(numeric),
            // 389 Directory Server makes such OIDs up for definitions that came without one.
            None if oid.to_ascii_lowercase().ends_with("-oid") => Ok(oid.to_owned()),
            None => Err(format!("{oid:?} is not an OID: give a dotted number, or define it by objectidentifier")),
        }
    }

    /// A reference by name, number or macro. A macro without suffix may have the name of a definition: that wins.
    fn reference(&self, text: String) -> Result<String, String> {
        if text.contains(':') {
            return self.numeric(&text).ok_or_else(|| format!("{text:?} uses a macro that this text does not define"));
        }
        Ok(text)
    }

    fn attribute(&self, mut def: AttributeDef) -> Result<AttributeDef, String> {
        def.oid = self.own(&def.oid)?;
        def.superior = def.superior.map(|name| self.reference(name)).transpose()?;
        if let Some(syntax) = def.syntax {
            let syntax = self.numeric(&syntax).unwrap_or(syntax);
            def.syntax = Some(self.syntaxes.get(&syntax).cloned().unwrap_or(syntax));
        }
        Ok(def)
    }

    fn class(&self, mut def: ClassDef) -> Result<ClassDef, String> {
        def.oid = self.own(&def.oid)?;
        for list in [&mut def.superiors, &mut def.must, &mut def.may] {
            for name in list.iter_mut() {
                *name = self.reference(std::mem::take(name))?;
            }
        }
        Ok(def)
    }
}
