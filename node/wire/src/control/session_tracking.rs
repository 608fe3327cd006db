//! Session tracking (draft-wahl-ldap-session-03): whom a request is made for, for the logs.

use crate::ber::{SEQUENCE, read::whole, write};
use crate::error::DecodeError;

/// LDAPSessionTrackingControlValue. Free text of the client's: never to be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionTracking<'a> {
    /// Address of the user.
    pub source_ip: &'a [u8],
    /// Name of the host or application.
    pub source_name: &'a [u8],
    /// OID that says what the identifier is.
    pub format_oid: &'a [u8],
    /// The identifier: a user or session name.
    pub identifier: &'a [u8],
}

impl<'a> SessionTracking<'a> {
    /// Decodes a control value.
    pub fn decode(value: &'a [u8]) -> Result<Self, DecodeError> {
        whole(value, "LDAPSessionTrackingControlValue", |reader| {
            let mut reader = reader.sequence("LDAPSessionTrackingControlValue")?;
            let source_ip = reader.octets("sessionSourceIp")?;
            let source_name = reader.octets("sessionSourceName")?;
            let format_oid = reader.octets("formatOID")?;
            let identifier = reader.octets("sessionTrackingIdentifier")?;
            reader.skip_unknown("LDAPSessionTrackingControlValue")?;
            Ok(SessionTracking { source_ip, source_name, format_oid, identifier })
        })
    }

    /// Appends the control value.
    pub fn write(&self, out: &mut Vec<u8>) {
        write::put_constructed(out, SEQUENCE, |out| {
            for part in [self.source_ip, self.source_name, self.format_oid, self.identifier] {
                write::put_octets(out, part);
            }
        });
    }
}
