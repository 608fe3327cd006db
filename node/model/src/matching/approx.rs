//! Approximate matching: words by their sound. RFC 4511, 4.5.1.7.6 leaves the algorithm to the server; this is a
//! small relative of Metaphone for words in Latin letters, and the folded word itself for all others.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::prep::{Fold, prepare_into};

/// Words of a value at most; further ones do not take part in approximate matching.
const MAX_WORDS: usize = 64;

/// Octets of one key at most.
const MAX_KEY_BYTES: usize = 32;

/// The sounds of the value's words, sorted, each once. Empty when it is not text.
pub fn approx_key(value: &[u8]) -> Vec<Vec<u8>> {
    let mut prepared = Vec::with_capacity(value.len());
    if prepare_into(value, Fold::Ignore, &mut prepared).is_err() {
        return Vec::new();
    }
    // Preparation yields UTF-8; accents do not change a sound enough to tell words apart.
    let text: String = String::from_utf8_lossy(&prepared).nfd().filter(|&mark| !is_combining_mark(mark)).collect();
    let mut keys: Vec<Vec<u8>> = text
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .take(MAX_WORDS)
        .map(sound)
        .collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

fn sound(word: &str) -> Vec<u8> {
    let mut key = if word.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        latin_sound(word.to_ascii_lowercase().as_bytes())
    } else {
        word.as_bytes().to_vec()
    };
    key.truncate(MAX_KEY_BYTES);
    key
}

fn latin_sound(word: &[u8]) -> Vec<u8> {
    let mut at = match word {
        [b'k' | b'g' | b'p', b'n', ..] | [b'w', b'r', ..] | [b'a', b'e', ..] => 1,
        _ => 0,
    };
    let mut key: Vec<u8> = Vec::with_capacity(word.len());
    let start = at;
    while at < word.len() {
        let (sounds, taken) = consonant(&word[at..], at == start);
        for &sound in sounds {
            if key.last() != Some(&sound) {
                key.push(sound);
            }
        }
        at += taken;
    }
    if key.is_empty() { word.to_vec() } else { key }
}

/// The sounds at the head of `rest` and how many letters make them.
fn consonant(rest: &[u8], first: bool) -> (&'static [u8], usize) {
    let soft = matches!(rest.get(1), Some(b'e' | b'i' | b'y'));
    match rest {
        [b's', b'c', b'h', ..] => (b"x", 3),
        [b't', b'c', b'h', ..] => (b"x", 3),
        [b'p', b'h', ..] => (b"f", 2),
        [b'c' | b's', b'h', ..] => (b"x", 2),
        [b't', b'h', ..] => (b"0", 2),
        [b'c', b'k', ..] => (b"k", 2),
        [b'g', b'h', ..] if first => (b"k", 2),
        [b'g', b'h', ..] => (b"", 2),
        [b'd', b't', ..] => (b"t", 2),
        [b'c', ..] if soft => (b"s", 1),
        [b'g', ..] if soft => (b"j", 1),
        [b'c' | b'k' | b'q' | b'g', ..] => (b"k", 1),
        [b'x', ..] if first => (b"s", 1),
        [b'x', ..] => (b"ks", 1),
        [b's' | b'z', ..] => (b"s", 1),
        [b'd' | b't', ..] => (b"t", 1),
        [b'b' | b'p', ..] => (b"p", 1),
        [b'f' | b'v', ..] => (b"f", 1),
        [b'm', ..] => (b"m", 1),
        [b'n', ..] => (b"n", 1),
        [b'l', ..] => (b"l", 1),
        [b'r', ..] => (b"r", 1),
        [b'j', ..] => (b"j", 1),
        [b'a' | b'e' | b'i' | b'o' | b'u' | b'y', ..] if first => (b"a", 1),
        [b'h' | b'w', ..] if first => (b"h", 1),
        _ => (b"", 1),
    }
}
