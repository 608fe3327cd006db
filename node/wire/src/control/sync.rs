//! Content synchronisation (RFC 4533): three controls and the intermediate response Sync Info.

use crate::ber::{BOOLEAN, ENUMERATED, OCTET_STRING, Reader, SEQUENCE, SET, context, context_constructed, read, write};
use crate::error::{DecodeError, DecodeErrorKind};
use crate::list::{List, OctetStrings};

const NEW_COOKIE: u8 = context(0);
const REFRESH_DELETE: u8 = context_constructed(1);
const REFRESH_PRESENT: u8 = context_constructed(2);
const SYNC_ID_SET: u8 = context_constructed(3);

/// Bytes of an entryUUID.
const UUID_BYTES: usize = 16;

/// syncRequestValue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyncRequest<'a> {
    /// Whether changes are wanted after the refresh.
    pub mode: SyncMode,
    /// State of the consumer.
    pub cookie: Option<&'a [u8]>,
    /// The consumer would rather reload than be refused.
    pub reload_hint: bool,
}

/// Mode of a sync request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum SyncMode {
    /// refreshOnly.
    RefreshOnly = 1,
    /// refreshAndPersist.
    RefreshAndPersist = 3,
}

/// syncStateValue, with each entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyncState<'a> {
    /// What happened to the entry.
    pub state: EntryState,
    /// entryUUID.
    pub entry_uuid: [u8; UUID_BYTES],
    /// New state of the consumer.
    pub cookie: Option<&'a [u8]>,
}

/// State of an entry in a sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum EntryState {
    /// Unchanged.
    Present = 0,
    /// New.
    Add = 1,
    /// Changed.
    Modify = 2,
    /// Gone.
    Delete = 3,
}

/// syncDoneValue, with searchResultDone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyncDone<'a> {
    /// New state of the consumer.
    pub cookie: Option<&'a [u8]>,
    /// The refresh was made of deletes, not of presents.
    pub refresh_deletes: bool,
}

/// syncInfoValue, in an intermediate response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncInfo<'a> {
    /// New state of the consumer.
    NewCookie(&'a [u8]),
    /// End of a delete phase.
    RefreshDelete {
        /// New state of the consumer.
        cookie: Option<&'a [u8]>,
        /// The refresh is over.
        refresh_done: bool,
    },
    /// End of a present phase.
    RefreshPresent {
        /// New state of the consumer.
        cookie: Option<&'a [u8]>,
        /// The refresh is over.
        refresh_done: bool,
    },
    /// Many entries at once.
    SyncIdSet {
        /// New state of the consumer.
        cookie: Option<&'a [u8]>,
        /// The entries are gone; else they are unchanged.
        refresh_deletes: bool,
        /// Their entryUUIDs, 16 bytes each.
        uuids: OctetStrings<'a>,
    },
}

fn optional_boolean(reader: &mut Reader<'_>, default: bool, what: &'static str) -> Result<bool, DecodeError> {
    reader.optional(BOOLEAN, what)?.map_or(Ok(default), |tlv| tlv.boolean(what))
}

impl<'a> SyncRequest<'a> {
    /// Decodes a control value.
    pub fn decode(value: &'a [u8]) -> Result<Self, DecodeError> {
        read::whole(value, "syncRequestValue", |reader| {
            let mut reader = reader.sequence("syncRequestValue")?;
            let tlv = reader.expect(ENUMERATED, "mode")?;
            let mode = match tlv.integer("mode")? {
                1 => SyncMode::RefreshOnly,
                3 => SyncMode::RefreshAndPersist,
                other => return Err(tlv.fault("mode", DecodeErrorKind::OutOfRange(other))),
            };
            let cookie = reader.optional_octets(OCTET_STRING, "cookie")?;
            let reload_hint = optional_boolean(&mut reader, false, "reloadHint")?;
            reader.skip_unknown("syncRequestValue")?;
            Ok(SyncRequest { mode, cookie, reload_hint })
        })
    }

    /// Appends the control value.
    pub fn write(&self, out: &mut Vec<u8>) {
        write::put_constructed(out, SEQUENCE, |out| {
            write::put_enumerated(out, self.mode as i64);
            write::put_optional(out, OCTET_STRING, self.cookie);
            if self.reload_hint {
                write::put_boolean(out, true);
            }
        });
    }
}

impl<'a> SyncState<'a> {
    /// Decodes a control value.
    pub fn decode(value: &'a [u8]) -> Result<Self, DecodeError> {
        read::whole(value, "syncStateValue", |reader| {
            let mut reader = reader.sequence("syncStateValue")?;
            let tlv = reader.expect(ENUMERATED, "state")?;
            let state = match tlv.integer("state")? {
                0 => EntryState::Present,
                1 => EntryState::Add,
                2 => EntryState::Modify,
                3 => EntryState::Delete,
                other => return Err(tlv.fault("state", DecodeErrorKind::OutOfRange(other))),
            };
            let tlv = reader.expect(OCTET_STRING, "entryUUID")?;
            let entry_uuid = <[u8; UUID_BYTES]>::try_from(tlv.content)
                .map_err(|_| tlv.fault("entryUUID", DecodeErrorKind::Invalid("not 16 bytes")))?;
            let cookie = reader.optional_octets(OCTET_STRING, "cookie")?;
            reader.skip_unknown("syncStateValue")?;
            Ok(SyncState { state, entry_uuid, cookie })
        })
    }

    /// Appends the control value.
    pub fn write(&self, out: &mut Vec<u8>) {
        write::put_constructed(out, SEQUENCE, |out| {
            write::put_enumerated(out, self.state as i64);
            write::put_octets(out, &self.entry_uuid);
            write::put_optional(out, OCTET_STRING, self.cookie);
        });
    }
}

impl<'a> SyncDone<'a> {
    /// Decodes a control value.
    pub fn decode(value: &'a [u8]) -> Result<Self, DecodeError> {
        read::whole(value, "syncDoneValue", |reader| {
            let mut reader = reader.sequence("syncDoneValue")?;
            let cookie = reader.optional_octets(OCTET_STRING, "cookie")?;
            let refresh_deletes = optional_boolean(&mut reader, false, "refreshDeletes")?;
            reader.skip_unknown("syncDoneValue")?;
            Ok(SyncDone { cookie, refresh_deletes })
        })
    }

    /// Appends the control value.
    pub fn write(&self, out: &mut Vec<u8>) {
        write::put_constructed(out, SEQUENCE, |out| {
            write::put_optional(out, OCTET_STRING, self.cookie);
            if self.refresh_deletes {
                write::put_boolean(out, true);
            }
        });
    }
}

impl<'a> SyncInfo<'a> {
    /// Decodes the value of an intermediate response.
    pub fn decode(value: &'a [u8]) -> Result<Self, DecodeError> {
        const WHAT: &str = "syncInfoValue";
        read::whole(value, WHAT, |reader| {
            let tlv = reader.any(WHAT)?;
            if tlv.tag == NEW_COOKIE {
                return Ok(SyncInfo::NewCookie(tlv.content));
            }
            if ![REFRESH_DELETE, REFRESH_PRESENT, SYNC_ID_SET].contains(&tlv.tag) {
                return Err(tlv.fault(WHAT, DecodeErrorKind::UnexpectedTag { found: tlv.tag }));
            }
            let mut inner = tlv.reader();
            let cookie = inner.optional_octets(OCTET_STRING, "cookie")?;
            let info = if tlv.tag == SYNC_ID_SET {
                let refresh_deletes = optional_boolean(&mut inner, false, "refreshDeletes")?;
                let set = inner.expect(SET, "syncUUIDs")?.reader();
                let uuids = List::decode_checked(set, usize::MAX, "syncUUIDs", |uuid: &&[u8]| {
                    if uuid.len() == UUID_BYTES { Ok(()) } else { Err(DecodeErrorKind::Invalid("not 16 bytes")) }
                })?;
                SyncInfo::SyncIdSet { cookie, refresh_deletes, uuids }
            } else {
                let refresh_done = optional_boolean(&mut inner, true, "refreshDone")?;
                if tlv.tag == REFRESH_DELETE {
                    SyncInfo::RefreshDelete { cookie, refresh_done }
                } else {
                    SyncInfo::RefreshPresent { cookie, refresh_done }
                }
            };
            inner.skip_unknown(WHAT)?;
            Ok(info)
        })
    }

    /// Appends the value of an intermediate response.
    pub fn write(&self, out: &mut Vec<u8>) {
        let refresh = |out: &mut Vec<u8>, tag, cookie, refresh_done: bool| {
            write::put_constructed(out, tag, |out| {
                write::put_optional(out, OCTET_STRING, cookie);
                if !refresh_done {
                    write::put_boolean(out, false);
                }
            });
        };
        match *self {
            SyncInfo::NewCookie(cookie) => write::put_tlv(out, NEW_COOKIE, cookie),
            SyncInfo::RefreshDelete { cookie, refresh_done } => refresh(out, REFRESH_DELETE, cookie, refresh_done),
            SyncInfo::RefreshPresent { cookie, refresh_done } => refresh(out, REFRESH_PRESENT, cookie, refresh_done),
            SyncInfo::SyncIdSet { cookie, refresh_deletes, uuids } => {
                write::put_constructed(out, SYNC_ID_SET, |out| {
                    write::put_optional(out, OCTET_STRING, cookie);
                    if refresh_deletes {
                        write::put_boolean(out, true);
                    }
                    uuids.write(out, SET);
                });
            }
        }
    }
}
