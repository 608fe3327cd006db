//! The errors of this crate: one type per layer.

use thiserror::Error;

/// A value does not belong to its syntax, or a matching rule cannot be applied to it.
///
/// Holds no allocation: it is made for every Undefined filter leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("invalid {what}: {reason}")]
pub struct InvalidValue {
    /// The syntax or matching rule, for people.
    pub what: &'static str,
    /// What is wrong with the value.
    pub reason: &'static str,
}

impl InvalidValue {
    /// A value refused by `what` for `reason`.
    pub const fn new(what: &'static str, reason: &'static str) -> Self {
        Self { what, reason }
    }
}

/// A string is not a distinguished name, or the schema cannot compare it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DnError {
    /// The string breaks RFC 4514's grammar.
    #[error("invalid DN at byte {at}: {reason}")]
    Syntax {
        /// Offset of the offending byte in the input.
        at: usize,
        /// What was expected or found.
        reason: &'static str,
    },
    /// One attribute type occurs twice in an RDN (RFC 4512, 2.3.1).
    #[error("attribute type {0} occurs twice in one RDN")]
    DuplicateType(String),
    /// The DN or one of its parts is larger than this server accepts.
    #[error("DN too large: more than {limit} {unit}")]
    TooLarge {
        /// The bound.
        limit: usize,
        /// What is counted.
        unit: &'static str,
    },
    /// An attribute type is not in the schema.
    #[error("DN uses attribute type {0}, which the schema does not define")]
    UnknownType(String),
    /// An attribute type without equality rule cannot name an entry (RFC 4512, 2.3.1).
    #[error("attribute type {0} has no equality matching rule and cannot be used in a DN")]
    NoEqualityRule(String),
    /// A value does not belong to its attribute's syntax.
    #[error("DN value of {attribute}: {source}")]
    Value {
        /// The attribute type as spelled.
        attribute: String,
        /// What is wrong.
        source: InvalidValue,
    },
}

/// A string is not a usable attribute description (RFC 4512, 2.5).
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DescriptionError {
    /// The string breaks the grammar.
    #[error("invalid attribute description {0:?}")]
    Syntax(String),
    /// The attribute type is not in the schema.
    #[error("undefined attribute type {0:?}")]
    UnknownType(String),
}

/// A schema text was refused. Nothing of it was added.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}: {problem}")]
pub struct SchemaError {
    /// Line of the definition in the text, from 1; 0 when there is no text.
    pub line: usize,
    /// What is wrong and what to do.
    pub problem: String,
}

/// An entry breaks the schema.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SchemaViolation {
    /// The entry has no objectClass value.
    #[error("entry has no objectClass")]
    NoObjectClass,
    /// An objectClass value is not in the schema.
    #[error("object class {0:?} is not defined in the schema")]
    UnknownObjectClass(String),
    /// None of the classes is structural.
    #[error("entry has no structural object class")]
    NoStructuralClass,
    /// Two structural classes, neither of which is a superclass of the other.
    #[error("entry has two structural object classes that are not of one chain: {0} and {1}")]
    TwoStructuralClasses(String, String),
    /// An abstract class that no other class of the entry descends from.
    #[error("object class {0} is abstract and needs a class that descends from it")]
    AbstractClassAlone(String),
    /// A class requires an attribute that is absent.
    #[error("object class {class} requires attribute {attribute}")]
    MissingAttribute {
        /// The requiring class.
        class: String,
        /// The absent attribute.
        attribute: String,
    },
    /// No class of the entry allows the attribute.
    #[error("attribute {0} is not allowed by the entry's object classes")]
    AttributeNotAllowed(String),
    /// The entry refers to an attribute type that the schema does not hold.
    #[error("attribute type number {0} is not defined in the schema")]
    UnknownAttribute(u32),
    /// An attribute without values.
    #[error("attribute {0} has no value")]
    NoValue(String),
    /// A single-valued attribute with several values.
    #[error("attribute {0} is single-valued")]
    SingleValued(String),
    /// A value does not belong to the attribute's syntax.
    #[error("attribute {attribute}, value {index}: {source}")]
    InvalidSyntax {
        /// The attribute.
        attribute: String,
        /// Which value, from 1.
        index: usize,
        /// What is wrong.
        source: InvalidValue,
    },
    /// Two values of one attribute are equal by its equality rule.
    #[error("attribute {attribute}: value {index} is given twice")]
    DuplicateValue {
        /// The attribute.
        attribute: String,
        /// Which value repeats an earlier one, from 1.
        index: usize,
    },
}
