//! The modifications of RFC 4511 4.6, and RFC 4525's increment: in order, all or none.

mod increment;

use std::collections::HashSet;

use crate::entry::{Attribute, AttributeDescription, Entry};
use crate::error::InvalidValue;
use crate::matching::MatchingRule;
use crate::schema::{AttributeType, Schema};
use crate::syntax::Syntax;

/// Up to this many values are compared one with another; more go through a hash table.
const LINEAR_VALUES: usize = 8;

/// What one modification does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModOp {
    /// Adds values; an existing one is an error.
    Add,
    /// Removes the values given, or the whole attribute when none are; an absent one is an error.
    Delete,
    /// Sets the values; none removes the attribute, if there is one.
    Replace,
    /// Adds a number to each value (RFC 4525).
    Increment,
}

/// One modification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Modification {
    /// What to do.
    pub op: ModOp,
    /// The attribute: exactly this one, not its subtypes.
    pub description: AttributeDescription,
    /// As the operation needs them.
    pub values: Vec<Vec<u8>>,
}

/// Why a sequence of modifications was refused. The entry is as before. `attribute` is the description.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModifyError {
    /// noSuchAttribute (16).
    #[error("{attribute}: no such attribute")]
    NoSuchAttribute { attribute: String },
    /// noSuchAttribute (16).
    #[error("{attribute}: no such value (value {index} of the modification)")]
    NoSuchValue { attribute: String, index: usize },
    /// attributeOrValueExists (20).
    #[error("{attribute}: value {index} of the modification exists already or is given twice")]
    ValueExists { attribute: String, index: usize },
    /// invalidAttributeSyntax (21).
    #[error("{attribute}: value {index} of the modification: {source}")]
    InvalidValue { attribute: String, index: usize, source: InvalidValue },
    /// constraintViolation (19).
    #[error("{attribute}: no user modification allowed")]
    NoUserModification { attribute: String },
    /// constraintViolation (19).
    #[error("{attribute}: not of integer syntax, cannot be incremented")]
    NotInteger { attribute: String },
    /// constraintViolation (19).
    #[error("{attribute}: the result would have more than {limit} digits")]
    TooManyDigits { attribute: String, limit: usize },
    /// protocolError (2).
    #[error("{attribute}: an add needs at least one value")]
    NoValues { attribute: String },
    /// protocolError (2).
    #[error("{attribute}: an increment needs exactly one value")]
    NotOneIncrement { attribute: String },
    /// undefinedAttributeType (17).
    #[error("attribute number {0} is not in the schema")]
    UnknownAttribute(u32),
}

/// Applies what a user asked for. Whether the result obeys the schema is for [`Schema::check_entry`] to say: in
/// between it need not (RFC 4511 4.6).
///
/// # Errors
/// [`ModifyError`]; `entry` is unchanged then.
pub fn apply_modifications(
    entry: &mut Entry,
    modifications: &[Modification],
    schema: &Schema,
) -> Result<(), ModifyError> {
    apply(entry, modifications, schema, true)
}

/// The same for changes that the directory itself makes: they may change what users may not.
///
/// # Errors
/// [`ModifyError`]; `entry` is unchanged then.
pub fn apply_system_modifications(
    entry: &mut Entry,
    modifications: &[Modification],
    schema: &Schema,
) -> Result<(), ModifyError> {
    apply(entry, modifications, schema, false)
}

fn apply(entry: &mut Entry, modifications: &[Modification], schema: &Schema, by_user: bool) -> Result<(), ModifyError> {
    let mut changed = entry.clone();
    for modification in modifications {
        let id = modification.description.id;
        let attribute = schema.attribute_by_id(id).ok_or(ModifyError::UnknownAttribute(id.0))?;
        let step = Step { modification, attribute, schema };
        if by_user && attribute.no_user_modification {
            return Err(ModifyError::NoUserModification { attribute: step.name() });
        }
        match modification.op {
            ModOp::Add => step.add(&mut changed)?,
            ModOp::Delete => step.delete(&mut changed)?,
            ModOp::Replace => step.replace(&mut changed)?,
            ModOp::Increment => step.increment(&mut changed)?,
        }
    }
    *entry = changed;
    Ok(())
}

/// One modification with what it needs to know.
struct Step<'a> {
    modification: &'a Modification,
    attribute: &'a AttributeType,
    schema: &'a Schema,
}

impl Step<'_> {
    fn add(&self, entry: &mut Entry) -> Result<(), ModifyError> {
        let Modification { description, values, .. } = self.modification;
        if values.is_empty() {
            return Err(ModifyError::NoValues { attribute: self.name() });
        }
        let keys = self.distinct_keys()?;
        let existing = entry.get(description).map_or(&[][..], |attribute| &attribute.values);
        let hashed = (keys.len() > LINEAR_VALUES).then(|| keys.iter().collect::<HashSet<_>>());
        let mut scratch = Vec::new();
        for value in existing {
            if !self.stored_key(value, &mut scratch) {
                continue;
            }
            let given = hashed.as_ref().map_or_else(|| keys.contains(&scratch), |hashed| hashed.contains(&scratch));
            if given {
                let index = 1 + keys.iter().position(|key| *key == scratch).unwrap_or_default();
                return Err(ModifyError::ValueExists { attribute: self.name(), index });
            }
        }
        match entry.get_mut(description) {
            Some(attribute) => attribute.values.extend_from_slice(values),
            None => entry.attributes.push(Attribute::new(description.clone(), values.clone())),
        }
        Ok(())
    }

    fn delete(&self, entry: &mut Entry) -> Result<(), ModifyError> {
        let Modification { description, values, .. } = self.modification;
        let Some(attribute) = entry.get_mut(description) else {
            return Err(ModifyError::NoSuchAttribute { attribute: self.name() });
        };
        if values.is_empty() {
            entry.remove(description);
            return Ok(());
        }
        // A value given twice is absent the second time.
        let keys = self.keys()?;
        let hashed = (keys.len() > LINEAR_VALUES).then(|| keys.iter().cloned().collect::<HashSet<_>>());
        let mut found: HashSet<Vec<u8>> = HashSet::with_capacity(keys.len());
        let mut scratch = Vec::new();
        attribute.values.retain(|value| {
            if !self.stored_key(value, &mut scratch) {
                return true;
            }
            let given = hashed.as_ref().map_or_else(|| keys.contains(&scratch), |hashed| hashed.contains(&scratch));
            // Of values that are equal, which the schema forbids, one goes.
            !(given && found.insert(scratch.clone()))
        });
        let emptied = attribute.values.is_empty();
        if let Some(index) = keys.iter().position(|key| !found.remove(key)) {
            return Err(ModifyError::NoSuchValue { attribute: self.name(), index: index + 1 });
        }
        if emptied {
            entry.remove(description);
        }
        Ok(())
    }

    /// Without values it removes the attribute, and is no error when there is none (RFC 4511 4.6).
    fn replace(&self, entry: &mut Entry) -> Result<(), ModifyError> {
        let Modification { description, values, .. } = self.modification;
        self.distinct_keys()?;
        entry.set(description.clone(), values.clone());
        Ok(())
    }

    /// RFC 4525 section 3.
    fn increment(&self, entry: &mut Entry) -> Result<(), ModifyError> {
        let Modification { description, values, .. } = self.modification;
        let not_integer = || ModifyError::NotInteger { attribute: self.name() };
        if self.attribute.syntax != Syntax::Integer {
            return Err(not_integer());
        }
        let [delta] = &**values else {
            return Err(ModifyError::NotOneIncrement { attribute: self.name() });
        };
        let Some(attribute) = entry.get_mut(description) else {
            return Err(ModifyError::NoSuchAttribute { attribute: self.name() });
        };
        for value in &mut attribute.values {
            let sum = increment::add_integers(value, delta).ok_or_else(not_integer)?;
            if sum.len() > increment::MAX_DIGITS {
                return Err(ModifyError::TooManyDigits { attribute: self.name(), limit: increment::MAX_DIGITS });
            }
            *value = sum;
        }
        Ok(())
    }

    /// The keys of the values given.
    fn keys(&self) -> Result<Vec<Vec<u8>>, ModifyError> {
        let key = |(index, value): (usize, &Vec<u8>)| match self.rule() {
            None => Ok(value.clone()),
            Some(rule) => rule.normalize(value, self.schema).map_err(|source| ModifyError::InvalidValue {
                attribute: self.name(),
                index: index + 1,
                source,
            }),
        };
        self.modification.values.iter().enumerate().map(key).collect()
    }

    /// [`Step::keys`], no two of which may be equal.
    fn distinct_keys(&self) -> Result<Vec<Vec<u8>>, ModifyError> {
        let keys = self.keys()?;
        let twice = if keys.len() <= LINEAR_VALUES {
            (1..keys.len()).find(|index| keys[..*index].contains(&keys[*index]))
        } else {
            let mut seen = HashSet::with_capacity(keys.len());
            keys.iter().position(|key| !seen.insert(key))
        };
        match twice {
            Some(index) => Err(ModifyError::ValueExists { attribute: self.name(), index: index + 1 }),
            None => Ok(keys),
        }
    }

    /// The key of a stored value; false when its rule cannot take it, and it equals nothing.
    fn stored_key(&self, value: &[u8], key: &mut Vec<u8>) -> bool {
        key.clear();
        match self.rule() {
            Some(rule) => rule.normalize_into(value, self.schema, key).is_ok(),
            None => {
                key.extend_from_slice(value);
                true
            }
        }
    }

    /// Without an equality rule values are compared as bytes.
    fn rule(&self) -> Option<MatchingRule> {
        self.attribute.equality
    }

    fn name(&self) -> String {
        self.modification.description.to_text(self.schema).unwrap_or_else(|| self.attribute.name().to_owned())
    }
}

#[cfg(test)]
mod tests;
