//! Proxied authorization. The value of version 2 (RFC 4370) is the authzId itself, without any BER
//! around it, and needs no function here; version 1 (draft-weltman-ldapv3-proxy-04) wraps a DN.

use crate::ber::{SEQUENCE, read::whole, write};
use crate::error::DecodeError;

/// Decodes the value of version 1: a DN.
pub fn decode_v1(value: &[u8]) -> Result<&[u8], DecodeError> {
    whole(value, "proxyAuthValue", |reader| {
        let mut reader = reader.sequence("proxyAuthValue")?;
        let dn = reader.octets("proxyDN")?;
        reader.skip_unknown("proxyAuthValue")?;
        Ok(dn)
    })
}

/// Appends the value of version 1.
pub fn write_v1(out: &mut Vec<u8>, dn: &[u8]) {
    write::put_constructed(out, SEQUENCE, |out| write::put_octets(out, dn));
}
