//! Password values (RFC 2307 5.3 `{SCHEME}data`, RFC 3112): verifying what other servers stored, and making
//! new ones. No randomness here: salts are arguments.
//!
//! Stored values come from data, so that their cost is bounded before any work is done: a value that would
//! take more memory or time than the bounds in this module is refused as [`Verdict::TooExpensive`].

mod argon;
mod crypt;
mod digest;
mod pbkdf;
mod scheme;
mod stored;

pub use argon::hash_argon2id;
pub use digest::hash_ssha;
pub use scheme::{Scheme, UnknownSchemeName};

use stored::Stored;

/// Longest clear password that is looked at; some schemes take time in proportion to its square.
pub const MAX_CLEAR_BYTES: usize = 1024;

/// Most memory that one verification may take, KiB.
pub const MAX_MEMORY_KIB: u32 = 64 << 10;

/// The outcome of comparing a password with a stored value. Only `Match` lets anybody in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Match,
    Mismatch,
    /// The scheme is not known here (`{SASL}`, an unknown crypt(3) method …).
    UnknownScheme,
    /// The value asks for more work than is done for anybody.
    TooExpensive,
    /// The value does not have the form that its scheme prescribes.
    Malformed,
}

/// Compares `clear` with one stored value, in a time that does not depend on where they differ.
pub fn verify(stored: &[u8], clear: &[u8]) -> Verdict {
    match Stored::parse(stored) {
        Ok(_) if clear.len() > MAX_CLEAR_BYTES => Verdict::Mismatch,
        Ok(stored) => stored.verify(clear),
        Err(verdict) => verdict,
    }
}

/// Whether the value could be verified at all: None, or the verdict that every password would get.
pub fn defect(stored: &[u8]) -> Option<Verdict> {
    Stored::parse(stored).err()
}

/// The scheme's name as written, without braces; None for clear text without a scheme.
pub fn scheme_of(stored: &[u8]) -> Option<&str> {
    stored::split_scheme(stored).map(|(scheme, _)| scheme)
}

/// Whether the value is a clear password: no scheme, or `{CLEARTEXT}`.
pub fn is_clear(stored: &[u8]) -> bool {
    matches!(Stored::parse(stored), Ok(Stored::Clear(_)))
}

/// The clear password inside a value for which [`is_clear`] holds.
pub fn clear_of(stored: &[u8]) -> Option<&[u8]> {
    match Stored::parse(stored) {
        Ok(Stored::Clear(clear)) => Some(clear),
        _ => None,
    }
}

/// An estimate of the memory that verifying takes, KiB; 0 when it is negligible. At most
/// [`MAX_MEMORY_KIB`], so that callers can bound how many run at once.
pub fn cost_kib(stored: &[u8]) -> u32 {
    Stored::parse(stored).map_or(0, |stored| stored.cost_kib())
}

/// Whether verifying takes long enough (over some 50 microseconds) to be kept away from threads that serve connections.
pub fn is_slow(stored: &[u8]) -> bool {
    Stored::parse(stored).is_ok_and(|stored| stored.is_slow())
}

#[cfg(test)]
mod tests;
