//! The scheme of new hashes: a setting of the directory.

use std::fmt;
use std::str::FromStr;

use super::digest::{Algorithm, hash_salted};
use super::{argon, pbkdf};

/// NIST SP 800-132 names 1,000 as the least; these are what OWASP recommends for the two digests.
const PBKDF2_SHA256_ITERATIONS: u32 = 600_000;
const PBKDF2_SHA512_ITERATIONS: u32 = 210_000;

/// How new passwords are stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Scheme {
    #[default]
    Argon2id,
    Pbkdf2Sha256,
    Pbkdf2Sha512,
    Ssha512,
    Ssha256,
    Ssha,
    ClearText,
}

/// No scheme has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown password scheme {0:?}; known are {known}", known = Scheme::ALL.map(|scheme| scheme.name()).join(", "))]
pub struct UnknownSchemeName(pub String);

impl Scheme {
    pub const ALL: [Self; 7] = [
        Self::Argon2id,
        Self::Pbkdf2Sha256,
        Self::Pbkdf2Sha512,
        Self::Ssha512,
        Self::Ssha256,
        Self::Ssha,
        Self::ClearText,
    ];

    /// With braces, as values begin.
    pub fn name(self) -> &'static str {
        match self {
            Self::Argon2id => "{ARGON2}",
            Self::Pbkdf2Sha256 => "{PBKDF2-SHA256}",
            Self::Pbkdf2Sha512 => "{PBKDF2-SHA512}",
            Self::Ssha512 => "{SSHA512}",
            Self::Ssha256 => "{SSHA256}",
            Self::Ssha => "{SSHA}",
            Self::ClearText => "{CLEARTEXT}",
        }
    }

    /// The value to store. `random` becomes the salt and must be fresh for each value.
    pub fn hash(self, clear: &[u8], random: [u8; 16]) -> Vec<u8> {
        let name = self.name();
        match self {
            Self::Argon2id => argon::hash_argon2id(clear, random),
            Self::Pbkdf2Sha256 => pbkdf::hash_text(name, Algorithm::Sha256, PBKDF2_SHA256_ITERATIONS, clear, &random),
            Self::Pbkdf2Sha512 => pbkdf::hash_text(name, Algorithm::Sha512, PBKDF2_SHA512_ITERATIONS, clear, &random),
            Self::Ssha512 => hash_salted(name, Algorithm::Sha512, clear, &random),
            Self::Ssha256 => hash_salted(name, Algorithm::Sha256, clear, &random),
            Self::Ssha => hash_salted(name, Algorithm::Sha1, clear, &random),
            // With its scheme only where the password itself would be taken for one.
            Self::ClearText if super::scheme_of(clear).is_none() => clear.to_vec(),
            Self::ClearText => [name.as_bytes(), clear].concat(),
        }
    }

    /// Memory that hashing takes, KiB; 0 when it is negligible.
    pub fn cost_kib(self) -> u32 {
        if self == Self::Argon2id { argon::HASH_MEMORY_KIB } else { 0 }
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl FromStr for Scheme {
    type Err = UnknownSchemeName;

    /// With or without braces, in any case; `argon2id` is `{ARGON2}`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bare = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(text);
        let named = |scheme: &Self| scheme.name().trim_matches(['{', '}']).eq_ignore_ascii_case(bare);
        match Self::ALL.into_iter().find(named) {
            Some(scheme) => Ok(scheme),
            None if bare.eq_ignore_ascii_case("argon2id") => Ok(Self::Argon2id),
            None => Err(UnknownSchemeName(text.to_owned())),
        }
    }
}
