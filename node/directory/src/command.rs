//! What travels through the log: entries with their stamp, commands, and the replies of apply.
//!
//! Encoded with prost; tags are fixed for ever. A field that is added means what its absence meant before.

use crate::error::{OpError, OpErrorKind};
use crate::identity::Identity;
use bytes::Bytes;
use prost::Message;

/// Entries that one command may touch, so that no command keeps the writer for long.
pub const ENTRIES_MAX: usize = 1000;
/// Size of an encoded command in bytes: what the log accepts.
pub const COMMAND_BYTES_MAX: usize = 20 << 20;
/// The newest feature level that this version can apply. A command says which level it needs, and is
/// refused everywhere while the replicated level is lower.
pub const FEATURE_LEVEL: u32 = 1;

/// A place in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogPosition {
    /// Term of the leader that proposed the entry.
    pub term: u64,
    /// Raft id of that leader.
    pub leader: u64,
    /// Index in the log, from 0 or 1 on.
    pub index: u64,
}

impl LogPosition {
    /// The stored form, also the label of a checkpoint.
    pub fn encode(self) -> [u8; 24] {
        let mut out = [0; 24];
        out[..8].copy_from_slice(&self.term.to_be_bytes());
        out[8..16].copy_from_slice(&self.leader.to_be_bytes());
        out[16..].copy_from_slice(&self.index.to_be_bytes());
        out
    }

    /// Reads the stored form; `None` when the length is wrong.
    pub fn parse(bytes: &[u8]) -> Option<LogPosition> {
        let bytes: &[u8; 24] = bytes.try_into().ok()?;
        let number = |at: usize| {
            let mut eight = [0; 8];
            eight.copy_from_slice(&bytes[at..at + 8]);
            u64::from_be_bytes(eight)
        };
        Some(LogPosition { term: number(0), leader: number(8), index: number(16) })
    }
}

/// Time and randomness, chosen by the leader when it proposes: apply has neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Microseconds since 1970-01-01 UTC.
    pub time_us: u64,
    /// Random bytes.
    pub random: [u8; 16],
}

/// One committed log entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// Its place.
    pub position: LogPosition,
    /// What it carries.
    pub body: Body,
}

/// What a log entry carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// Nothing: a new leader's first entry.
    Blank,
    /// The cluster's membership, opaque here; kept because a snapshot carries it.
    Membership(Bytes),
    /// A command for the directory.
    Command {
        /// Chosen by the leader.
        stamp: Stamp,
        /// An encoded [`Command`].
        payload: Bytes,
    },
}

/// A change of the directory.
#[derive(Clone, PartialEq, Message)]
pub struct Command {
    /// The feature level that is needed to apply it.
    #[prost(uint32, tag = "1")]
    pub level: u32,
    /// Who asked.
    #[prost(message, optional, tag = "2")]
    pub requester: Option<Requester>,
    /// What to do.
    #[prost(oneof = "Operation", tags = "10, 11, 12, 13, 14, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29")]
    pub operation: Option<Operation>,
}

/// The identity as it is carried: nobody, the administrator, or an entry.
#[derive(Clone, PartialEq, Message)]
pub struct Requester {
    /// The administrator.
    #[prost(bool, tag = "1")]
    pub admin: bool,
    /// DN of the bound entry.
    #[prost(string, tag = "2")]
    pub dn: String,
    /// Id of the bound entry; 0 for nobody and for the administrator.
    #[prost(uint64, tag = "3")]
    pub id: u64,
}

impl Requester {
    /// The carried form.
    pub fn new(identity: &Identity) -> Requester {
        match identity {
            Identity::Anonymous => Requester::default(),
            Identity::Admin => Requester { admin: true, ..Requester::default() },
            Identity::User { dn, id } => Requester { admin: false, dn: dn.clone(), id: *id },
        }
    }

    /// The identity.
    pub fn identity(&self) -> Identity {
        if self.admin {
            Identity::Admin
        } else if self.id == 0 {
            Identity::Anonymous
        } else {
            Identity::User { dn: self.dn.clone(), id: self.id }
        }
    }
}

/// The kinds of command.
#[derive(Clone, PartialEq, prost::Oneof)]
pub enum Operation {
    /// Adds one entry.
    #[prost(message, tag = "10")]
    Add(Add),
    /// Deletes one leaf entry, or a part of a subtree.
    #[prost(message, tag = "11")]
    Delete(Delete),
    /// Changes the attributes of one entry.
    #[prost(message, tag = "12")]
    Modify(Modify),
    /// Renames an entry or moves a subtree.
    #[prost(message, tag = "13")]
    ModifyDn(ModifyDn),
    /// Adds up to [`ENTRIES_MAX`] entries, all or nothing.
    #[prost(message, tag = "14")]
    AddBlock(AddBlock),
    /// The first command of a cluster.
    #[prost(message, tag = "20")]
    Bootstrap(Bootstrap),
    /// Adds schema definitions.
    #[prost(message, tag = "21")]
    SchemaAdd(SchemaAdd),
    /// Defines index types of one attribute; they are built by [`Operation::IndexBuild`].
    #[prost(message, tag = "22")]
    IndexAdd(IndexChange),
    /// Drops index types of one attribute.
    #[prost(message, tag = "23")]
    IndexDrop(IndexChange),
    /// The next step of building what is to be built.
    #[prost(message, tag = "24")]
    IndexBuild(IndexBuild),
    /// Adds a naming context.
    #[prost(message, tag = "25")]
    SuffixAdd(Suffix),
    /// Drops an empty naming context.
    #[prost(message, tag = "26")]
    SuffixDrop(Suffix),
    /// Changes the administrator's name or password.
    #[prost(message, tag = "27")]
    SetAdmin(SetAdmin),
    /// Sets or unsets a named setting.
    #[prost(message, tag = "28")]
    SetSetting(SetSetting),
    /// Raises the feature level by one.
    #[prost(message, tag = "29")]
    FeatureRaise(FeatureRaise),
}

/// One attribute description with its values.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct AttributeValues {
    /// Attribute type name or OID, with options, as the client wrote it.
    #[prost(string, tag = "1")]
    pub description: String,
    /// Values; passwords are hashed already.
    #[prost(bytes = "vec", repeated, tag = "2")]
    pub values: Vec<Vec<u8>>,
}

/// Adds one entry (RFC 4511 4.7).
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Add {
    /// DN of the new entry.
    #[prost(string, tag = "1")]
    pub dn: String,
    /// Its attributes.
    #[prost(message, repeated, tag = "2")]
    pub attributes: Vec<AttributeValues>,
}

/// Deletes an entry (RFC 4511 4.8).
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Delete {
    /// DN of the entry.
    #[prost(string, tag = "1")]
    pub dn: String,
    /// Delete what is below it too, leaves first, at most [`ENTRIES_MAX`] entries in one command: repeated
    /// until the reply says that nothing is left.
    #[prost(bool, tag = "2")]
    pub subtree: bool,
}

/// What a [`Change`] does. Numbers are those of RFC 4511 4.6 and RFC 4525.
#[derive(Debug, Clone, Copy, PartialEq, Eq, prost::Enumeration)]
#[repr(i32)]
pub enum ChangeKind {
    /// Adds values.
    Add = 0,
    /// Deletes values, or the attribute when none are listed.
    Delete = 1,
    /// Replaces all values.
    Replace = 2,
    /// Adds a number to every value.
    Increment = 3,
}

/// One step of a modify.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Change {
    /// What it does.
    #[prost(enumeration = "ChangeKind", tag = "1")]
    pub kind: i32,
    /// To which attribute, with which values.
    #[prost(message, optional, tag = "2")]
    pub attribute: Option<AttributeValues>,
}

/// Changes attributes of an entry, in order, all or nothing (RFC 4511 4.6).
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Modify {
    /// DN of the entry.
    #[prost(string, tag = "1")]
    pub dn: String,
    /// The steps.
    #[prost(message, repeated, tag = "2")]
    pub changes: Vec<Change>,
}

/// Renames or moves (RFC 4511 4.9).
#[derive(Clone, PartialEq, Eq, Message)]
pub struct ModifyDn {
    /// DN of the entry.
    #[prost(string, tag = "1")]
    pub dn: String,
    /// Its new RDN.
    #[prost(string, tag = "2")]
    pub new_rdn: String,
    /// Whether values of the old RDN that are not in the new one leave the entry.
    #[prost(bool, tag = "3")]
    pub delete_old_rdn: bool,
    /// DN of the new parent.
    #[prost(string, optional, tag = "4")]
    pub new_superior: Option<String>,
}

/// What a block does with an entry whose name exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, prost::Enumeration)]
#[repr(i32)]
pub enum ExistingMode {
    /// Refuses the block.
    Error = 0,
    /// Leaves the existing entry as it is.
    Skip = 1,
    /// Replaces the existing entry's attributes.
    Replace = 2,
}

/// Adds entries as one sorted batch: bulk load. Operational attributes that the input has are kept.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct AddBlock {
    /// The entries, parents before children.
    #[prost(message, repeated, tag = "1")]
    pub entries: Vec<Add>,
    /// What to do with names that exist.
    #[prost(enumeration = "ExistingMode", tag = "2")]
    pub mode: i32,
}

/// One definition of the schema.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct SchemaDefinition {
    /// What it defines: 1 an attribute type, 2 an object class.
    #[prost(uint32, tag = "1")]
    pub kind: u32,
    /// RFC 4512 text.
    #[prost(string, tag = "2")]
    pub text: String,
    /// Its id within its kind.
    #[prost(uint32, tag = "3")]
    pub number: u32,
}

/// Founds the directory. Carries the whole schema, so that nodes of different versions agree on it.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Bootstrap {
    /// DNs of the naming contexts.
    #[prost(string, repeated, tag = "1")]
    pub naming_contexts: Vec<String>,
    /// DN of the administrator.
    #[prost(string, optional, tag = "2")]
    pub admin_dn: Option<String>,
    /// Hashed password of the administrator.
    #[prost(bytes = "vec", tag = "3")]
    pub admin_password: Vec<u8>,
    /// The schema, in order.
    #[prost(message, repeated, tag = "4")]
    pub schema: Vec<SchemaDefinition>,
    /// Indexes, ready at once since there are no entries.
    #[prost(message, repeated, tag = "5")]
    pub indexes: Vec<IndexChange>,
    /// Named settings.
    #[prost(message, repeated, tag = "6")]
    pub settings: Vec<SetSetting>,
}

/// Adds schema definitions, all or nothing; what is there already in the same words is no change.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct SchemaAdd {
    /// OpenLDAP `.schema` text, `olc` LDIF or subschema LDIF.
    #[prost(string, tag = "1")]
    pub text: String,
}

/// Index types of one attribute.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct IndexChange {
    /// Attribute type name or OID.
    #[prost(string, tag = "1")]
    pub attribute: String,
    /// Bits of `IndexTypes`.
    #[prost(uint32, tag = "2")]
    pub types: u32,
}

/// One step of index building.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct IndexBuild {}

/// A naming context.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Suffix {
    /// Its DN.
    #[prost(string, tag = "1")]
    pub dn: String,
}

/// The administrator. What is absent stays as it is.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct SetAdmin {
    /// DN.
    #[prost(string, optional, tag = "1")]
    pub dn: Option<String>,
    /// Hashed password.
    #[prost(bytes = "vec", optional, tag = "2")]
    pub password: Option<Vec<u8>>,
}

/// A named setting.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct SetSetting {
    /// Name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Value; absent means unset.
    #[prost(string, optional, tag = "2")]
    pub value: Option<String>,
}

/// Raises the feature level.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct FeatureRaise {
    /// The new level: the present one plus one.
    #[prost(uint32, tag = "1")]
    pub level: u32,
}

impl Command {
    /// A command that every version understands.
    pub fn new(identity: &Identity, operation: Operation) -> Command {
        Command { level: 1, requester: Some(Requester::new(identity)), operation: Some(operation) }
    }

    /// The bytes for the log, or a refusal when they are more than the log accepts.
    pub fn to_payload(&self) -> Result<Bytes, OpError> {
        let bytes = self.encoded_len();
        if bytes > COMMAND_BYTES_MAX {
            return Err(OpError::new(
                OpErrorKind::AdminLimitExceeded,
                format!("the change takes {bytes} bytes, more than {COMMAND_BYTES_MAX}"),
            ));
        }
        Ok(Bytes::from(self.encode_to_vec()))
    }

    /// Reads the bytes of a log entry; what cannot be read is a refusal.
    pub fn from_payload(payload: &Bytes) -> Result<Command, OpError> {
        if payload.len() > COMMAND_BYTES_MAX {
            return Err(OpError::new(OpErrorKind::Protocol, "the command is too long"));
        }
        Command::decode(payload.clone())
            .map_err(|error| OpError::new(OpErrorKind::Protocol, format!("the command cannot be read: {error}")))
    }
}

/// What became of a command.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct ReplyMessage {
    /// Done or refused.
    #[prost(oneof = "Outcome", tags = "1, 2")]
    pub outcome: Option<Outcome>,
}

/// Done or refused.
#[derive(Clone, PartialEq, Eq, prost::Oneof)]
pub enum Outcome {
    /// The change is in the directory.
    #[prost(message, tag = "1")]
    Done(Done),
    /// Nothing has changed.
    #[prost(message, tag = "2")]
    Refused(Refusal),
}

/// What a command did.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Done {
    /// Id of the entry added, changed or deleted; of a block the last one added.
    #[prost(uint64, tag = "1")]
    pub entry_id: u64,
    /// Entries added, changed or deleted, or looked at by a building step.
    #[prost(uint64, tag = "2")]
    pub entries: u64,
    /// Entries of a block left as they were.
    #[prost(uint64, tag = "3")]
    pub skipped: u64,
    /// Entries of a block replaced.
    #[prost(uint64, tag = "4")]
    pub replaced: u64,
    /// Whether the task needs another command.
    #[prost(bool, tag = "5")]
    pub more: bool,
    /// For a building step: entries with a lower id are done.
    #[prost(uint64, tag = "6")]
    pub next_id: u64,
    /// For a building step: ids in use end below this.
    #[prost(uint64, tag = "7")]
    pub end_id: u64,
    /// Schema definitions added.
    #[prost(uint32, tag = "8")]
    pub definitions: u32,
}

/// The carried form of an [`OpError`].
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Refusal {
    /// Number of the [`OpErrorKind`].
    #[prost(uint32, tag = "1")]
    pub kind: u32,
    /// Nearest entry above that exists.
    #[prost(string, optional, tag = "2")]
    pub matched_dn: Option<String>,
    /// A sentence.
    #[prost(string, tag = "3")]
    pub diagnostic: String,
    /// For a block: which of its entries, counted from 0.
    #[prost(uint32, optional, tag = "4")]
    pub entry: Option<u32>,
}

/// The reply of apply to one log entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The change is in the directory.
    Done(Done),
    /// Nothing has changed.
    Refused {
        /// Why.
        error: OpError,
        /// For a block: which of its entries, counted from 0.
        entry: Option<u32>,
    },
}

impl Reply {
    /// The carried form.
    pub fn to_bytes(&self) -> Bytes {
        let outcome = match self {
            Reply::Done(done) => Outcome::Done(done.clone()),
            Reply::Refused { error, entry } => Outcome::Refused(Refusal {
                kind: error.kind as u32,
                matched_dn: error.matched_dn.clone(),
                diagnostic: error.diagnostic.clone(),
                entry: *entry,
            }),
        };
        Bytes::from(ReplyMessage { outcome: Some(outcome) }.encode_to_vec())
    }

    /// Reads the carried form. What cannot be read is a refusal of kind [`OpErrorKind::Internal`].
    pub fn from_bytes(bytes: &[u8]) -> Reply {
        match ReplyMessage::decode(bytes).map(|message| message.outcome) {
            Ok(Some(Outcome::Done(done))) => Reply::Done(done),
            Ok(Some(Outcome::Refused(refusal))) => Reply::Refused {
                error: OpError {
                    kind: OpErrorKind::from_number(refusal.kind),
                    matched_dn: refusal.matched_dn,
                    diagnostic: refusal.diagnostic,
                },
                entry: refusal.entry,
            },
            Ok(None) | Err(_) => {
                Reply::Refused { error: OpError::new(OpErrorKind::Internal, "the reply cannot be read"), entry: None }
            }
        }
    }

    /// As a result, without the place inside a block.
    pub fn into_result(self) -> Result<Done, OpError> {
        match self {
            Reply::Done(done) => Ok(done),
            Reply::Refused { error, .. } => Err(error),
        }
    }
}
