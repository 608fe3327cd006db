//! String preparation (RFC 4518): which strings count as the same text.
//!
//! Two deliberate widenings of the RFC, both because OpenLDAP stores such values and people expect to find them:
//! code points newer than Unicode 3.2 are compared after NFKC and case folding like all others, and code points
//! that section 2.4 prohibits (private use, U+FFFD) are compared as they are instead of making the filter
//! Undefined.

use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

use crate::error::InvalidValue;

/// Whether case counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fold {
    /// Case is folded (section 2.2).
    Ignore,
    /// Case counts.
    Exact,
}

/// Which part of a value a string is, for insignificant spaces (section 2.6.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// A whole value that substrings are sought in.
    Value,
    /// The beginning of a value.
    Initial,
    /// A part of a value.
    Any,
    /// The end of a value.
    Final,
}

const NOT_UTF8: InvalidValue = InvalidValue::new("string", "it is not UTF-8");

/// Appends the form in which whole values are compared: mapped, folded, normalised, no outer spaces, one space for
/// each inner run. A value of spaces only becomes one space. (The RFC doubles inner spaces and adds outer ones for
/// the sake of substrings; for equality and order that changes nothing.)
pub fn prepare_into(value: &[u8], fold: Fold, out: &mut Vec<u8>) -> Result<(), InvalidValue> {
    if is_plain(value) {
        let start = out.len();
        out.extend_from_slice(value);
        if fold == Fold::Ignore {
            out[start..].make_ascii_lowercase();
        }
        return Ok(());
    }
    let text = transcode(value, fold)?;
    let start = out.len();
    for word in Words(&text) {
        if out.len() > start {
            out.push(b' ');
        }
        out.extend_from_slice(word.as_bytes());
    }
    if out.len() == start {
        out.push(b' ');
    }
    Ok(())
}

/// True for printable ASCII without outer or doubled spaces: all that preparation can change about it is case.
fn is_plain(value: &[u8]) -> bool {
    let (mut unusual, mut last) = (value.is_empty(), b' ');
    for &byte in value {
        unusual |= !(b' '..0x7f).contains(&byte) | ((byte == b' ') & (last == b' '));
        last = byte;
    }
    !unusual && last != b' '
}

/// Appends the form in which substrings are compared, spaces exactly as section 2.6.1 has them.
pub fn prepare_part_into(part: &[u8], fold: Fold, role: Part, out: &mut Vec<u8>) -> Result<(), InvalidValue> {
    if is_plain(part) {
        out.reserve(part.len() + 2);
        if matches!(role, Part::Value | Part::Initial) {
            out.push(b' ');
        }
        for &byte in part {
            if byte == b' ' {
                out.push(b' ');
            }
            out.push(if fold == Fold::Ignore { byte.to_ascii_lowercase() } else { byte });
        }
        if matches!(role, Part::Value | Part::Final) {
            out.push(b' ');
        }
        return Ok(());
    }
    let text = transcode(part, fold)?;
    let mut words = Words(&text);
    let Some(first) = words.next() else {
        out.extend_from_slice(if role == Part::Value { b"  " } else { b" " });
        return Ok(());
    };
    if matches!(role, Part::Value | Part::Initial) || starts_with_space(&text) {
        out.push(b' ');
    }
    out.extend_from_slice(first.as_bytes());
    for word in words {
        out.extend_from_slice(b"  ");
        out.extend_from_slice(word.as_bytes());
    }
    if matches!(role, Part::Value | Part::Final) || text.ends_with(' ') {
        out.push(b' ');
    }
    Ok(())
}

/// Appends a numeric string: no spaces (section 2.6.2).
pub fn prepare_numeric_into(value: &[u8], out: &mut Vec<u8>) -> Result<(), InvalidValue> {
    let text = transcode(value, Fold::Exact)?;
    out.extend(text.bytes().filter(|&byte| byte != b' '));
    Ok(())
}

/// Appends a telephone number: neither spaces nor hyphens, case folded (section 2.6.3).
pub fn prepare_telephone_into(value: &[u8], out: &mut Vec<u8>) -> Result<(), InvalidValue> {
    if value.is_ascii() {
        out.extend(
            value.iter().filter(|&&byte| byte > b' ' && byte < 0x7f && byte != b'-').map(u8::to_ascii_lowercase),
        );
        return Ok(());
    }
    let text = transcode(value, Fold::Ignore)?;
    let mut buffer = [0; 4];
    for character in text.chars() {
        // NFKC has turned U+2011, U+FE63 and U+FF0D into these.
        if !matches!(character, ' ' | '-' | '\u{58a}' | '\u{2010}' | '\u{2212}') {
            out.extend_from_slice(character.encode_utf8(&mut buffer).as_bytes());
        }
    }
    Ok(())
}

/// Transcode, map, normalise: sections 2.1 to 2.3.
fn transcode(value: &[u8], fold: Fold) -> Result<String, InvalidValue> {
    let text = std::str::from_utf8(value).map_err(|_| NOT_UTF8)?;
    if text.is_ascii() {
        let mapped = text.chars().filter_map(map);
        return Ok(match fold {
            Fold::Exact => mapped.collect(),
            Fold::Ignore => mapped.map(|character| character.to_ascii_lowercase()).collect(),
        });
    }
    let normal = compose(text.chars().filter_map(map).collect());
    Ok(match fold {
        Fold::Exact => normal,
        // Compatibility characters may hold capitals (U+210B is a script H), and folding may take a character
        // apart that composes again: hence normal form before and after, as in table B.2 of RFC 3454.
        Fold::Ignore => {
            let mut folded = String::with_capacity(normal.len());
            for character in normal.chars() {
                fold_into(character, &mut folded);
            }
            compose(folded)
        }
    })
}

/// Normalization form KC. Most text is in it already, which is quicker seen than done.
fn compose(text: String) -> String {
    match is_nfkc_quick(text.chars()) {
        IsNormalized::Yes => text,
        IsNormalized::No | IsNormalized::Maybe => text.nfkc().collect(),
    }
}

/// Section 2.2: controls and format characters vanish, separators become spaces.
fn map(character: char) -> Option<char> {
    match character {
        ' '..='~' => Some(character),
        '\t'..='\r' | '\u{85}' => Some(' '),
        '\u{a0}'
        | '\u{1680}'
        | '\u{2000}'..='\u{200a}'
        | '\u{2028}'
        | '\u{2029}'
        | '\u{202f}'
        | '\u{205f}'
        | '\u{3000}' => Some(' '),
        '\0'..='\u{8}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}' => None,
        '\u{ad}' | '\u{34f}' | '\u{6dd}' | '\u{70f}' | '\u{1806}' | '\u{180b}'..='\u{180e}' => None,
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2063}' | '\u{206a}'..='\u{206f}' => None,
        '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffc}' => None,
        '\u{1d173}'..='\u{1d17a}' | '\u{e0001}' | '\u{e0020}'..='\u{e007f}' => None,
        _ => Some(character),
    }
}

/// Full case folding. The lower case of the upper case of the lower case is the folded form of every character but
/// the dotless i, which folds to itself.
fn fold_into(character: char, out: &mut String) {
    if character.is_ascii() {
        out.push(character.to_ascii_lowercase());
    } else if character == 'ı' {
        out.push(character);
    } else {
        for lower in character.to_lowercase() {
            for upper in lower.to_uppercase() {
                out.extend(upper.to_lowercase());
            }
        }
    }
}

/// A space counts as one only when no combining mark follows it (section 2.6.1).
fn is_space_at(text: &str, at: usize) -> bool {
    text.as_bytes().get(at) == Some(&b' ') && !text[at + 1..].chars().next().is_some_and(is_combining_mark)
}

fn starts_with_space(text: &str) -> bool {
    is_space_at(text, 0)
}

/// The runs of characters that are not spaces.
struct Words<'a>(&'a str);

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        while is_space_at(self.0, 0) {
            self.0 = &self.0[1..];
        }
        if self.0.is_empty() {
            return None;
        }
        let end = (0..self.0.len()).find(|&at| is_space_at(self.0, at)).unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at(end);
        self.0 = rest;
        Some(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn prepared(text: &str, fold: Fold) -> String {
        let mut out = Vec::new();
        prepare_into(text.as_bytes(), fold, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn part(text: &str, role: Part) -> String {
        let mut out = Vec::new();
        prepare_part_into(text.as_bytes(), Fold::Ignore, role, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn rfc4518_2_2_case_and_mapping() {
        for (input, ignore) in [
            ("Johnathan Quincy Smith", "johnathan quincy smith"),
            ("  a   b  ", "a b"),
            ("", " "),
            ("   ", " "),
            ("a\tb\nc", "a b c"),
            ("a\0b\u{7f}", "ab"),
            ("stra\u{df}e", "strasse"),
            ("STRA\u{1e9e}E", "strasse"),
            ("\u{c9}cole", "\u{e9}cole"),
            ("e\u{301}cole", "\u{e9}cole"),
            ("\u{3a3}\u{3c2}", "\u{3c3}\u{3c3}"),
            ("\u{ff21}\u{ff22}", "ab"),
            ("\u{210b}", "h"),
            ("soft\u{ad}hyphen", "softhyphen"),
            ("zero\u{200b}width\u{200d}\u{feff}", "zerowidth"),
            ("no\u{a0}\u{3000}break", "no break"),
            ("\u{1f600} X", "\u{1f600} x"),
            ("\u{131}", "\u{131}"),
        ] {
            assert_eq!(prepared(input, Fold::Ignore), ignore, "{input:?}");
        }
        assert_eq!(prepared(" Ab  C ", Fold::Exact), "Ab C");
        assert!(prepare_into(b"\xff", Fold::Ignore, &mut Vec::new()).is_err());
    }

    #[test]
    fn rfc4518_2_6_1_spaces_of_substrings() {
        assert_eq!(part("foo bar", Part::Value), " foo  bar ");
        assert_eq!(part(" ", Part::Value), "  ");
        assert_eq!(part("foo ", Part::Initial), " foo ");
        assert_eq!(part(" ", Part::Any), " ");
        assert_eq!(part("  a   b", Part::Any), " a  b");
        assert_eq!(part("a  ", Part::Any), "a ");
        assert_eq!(part(" bar", Part::Final), " bar ");
        // A space that carries a combining mark is not a space.
        assert_eq!(part("x \u{308}y", Part::Any), "x \u{308}y");
    }

    #[test]
    fn rfc4518_2_6_3_telephone_numbers() {
        let mut out = Vec::new();
        prepare_telephone_into(b"+1 555-1234 X", &mut out).unwrap();
        assert_eq!(out, b"+15551234x");
        out.clear();
        prepare_telephone_into("1\u{2010}2\u{2011}3\u{2212}4\u{ff0d}5".as_bytes(), &mut out).unwrap();
        assert_eq!(out, b"12345");
    }

    #[test]
    fn every_character_prepared_twice_is_as_once() {
        for character in '\0'..=char::MAX {
            for fold in [Fold::Ignore, Fold::Exact] {
                for text in [format!("{character}"), format!("a{character}b"), format!("{character}\u{301}")] {
                    let once = prepared(&text, fold);
                    assert_eq!(prepared(&once, fold), once, "{character:?} U+{:04X}", u32::from(character));
                }
            }
        }
    }

    proptest! {
        #[test]
        fn preparing_twice_changes_nothing(text in "\\PC{0,12}", ascii in "[ -~]{0,12}", any in any::<String>()) {
            for fold in [Fold::Ignore, Fold::Exact] {
                for text in [&text, &ascii, &any] {
                    let once = prepared(text, fold);
                    prop_assert_eq!(&prepared(&once, fold), &once);
                }
            }
        }

        #[test]
        fn fast_path_agrees_with_the_long_way(text in "[ -~\t]{0,24}") {
            let long = transcode(text.as_bytes(), Fold::Ignore).unwrap();
            let joined = Words(&long).collect::<Vec<_>>().join(" ");
            let joined = if joined.is_empty() { " ".to_owned() } else { joined };
            prop_assert_eq!(prepared(&text, Fold::Ignore), joined);
            // A character that vanishes forces the long way without changing the result.
            for role in [Part::Value, Part::Initial, Part::Any, Part::Final] {
                prop_assert_eq!(part(&text, role), part(&format!("{text}\u{ad}"), role));
            }
        }

        #[test]
        fn any_octets_are_safe(octets in proptest::collection::vec(any::<u8>(), 0..40)) {
            for role in [Part::Value, Part::Initial, Part::Any, Part::Final] {
                let _ = prepare_part_into(&octets, Fold::Ignore, role, &mut Vec::new());
            }
            let _ = prepare_into(&octets, Fold::Ignore, &mut Vec::new());
            let _ = prepare_telephone_into(&octets, &mut Vec::new());
            let _ = prepare_numeric_into(&octets, &mut Vec::new());
        }
    }
}
