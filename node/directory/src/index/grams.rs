//! Keys of a substring index.
//!
//! A value in substring form (RFC 4518 2.6.1: text has a space at either end) of the characters `c1 … cn` has
//!
//! ```text
//! ^ c1 c2 c3 c4        its beginning, up to four characters, without the first space
//! $ cn cn-1 cn-2 cn-3  its end, backwards, up to four characters
//! = ci ci+1 ci+2       every three characters in a row
//! ```
//!
//! so that a beginning or an end that is shorter than its key is a prefix of keys. A value of more than
//! [`LONG_VALUE`] characters has the key `~` alone, and whoever looks for anything looks there too: one huge
//! value must not make a hundred thousand keys.

/// Characters above which a value is not cut into pieces.
pub const LONG_VALUE: usize = 2048;

/// Characters of a beginning: what people type before they look at the answers.
const INITIAL: usize = 4;
/// Characters of an end, one of them the space at the end of every text.
const FINAL: usize = 4;
/// Characters of an inner piece.
const GRAM: usize = 3;

/// Inner pieces looked up for one assertion: more do not narrow the result, and each is a read.
const LOOKUPS_MAX: usize = 12;

/// The key of values that are too long to be cut.
pub const LONG_KEY: &[u8] = b"~";

/// One key or one range of keys that every matching value has.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Piece {
    /// This key.
    Key(Vec<u8>),
    /// One of the keys that begin with any of these.
    Prefixes(Vec<Vec<u8>>),
}

/// What an assertion demands of the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Demand {
    /// All of these; empty when the assertion is too short for the index to help.
    pub pieces: Vec<Piece>,
    /// Whether the pieces say all that the assertion says (for values that have been cut).
    pub exact: bool,
}

/// Characters of normalised text. Splits before every byte that is no UTF-8 continuation, which needs no
/// validity and gives the same pieces for a value and for a part of it.
fn characters(text: &[u8]) -> Vec<&[u8]> {
    let mut out = Vec::with_capacity(text.len());
    let mut start = 0;
    for at in 1..text.len() {
        if text[at] & 0xc0 != 0x80 {
            out.push(&text[start..at]);
            start = at;
        }
    }
    if !text.is_empty() {
        out.push(&text[start..]);
    }
    out
}

fn tagged<'a>(tag: u8, characters: impl Iterator<Item = &'a &'a [u8]>) -> Vec<u8> {
    let mut key = vec![tag];
    characters.for_each(|character| key.extend_from_slice(character));
    key
}

/// The characters that a beginning is known by: the space before every text says nothing.
fn beginning<'a, 'b>(characters: &'b [&'a [u8]]) -> &'b [&'a [u8]] {
    match characters.split_first() {
        Some((first, rest)) if *first == b" " => rest,
        _ => characters,
    }
}

/// Calls `emit` with each key of a value in substring form; a key may come twice.
pub fn value_keys(normalised: &[u8], mut emit: impl FnMut(&[u8])) {
    let characters = characters(normalised);
    if characters.len() > LONG_VALUE {
        return emit(LONG_KEY);
    }
    if characters.is_empty() {
        return;
    }
    emit(&tagged(b'^', beginning(&characters).iter().take(INITIAL)));
    emit(&tagged(b'$', characters.iter().rev().take(FINAL)));
    for window in characters.windows(GRAM) {
        emit(&tagged(b'=', window.iter()));
    }
}

fn inner(characters: &[&[u8]], out: &mut Vec<Piece>) {
    let windows = characters.len().saturating_sub(GRAM - 1);
    // Spread over the assertion: neighbours say almost the same.
    let step = windows.div_ceil(LOOKUPS_MAX).max(1);
    for window in characters.windows(GRAM).step_by(step) {
        out.push(Piece::Key(tagged(b'=', window.iter())));
    }
}

/// What the index is asked for an assertion of normalised parts.
pub fn demand(initial: Option<&[u8]>, any: &[&[u8]], last: Option<&[u8]>) -> Demand {
    let mut pieces = Vec::new();
    let parts = usize::from(initial.is_some()) + any.len() + usize::from(last.is_some());
    let mut exact = parts == 1;
    if let Some(part) = initial.map(characters).filter(|part| !part.is_empty()) {
        let known = beginning(&part);
        let key = tagged(b'^', known.iter().take(INITIAL));
        pieces.push(match known.len() {
            n if n < INITIAL => Piece::Prefixes(vec![key]),
            _ => Piece::Key(key),
        });
        if known.len() > INITIAL {
            exact = false;
            inner(&part, &mut pieces);
        }
    }
    for part in any.iter().map(|part| characters(part)) {
        match part.len() {
            0 | 1 => exact = false,
            2 => pieces.push(Piece::Prefixes(vec![tagged(b'=', part.iter()), tagged(b'$', part.iter().rev())])),
            n => {
                exact &= n == GRAM;
                inner(&part, &mut pieces);
            }
        }
    }
    if let Some(part) = last.map(characters).filter(|part| !part.is_empty()) {
        let key = tagged(b'$', part.iter().rev().take(FINAL));
        pieces.push(match part.len() {
            n if n < FINAL => Piece::Prefixes(vec![key]),
            _ => Piece::Key(key),
        });
        if part.len() > FINAL {
            exact = false;
            inner(&part, &mut pieces);
        }
    }
    pieces.sort();
    pieces.dedup();
    Demand { exact: exact && !pieces.is_empty(), pieces }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bindery_model::matching::substrings_match;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn keys(value: &str) -> BTreeSet<Vec<u8>> {
        let mut out = BTreeSet::new();
        value_keys(value.as_bytes(), |key| {
            out.insert(key.to_vec());
        });
        out
    }

    fn has(keys: &BTreeSet<Vec<u8>>, demand: &Demand) -> bool {
        keys.contains(LONG_KEY)
            || demand.pieces.iter().all(|piece| match piece {
                Piece::Key(key) => keys.contains(key),
                Piece::Prefixes(prefixes) => {
                    keys.iter().any(|key| prefixes.iter().any(|prefix| key.starts_with(prefix)))
                }
            })
    }

    fn matches(value: &str, initial: Option<&str>, any: &[&str], last: Option<&str>) -> bool {
        substrings_match(value.as_bytes(), initial.map(str::as_bytes), any, last.map(str::as_bytes))
    }

    #[test]
    fn keys_of_a_short_value() {
        let shown: Vec<String> = keys(" größe ").into_iter().map(|key| String::from_utf8(key).unwrap()).collect();
        assert_eq!(shown, ["$ eßö", "= gr", "=grö", "=röß", "=ße ", "=öße", "^größ"]);
        assert_eq!(keys("a").len(), 2);
        assert!(keys("").is_empty());
        assert_eq!(keys(&"x".repeat(LONG_VALUE + 1)), [LONG_KEY.to_vec()].into());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn no_match_is_missed_and_exact_means_exact(
            value in "[abé ]{0,8}",
            initial in proptest::option::of("[abé ]{1,6}"),
            any in proptest::collection::vec("[abé ]{1,4}", 0..3),
            last in proptest::option::of("[abé ]{1,5}"),
        ) {
            prop_assume!(initial.is_some() || last.is_some() || !any.is_empty());
            let any: Vec<&str> = any.iter().map(String::as_str).collect();
            // The forms of RFC 4518 2.6.1: a space before every value and beginning, after every value and end.
            let value = format!(" {value} ");
            let initial = initial.map(|part| format!(" {part}"));
            let last = last.map(|part| format!("{part} "));
            let bytes: Vec<&[u8]> = any.iter().map(|part| part.as_bytes()).collect();
            let demand = demand(
                initial.as_deref().map(str::as_bytes), &bytes, last.as_deref().map(str::as_bytes));
            let found = has(&keys(&value), &demand);
            let matched = matches(&value, initial.as_deref(), &any, last.as_deref());
            prop_assert!(found || !matched);
            if demand.exact {
                prop_assert_eq!(found, matched);
            }
        }
    }
}
