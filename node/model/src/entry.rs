//! An entry in memory: attribute descriptions and values (RFC 4512, 2.2 to 2.5).

use crate::error::DescriptionError;
use crate::schema::{AttrId, Schema};

/// Options of one attribute description at most. RFC 4512 sets none; a bound keeps subset tests cheap.
pub const MAX_OPTIONS: usize = 16;

/// Octets of an attribute description at most.
pub const MAX_DESCRIPTION_BYTES: usize = 512;

/// An attribute type with its options: `userCertificate;binary`, `cn;lang-fr` (RFC 4512, 2.5).
///
/// Options are lower case, sorted and distinct, so equal descriptions are equal values.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AttributeDescription {
    /// The attribute type.
    pub id: AttrId,
    /// Attribute options, lower case, sorted, each once.
    pub options: Vec<String>,
}

impl AttributeDescription {
    /// The description of an attribute type without options.
    pub const fn plain(id: AttrId) -> Self {
        Self { id, options: Vec::new() }
    }

    /// Reads `type *( ";" option )`. The type is a name or an OID, in any case.
    pub fn parse(text: &[u8], schema: &Schema) -> Result<Self, DescriptionError> {
        let malformed = || DescriptionError::Syntax(printable(text));
        if text.len() > MAX_DESCRIPTION_BYTES {
            return Err(malformed());
        }
        let mut parts = text.split(|&byte| byte == b';');
        let name = parts.next().unwrap_or_default();
        let id = match schema.attribute_id(name) {
            Some(id) => id,
            None if is_name_or_oid(name) => return Err(DescriptionError::UnknownType(printable(name))),
            None => return Err(malformed()),
        };
        let mut options = Vec::new();
        for option in parts {
            if !is_option(option) || options.len() == MAX_OPTIONS {
                return Err(malformed());
            }
            options.push(option.iter().map(|byte| char::from(byte.to_ascii_lowercase())).collect());
        }
        options.sort_unstable();
        options.dedup();
        Ok(Self { id, options })
    }

    /// The description with the attribute's preferred name, or `None` when the schema does not hold the type.
    pub fn to_text(&self, schema: &Schema) -> Option<String> {
        let mut text = schema.attribute_by_id(self.id)?.name().to_owned();
        for option in &self.options {
            text.push(';');
            text.push_str(option);
        }
        Some(text)
    }

    /// True when `self` is `other` or a subtype of it: the type descends from the other's and all the
    /// other's options are present (RFC 4512, 2.5.2 and 2.5.3).
    pub fn is_subtype_of(&self, other: &Self, schema: &Schema) -> bool {
        (self.id == other.id || schema.subtypes(other.id).contains(&self.id)) && self.has_options(&other.options)
    }

    /// True when every one of `options` (lower case) is among this description's.
    pub fn has_options(&self, options: &[String]) -> bool {
        options.iter().all(|option| self.options.iter().any(|own| own == option))
    }
}

/// `keystring` or `numericoid` of RFC 4512, 1.4; underscores and dots as other servers let them pass.
fn is_name_or_oid(name: &[u8]) -> bool {
    name.first().is_some_and(u8::is_ascii_alphanumeric)
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

fn is_option(option: &[u8]) -> bool {
    !option.is_empty()
        && option.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'='))
}

/// Text for an error message, bounded.
pub(crate) fn printable(bytes: &[u8]) -> String {
    const SHOWN: usize = 64;
    let mut text = String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN)]).into_owned();
    if bytes.len() > SHOWN {
        text.push('…');
    }
    text
}

/// One attribute of an entry: a description and its values, in the order given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute {
    /// Type and options.
    pub description: AttributeDescription,
    /// Values as stored. An attribute in an entry has at least one.
    pub values: Vec<Vec<u8>>,
}

impl Attribute {
    /// An attribute with these values.
    pub const fn new(description: AttributeDescription, values: Vec<Vec<u8>>) -> Self {
        Self { description, values }
    }
}

/// An entry without its name: attributes in the order in which they are stored and sent.
///
/// [`Entry::arrange`] brings objectClass first and user attributes before operational ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entry {
    /// The attributes; no description occurs twice.
    pub attributes: Vec<Attribute>,
}

impl Entry {
    /// An entry without attributes.
    pub const fn new() -> Self {
        Self { attributes: Vec::new() }
    }

    /// The attribute with exactly this description.
    pub fn get(&self, description: &AttributeDescription) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.description == *description)
    }

    /// The attribute with exactly this description, to change.
    pub fn get_mut(&mut self, description: &AttributeDescription) -> Option<&mut Attribute> {
        self.attributes.iter_mut().find(|attribute| attribute.description == *description)
    }

    /// The values of the attribute type without options; empty when absent.
    pub fn plain_values(&self, id: AttrId) -> &[Vec<u8>] {
        self.attributes
            .iter()
            .find(|attribute| attribute.description.id == id && attribute.description.options.is_empty())
            .map_or(&[], |attribute| &attribute.values)
    }

    /// The values of all descriptions of exactly this type, whatever their options.
    pub fn values_of(&self, id: AttrId) -> impl Iterator<Item = &[u8]> {
        self.attributes
            .iter()
            .filter(move |attribute| attribute.description.id == id)
            .flat_map(|attribute| attribute.values.iter().map(Vec::as_slice))
    }

    /// True when the entry holds the type with any options.
    pub fn has(&self, id: AttrId) -> bool {
        self.attributes.iter().any(|attribute| attribute.description.id == id)
    }

    /// Appends a value, making the attribute if it is absent. No check.
    pub fn push(&mut self, description: AttributeDescription, value: Vec<u8>) {
        match self.get_mut(&description) {
            Some(attribute) => attribute.values.push(value),
            None => self.attributes.push(Attribute::new(description, vec![value])),
        }
    }

    /// Sets the values of a description, in place if it is present; no values removes it.
    pub fn set(&mut self, description: AttributeDescription, values: Vec<Vec<u8>>) {
        if values.is_empty() {
            self.remove(&description);
        } else if let Some(attribute) = self.get_mut(&description) {
            attribute.values = values;
        } else {
            self.attributes.push(Attribute::new(description, values));
        }
    }

    /// Removes the attribute with exactly this description.
    pub fn remove(&mut self, description: &AttributeDescription) -> Option<Attribute> {
        let at = self.attributes.iter().position(|attribute| attribute.description == *description)?;
        Some(self.attributes.remove(at))
    }

    /// Sorts attributes as they are stored: objectClass, then user, then operational attributes, otherwise in
    /// the order given.
    pub fn arrange(&mut self, schema: &Schema) {
        let object_class = schema.object_class_attribute();
        self.attributes.sort_by_key(|attribute| {
            if Some(attribute.description.id) == object_class {
                0
            } else if schema.attribute_by_id(attribute.description.id).is_some_and(|at| at.is_operational()) {
                2
            } else {
                1
            }
        });
    }
}
