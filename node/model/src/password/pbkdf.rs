//! PBKDF2 (RFC 8018 5.2) as OpenLDAP and 389 Directory Server write it.
//!
//! * text: `iterations$salt$hash`; OpenLDAP's base64 has "." for "+" and no padding, 389's is the standard one;
//! * binary (389's `{PBKDF2_SHA256}`): base64 of iterations (4 bytes, big endian), salt (64), hash (256).

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use pbkdf2::pbkdf2_hmac;
use sha1::Sha1;
use sha2::{Sha256, Sha512};

use super::Verdict;
use super::digest::Algorithm;
use super::stored::{base64_lenient, same};

/// Some five seconds of one core; what servers write is 5,000 to 1,000,000.
const MAX_ITERATIONS: u32 = 10_000_000;

/// The time grows with it; 389's binary form, the longest known, has 256.
const MAX_HASH_BYTES: usize = 256;

/// Digest blocks computed in all: iterations times blocks of the hash.
const MAX_BLOCKS: u64 = 20_000_000;

const BINARY_SALT_BYTES: usize = 64;

pub(super) struct PbkdfHash {
    algorithm: Algorithm,
    iterations: u32,
    salt: Vec<u8>,
    hash: Vec<u8>,
}

impl PbkdfHash {
    pub fn parse_text(algorithm: Algorithm, data: &[u8]) -> Result<Self, Verdict> {
        let mut fields = data.split(|byte| *byte == b'$');
        let (Some(iterations), Some(salt), Some(hash), None) =
            (fields.next(), fields.next(), fields.next(), fields.next())
        else {
            return Err(Verdict::Malformed);
        };
        if iterations.is_empty() || !iterations.iter().all(u8::is_ascii_digit) {
            return Err(Verdict::Malformed);
        }
        let iterations = std::str::from_utf8(iterations).map_err(|_| Verdict::Malformed)?;
        // Digits alone: what does not parse is too large.
        let iterations = iterations.parse().map_err(|_| Verdict::TooExpensive)?;
        Self::checked(algorithm, iterations, decode_adapted(salt)?, decode_adapted(hash)?)
    }

    pub fn parse_binary_sha256(data: &[u8]) -> Result<Self, Verdict> {
        let decoded = base64_lenient::decode(data)?;
        let Some((iterations, rest)) = decoded.split_first_chunk::<4>() else { return Err(Verdict::Malformed) };
        if rest.len() <= BINARY_SALT_BYTES {
            return Err(Verdict::Malformed);
        }
        let (salt, hash) = rest.split_at(BINARY_SALT_BYTES);
        Self::checked(Algorithm::Sha256, u32::from_be_bytes(*iterations), salt.to_vec(), hash.to_vec())
    }

    fn checked(algorithm: Algorithm, iterations: u32, salt: Vec<u8>, hash: Vec<u8>) -> Result<Self, Verdict> {
        // A short hash would be easy to hit by chance.
        const MIN_HASH_BYTES: usize = 16;
        if iterations == 0 || hash.len() < MIN_HASH_BYTES {
            return Err(Verdict::Malformed);
        }
        let blocks = hash.len().div_ceil(algorithm.output_bytes()) as u64 * u64::from(iterations);
        if iterations > MAX_ITERATIONS || hash.len() > MAX_HASH_BYTES || blocks > MAX_BLOCKS {
            return Err(Verdict::TooExpensive);
        }
        Ok(Self { algorithm, iterations, salt, hash })
    }

    pub fn verify(&self, clear: &[u8]) -> Verdict {
        same(&self.hash, &derive(self.algorithm, clear, &self.salt, self.iterations, self.hash.len()))
    }
}

/// In OpenLDAP's encoding.
pub(super) fn hash_text(scheme: &str, algorithm: Algorithm, iterations: u32, clear: &[u8], salt: &[u8]) -> Vec<u8> {
    let hash = derive(algorithm, clear, salt, iterations, algorithm.output_bytes());
    let adapted = |bytes: &[u8]| STANDARD_NO_PAD.encode(bytes).replace('+', ".");
    format!("{scheme}{iterations}${}${}", adapted(salt), adapted(&hash)).into_bytes()
}

fn derive(algorithm: Algorithm, clear: &[u8], salt: &[u8], iterations: u32, length: usize) -> Vec<u8> {
    let mut derived = vec![0; length];
    match algorithm {
        Algorithm::Sha1 => pbkdf2_hmac::<Sha1>(clear, salt, iterations, &mut derived),
        Algorithm::Sha256 => pbkdf2_hmac::<Sha256>(clear, salt, iterations, &mut derived),
        Algorithm::Sha512 => pbkdf2_hmac::<Sha512>(clear, salt, iterations, &mut derived),
        Algorithm::Md5 | Algorithm::Sha384 => unreachable!("no scheme has PBKDF2 with this digest"),
    }
    derived
}

fn decode_adapted(text: &[u8]) -> Result<Vec<u8>, Verdict> {
    let standard: Vec<u8> = text.iter().map(|byte| if *byte == b'.' { b'+' } else { *byte }).collect();
    base64_lenient::decode(&standard)
}
