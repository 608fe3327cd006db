//! A stored value, taken apart and found affordable.

use subtle::ConstantTimeEq;

use super::argon::ArgonHash;
use super::crypt::CryptHash;
use super::digest::{Algorithm, DigestHash};
use super::pbkdf::PbkdfHash;
use super::{MAX_CLEAR_BYTES, Verdict};

pub(super) enum Stored<'a> {
    Clear(&'a [u8]),
    Digest(DigestHash),
    Pbkdf(PbkdfHash),
    Argon(ArgonHash),
    Crypt(CryptHash<'a>),
}

impl<'a> Stored<'a> {
    /// Errors are the verdict that any password gets.
    pub fn parse(stored: &'a [u8]) -> Result<Self, Verdict> {
        let Some((scheme, data)) = split_scheme(stored) else { return Ok(Self::Clear(stored)) };
        let digest = |algorithm, salted| DigestHash::parse(algorithm, salted, data).map(Self::Digest);
        // RFC 3112 section 2: scheme names are compared without case.
        match scheme.to_ascii_uppercase().as_str() {
            "CLEARTEXT" | "CLEAR" => Ok(Self::Clear(data)),
            "SHA" => digest(Algorithm::Sha1, false),
            "SSHA" => digest(Algorithm::Sha1, true),
            "MD5" => digest(Algorithm::Md5, false),
            "SMD5" => digest(Algorithm::Md5, true),
            "SHA256" => digest(Algorithm::Sha256, false),
            "SSHA256" => digest(Algorithm::Sha256, true),
            "SHA384" => digest(Algorithm::Sha384, false),
            "SSHA384" => digest(Algorithm::Sha384, true),
            "SHA512" => digest(Algorithm::Sha512, false),
            "SSHA512" => digest(Algorithm::Sha512, true),
            "PBKDF2" | "PBKDF2-SHA1" => PbkdfHash::parse_text(Algorithm::Sha1, data).map(Self::Pbkdf),
            "PBKDF2-SHA256" => PbkdfHash::parse_text(Algorithm::Sha256, data).map(Self::Pbkdf),
            "PBKDF2-SHA512" => PbkdfHash::parse_text(Algorithm::Sha512, data).map(Self::Pbkdf),
            "PBKDF2_SHA256" => PbkdfHash::parse_binary_sha256(data).map(Self::Pbkdf),
            "ARGON2" => ArgonHash::parse(data).map(Self::Argon),
            // The names after the first are those of 389 Directory Server.
            "CRYPT" | "CRYPT-MD5" | "CRYPT-SHA256" | "CRYPT-SHA512" => CryptHash::parse(data).map(Self::Crypt),
            _ => Err(Verdict::UnknownScheme),
        }
    }

    pub fn verify(&self, clear: &[u8]) -> Verdict {
        debug_assert!(clear.len() <= MAX_CLEAR_BYTES);
        match self {
            Self::Clear(stored) => same(stored, clear),
            Self::Digest(hash) => hash.verify(clear),
            Self::Pbkdf(hash) => hash.verify(clear),
            Self::Argon(hash) => hash.verify(clear),
            Self::Crypt(hash) => hash.verify(clear),
        }
    }

    pub fn cost_kib(&self) -> u32 {
        match self {
            Self::Clear(_) | Self::Digest(_) | Self::Pbkdf(_) => 0,
            Self::Argon(hash) => hash.memory_kib(),
            Self::Crypt(hash) => hash.memory_kib(),
        }
    }

    pub fn is_slow(&self) -> bool {
        match self {
            Self::Clear(_) | Self::Digest(_) => false,
            Self::Pbkdf(_) | Self::Argon(_) | Self::Crypt(_) => true,
        }
    }
}

/// `{scheme}data`; None when the value does not begin so and is clear text therefore.
pub(super) fn split_scheme(stored: &[u8]) -> Option<(&str, &[u8])> {
    let rest = stored.strip_prefix(b"{")?;
    let end = rest.iter().position(|byte| *byte == b'}')?;
    let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'/' | b'.');
    let (name, data) = (&rest[..end], &rest[end + 1..]);
    if name.is_empty() || !name.iter().all(allowed) {
        return None;
    }
    Some((std::str::from_utf8(name).ok()?, data))
}

/// Constant-time comparison; only the lengths can be learned from it.
pub(super) fn same(expected: &[u8], found: &[u8]) -> Verdict {
    if bool::from(expected.ct_eq(found)) { Verdict::Match } else { Verdict::Mismatch }
}

/// Standard base64, padded or not.
pub(super) mod base64_lenient {
    use base64::Engine;
    use base64::alphabet;
    use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

    use super::Verdict;

    const ENGINE: GeneralPurpose = GeneralPurpose::new(
        &alphabet::STANDARD,
        GeneralPurposeConfig::new()
            .with_decode_padding_mode(DecodePaddingMode::Indifferent)
            .with_decode_allow_trailing_bits(true),
    );

    pub fn decode(text: &[u8]) -> Result<Vec<u8>, Verdict> {
        ENGINE.decode(text).map_err(|_| Verdict::Malformed)
    }
}
