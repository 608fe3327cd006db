//! What can be wrong with LDIF, and where.

use std::fmt;

/// One fault, with its place. Unless [`LdifError::is_fatal`], the reader can go on with the next record.
#[derive(Debug, thiserror::Error)]
pub struct LdifError {
    /// The physical line, counted from 1, on which the faulty logical line begins.
    pub line: u64,
    /// The DN of the record, when it was read before the fault.
    pub dn: Option<String>,
    #[source]
    pub kind: LdifErrorKind,
}

impl LdifError {
    pub(super) fn new(line: u64, kind: LdifErrorKind) -> Self {
        Self { line, dn: None, kind }
    }

    /// The input itself failed: nothing more can be read from it.
    pub fn is_fatal(&self) -> bool {
        matches!(self.kind, LdifErrorKind::Io(_))
    }
}

impl fmt::Display for LdifError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "line {}", self.line)?;
        if let Some(dn) = &self.dn {
            write!(out, " (dn: {dn})")?;
        }
        write!(out, ": {}", self.kind)
    }
}

#[derive(Debug, thiserror::Error)]
pub enum LdifErrorKind {
    #[error("read failed: {0}")]
    Io(#[from] std::io::Error),
    #[error("the record is larger than {limit} bytes")]
    RecordTooLarge { limit: usize },
    #[error("a line beginning with a space continues nothing")]
    StrayContinuation,
    #[error("no colon in the line {0:?}")]
    MissingColon(String),
    #[error("the attribute type before the colon is empty")]
    EmptyAttributeType,
    #[error("{0:?} is not an attribute description")]
    InvalidDescription(String),
    #[error("the record begins with {0:?}, not with \"dn:\"")]
    MissingDn(String),
    #[error("the DN is not UTF-8")]
    DnNotUtf8,
    #[error("invalid base64: {0}")]
    InvalidBase64(String),
    #[error("a value from a URL (\":<\") is not accepted; put the value itself into the file")]
    UrlRefused,
    #[error("version {0:?} of LDIF is unknown; only 1 is known")]
    UnknownVersion(String),
    #[error("the entry has no attributes")]
    NoAttributes,
    #[error("\"dn:\" again: a blank line must separate two records")]
    DnRepeated,
    #[error("\"changetype: {0}\" is none of add, delete, modify, modrdn, moddn")]
    UnknownChangeType(String),
    #[error("\"control:\" lines need a \"changetype:\" line after them")]
    ControlWithoutChange,
    #[error("malformed control: {0}")]
    InvalidControl(&'static str),
    #[error("malformed change: {0}")]
    InvalidChange(&'static str),
}
