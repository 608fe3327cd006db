//! Persistent search and entry change notification (draft-ietf-ldapext-psearch-03).

use crate::ber::{ENUMERATED, INTEGER, OCTET_STRING, SEQUENCE, read::whole, write};
use crate::error::{DecodeError, DecodeErrorKind};

/// Kinds of change, as bits of [`PersistentSearch::change_types`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ChangeType {
    /// An entry was added.
    Add = 1,
    /// An entry was deleted.
    Delete = 2,
    /// An entry was modified.
    Modify = 4,
    /// An entry was renamed.
    ModifyDn = 8,
}

/// PersistentSearch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PersistentSearch {
    /// Bits of [`ChangeType`], at least one.
    pub change_types: u8,
    /// Leave out what matches at the start.
    pub changes_only: bool,
    /// Attach entry change notifications.
    pub return_entry_changes: bool,
}

/// EntryChangeNotification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryChange<'a> {
    /// What happened.
    pub change_type: ChangeType,
    /// The DN before a rename.
    pub previous_dn: Option<&'a [u8]>,
    /// Number of the change in a change log.
    pub change_number: Option<i64>,
}

impl PersistentSearch {
    /// Decodes a control value.
    pub fn decode(value: &[u8]) -> Result<Self, DecodeError> {
        whole(value, "PersistentSearch", |reader| {
            let mut reader = reader.sequence("PersistentSearch")?;
            let tlv = reader.expect(INTEGER, "changeTypes")?;
            let number = tlv.integer("changeTypes")?;
            let change_types = match u8::try_from(number) {
                Ok(bits @ 1..=15) => bits,
                _ => return Err(tlv.fault("changeTypes", DecodeErrorKind::OutOfRange(number))),
            };
            let changes_only = reader.boolean("changesOnly")?;
            let return_entry_changes = reader.boolean("returnECs")?;
            reader.skip_unknown("PersistentSearch")?;
            Ok(PersistentSearch { change_types, changes_only, return_entry_changes })
        })
    }

    /// Appends the control value.
    pub fn write(&self, out: &mut Vec<u8>) {
        write::put_constructed(out, SEQUENCE, |out| {
            write::put_integer(out, self.change_types.into());
            write::put_boolean(out, self.changes_only);
            write::put_boolean(out, self.return_entry_changes);
        });
    }
}

impl<'a> EntryChange<'a> {
    /// Decodes a control value.
    pub fn decode(value: &'a [u8]) -> Result<Self, DecodeError> {
        whole(value, "EntryChangeNotification", |reader| {
            let mut reader = reader.sequence("EntryChangeNotification")?;
            let tlv = reader.expect(ENUMERATED, "changeType")?;
            let change_type = match tlv.integer("changeType")? {
                1 => ChangeType::Add,
                2 => ChangeType::Delete,
                4 => ChangeType::Modify,
                8 => ChangeType::ModifyDn,
                other => return Err(tlv.fault("changeType", DecodeErrorKind::OutOfRange(other))),
            };
            let previous_dn = reader.optional_octets(OCTET_STRING, "previousDN")?;
            let change_number = match reader.optional(INTEGER, "changeNumber")? {
                Some(tlv) => Some(tlv.integer("changeNumber")?),
                None => None,
            };
            reader.skip_unknown("EntryChangeNotification")?;
            Ok(EntryChange { change_type, previous_dn, change_number })
        })
    }

    /// Appends the control value.
    pub fn write(&self, out: &mut Vec<u8>) {
        write::put_constructed(out, SEQUENCE, |out| {
            write::put_enumerated(out, self.change_type as i64);
            write::put_optional(out, OCTET_STRING, self.previous_dn);
            if let Some(number) = self.change_number {
                write::put_integer(out, number);
            }
        });
    }
}
