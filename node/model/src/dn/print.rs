//! Printing names: one spelling for one name, with the fewest escapes RFC 4514, 2.4 allows.

use std::fmt;

use super::{Ava, Dn, Rdn};

impl fmt::Display for Dn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, rdn) in self.rdns.iter().enumerate() {
            if at > 0 {
                f.write_str(",")?;
            }
            rdn.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Rdn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, ava) in self.avas.iter().enumerate() {
            if at > 0 {
                f.write_str("+")?;
            }
            ava.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Ava {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.attribute)?;
        f.write_str("=")?;
        let mut at = 0;
        // Octets that are not UTF-8 are escaped one by one, so that any value survives printing and reading.
        for chunk in self.value.utf8_chunks() {
            for character in chunk.valid().chars() {
                let last = at + character.len_utf8() == self.value.len();
                write_character(f, character, at == 0, last)?;
                at += character.len_utf8();
            }
            for octet in chunk.invalid() {
                write!(f, "\\{octet:02X}")?;
            }
            at += chunk.invalid().len();
        }
        Ok(())
    }
}

/// Writes one character of a value, escaped where RFC 4514, 2.4 asks for it. Control characters are escaped
/// too, as that section permits: a DN then never breaks a line of a log.
fn write_character(f: &mut fmt::Formatter<'_>, character: char, first: bool, last: bool) -> fmt::Result {
    match character {
        '"' | '+' | ',' | ';' | '<' | '>' | '\\' => write!(f, "\\{character}"),
        '#' if first => f.write_str("\\#"),
        ' ' if first || last => f.write_str("\\ "),
        '\0'..='\x1f' | '\x7f' => write!(f, "\\{:02X}", u32::from(character)),
        _ => fmt::Write::write_char(f, character),
    }
}
