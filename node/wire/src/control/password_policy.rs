//! What a bind tells about the account: password policy (draft-behera-ldap-password-policy), password
//! expired and expiring (draft-vchu-ldap-pwd-policy), account usability (Sun).

use crate::ber::{Reader, SEQUENCE, Tlv, context, context_constructed, read, write};
use crate::error::{DecodeError, DecodeErrorKind};

const WARNING: u8 = context_constructed(0);
const ERROR: u8 = context(1);
const TIME_BEFORE_EXPIRATION: u8 = context(0);
const GRACE_AUTHNS_REMAINING: u8 = context(1);

/// PasswordPolicyResponseValue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PasswordPolicyResponse {
    /// A warning.
    pub warning: Option<PasswordWarning>,
    /// Why the operation failed, or what the user must do.
    pub error: Option<PasswordPolicyError>,
}

/// The warning of a password policy response; no number is negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PasswordWarning {
    /// The password expires in so many seconds.
    TimeBeforeExpirationS(i32),
    /// The password has expired; so many binds are left.
    GraceAuthenticationsRemaining(i32),
}

/// The error of a password policy response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum PasswordPolicyError {
    /// passwordExpired.
    PasswordExpired = 0,
    /// accountLocked.
    AccountLocked = 1,
    /// changeAfterReset.
    ChangeAfterReset = 2,
    /// passwordModNotAllowed.
    PasswordModNotAllowed = 3,
    /// mustSupplyOldPassword.
    MustSupplyOldPassword = 4,
    /// insufficientPasswordQuality.
    InsufficientPasswordQuality = 5,
    /// passwordTooShort.
    PasswordTooShort = 6,
    /// passwordTooYoung.
    PasswordTooYoung = 7,
    /// passwordInHistory.
    PasswordInHistory = 8,
    /// passwordTooLong (draft 11).
    PasswordTooLong = 9,
}

impl PasswordPolicyError {
    /// Every error, at the position of its number.
    pub const ALL: [PasswordPolicyError; 10] = [
        Self::PasswordExpired,
        Self::AccountLocked,
        Self::ChangeAfterReset,
        Self::PasswordModNotAllowed,
        Self::MustSupplyOldPassword,
        Self::InsufficientPasswordQuality,
        Self::PasswordTooShort,
        Self::PasswordTooYoung,
        Self::PasswordInHistory,
        Self::PasswordTooLong,
    ];

    fn from_tlv(tlv: &Tlv<'_>) -> Result<Self, DecodeError> {
        let number = tlv.integer("error")?;
        let error = usize::try_from(number).ok().and_then(|index| Self::ALL.get(index));
        error.copied().ok_or_else(|| tlv.fault("error", DecodeErrorKind::OutOfRange(number)))
    }
}

impl PasswordPolicyResponse {
    /// Decodes a control value.
    pub fn decode(value: &[u8]) -> Result<Self, DecodeError> {
        read::whole(value, "PasswordPolicyResponseValue", |reader| {
            let mut reader = reader.sequence("PasswordPolicyResponseValue")?;
            let warning = match reader.optional(WARNING, "warning")? {
                Some(warning) => Some(Self::read_warning(warning.reader())?),
                None => None,
            };
            let error = match reader.optional(ERROR, "error")? {
                Some(error) => Some(PasswordPolicyError::from_tlv(&error)?),
                None => None,
            };
            reader.skip_unknown("PasswordPolicyResponseValue")?;
            Ok(PasswordPolicyResponse { warning, error })
        })
    }

    fn read_warning(mut reader: Reader<'_>) -> Result<PasswordWarning, DecodeError> {
        let tlv = reader.any("warning")?;
        reader.finish("warning")?;
        match tlv.tag {
            TIME_BEFORE_EXPIRATION => {
                read::non_negative(&tlv, "timeBeforeExpiration").map(PasswordWarning::TimeBeforeExpirationS)
            }
            GRACE_AUTHNS_REMAINING => {
                read::non_negative(&tlv, "graceAuthNsRemaining").map(PasswordWarning::GraceAuthenticationsRemaining)
            }
            found => Err(tlv.fault("warning", DecodeErrorKind::UnexpectedTag { found })),
        }
    }

    /// Appends the control value.
    pub fn write(&self, out: &mut Vec<u8>) {
        write::put_constructed(out, SEQUENCE, |out| {
            if let Some(warning) = self.warning {
                write::put_constructed(out, WARNING, |out| match warning {
                    PasswordWarning::TimeBeforeExpirationS(seconds) => {
                        write::put_tagged_integer(out, TIME_BEFORE_EXPIRATION, seconds.into());
                    }
                    PasswordWarning::GraceAuthenticationsRemaining(count) => {
                        write::put_tagged_integer(out, GRACE_AUTHNS_REMAINING, count.into());
                    }
                });
            }
            if let Some(error) = self.error {
                write::put_tagged_integer(out, ERROR, error as i64);
            }
        });
    }
}

/// Appends the value of the control "password expiring": seconds left, in decimal, without BER.
pub fn write_expiring(out: &mut Vec<u8>, seconds_left: u32) {
    out.extend_from_slice(seconds_left.to_string().as_bytes());
}

/// Appends the value of the control "password expired": always `0`.
pub fn write_expired(out: &mut Vec<u8>) {
    out.push(b'0');
}

const AVAILABLE: u8 = context(0);
const NOT_AVAILABLE: u8 = context_constructed(1);

/// The account usability response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountUsability {
    /// Usable.
    Available {
        /// Seconds until the password expires, -1 for never.
        seconds_before_expiration: i32,
    },
    /// Not usable.
    NotAvailable {
        /// Disabled or locked.
        inactive: bool,
        /// The password was reset and must be changed.
        reset: bool,
        /// The password has expired.
        expired: bool,
        /// Binds left with the expired password.
        remaining_grace: Option<i32>,
        /// Seconds until the lock opens.
        seconds_before_unlock: Option<i32>,
    },
}

impl AccountUsability {
    /// Decodes a control value.
    pub fn decode(value: &[u8]) -> Result<Self, DecodeError> {
        const WHAT: &str = "ACCOUNT_USABLE_RESPONSE";
        read::whole(value, WHAT, |reader| {
            let tlv = reader.any(WHAT)?;
            match tlv.tag {
                AVAILABLE => Ok(AccountUsability::Available { seconds_before_expiration: number(&tlv)? }),
                NOT_AVAILABLE => {
                    let mut more = tlv.reader();
                    let info = AccountUsability::NotAvailable {
                        inactive: flag(&mut more, 0, "inactive")?,
                        reset: flag(&mut more, 1, "reset")?,
                        expired: flag(&mut more, 2, "expired")?,
                        remaining_grace: optional_number(&mut more, 3, "remaining_grace")?,
                        seconds_before_unlock: optional_number(&mut more, 4, "seconds_before_unlock")?,
                    };
                    more.skip_unknown(WHAT)?;
                    Ok(info)
                }
                found => Err(tlv.fault(WHAT, DecodeErrorKind::UnexpectedTag { found })),
            }
        })
    }

    /// Appends the control value.
    pub fn write(&self, out: &mut Vec<u8>) {
        match *self {
            Self::Available { seconds_before_expiration } => {
                write::put_tagged_integer(out, AVAILABLE, seconds_before_expiration.into());
            }
            Self::NotAvailable { inactive, reset, expired, remaining_grace, seconds_before_unlock } => {
                write::put_constructed(out, NOT_AVAILABLE, |out| {
                    for (number, flag) in [(0, inactive), (1, reset), (2, expired)] {
                        write::put_tagged_boolean(out, context(number), flag);
                    }
                    for (number, value) in [(3, remaining_grace), (4, seconds_before_unlock)] {
                        if let Some(value) = value {
                            write::put_tagged_integer(out, context(number), value.into());
                        }
                    }
                });
            }
        }
    }
}

fn number(tlv: &Tlv<'_>) -> Result<i32, DecodeError> {
    let value = tlv.integer("seconds")?;
    i32::try_from(value).map_err(|_| tlv.fault("seconds", DecodeErrorKind::OutOfRange(value)))
}

fn flag(reader: &mut Reader<'_>, tag_number: u8, what: &'static str) -> Result<bool, DecodeError> {
    match reader.optional(context(tag_number), what)? {
        Some(tlv) => tlv.boolean(what),
        None => Ok(false),
    }
}

fn optional_number(reader: &mut Reader<'_>, tag_number: u8, what: &'static str) -> Result<Option<i32>, DecodeError> {
    reader.optional(context(tag_number), what)?.map(|tlv| number(&tlv)).transpose()
}
