//! Reading RFC 4514's string form of a name, leniently where RFC 2253 and RFC 1779 were.

use super::{Ava, Dn, MAX_AVAS, MAX_DN_BYTES, MAX_RDNS, Rdn};
use crate::error::DnError;

/// Reads a whole DN.
pub(super) fn dn(text: &[u8]) -> Result<Dn, DnError> {
    if text.len() > MAX_DN_BYTES {
        return Err(DnError::TooLarge { limit: MAX_DN_BYTES, unit: "bytes" });
    }
    let mut parser = Parser { text, at: 0 };
    parser.skip_spaces();
    if parser.peek().is_none() {
        return Ok(Dn::root());
    }
    let mut rdns = Vec::with_capacity(4);
    loop {
        let (rdn, more) = parser.rdn()?;
        if rdns.len() == MAX_RDNS {
            return Err(DnError::TooLarge { limit: MAX_RDNS, unit: "RDNs" });
        }
        rdns.push(rdn);
        if !more {
            return Dn::new(rdns);
        }
    }
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_spaces(&mut self) {
        // A folded or pasted DN may hold line breaks between RDNs, which RFC 1779 counted as blanks.
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn fail<T>(&self, reason: &'static str) -> Result<T, DnError> {
        Err(DnError::Syntax { at: self.at, reason })
    }

    /// One RDN and whether another follows.
    fn rdn(&mut self) -> Result<(Rdn, bool), DnError> {
        let mut avas = Vec::with_capacity(1);
        loop {
            if avas.len() == MAX_AVAS {
                return Err(DnError::TooLarge { limit: MAX_AVAS, unit: "values in one RDN" });
            }
            avas.push(self.ava()?);
            match self.peek() {
                None => return Ok((Rdn::new(avas)?, false)),
                Some(b'+') => self.at += 1,
                Some(b',' | b';') => {
                    self.at += 1;
                    return Ok((Rdn::new(avas)?, true));
                }
                Some(_) => return self.fail("expected ',', '+' or the end"),
            }
        }
    }

    fn ava(&mut self) -> Result<Ava, DnError> {
        self.skip_spaces();
        let attribute = self.attribute_type()?;
        self.skip_spaces();
        if self.peek() != Some(b'=') {
            return self.fail("expected '=' after the attribute type");
        }
        self.at += 1;
        self.skip_spaces();
        let value = match self.peek() {
            Some(b'#') => self.hex_value()?,
            Some(b'"') => self.quoted_value()?,
            _ => self.string_value()?,
        };
        self.skip_spaces();
        Ok(Ava { attribute, value })
    }

    /// `descr / numericoid`, with RFC 1779's prefix `OID.` dropped. Underscores pass, as in other servers.
    fn attribute_type(&mut self) -> Result<String, DnError> {
        if self.text[self.at..].get(..4).is_some_and(|prefix| prefix.eq_ignore_ascii_case(b"oid."))
            && self.text.get(self.at + 4).is_some_and(u8::is_ascii_digit)
        {
            self.at += 4;
        }
        let start = self.at;
        match self.peek() {
            Some(byte) if byte.is_ascii_alphabetic() => {
                while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')) {
                    self.at += 1;
                }
            }
            Some(byte) if byte.is_ascii_digit() => {
                while self.peek().is_some_and(|byte| byte.is_ascii_digit() || byte == b'.') {
                    self.at += 1;
                }
                if !crate::syntax::is_numeric_oid(&self.text[start..self.at]) {
                    self.at = start;
                    return self.fail("expected an attribute type");
                }
            }
            _ => return self.fail("expected an attribute type"),
        }
        Ok(String::from_utf8_lossy(&self.text[start..self.at]).into_owned())
    }

    /// `#` and hex pairs: a BER element (RFC 4514, 2.4). The value is the content of a primitive string element,
    /// since the LDAP-specific encoding of those is the content; anything else is kept whole.
    fn hex_value(&mut self) -> Result<Vec<u8>, DnError> {
        self.at += 1;
        let mut octets = Vec::new();
        while let Some(octet) = self.hex_pair() {
            octets.push(octet);
        }
        if octets.is_empty() {
            return self.fail("expected pairs of hex digits after '#'");
        }
        Ok(ber_string(&octets).map_or(octets.clone(), <[u8]>::to_vec))
    }

    fn hex_pair(&mut self) -> Option<u8> {
        let high = hex_digit(*self.text.get(self.at)?)?;
        let low = hex_digit(*self.text.get(self.at + 1)?)?;
        self.at += 2;
        Some(high << 4 | low)
    }

    /// The octet or character behind a backslash.
    fn escape(&mut self) -> Result<u8, DnError> {
        self.at += 1;
        if let Some(octet) = self.hex_pair() {
            return Ok(octet);
        }
        match self.peek() {
            Some(byte @ (b' ' | b'"' | b'#' | b'+' | b',' | b';' | b'<' | b'=' | b'>' | b'\\')) => {
                self.at += 1;
                Ok(byte)
            }
            _ => self.fail("expected two hex digits or a special character after '\\'"),
        }
    }

    /// RFC 2253's quoted form: everything but `"` and `\` stands for itself.
    fn quoted_value(&mut self) -> Result<Vec<u8>, DnError> {
        self.at += 1;
        let mut value = Vec::new();
        loop {
            match self.peek() {
                None => return self.fail("expected a closing quotation mark"),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(value);
                }
                Some(b'\\') => value.push(self.escape()?),
                Some(byte) => {
                    value.push(byte);
                    self.at += 1;
                }
            }
        }
    }

    fn string_value(&mut self) -> Result<Vec<u8>, DnError> {
        let mut value = Vec::new();
        // Length up to the last octet that is not an unescaped space: trailing ones belong to the separator.
        let mut kept = 0;
        loop {
            match self.peek() {
                None | Some(b',' | b'+' | b';') => break,
                Some(b'\\') => {
                    value.push(self.escape()?);
                    kept = value.len();
                }
                Some(b'"' | b'<' | b'>') => return self.fail("this character must be escaped"),
                Some(b'\0') => return self.fail("a null octet must be escaped"),
                Some(byte) => {
                    value.push(byte);
                    self.at += 1;
                    if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                        kept = value.len();
                    }
                }
            }
        }
        value.truncate(kept);
        Ok(value)
    }
}

fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// The content of a definite-length primitive string element that fills `octets`, if it is one.
fn ber_string(octets: &[u8]) -> Option<&[u8]> {
    let (&tag, rest) = octets.split_first()?;
    // OCTET STRING, UTF8String, NumericString, PrintableString, IA5String, VisibleString.
    if !matches!(tag, 0x04 | 0x0c | 0x12 | 0x13 | 0x16 | 0x1a) {
        return None;
    }
    let (&first, rest) = rest.split_first()?;
    if first < 0x80 {
        return (rest.len() == usize::from(first)).then_some(rest);
    }
    let count = usize::from(first & 0x7f);
    if count == 0 || count > 4 || rest.len() < count {
        return None;
    }
    let (length, content) = rest.split_at(count);
    let length = length.iter().fold(0_usize, |sum, &byte| sum << 8 | usize::from(byte));
    (content.len() == length).then_some(content)
}
