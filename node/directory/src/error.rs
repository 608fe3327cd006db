//! The two ways of failing: an operation refused (a value that travels in a reply), and a directory that
//! cannot read or write its store. LDAP result numbers are chosen elsewhere.

use bindery_store::StoreError;

/// Why an operation was refused. Numbers are part of the replicated reply encoding: append only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum OpErrorKind {
    /// The named entry, or its parent, does not exist.
    NoSuchObject = 1,
    /// An entry of that name exists.
    EntryAlreadyExists = 2,
    /// A rule of the entry's object classes is broken (RFC 4512 2.4).
    ObjectClassViolation = 3,
    /// An attribute type that the schema does not define.
    UndefinedAttributeType = 4,
    /// A value does not fit its attribute's syntax.
    InvalidAttributeSyntax = 5,
    /// Single-valued, NO-USER-MODIFICATION, or another constraint on values.
    ConstraintViolation = 6,
    /// The RDN does not fit the entry or the schema.
    NamingViolation = 7,
    /// The entry has children.
    NotAllowedOnNonLeaf = 8,
    /// The change would remove a value of the RDN.
    NotAllowedOnRdn = 9,
    /// The change would change the structural object class.
    ObjectClassModsProhibited = 10,
    /// The attribute or value to be deleted, replaced or incremented is not there.
    NoSuchAttribute = 11,
    /// The value to be added is there already.
    AttributeOrValueExists = 12,
    /// The rule that is needed does not exist for the attribute.
    InappropriateMatching = 13,
    /// A name that is no distinguished name.
    InvalidDnSyntax = 14,
    /// The access rules do not allow it.
    InsufficientAccess = 15,
    /// Understood, and not done here.
    UnwillingToPerform = 16,
    /// The command or request cannot be understood.
    Protocol = 17,
    /// A bound of the directory is exceeded.
    AdminLimitExceeded = 18,
    /// Not possible at this moment (for example an index is being built).
    Busy = 19,
    /// No naming context of this directory holds the name.
    NoGlobalSuperiorKnowledge = 20,
    /// The directory could not read or write its store, or found it inconsistent.
    Internal = 21,
    /// The assertion that came with the request is false (RFC 4528).
    AssertionFailed = 22,
    /// The search's time limit.
    TimeLimitExceeded = 23,
    /// The search's size limit.
    SizeLimitExceeded = 24,
    /// An alias points at nothing.
    AliasProblem = 25,
}

impl OpErrorKind {
    /// All kinds, in order of their numbers.
    pub const ALL: [OpErrorKind; 25] = [
        OpErrorKind::NoSuchObject,
        OpErrorKind::EntryAlreadyExists,
        OpErrorKind::ObjectClassViolation,
        OpErrorKind::UndefinedAttributeType,
        OpErrorKind::InvalidAttributeSyntax,
        OpErrorKind::ConstraintViolation,
        OpErrorKind::NamingViolation,
        OpErrorKind::NotAllowedOnNonLeaf,
        OpErrorKind::NotAllowedOnRdn,
        OpErrorKind::ObjectClassModsProhibited,
        OpErrorKind::NoSuchAttribute,
        OpErrorKind::AttributeOrValueExists,
        OpErrorKind::InappropriateMatching,
        OpErrorKind::InvalidDnSyntax,
        OpErrorKind::InsufficientAccess,
        OpErrorKind::UnwillingToPerform,
        OpErrorKind::Protocol,
        OpErrorKind::AdminLimitExceeded,
        OpErrorKind::Busy,
        OpErrorKind::NoGlobalSuperiorKnowledge,
        OpErrorKind::Internal,
        OpErrorKind::AssertionFailed,
        OpErrorKind::TimeLimitExceeded,
        OpErrorKind::SizeLimitExceeded,
        OpErrorKind::AliasProblem,
    ];

    /// The kind with this number; an unknown number (a newer node's reply) is [`OpErrorKind::Internal`].
    pub fn from_number(number: u32) -> OpErrorKind {
        let known = (number as usize).checked_sub(1).and_then(|at| OpErrorKind::ALL.get(at));
        known.copied().unwrap_or(OpErrorKind::Internal)
    }
}

/// An operation refused: what kind, how far the name was found, and a sentence for the client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{diagnostic}")]
pub struct OpError {
    /// What kind of refusal.
    pub kind: OpErrorKind,
    /// For [`OpErrorKind::NoSuchObject`]: the DN of the nearest entry above that exists (RFC 4511 4.1.9).
    pub matched_dn: Option<String>,
    /// A sentence for the client; never holds a value of a password attribute.
    pub diagnostic: String,
}

impl OpError {
    /// A refusal without a matched DN.
    pub fn new(kind: OpErrorKind, diagnostic: impl Into<String>) -> OpError {
        OpError { kind, matched_dn: None, diagnostic: diagnostic.into() }
    }

    /// The entry is not there; `matched_dn` names the nearest one above that is, if any.
    pub fn no_such_object(matched_dn: Option<String>, diagnostic: impl Into<String>) -> OpError {
        OpError { kind: OpErrorKind::NoSuchObject, matched_dn, diagnostic: diagnostic.into() }
    }
}

/// The directory cannot go on: its store failed or holds what it must not hold.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// The store refused to read or write.
    #[error("store: {0}")]
    Store(#[from] StoreError),
    /// A record that this code wrote cannot be read back.
    #[error("inconsistent directory: {0}")]
    Inconsistent(String),
    /// The store was written by a version with another layout.
    #[error("store layout {found} is not known to this version, which knows {known}")]
    Format {
        /// The layout found.
        found: u32,
        /// The layout that this version reads.
        known: u32,
    },
    /// Log entries were offered out of order.
    #[error("log entry {offered} offered after entry {applied} was applied")]
    OutOfOrder {
        /// Index of the entry offered.
        offered: u64,
        /// Index of the last entry applied.
        applied: u64,
    },
    /// The log raises the feature level above what this version can apply: it must be replaced by a newer one.
    #[error("the log needs feature level {needed}, this version knows {known}")]
    FeatureLevel {
        /// Level in the log.
        needed: u32,
        /// Highest level of this version.
        known: u32,
    },
    /// A snapshot stream is damaged or not whole.
    #[error("snapshot: {0}")]
    Snapshot(String),
    /// A file beside the store could not be read, written, renamed or removed.
    #[error("{what}: {source}")]
    File {
        /// What was being done.
        what: String,
        /// The system's answer.
        source: std::io::Error,
    },
}

impl DirectoryError {
    /// A record that cannot be read back.
    pub fn inconsistent(what: impl Into<String>) -> DirectoryError {
        DirectoryError::Inconsistent(what.into())
    }
}

impl From<DirectoryError> for OpError {
    fn from(error: DirectoryError) -> OpError {
        OpError::new(OpErrorKind::Internal, format!("the directory cannot be read: {error}"))
    }
}

/// How applying one command stops early: refused (nothing changed), or the store failed.
#[derive(Debug)]
pub(crate) enum Stop {
    Refused {
        error: OpError,
        /// For a block: which of its entries.
        entry: Option<u32>,
    },
    Failed(DirectoryError),
}

impl From<OpError> for Stop {
    fn from(error: OpError) -> Stop {
        Stop::Refused { error, entry: None }
    }
}

impl From<DirectoryError> for Stop {
    fn from(error: DirectoryError) -> Stop {
        Stop::Failed(error)
    }
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Stop {
        Stop::Failed(DirectoryError::Store(error))
    }
}

impl From<Stop> for OpError {
    fn from(stop: Stop) -> OpError {
        match stop {
            Stop::Refused { error, .. } => error,
            Stop::Failed(error) => error.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_round_trip_by_number() {
        for kind in OpErrorKind::ALL {
            assert_eq!(OpErrorKind::from_number(kind as u32), kind);
        }
        assert_eq!(OpErrorKind::from_number(0), OpErrorKind::Internal);
        assert_eq!(OpErrorKind::from_number(10_000), OpErrorKind::Internal);
    }
}
