//! Finding the definitions in a text: OpenLDAP's `.schema` files, and LDIF of its configuration or of a subschema.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::error::SchemaError;

/// Octets of one schema text at most.
pub(super) const MAX_TEXT_BYTES: usize = 16 << 20;

/// Definitions of one text at most.
pub(super) const MAX_DEFINITIONS: usize = 20_000;

/// What a piece of text defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PieceKind {
    AttributeType,
    ObjectClass,
    /// `name oid`, a macro.
    ObjectIdentifier,
    Syntax,
    /// Known, and safe to leave out; the text says what it is.
    Other(&'static str),
}

/// One definition's text and where it begins.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub kind: PieceKind,
    pub line: usize,
    pub text: String,
}

fn fail<T>(line: usize, problem: impl Into<String>) -> Result<T, SchemaError> {
    Err(SchemaError { line, problem: problem.into() })
}

/// Splits a text into definitions.
pub(super) fn split(text: &str) -> Result<Vec<Piece>, SchemaError> {
    if text.len() > MAX_TEXT_BYTES {
        return fail(0, format!("the text is longer than {MAX_TEXT_BYTES} bytes"));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let pieces = if is_ldif(text) { split_ldif(text)? } else { split_schema(text)? };
    if pieces.len() > MAX_DEFINITIONS {
        return fail(0, format!("the text has more than {MAX_DEFINITIONS} definitions: load it in parts"));
    }
    Ok(pieces)
}

/// LDIF has `name: value` lines; a `.schema` file never has a colon right behind its first word.
fn is_ldif(text: &str) -> bool {
    text.lines().filter(|line| !line.starts_with(['#', ' ', '\t']) && !line.trim().is_empty()).take(1).any(|line| {
        line.split_once(':').is_some_and(|(name, _)| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b';'))
        })
    })
}

fn split_ldif(text: &str) -> Result<Vec<Piece>, SchemaError> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.strip_suffix('\r').unwrap_or(line);
        match (line.strip_prefix(' '), lines.last_mut()) {
            (Some(more), Some((_, folded))) => folded.push_str(more),
            _ => lines.push((at + 1, line.to_owned())),
        }
    }
    let mut pieces = Vec::new();
    for (line, content) in lines {
        if content.starts_with('#') || content.trim().is_empty() || content == "-" {
            continue;
        }
        let Some((name, value)) = content.split_once(':') else {
            return fail(line, "expected an LDIF line of the form `name: value`");
        };
        let value = match value.strip_prefix(':') {
            Some(encoded) => match STANDARD.decode(encoded.trim()).map(String::from_utf8) {
                Ok(Ok(decoded)) => decoded,
                _ => return fail(line, "the base64 value is not text"),
            },
            None => value.trim().to_owned(),
        };
        let kind = match name.to_ascii_lowercase().as_str() {
            "attributetypes" | "olcattributetypes" => PieceKind::AttributeType,
            "objectclasses" | "olcobjectclasses" => PieceKind::ObjectClass,
            "olcobjectidentifier" => PieceKind::ObjectIdentifier,
            "ldapsyntaxes" | "olcldapsyntaxes" => PieceKind::Syntax,
            "ditcontentrules" | "olcditcontentrules" => PieceKind::Other("DIT content rule"),
            "delete" | "replace" if names_schema(&value) => {
                return fail(
                    line,
                    format!("`{name}: {value}` would remove definitions; only additions can be read from a file"),
                );
            }
            // The entry's name, its classes, matching rules, the change type: nothing to define.
            _ => continue,
        };
        pieces.push(Piece { kind, line, text: strip_index(&value).to_owned() });
    }
    Ok(pieces)
}

fn names_schema(attribute: &str) -> bool {
    ["attributetypes", "olcattributetypes", "objectclasses", "olcobjectclasses"]
        .iter()
        .any(|name| name.eq_ignore_ascii_case(attribute))
}

/// Drops `{0}` of ordered configuration values.
fn strip_index(value: &str) -> &str {
    let value = value.trim();
    match value.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
        Some((index, rest)) if index.bytes().all(|byte| byte.is_ascii_digit()) => rest.trim_start(),
        _ => value,
    }
}

/// Directives and what they define. Definitions that are known but not kept are named for the report.
fn directive(word: &str) -> Option<PieceKind> {
    Some(match word.to_ascii_lowercase().as_str() {
        "attributetype" | "attributetypes" => PieceKind::AttributeType,
        "objectclass" | "objectclasses" => PieceKind::ObjectClass,
        "objectidentifier" => PieceKind::ObjectIdentifier,
        "ldapsyntax" | "ldapsyntaxes" => PieceKind::Syntax,
        "ditcontentrule" | "ditcontentrules" => PieceKind::Other("DIT content rule"),
        "ditstructurerule" | "ditstructurerules" => PieceKind::Other("DIT structure rule"),
        "nameform" | "nameforms" => PieceKind::Other("name form"),
        "matchingrule" | "matchingrules" => PieceKind::Other("matching rule"),
        "matchingruleuse" => PieceKind::Other("matching rule use"),
        _ => return None,
    })
}

fn split_schema(text: &str) -> Result<Vec<Piece>, SchemaError> {
    let mut pieces = Vec::new();
    let mut lines = text.lines().enumerate().peekable();
    // An indented line after a comment belongs to the comment, as slapd reads it.
    let mut in_comment = false;
    while let Some((at, line)) = lines.next() {
        let number = at + 1;
        if line.starts_with('#') {
            in_comment = true;
            continue;
        }
        if line.trim().is_empty() {
            in_comment = false;
            continue;
        }
        if in_comment && line.starts_with([' ', '\t']) {
            continue;
        }
        in_comment = false;
        let content = line.trim();
        if content.starts_with('#') {
            continue;
        }
        let word_end = content.find(|character: char| character.is_whitespace() || character == '(');
        let (word, rest) = content.split_at(word_end.unwrap_or(content.len()));
        let Some(kind) = directive(word) else {
            return fail(
                number,
                format!(
                    "expected attributetype, objectclass or objectidentifier, found {:?}",
                    crate::entry::printable(word.as_bytes())
                ),
            );
        };
        let mut piece = Piece { kind, line: number, text: rest.trim().to_owned() };
        let mut state = Balance::default();
        state.read(rest);
        while let Some((_, next)) = lines.peek() {
            let indented = next.starts_with([' ', '\t']);
            let more = if kind == PieceKind::ObjectIdentifier || state.closed() {
                // slapd takes an indented line as a continuation; after a whole definition it can only be blank.
                indented && !next.trim().is_empty() && kind == PieceKind::ObjectIdentifier
            } else {
                !starts_definition(next)
            };
            if !more {
                break;
            }
            if !next.trim_start().starts_with('#') {
                state.read(next);
                piece.text.push(' ');
                piece.text.push_str(next.trim());
            }
            lines.next();
        }
        pieces.push(piece);
    }
    Ok(pieces)
}

/// True for an unindented line that begins with a directive: a definition that is still open lacks a parenthesis.
fn starts_definition(line: &str) -> bool {
    let word = line.split(|character: char| character.is_whitespace() || character == '(').next().unwrap_or_default();
    !word.is_empty() && directive(word).is_some()
}

/// Parentheses opened and closed outside quotation marks.
#[derive(Default)]
struct Balance {
    depth: usize,
    opened: bool,
    quoted: bool,
}

impl Balance {
    fn read(&mut self, text: &str) {
        for byte in text.bytes() {
            match byte {
                b'\'' => self.quoted = !self.quoted,
                b'(' if !self.quoted => {
                    self.depth += 1;
                    self.opened = true;
                }
                b')' if !self.quoted => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
    }

    fn closed(&self) -> bool {
        self.opened && self.depth == 0 && !self.quoted
    }
}
