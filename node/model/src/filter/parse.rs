//! The string form of RFC 4515.

use super::{Filter, MAX_DEPTH, MAX_NODES, MAX_STRING_BYTES};

/// Why a string is no filter. Offsets are in bytes from its start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    #[error("the filter is longer than {MAX_STRING_BYTES} bytes")]
    TooLong,
    #[error("the filter is nested deeper than {MAX_DEPTH}")]
    TooDeep,
    #[error("the filter has more than {MAX_NODES} parts")]
    TooWide,
    #[error("{expected} expected at offset {offset} of the filter")]
    Expected { expected: &'static str, offset: usize },
    #[error("a backslash needs two hexadecimal digits after it, at offset {offset} of the filter")]
    InvalidEscape { offset: usize },
    #[error("{byte:?} must be written as an escape, at offset {offset} of the filter")]
    Unescaped { byte: char, offset: usize },
}

impl Filter {
    /// Parses the string form. More lenient than RFC 4515 in two points, as other servers and tools are: the
    /// outermost parentheses of a single item may be missing, and white space may stand between filters.
    ///
    /// # Errors
    /// [`FilterError`]; the limits are checked before memory is taken.
    pub fn parse(text: &str) -> Result<Self, FilterError> {
        if text.len() > MAX_STRING_BYTES {
            return Err(FilterError::TooLong);
        }
        let mut parser = Parser { text: text.as_bytes(), at: 0, nodes: 0 };
        parser.skip_spaces();
        let filter = if parser.peek() == Some(b'(') { parser.filter(1)? } else { parser.item(None)? };
        parser.skip_spaces();
        if parser.at < parser.text.len() { parser.expected("the end") } else { Ok(filter) }
    }
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    nodes: usize,
}

/// One piece of an assertion value, and whether a "*" ended it.
struct Piece {
    value: Vec<u8>,
    star: bool,
}

impl Parser<'_> {
    /// `"(" filtercomp ")"`
    fn filter(&mut self, depth: usize) -> Result<Filter, FilterError> {
        if depth > MAX_DEPTH {
            return Err(FilterError::TooDeep);
        }
        self.require(b'(', "\"(\"")?;
        self.skip_spaces();
        let filter = match self.peek() {
            Some(b'&') => Filter::And(self.list(depth)?),
            Some(b'|') => Filter::Or(self.list(depth)?),
            Some(b'!') => {
                self.count()?;
                self.at += 1;
                self.skip_spaces();
                let negated = self.filter(depth + 1)?;
                self.skip_spaces();
                Filter::Not(Box::new(negated))
            }
            _ => self.item(Some(b')'))?,
        };
        self.require(b')', "\")\"")?;
        Ok(filter)
    }

    fn list(&mut self, depth: usize) -> Result<Vec<Filter>, FilterError> {
        self.count()?;
        self.at += 1;
        let mut members = Vec::new();
        loop {
            self.skip_spaces();
            if self.peek() != Some(b'(') {
                return Ok(members);
            }
            members.push(self.filter(depth + 1)?);
        }
    }

    /// Ends before `end`, or with the text when that is None.
    fn item(&mut self, end: Option<u8>) -> Result<Filter, FilterError> {
        self.count()?;
        let description = self.name()?;
        match self.peek() {
            Some(b'=') => {
                self.require_description(&description)?;
                self.at += 1;
                self.equality(description, end)
            }
            Some(comparison @ (b'~' | b'>' | b'<')) => {
                self.require_description(&description)?;
                self.at += 1;
                self.require(b'=', "\"=\"")?;
                let value = self.value(end)?;
                Ok(match comparison {
                    b'~' => Filter::Approx { description, value },
                    b'>' => Filter::GreaterOrEqual { description, value },
                    _ => Filter::LessOrEqual { description, value },
                })
            }
            Some(b':') => self.extensible(description, end),
            _ if description.is_empty() => self.expected("an attribute"),
            _ => self.expected("\"=\", \"~=\", \">=\", \"<=\" or \":\""),
        }
    }

    /// `=` was read: equality, presence or substrings.
    fn equality(&mut self, description: Vec<u8>, end: Option<u8>) -> Result<Filter, FilterError> {
        let first = self.piece(end)?;
        if !first.star {
            return Ok(Filter::Equality { description, value: first.value });
        }
        let mut any = Vec::new();
        let last = loop {
            let piece = self.piece(end)?;
            if !piece.star {
                break piece.value;
            }
            // "**" asks for nothing more than "*".
            if !piece.value.is_empty() {
                self.count()?;
                any.push(piece.value);
            }
        };
        let filled = |value: Vec<u8>| if value.is_empty() { None } else { Some(value) };
        let (initial, last) = (filled(first.value), filled(last));
        if initial.is_none() && any.is_empty() && last.is_none() {
            return Ok(Filter::Present { description });
        }
        Ok(Filter::Substrings { description, initial, any, last })
    }

    /// `attr [":dn"] [":" rule] ":=" value` or `[":dn"] ":" rule ":=" value`
    fn extensible(&mut self, description: Vec<u8>, end: Option<u8>) -> Result<Filter, FilterError> {
        let mut dn_attributes = false;
        let mut rule = None;
        loop {
            self.require(b':', "\":\"")?;
            if self.peek() == Some(b'=') {
                self.at += 1;
                break;
            }
            let name = self.name()?;
            if name.is_empty() || rule.is_some() {
                return self.expected(if rule.is_some() { "\":=\"" } else { "a matching rule or \":=\"" });
            }
            if !dn_attributes && name.eq_ignore_ascii_case(b"dn") {
                dn_attributes = true;
            } else {
                rule = Some(name);
            }
        }
        if description.is_empty() && rule.is_none() {
            return self.expected("an attribute or a matching rule before this value");
        }
        let description = if description.is_empty() { None } else { Some(description) };
        Ok(Filter::Extensible { rule, description, value: self.value(end)?, dn_attributes })
    }

    /// An attribute description or the name or OID of a matching rule; may be empty.
    fn name(&mut self) -> Result<Vec<u8>, FilterError> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b';' | b'_'))
        {
            self.at += 1;
        }
        Ok(self.text[start..self.at].to_vec())
    }

    fn value(&mut self, end: Option<u8>) -> Result<Vec<u8>, FilterError> {
        let piece = self.piece(end)?;
        if piece.star {
            return Err(FilterError::Unescaped { byte: '*', offset: self.at - 1 });
        }
        Ok(piece.value)
    }

    /// RFC 4515 section 3 "valueencoding", up to a "*", which is consumed, or the end, which is not.
    fn piece(&mut self, end: Option<u8>) -> Result<Piece, FilterError> {
        let mut value = Vec::new();
        while let Some(byte) = self.peek() {
            let offset = self.at;
            match byte {
                _ if Some(byte) == end => break,
                b'*' => {
                    self.at += 1;
                    return Ok(Piece { value, star: true });
                }
                b'\\' => {
                    let digits = self.text.get(offset + 1..offset + 3);
                    value.push(digits.and_then(hex).ok_or(FilterError::InvalidEscape { offset })?);
                    self.at += 3;
                }
                b'(' | b')' | 0 => return Err(FilterError::Unescaped { byte: char::from(byte), offset }),
                _ => {
                    value.push(byte);
                    self.at += 1;
                }
            }
        }
        Ok(Piece { value, star: false })
    }

    fn count(&mut self) -> Result<(), FilterError> {
        self.nodes += 1;
        if self.nodes > MAX_NODES { Err(FilterError::TooWide) } else { Ok(()) }
    }

    fn require_description(&self, description: &[u8]) -> Result<(), FilterError> {
        if description.is_empty() { self.expected("an attribute") } else { Ok(()) }
    }

    fn require(&mut self, byte: u8, expected: &'static str) -> Result<(), FilterError> {
        if self.peek() != Some(byte) {
            return self.expected(expected);
        }
        self.at += 1;
        Ok(())
    }

    fn expected<T>(&self, expected: &'static str) -> Result<T, FilterError> {
        Err(FilterError::Expected { expected, offset: self.at })
    }

    fn skip_spaces(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }
}

fn hex(digits: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let [high, low] = digits else { return None };
    u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()
}
