//! Interpreting the logical lines of one record.

use std::borrow::Cow;
use std::collections::HashMap;

use base64::Engine;
use base64::alphabet;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};

use super::error::{LdifError, LdifErrorKind};
use super::reader::RawRecord;
use crate::modify::ModOp;

/// Standard base64; bits left over in the last character are ignored, as other servers do.
const BASE64: GeneralPurpose =
    GeneralPurpose::new(&alphabet::STANDARD, GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true));

/// Above this many attributes the search for an earlier line of the same attribute uses a hash table.
const LINEAR_GROUPS: usize = 48;

/// Text quoted in an error message is cut to this many bytes.
const QUOTED_BYTES: usize = 80;

/// One record: an entry, or a change to one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record<'a> {
    /// The physical line, counted from 1, of the record's first line.
    pub line: u64,
    /// As written (decoded when it was base64), not yet parsed.
    pub dn: Cow<'a, str>,
    pub content: Content<'a>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content<'a> {
    /// The lines of an entry, in order, but with all values of one description brought together at its first
    /// place: [`AttributeLine::groups`] walks over them.
    Entry(Vec<AttributeLine<'a>>),
    Change {
        /// The line of `changetype:`.
        line: u64,
        controls: Vec<Control<'a>>,
        change: Change<'a>,
    },
}

/// One value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttributeLine<'a> {
    pub line: u64,
    /// Ordinal of the attribute in its record, equal for all lines of one description (compared without case).
    pub group: u32,
    /// Type and options, as written.
    pub description: &'a str,
    pub value: Cow<'a, [u8]>,
}

impl AttributeLine<'_> {
    /// Splits the lines of an entry, or of an add, into one slice for each attribute; a slice is never empty.
    pub fn groups<'s, 'a>(lines: &'s [AttributeLine<'a>]) -> impl Iterator<Item = &'s [AttributeLine<'a>]> {
        lines.chunk_by(|left, right| left.group == right.group)
    }
}

/// `control:` of a change record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Control<'a> {
    pub oid: &'a str,
    pub critical: bool,
    pub value: Option<Cow<'a, [u8]>>,
}

/// RFC 2849 "changerecord".
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change<'a> {
    /// The lines of the new entry, gathered as those of [`Content::Entry`].
    Add(Vec<AttributeLine<'a>>),
    /// Delete the entry.
    Delete,
    /// In order.
    Modify(Vec<ModSpec<'a>>),
    /// `modrdn` and `moddn` are the same.
    ModDn { new_rdn: Cow<'a, str>, delete_old_rdn: bool, new_superior: Option<Cow<'a, str>> },
}

/// One `add:`, `delete:`, `replace:` or `increment:` (RFC 4525 section 3) of a modify record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModSpec<'a> {
    pub line: u64,
    /// Which of the four.
    pub op: ModOp,
    pub description: &'a str,
    pub values: Vec<Cow<'a, [u8]>>,
}

/// A logical line, split at its colon.
struct Line<'a> {
    number: u64,
    description: &'a str,
    value: Cow<'a, [u8]>,
}

pub(super) fn record(raw: &RawRecord) -> Result<Record<'_>, LdifError> {
    let mut lines = raw.lines();
    let Some((number, text)) = lines.next() else {
        return Err(LdifError::new(raw.line(), LdifErrorKind::MissingDn(String::new())));
    };
    let first = split(number, text)?;
    if !first.description.eq_ignore_ascii_case("dn") {
        return Err(LdifError::new(number, LdifErrorKind::MissingDn(quoted(text))));
    }
    let dn = utf8(first.value).ok_or_else(|| LdifError::new(number, LdifErrorKind::DnNotUtf8))?;
    match content(number, lines) {
        Ok(content) => Ok(Record { line: number, dn, content }),
        Err(error) => Err(LdifError { dn: Some(dn.into_owned()), ..error }),
    }
}

fn content<'a>(dn_line: u64, mut lines: impl Iterator<Item = (u64, &'a [u8])>) -> Result<Content<'a>, LdifError> {
    let mut controls = Vec::new();
    loop {
        let Some((number, text)) = lines.next() else {
            let kind =
                if controls.is_empty() { LdifErrorKind::NoAttributes } else { LdifErrorKind::ControlWithoutChange };
            return Err(LdifError::new(dn_line, kind));
        };
        if let Some(value) = keyword(text, b"control") {
            controls.push(control(number, value)?);
            continue;
        }
        let line = split(number, text)?;
        if line.description.eq_ignore_ascii_case("changetype") {
            let change = change(&line, lines)?;
            return Ok(Content::Change { line: number, controls, change });
        }
        if !controls.is_empty() {
            return Err(LdifError::new(number, LdifErrorKind::ControlWithoutChange));
        }
        return attributes(Some(line), lines).map(Content::Entry);
    }
}

/// Gathers the values of each attribute at its first place.
fn attributes<'a>(
    first: Option<Line<'a>>,
    lines: impl Iterator<Item = (u64, &'a [u8])>,
) -> Result<Vec<AttributeLine<'a>>, LdifError> {
    let mut gathered: Vec<AttributeLine<'a>> = Vec::with_capacity(lines.size_hint().0.max(32));
    let mut known = Known::default();
    let mut in_order = true;
    for line in first.map(Ok).into_iter().chain(lines.map(|(number, text)| split(number, text))) {
        let line = line?;
        let group = match gathered.last() {
            Some(last) if last.description.eq_ignore_ascii_case(line.description) => last.group,
            _ => {
                let group = known.group(line.description);
                in_order &= gathered.last().is_none_or(|last| last.group < group);
                group
            }
        };
        gathered.push(AttributeLine { line: line.number, group, description: line.description, value: line.value });
    }
    if let Some(line) = gathered.iter().find(|line| line.description.eq_ignore_ascii_case("dn")) {
        return Err(LdifError::new(line.line, LdifErrorKind::DnRepeated));
    }
    if !in_order {
        // Stable: the order of the values of one attribute stays.
        gathered.sort_by_key(|line| line.group);
    }
    Ok(gathered)
}

/// The descriptions met so far, numbered in the order of their first lines.
#[derive(Default)]
struct Known<'a> {
    few: Vec<&'a str>,
    many: HashMap<String, u32>,
}

impl<'a> Known<'a> {
    fn group(&mut self, description: &'a str) -> u32 {
        if self.many.is_empty() {
            if let Some(group) = self.few.iter().position(|known| known.eq_ignore_ascii_case(description)) {
                return ordinal(group);
            }
            if self.few.len() < LINEAR_GROUPS {
                self.few.push(description);
                return ordinal(self.few.len() - 1);
            }
            self.many = self
                .few
                .iter()
                .enumerate()
                .map(|(group, known)| (known.to_ascii_lowercase(), ordinal(group)))
                .collect();
        }
        let next = ordinal(self.many.len());
        *self.many.entry(description.to_ascii_lowercase()).or_insert(next)
    }
}

fn ordinal(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

fn change<'a>(
    change_type: &Line<'a>,
    mut lines: impl Iterator<Item = (u64, &'a [u8])>,
) -> Result<Change<'a>, LdifError> {
    let value: &[u8] = change_type.value.trim_ascii();
    if value.eq_ignore_ascii_case(b"add") {
        let lines = attributes(None, lines)?;
        if lines.is_empty() {
            return Err(LdifError::new(change_type.number, LdifErrorKind::NoAttributes));
        }
        Ok(Change::Add(lines))
    } else if value.eq_ignore_ascii_case(b"delete") {
        match lines.next() {
            None => Ok(Change::Delete),
            Some((number, _)) => {
                Err(LdifError::new(number, LdifErrorKind::InvalidChange("\"delete\" takes no more lines")))
            }
        }
    } else if value.eq_ignore_ascii_case(b"modify") {
        modify(lines).map(Change::Modify)
    } else if value.eq_ignore_ascii_case(b"modrdn") || value.eq_ignore_ascii_case(b"moddn") {
        mod_dn(change_type.number, lines)
    } else {
        Err(LdifError::new(change_type.number, LdifErrorKind::UnknownChangeType(quoted(value))))
    }
}

fn modify<'a>(mut lines: impl Iterator<Item = (u64, &'a [u8])>) -> Result<Vec<ModSpec<'a>>, LdifError> {
    let mut specs = Vec::new();
    while let Some((number, text)) = lines.next() {
        let head = split(number, text)?;
        let op = match head.description {
            name if name.eq_ignore_ascii_case("add") => ModOp::Add,
            name if name.eq_ignore_ascii_case("delete") => ModOp::Delete,
            name if name.eq_ignore_ascii_case("replace") => ModOp::Replace,
            name if name.eq_ignore_ascii_case("increment") => ModOp::Increment,
            _ => {
                let kind =
                    LdifErrorKind::InvalidChange("\"add:\", \"delete:\", \"replace:\" or \"increment:\" expected");
                return Err(LdifError::new(number, kind));
            }
        };
        let Cow::Borrowed(described) = head.value else {
            return Err(LdifError::new(number, LdifErrorKind::InvalidChange("the attribute must not be base64")));
        };
        let described = description(number, described.trim_ascii())?;
        let mut values = Vec::new();
        // RFC 2849 ends each mod-spec with "-"; the last one's is forgiven, as ldapmodify does.
        for (number, text) in lines.by_ref() {
            if text == b"-" {
                break;
            }
            let line = split(number, text)?;
            if !line.description.eq_ignore_ascii_case(described) {
                let kind = LdifErrorKind::InvalidChange("a value of another attribute than the one being changed");
                return Err(LdifError::new(number, kind));
            }
            values.push(line.value);
        }
        specs.push(ModSpec { line: number, op, description: described, values });
    }
    Ok(specs)
}

fn mod_dn<'a>(change_line: u64, mut lines: impl Iterator<Item = (u64, &'a [u8])>) -> Result<Change<'a>, LdifError> {
    let invalid = |line, why| LdifError::new(line, LdifErrorKind::InvalidChange(why));
    let mut next = |name: &str, why| -> Result<Option<Line<'a>>, LdifError> {
        let Some((number, text)) = lines.next() else { return Ok(None) };
        let line = split(number, text)?;
        if line.description.eq_ignore_ascii_case(name) { Ok(Some(line)) } else { Err(invalid(number, why)) }
    };
    let new_rdn =
        next("newrdn", "\"newrdn:\" expected")?.ok_or_else(|| invalid(change_line, "\"newrdn:\" is missing"))?;
    let delete_old = next("deleteoldrdn", "\"deleteoldrdn:\" expected")?
        .ok_or_else(|| invalid(change_line, "\"deleteoldrdn:\" is missing"))?;
    let delete_old_rdn = match &*delete_old.value {
        b"0" => false,
        b"1" => true,
        _ => return Err(invalid(delete_old.number, "\"deleteoldrdn\" is 0 or 1")),
    };
    let new_superior = next("newsuperior", "\"newsuperior:\" or the end of the record expected")?;
    if let Some((number, _)) = lines.next() {
        return Err(invalid(number, "the end of the record expected"));
    }
    let dn = |line: Line<'a>| utf8(line.value).ok_or_else(|| LdifError::new(line.number, LdifErrorKind::DnNotUtf8));
    Ok(Change::ModDn { new_rdn: dn(new_rdn)?, delete_old_rdn, new_superior: new_superior.map(dn).transpose()? })
}

/// `ldap-oid [1*SPACE ("true" / "false")] [value-spec]`
fn control(number: u64, text: &[u8]) -> Result<Control<'_>, LdifError> {
    let invalid = |why| LdifError::new(number, LdifErrorKind::InvalidControl(why));
    let text = text.trim_ascii_start();
    let oid_end = text.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b'.')).unwrap_or(text.len());
    let (oid, rest) = text.split_at(oid_end);
    let oid = std::str::from_utf8(oid).ok().filter(|oid| !oid.is_empty()).ok_or_else(|| invalid("no OID"))?;
    let rest = rest.trim_ascii_start();
    let (critical, rest) = if let Some(rest) = rest.strip_prefix(b"true") {
        (true, rest)
    } else if let Some(rest) = rest.strip_prefix(b"false") {
        (false, rest)
    } else {
        (false, rest)
    };
    let value = match rest {
        [] => None,
        [b':', spec @ ..] => Some(value(number, spec)?),
        _ => return Err(invalid("\"true\", \"false\" or a value expected after the OID")),
    };
    Ok(Control { oid, critical, value })
}

/// What follows `name:`, if the line begins so.
fn keyword<'a>(text: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    if text.len() > name.len() && text[name.len()] == b':' && text[..name.len()].eq_ignore_ascii_case(name) {
        Some(&text[name.len() + 1..])
    } else {
        None
    }
}

fn split(number: u64, text: &[u8]) -> Result<Line<'_>, LdifError> {
    let Some(colon) = text.iter().position(|byte| *byte == b':') else {
        return Err(LdifError::new(number, LdifErrorKind::MissingColon(quoted(text))));
    };
    if colon == 0 {
        return Err(LdifError::new(number, LdifErrorKind::EmptyAttributeType));
    }
    let description = description(number, &text[..colon])?;
    let value = value(number, &text[colon + 1..])?;
    Ok(Line { number, description, value })
}

/// RFC 4512 2.5, and "_" and "=", which other servers accept in names and options.
fn description(number: u64, text: &[u8]) -> Result<&str, LdifError> {
    let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b';' | b'_' | b'=');
    match std::str::from_utf8(text) {
        Ok(description) if !text.is_empty() && text[0] != b';' && text.iter().all(allowed) => Ok(description),
        _ => Err(LdifError::new(number, LdifErrorKind::InvalidDescription(quoted(text)))),
    }
}

/// RFC 2849 "value-spec", after its first colon.
fn value(number: u64, spec: &[u8]) -> Result<Cow<'_, [u8]>, LdifError> {
    match spec {
        [b':', encoded @ ..] => decode_base64(number, encoded).map(Cow::Owned),
        [b'<', ..] => Err(LdifError::new(number, LdifErrorKind::UrlRefused)),
        _ => {
            // FILL is SPACE only: a TAB belongs to the value.
            let start = spec.iter().position(|byte| *byte != b' ').unwrap_or(spec.len());
            Ok(Cow::Borrowed(&spec[start..]))
        }
    }
}

fn decode_base64(number: u64, encoded: &[u8]) -> Result<Vec<u8>, LdifError> {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r');
    let encoded = encoded.trim_ascii();
    let decoded = if encoded.iter().any(is_space) {
        BASE64.decode(encoded.iter().copied().filter(|byte| !is_space(byte)).collect::<Vec<u8>>())
    } else {
        BASE64.decode(encoded)
    };
    decoded.map_err(|error| LdifError::new(number, LdifErrorKind::InvalidBase64(error.to_string())))
}

fn utf8(value: Cow<'_, [u8]>) -> Option<Cow<'_, str>> {
    match value {
        Cow::Borrowed(bytes) => std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
        Cow::Owned(bytes) => String::from_utf8(bytes).ok().map(Cow::Owned),
    }
}

fn quoted(text: &[u8]) -> String {
    String::from_utf8_lossy(&text[..text.len().min(QUOTED_BYTES)]).into_owned()
}
