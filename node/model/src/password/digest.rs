//! One pass of a digest, with or without a salt: {SHA}, {SSHA}, {MD5}, {SMD5}, {SHA256} …

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha384, Sha512};

use super::Verdict;
use super::stored::{base64_lenient, same};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Algorithm {
    Md5,
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

impl Algorithm {
    pub fn output_bytes(self) -> usize {
        match self {
            Self::Md5 => 16,
            Self::Sha1 => 20,
            Self::Sha256 => 32,
            Self::Sha384 => 48,
            Self::Sha512 => 64,
        }
    }

    fn digest(self, clear: &[u8], salt: &[u8]) -> Vec<u8> {
        fn of<D: Digest>(clear: &[u8], salt: &[u8]) -> Vec<u8> {
            D::new().chain_update(clear).chain_update(salt).finalize().to_vec()
        }
        match self {
            Self::Md5 => of::<Md5>(clear, salt),
            Self::Sha1 => of::<Sha1>(clear, salt),
            Self::Sha256 => of::<Sha256>(clear, salt),
            Self::Sha384 => of::<Sha384>(clear, salt),
            Self::Sha512 => of::<Sha512>(clear, salt),
        }
    }
}

/// Base64 of digest(password, salt) and the salt.
pub(super) struct DigestHash {
    algorithm: Algorithm,
    digest_and_salt: Vec<u8>,
}

impl DigestHash {
    pub fn parse(algorithm: Algorithm, salted: bool, data: &[u8]) -> Result<Self, Verdict> {
        let digest_and_salt = base64_lenient::decode(data)?;
        let length = digest_and_salt.len();
        if length < algorithm.output_bytes() || (!salted && length > algorithm.output_bytes()) {
            return Err(Verdict::Malformed);
        }
        Ok(Self { algorithm, digest_and_salt })
    }

    pub fn verify(&self, clear: &[u8]) -> Verdict {
        let (digest, salt) = self.digest_and_salt.split_at(self.algorithm.output_bytes());
        same(digest, &self.algorithm.digest(clear, salt))
    }
}

/// `{SSHA}`: SHA-1 with a salt.
pub fn hash_ssha(clear: &[u8], salt: &[u8]) -> Vec<u8> {
    hash_salted("{SSHA}", Algorithm::Sha1, clear, salt)
}

pub(super) fn hash_salted(scheme: &str, algorithm: Algorithm, clear: &[u8], salt: &[u8]) -> Vec<u8> {
    let mut data = algorithm.digest(clear, salt);
    data.extend_from_slice(salt);
    format!("{scheme}{}", STANDARD.encode(data)).into_bytes()
}
