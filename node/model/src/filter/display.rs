//! The string form of a filter, which parses to the same filter.

use std::fmt::{self, Write};

use super::Filter;

impl fmt::Display for Filter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_char('(')?;
        match self {
            Self::And(members) => list(out, '&', members)?,
            Self::Or(members) => list(out, '|', members)?,
            Self::Not(negated) => write!(out, "!{negated}")?,
            Self::Equality { description, value } => item(out, description, "=", value)?,
            Self::GreaterOrEqual { description, value } => item(out, description, ">=", value)?,
            Self::LessOrEqual { description, value } => item(out, description, "<=", value)?,
            Self::Approx { description, value } => item(out, description, "~=", value)?,
            Self::Present { description } => {
                escaped(out, description)?;
                out.write_str("=*")?;
            }
            Self::Substrings { description, initial, any, last } => {
                item(out, description, "=", initial.as_deref().unwrap_or_default())?;
                out.write_char('*')?;
                for piece in any {
                    escaped(out, piece)?;
                    out.write_char('*')?;
                }
                escaped(out, last.as_deref().unwrap_or_default())?;
            }
            Self::Extensible { rule, description, value, dn_attributes } => {
                escaped(out, description.as_deref().unwrap_or_default())?;
                if *dn_attributes {
                    out.write_str(":dn")?;
                }
                if let Some(rule) = rule {
                    out.write_char(':')?;
                    escaped(out, rule)?;
                }
                out.write_str(":=")?;
                escaped(out, value)?;
            }
        }
        out.write_char(')')
    }
}

fn list(out: &mut fmt::Formatter<'_>, operator: char, members: &[Filter]) -> fmt::Result {
    out.write_char(operator)?;
    members.iter().try_for_each(|member| fmt::Display::fmt(member, out))
}

fn item(out: &mut fmt::Formatter<'_>, description: &[u8], comparison: &str, value: &[u8]) -> fmt::Result {
    escaped(out, description)?;
    out.write_str(comparison)?;
    escaped(out, value)
}

/// RFC 4515 section 3: NUL, parentheses, "*" and "\" are escaped; so are other control characters and
/// whatever is not UTF-8.
fn escaped(out: &mut fmt::Formatter<'_>, value: &[u8]) -> fmt::Result {
    for chunk in value.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '(' | ')' | '*' | '\\' | '\0'..='\x1f' | '\x7f' => write!(out, "\\{:02x}", u32::from(character))?,
                _ => out.write_char(character)?,
            }
        }
        for byte in chunk.invalid() {
            write!(out, "\\{byte:02x}")?;
        }
    }
    Ok(())
}
