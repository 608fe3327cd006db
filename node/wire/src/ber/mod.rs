//! The part of BER that LDAP uses (RFC 4511 section 5.1): definite lengths, primitive strings, tag
//! numbers below 31.

pub mod read;
pub mod write;

pub use read::{Reader, Tlv};

/// BOOLEAN.
pub const BOOLEAN: u8 = 0x01;
/// INTEGER.
pub const INTEGER: u8 = 0x02;
/// OCTET STRING, primitive.
pub const OCTET_STRING: u8 = 0x04;
/// ENUMERATED.
pub const ENUMERATED: u8 = 0x0A;
/// SEQUENCE and SEQUENCE OF.
pub const SEQUENCE: u8 = 0x30;
/// SET OF.
pub const SET: u8 = 0x31;

/// Context-specific primitive tag `[number]`.
pub const fn context(number: u8) -> u8 {
    assert!(number < 31, "LDAP has no tag number above 30");
    0x80 | number
}

/// Context-specific constructed tag `[number]`.
pub const fn context_constructed(number: u8) -> u8 {
    0x20 | context(number)
}
