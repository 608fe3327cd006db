//! `{CRYPT}`: the methods of crypt(3), told apart by their prefixes.

use sha_crypt::{PasswordVerifier, ShaCrypt};
use yescrypt::{Mode, Params, Yescrypt};

use super::{MAX_MEMORY_KIB, Verdict};

/// About two seconds of one core for a password of usual length; the methods' default is 5,000.
const MAX_SHA_ROUNDS: u32 = 1_000_000;
const MIN_SHA_ROUNDS: u32 = 1_000;
/// Some four seconds of one core; what is written today is 10 to 12.
const MAX_BCRYPT_COST: u32 = 16;
/// DES iterations of the extended method; 7,250 is NetBSD's default.
const MAX_BSDI_ROUNDS: u32 = 1_000_000;
/// No method writes more (sha512 with rounds and full salt: 124).
const MAX_TEXT_BYTES: usize = 256;

/// The alphabet of crypt(3), in the order of its digits.
const DIGITS: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

#[derive(Debug, Clone, Copy)]
enum Method {
    Des,
    Bsdi,
    Md5,
    Sha2,
    Bcrypt,
    Yescrypt { memory_kib: u32 },
}

pub(super) struct CryptHash<'a> {
    method: Method,
    text: &'a str,
}

impl<'a> CryptHash<'a> {
    pub fn parse(data: &'a [u8]) -> Result<Self, Verdict> {
        if data.len() > MAX_TEXT_BYTES || !data.is_ascii() {
            return Err(Verdict::Malformed);
        }
        let text = std::str::from_utf8(data).map_err(|_| Verdict::Malformed)?;
        let method = if text.starts_with("$1$") {
            Method::Md5
        } else if text.starts_with("$5$") || text.starts_with("$6$") {
            check_sha_rounds(&text[3..])?;
            Method::Sha2
        } else if ["$2a$", "$2b$", "$2y$"].iter().any(|prefix| text.starts_with(prefix)) {
            check_bcrypt(text)?;
            Method::Bcrypt
        } else if let Some(rest) = text.strip_prefix("$y$") {
            Method::Yescrypt { memory_kib: yescrypt_memory_kib(rest)? }
        } else if let Some(rest) = text.strip_prefix('_') {
            check_bsdi(rest)?;
            Method::Bsdi
        } else if text.len() == 13 && text.bytes().all(|byte| digit(byte).is_some()) {
            Method::Des
        } else if text.starts_with('$') {
            return Err(Verdict::UnknownScheme);
        } else {
            // "*", "!" and the like lock an account.
            return Err(Verdict::Malformed);
        };
        Ok(Self { method, text })
    }

    pub fn memory_kib(&self) -> u32 {
        match self.method {
            Method::Yescrypt { memory_kib } => memory_kib,
            _ => 0,
        }
    }

    pub fn verify(&self, clear: &[u8]) -> Verdict {
        // crypt(3) takes a C string: what follows a NUL would not count.
        if clear.contains(&0) {
            return Verdict::Mismatch;
        }
        // Each of these compares in constant time.
        let matches = match self.method {
            Method::Des => pwhash::unix_crypt::verify(clear, self.text),
            Method::Bsdi => pwhash::bsdi_crypt::verify(clear, self.text),
            Method::Md5 => pwhash::md5_crypt::verify(clear, self.text),
            Method::Sha2 => ShaCrypt::default().verify_password(clear, self.text).is_ok(),
            Method::Bcrypt => bcrypt::verify(clear, self.text).is_ok_and(|matches| matches),
            Method::Yescrypt { .. } => Yescrypt::default().verify_password(clear, self.text).is_ok(),
        };
        if matches { Verdict::Match } else { Verdict::Mismatch }
    }
}

/// `[rounds=N$]salt$hash`
fn check_sha_rounds(text: &str) -> Result<(), Verdict> {
    let Some(rest) = text.strip_prefix("rounds=") else { return Ok(()) };
    let (rounds, _) = rest.split_once('$').ok_or(Verdict::Malformed)?;
    if rounds.is_empty() || !rounds.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Verdict::Malformed);
    }
    match rounds.parse::<u32>() {
        Ok(MIN_SHA_ROUNDS..=MAX_SHA_ROUNDS) => Ok(()),
        Ok(0..MIN_SHA_ROUNDS) => Err(Verdict::Malformed),
        _ => Err(Verdict::TooExpensive),
    }
}

/// `$2b$NN$` and 53 digits
fn check_bcrypt(text: &str) -> Result<(), Verdict> {
    if text.len() != 60 || text.as_bytes()[6] != b'$' {
        return Err(Verdict::Malformed);
    }
    let cost = text.get(4..6).and_then(|cost| cost.parse::<u32>().ok()).ok_or(Verdict::Malformed)?;
    if cost > MAX_BCRYPT_COST { Err(Verdict::TooExpensive) } else { Ok(()) }
}

/// 4 digits of rounds (least first), 4 of salt, 11 of hash
fn check_bsdi(rest: &str) -> Result<(), Verdict> {
    if rest.len() != 19 {
        return Err(Verdict::Malformed);
    }
    let mut rounds = 0;
    for (place, byte) in rest.bytes().enumerate() {
        let value = digit(byte).ok_or(Verdict::Malformed)?;
        if place < 4 {
            rounds |= value << (6 * place);
        }
    }
    if rounds > MAX_BSDI_ROUNDS { Err(Verdict::TooExpensive) } else { Ok(()) }
}

/// `jNR$salt$hash`: flavour "j" with one digit each for the block count and size is all that crypt(3)
/// writes; other parameters (parallelism, extra time) could cost any amount and are refused.
fn yescrypt_memory_kib(rest: &str) -> Result<u32, Verdict> {
    // Digits from this one on begin a number of several digits.
    const SINGLE: u32 = 48;
    let (params, _) = rest.split_once('$').ok_or(Verdict::Malformed)?;
    let single = |byte| digit(byte).is_some_and(|value| value < SINGLE);
    if params.len() != 3 || !params.starts_with('j') || !params.bytes().all(single) {
        return Err(Verdict::TooExpensive);
    }
    let params: Params = params.parse().map_err(|_| Verdict::Malformed)?;
    if Params::new(Mode::Rw, params.n(), params.r(), 1) != Ok(params) {
        return Err(Verdict::TooExpensive);
    }
    // RFC 7914 section 2: N blocks of 128 r bytes.
    let memory_kib = u128::from(params.n()) * 128 * u128::from(params.r()) / 1024;
    u32::try_from(memory_kib).ok().filter(|kib| *kib <= MAX_MEMORY_KIB).ok_or(Verdict::TooExpensive)
}

fn digit(byte: u8) -> Option<u32> {
    DIGITS.iter().position(|digit| *digit == byte).and_then(|position| u32::try_from(position).ok())
}
