//! Values of the extended operations. Who am I? (RFC 4532) has no request value and answers with an
//! authzId without BER; StartTLS (RFC 4511 section 4.14) has neither.

use std::fmt;

use crate::ber::{BOOLEAN, INTEGER, SEQUENCE, context, read, write};
use crate::error::{DecodeError, DecodeErrorKind};

const USER_IDENTITY: u8 = context(0);
const OLD_PASSWORD: u8 = context(1);
const NEW_PASSWORD: u8 = context(2);
const GENERATED_PASSWORD: u8 = context(0);

/// PasswdModifyRequestValue (RFC 3062). A request without a value is one without any element.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct PasswordModifyRequest<'a> {
    /// Whose password; absent: the bound user's. A DN or a name.
    pub user: Option<&'a [u8]>,
    /// The present password.
    pub old_password: Option<&'a [u8]>,
    /// The wanted password; absent: the server makes one.
    pub new_password: Option<&'a [u8]>,
}

/// Never shows passwords.
impl fmt::Debug for PasswordModifyRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PasswordModifyRequest")
            .field("user", &self.user.map(|user| user.escape_ascii().to_string()))
            .finish_non_exhaustive()
    }
}

impl<'a> PasswordModifyRequest<'a> {
    /// Decodes requestValue.
    pub fn decode(value: Option<&'a [u8]>) -> Result<Self, DecodeError> {
        let Some(value) = value else { return Ok(Self::default()) };
        read::whole(value, "PasswdModifyRequestValue", |reader| {
            let mut reader = reader.sequence("PasswdModifyRequestValue")?;
            let user = reader.optional_octets(USER_IDENTITY, "userIdentity")?;
            let old_password = reader.optional_octets(OLD_PASSWORD, "oldPasswd")?;
            let new_password = reader.optional_octets(NEW_PASSWORD, "newPasswd")?;
            reader.skip_unknown("PasswdModifyRequestValue")?;
            Ok(PasswordModifyRequest { user, old_password, new_password })
        })
    }

    /// Appends requestValue.
    pub fn write(&self, out: &mut Vec<u8>) {
        write::put_constructed(out, SEQUENCE, |out| {
            write::put_optional(out, USER_IDENTITY, self.user);
            write::put_optional(out, OLD_PASSWORD, self.old_password);
            write::put_optional(out, NEW_PASSWORD, self.new_password);
        });
    }
}

/// Decodes the responseValue of password modify (RFC 3062): the password that the server made.
pub fn decode_password_modify_response(value: &[u8]) -> Result<Option<&[u8]>, DecodeError> {
    read::whole(value, "PasswdModifyResponseValue", |reader| {
        let mut reader = reader.sequence("PasswdModifyResponseValue")?;
        let generated = reader.optional_octets(GENERATED_PASSWORD, "genPasswd")?;
        reader.skip_unknown("PasswdModifyResponseValue")?;
        Ok(generated)
    })
}

/// Appends the responseValue of password modify; to be sent only when the server made a password.
pub fn write_password_modify_response(out: &mut Vec<u8>, generated: Option<&[u8]>) {
    write::put_constructed(out, SEQUENCE, |out| write::put_optional(out, GENERATED_PASSWORD, generated));
}

/// Decodes the requestValue of cancel (RFC 3909): the message id of the operation to cancel.
pub fn decode_cancel(value: &[u8]) -> Result<i32, DecodeError> {
    read::whole(value, "cancelRequestValue", |reader| {
        let mut reader = reader.sequence("cancelRequestValue")?;
        let id = reader.non_negative("cancelID")?;
        reader.skip_unknown("cancelRequestValue")?;
        Ok(id)
    })
}

/// Appends the requestValue of cancel.
pub fn write_cancel(out: &mut Vec<u8>, message_id: i32) {
    write::put_constructed(out, SEQUENCE, |out| write::put_integer(out, message_id.into()));
}

/// txnEndReq (RFC 5805).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransactionEnd<'a> {
    /// Commit; else abort.
    pub commit: bool,
    /// Identifier that the start gave.
    pub identifier: &'a [u8],
}

impl<'a> TransactionEnd<'a> {
    /// Decodes requestValue.
    pub fn decode(value: &'a [u8]) -> Result<Self, DecodeError> {
        read::whole(value, "txnEndReq", |reader| {
            let mut reader = reader.sequence("txnEndReq")?;
            let commit = reader.optional(BOOLEAN, "commit")?.map_or(Ok(true), |tlv| tlv.boolean("commit"))?;
            let identifier = reader.octets("identifier")?;
            reader.skip_unknown("txnEndReq")?;
            Ok(TransactionEnd { commit, identifier })
        })
    }

    /// Appends requestValue.
    pub fn write(&self, out: &mut Vec<u8>) {
        write::put_constructed(out, SEQUENCE, |out| {
            if !self.commit {
                write::put_boolean(out, false);
            }
            write::put_octets(out, self.identifier);
        });
    }
}

/// Decodes the part of txnEndRes (RFC 5805) that names the update that failed, if one did.
pub fn decode_transaction_end_response(value: &[u8]) -> Result<Option<i32>, DecodeError> {
    read::whole(value, "txnEndRes", |reader| {
        let mut reader = reader.sequence("txnEndRes")?;
        let id = reader.optional(INTEGER, "messageID")?.map(|tlv| read::non_negative(&tlv, "messageID"));
        let id = id.transpose()?;
        reader.skip_unknown("txnEndRes")?;
        Ok(id)
    })
}

/// Appends txnEndRes (RFC 5805) with the message id of the update that failed; updatesControls are not
/// sent.
pub fn write_transaction_end_response(out: &mut Vec<u8>, failed_message_id: Option<i32>) {
    write::put_constructed(out, SEQUENCE, |out| {
        if let Some(id) = failed_message_id {
            write::put_integer(out, id.into());
        }
    });
}

const ENTRY_NAME: u8 = context(0);
const TTL: u8 = context(1);

/// The largest time to live, in seconds (RFC 2589 section 4.1).
const MAX_TTL_S: i64 = 31_557_600;

/// The request of refresh (RFC 2589).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RefreshRequest<'a> {
    /// DN of the dynamic entry.
    pub dn: &'a [u8],
    /// Wanted time to live in seconds.
    pub ttl_s: u32,
}

fn ttl(tlv: &crate::ber::Tlv<'_>) -> Result<u32, DecodeError> {
    match tlv.integer("ttl")? {
        seconds @ 0..=MAX_TTL_S => Ok(u32::try_from(seconds).unwrap_or(u32::MAX)),
        seconds => Err(tlv.fault("ttl", DecodeErrorKind::OutOfRange(seconds))),
    }
}

impl<'a> RefreshRequest<'a> {
    /// Decodes requestValue.
    pub fn decode(value: &'a [u8]) -> Result<Self, DecodeError> {
        read::whole(value, "refreshRequest", |reader| {
            let mut reader = reader.sequence("refreshRequest")?;
            let dn = reader.expect(ENTRY_NAME, "entryName")?.content;
            let ttl_s = ttl(&reader.expect(TTL, "requestTtl")?)?;
            reader.skip_unknown("refreshRequest")?;
            Ok(RefreshRequest { dn, ttl_s })
        })
    }

    /// Appends requestValue.
    pub fn write(&self, out: &mut Vec<u8>) {
        write::put_constructed(out, SEQUENCE, |out| {
            write::put_tlv(out, ENTRY_NAME, self.dn);
            write::put_tagged_integer(out, TTL, self.ttl_s.into());
        });
    }
}

/// Decodes the responseValue of refresh (RFC 2589): the time to live granted, in seconds.
pub fn decode_refresh_response(value: &[u8]) -> Result<u32, DecodeError> {
    read::whole(value, "refreshResponse", |reader| {
        let mut reader = reader.sequence("refreshResponse")?;
        let ttl_s = ttl(&reader.expect(TTL, "responseTtl")?)?;
        reader.skip_unknown("refreshResponse")?;
        Ok(ttl_s)
    })
}

/// Appends the responseValue of refresh.
pub fn write_refresh_response(out: &mut Vec<u8>, ttl_s: u32) {
    write::put_constructed(out, SEQUENCE, |out| write::put_tagged_integer(out, TTL, ttl_s.into()));
}
