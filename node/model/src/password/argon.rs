//! `{ARGON2}` and a PHC string (RFC 9106), as OpenLDAP's pw-argon2 writes it.

use argon2::{Algorithm, Argon2, Params, Version};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::stored::{base64_lenient, same};
use super::{MAX_MEMORY_KIB, Verdict};

/// New hashes: OWASP's recommendation for argon2id.
const MEMORY_KIB: u32 = 19 << 10;
const PASSES: u32 = 2;
const LANES: u32 = 1;
const OUTPUT_BYTES: usize = 32;

/// Memory times passes: some four seconds of one core.
const MAX_WORK_KIB: u64 = 4 << 20;
const MAX_LANES: u32 = 64;
const MAX_OUTPUT_BYTES: usize = 512;
/// RFC 9106 3.1 has at least 4; so few would be easy to hit by chance.
const MIN_OUTPUT_BYTES: usize = 16;

pub(super) struct ArgonHash {
    context: Argon2<'static>,
    salt: Vec<u8>,
    hash: Vec<u8>,
}

impl ArgonHash {
    /// `$argon2id$v=19$m=19456,t=2,p=1$salt$hash`; without `v=` it is version 16.
    pub fn parse(data: &[u8]) -> Result<Self, Verdict> {
        let text = std::str::from_utf8(data).map_err(|_| Verdict::Malformed)?;
        let mut fields = text.strip_prefix('$').ok_or(Verdict::Malformed)?.split('$').peekable();
        let algorithm = match fields.next() {
            Some("argon2id") => Algorithm::Argon2id,
            Some("argon2i") => Algorithm::Argon2i,
            Some("argon2d") => Algorithm::Argon2d,
            _ => return Err(Verdict::UnknownScheme),
        };
        let version = match fields.next_if(|field| field.starts_with("v=")) {
            None | Some("v=16") => Version::V0x10,
            Some("v=19") => Version::V0x13,
            Some(_) => return Err(Verdict::UnknownScheme),
        };
        let (Some(params), Some(salt), Some(hash), None) = (fields.next(), fields.next(), fields.next(), fields.next())
        else {
            return Err(Verdict::Malformed);
        };
        let salt = base64_lenient::decode(salt.as_bytes())?;
        let hash = base64_lenient::decode(hash.as_bytes())?;
        let (memory_kib, passes, lanes) = parse_params(params)?;
        let work_kib = u64::from(memory_kib) * u64::from(passes);
        if memory_kib > MAX_MEMORY_KIB || work_kib > MAX_WORK_KIB || lanes > MAX_LANES || hash.len() > MAX_OUTPUT_BYTES
        {
            return Err(Verdict::TooExpensive);
        }
        if hash.len() < MIN_OUTPUT_BYTES {
            return Err(Verdict::Malformed);
        }
        let params = Params::new(memory_kib, passes, lanes, Some(hash.len())).map_err(|_| Verdict::Malformed)?;
        Ok(Self { context: Argon2::new(algorithm, version, params), salt, hash })
    }

    pub fn memory_kib(&self) -> u32 {
        self.context.params().m_cost()
    }

    pub fn verify(&self, clear: &[u8]) -> Verdict {
        let mut derived = vec![0; self.hash.len()];
        match self.context.hash_password_into(clear, &self.salt, &mut derived) {
            Ok(()) => same(&self.hash, &derived),
            // A salt shorter than the algorithm allows.
            Err(_) => Verdict::Malformed,
        }
    }
}

/// `m=…,t=…,p=…`, in this order in every known writer; others are accepted.
fn parse_params(text: &str) -> Result<(u32, u32, u32), Verdict> {
    let (mut memory_kib, mut passes, mut lanes) = (None, None, None);
    for param in text.split(',') {
        let (name, value) = param.split_once('=').ok_or(Verdict::Malformed)?;
        let value: u32 = value.parse().map_err(|_| Verdict::Malformed)?;
        let slot = match name {
            "m" => &mut memory_kib,
            "t" => &mut passes,
            "p" => &mut lanes,
            // A key identifier or associated data: the secret key is not ours.
            _ => return Err(Verdict::UnknownScheme),
        };
        *slot = Some(value);
    }
    match (memory_kib, passes, lanes) {
        (Some(memory_kib), Some(passes), Some(lanes)) => Ok((memory_kib, passes, lanes)),
        _ => Err(Verdict::Malformed),
    }
}

/// A new `{ARGON2}` value: argon2id, m = 19 MiB, t = 2, p = 1. Takes 19 MiB and some 20 ms.
pub fn hash_argon2id(clear: &[u8], salt: [u8; 16]) -> Vec<u8> {
    let params =
        Params::new(MEMORY_KIB, PASSES, LANES, Some(OUTPUT_BYTES)).expect("constant parameters within RFC 9106 3.1");
    let mut hash = [0u8; OUTPUT_BYTES];
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into(clear, &salt, &mut hash)
        .expect("a salt of 16 bytes and a password below 4 GiB are within RFC 9106 3.1");
    let (salt, hash) = (STANDARD_NO_PAD.encode(salt), STANDARD_NO_PAD.encode(hash));
    format!("{{ARGON2}}$argon2id$v=19$m={MEMORY_KIB},t={PASSES},p={LANES}${salt}${hash}").into_bytes()
}

/// Memory that [`hash_argon2id`] takes, KiB.
pub(super) const HASH_MEMORY_KIB: u32 = MEMORY_KIB;
