//! Keys of values and assertions.

use super::{MatchingRule, RuleKind, ordering, substring};
use crate::dn::{Dn, NormDn};
use crate::error::{DnError, InvalidValue};
use crate::prep::{self, Fold};
use crate::schema::Schema;
use crate::syntax::time::Instant;
use crate::syntax::validate::{MAX_INTEGER_DIGITS, name_and_uid};
use crate::syntax::{is_descr, is_numeric_oid};

/// Lines of a postal address are strung together with an octet that preparation never leaves in a line.
pub(super) const LINE_SEPARATOR: u8 = 0;

/// Appends the key of a stored value.
pub(super) fn value(rule: MatchingRule, value: &[u8], schema: &Schema, out: &mut Vec<u8>) -> Result<(), InvalidValue> {
    use MatchingRule as R;
    match rule {
        R::IntegerFirstComponentMatch => integer_key(rule, first_component(rule, value)?, out),
        R::ObjectIdentifierFirstComponentMatch => oid_key(rule, first_component(rule, value)?, schema, out),
        R::DirectoryStringFirstComponentMatch => prep::prepare_into(first_component(rule, value)?, Fold::Ignore, out),
        _ => assertion(rule, value, schema, out),
    }
}

/// Appends the key of an asserted value.
pub(super) fn assertion(
    rule: MatchingRule,
    value: &[u8],
    schema: &Schema,
    out: &mut Vec<u8>,
) -> Result<(), InvalidValue> {
    use MatchingRule as R;
    match rule {
        R::CaseIgnoreMatch
        | R::CaseIgnoreOrderingMatch
        | R::CaseIgnoreSubstringsMatch
        | R::CaseIgnoreIa5Match
        | R::CaseIgnoreIa5SubstringsMatch
        | R::DirectoryStringFirstComponentMatch
        | R::PresentationAddressMatch
        | R::ProtocolInformationMatch => prep::prepare_into(value, Fold::Ignore, out),
        R::CaseExactMatch
        | R::CaseExactOrderingMatch
        | R::CaseExactSubstringsMatch
        | R::CaseExactIa5Match
        | R::CaseExactIa5SubstringsMatch
        | R::AuthzMatch => prep::prepare_into(value, Fold::Exact, out),
        R::NumericStringMatch | R::NumericStringOrderingMatch | R::NumericStringSubstringsMatch => {
            prep::prepare_numeric_into(value, out)
        }
        R::TelephoneNumberMatch | R::TelephoneNumberSubstringsMatch => prep::prepare_telephone_into(value, out),
        R::CaseIgnoreListMatch | R::CaseIgnoreListSubstringsMatch => {
            for (at, line) in value.split(|&byte| byte == b'$').enumerate() {
                if at > 0 {
                    out.push(LINE_SEPARATOR);
                }
                prep::prepare_into(&unescape_line(line), Fold::Ignore, out)?;
            }
            Ok(())
        }
        R::BooleanMatch => {
            let truth = if value.eq_ignore_ascii_case(b"TRUE") {
                b"TRUE".as_slice()
            } else if value.eq_ignore_ascii_case(b"FALSE") {
                b"FALSE"
            } else {
                return Err(InvalidValue::new(rule.name(), "it must be TRUE or FALSE"));
            };
            out.extend_from_slice(truth);
            Ok(())
        }
        R::IntegerMatch | R::IntegerOrderingMatch | R::IntegerFirstComponentMatch | R::BitAnd | R::BitOr => {
            integer_key(rule, value, out)
        }
        R::BitStringMatch => {
            let bits = value.strip_prefix(b"'").and_then(|value| value.strip_suffix(b"'B"));
            match bits {
                Some(bits) if bits.iter().all(|bit| matches!(bit, b'0' | b'1')) => out.extend_from_slice(value),
                _ => return Err(InvalidValue::new(rule.name(), "it must look like '0101'B")),
            }
            Ok(())
        }
        R::OctetStringMatch
        | R::OctetStringOrderingMatch
        | R::OctetStringSubstringsMatch
        | R::PrivateKeyMatch
        | R::AuthPasswordMatch => {
            out.extend_from_slice(value);
            Ok(())
        }
        R::CertificateExactMatch
        | R::CertificateListExactMatch
        | R::AttributeCertificateExactMatch
        | R::AttributeCertificateMatch => {
            // Whole certificates are compared. An assertion in RFC 4523's text form, `{ serialNumber …`, cannot be.
            if value.first() == Some(&b'{') {
                return Err(InvalidValue::new(rule.name(), "assert the whole DER value"));
            }
            out.extend_from_slice(value);
            Ok(())
        }
        R::GeneralizedTimeMatch | R::GeneralizedTimeOrderingMatch => {
            Instant::parse(value)?.key_into(out);
            Ok(())
        }
        R::UuidMatch | R::UuidOrderingMatch => uuid_key(rule, value, out),
        R::CsnMatch | R::CsnOrderingMatch | R::CsnSidMatch => {
            rule.syntax().validate(value)?;
            out.extend(value.iter().map(u8::to_ascii_lowercase));
            Ok(())
        }
        R::ObjectIdentifierMatch | R::ObjectIdentifierFirstComponentMatch => oid_key(rule, value, schema, out),
        R::DistinguishedNameMatch => {
            let dn = Dn::parse(value).and_then(|dn| dn.normalize(schema));
            dn_key(rule, dn, out)
        }
        R::UniqueMemberMatch => {
            let (dn, bits) = name_and_uid(value)?;
            dn_key(rule, dn.normalize(schema), out)?;
            if let Some(bits) = bits {
                // No RDN's key begins with a zero, so the bits cannot be taken for a part of the name.
                out.push(0);
                out.extend_from_slice(bits);
            }
            Ok(())
        }
    }
}

/// Matches by any rule, for extensible filter items (RFC 4511, 4.5.1.7.7).
pub(super) fn extensible(
    rule: MatchingRule,
    value: &[u8],
    asserted: &[u8],
    schema: &Schema,
) -> Result<bool, InvalidValue> {
    match (rule.kind(), rule) {
        (RuleKind::Equality, _) => Ok(rule.normalize(value, schema)? == rule.normalize_assertion(asserted, schema)?),
        (RuleKind::Ordering, _) => Ok(rule.ordering_key(value, schema)? < rule.ordering_key(asserted, schema)?),
        (RuleKind::Substring, _) => substring::text_assertion(rule, value, asserted, schema),
        (RuleKind::Extensible, _) => {
            let (value, mask) = (small_integer(rule, value)?, small_integer(rule, asserted)?);
            Ok(if rule == MatchingRule::BitAnd { value & mask == mask } else { value & mask != 0 })
        }
    }
}

fn small_integer(rule: MatchingRule, value: &[u8]) -> Result<i64, InvalidValue> {
    std::str::from_utf8(value)
        .ok()
        .and_then(|text| text.parse().ok())
        .ok_or(InvalidValue::new(rule.name(), "it must be an integer of 64 bits"))
}

/// Octets that compare as the numbers do: a tag with sign and length, then the magnitude, complemented when
/// negative. A number beyond 128 bits is kept as decimal digits with their count.
fn integer_key(rule: MatchingRule, value: &[u8], out: &mut Vec<u8>) -> Result<(), InvalidValue> {
    const ZERO_TAG: u8 = 0x80;
    const DECIMAL_STEP: u8 = 17;
    let digits = value.strip_prefix(b"-").unwrap_or(value);
    let negative = digits.len() < value.len();
    if digits.is_empty() || digits.len() > MAX_INTEGER_DIGITS || !digits.iter().all(u8::is_ascii_digit) {
        return Err(InvalidValue::new(rule.name(), "it must be a decimal number"));
    }
    let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    let digits = &digits[zeros..];
    let flip = if negative { 0xff } else { 0 };
    let magnitude =
        digits.iter().try_fold(0_u128, |sum, digit| sum.checked_mul(10)?.checked_add(u128::from(digit - b'0')));
    match magnitude {
        Some(magnitude) => {
            let octets = magnitude.to_be_bytes();
            let significant = &octets[(magnitude.leading_zeros() / 8) as usize..];
            let step = significant.len() as u8;
            out.push(if negative { ZERO_TAG - step } else { ZERO_TAG + step });
            out.extend(significant.iter().map(|octet| octet ^ flip));
        }
        None => {
            out.push(if negative { ZERO_TAG - DECIMAL_STEP } else { ZERO_TAG + DECIMAL_STEP });
            out.extend((digits.len() as u16).to_be_bytes().map(|octet| octet ^ flip));
            out.extend(digits.iter().map(|octet| octet ^ flip));
        }
    }
    Ok(())
}

fn uuid_key(rule: MatchingRule, value: &[u8], out: &mut Vec<u8>) -> Result<(), InvalidValue> {
    let refused = InvalidValue::new(rule.name(), "it is not a UUID");
    if value.len() != 36 && value.len() != 32 {
        return Err(refused);
    }
    let start = out.len();
    let mut high = None;
    for (at, &byte) in value.iter().enumerate() {
        if value.len() == 36 && matches!(at, 8 | 13 | 18 | 23) {
            if byte != b'-' {
                return Err(refused);
            }
            continue;
        }
        let digit = char::from(byte).to_digit(16).ok_or(refused)? as u8;
        match high.take() {
            None => high = Some(digit << 4),
            Some(high) => out.push(high | digit),
        }
    }
    if out.len() - start == 16 { Ok(()) } else { Err(refused) }
}

/// The numeric form of a name or OID. A name is sought among classes, then among attribute types; an unknown name
/// is Undefined (RFC 4517, 4.2.26), an unknown number stands for itself.
fn oid_key(rule: MatchingRule, value: &[u8], schema: &Schema, out: &mut Vec<u8>) -> Result<(), InvalidValue> {
    // Outer spaces are not allowed, but met.
    let value = value.trim_ascii();
    if is_numeric_oid(value) {
        out.extend_from_slice(value);
    } else if let Some(class) = schema.object_class(value) {
        out.extend_from_slice(class.oid.as_bytes());
    } else if let Some(attribute) = schema.attribute(value) {
        out.extend_from_slice(attribute.oid.as_bytes());
    } else if let Some(rule) = MatchingRule::from_name_or_oid(value) {
        out.extend_from_slice(rule.oid().as_bytes());
    } else if is_descr(value) {
        return Err(InvalidValue::new(rule.name(), "the schema does not define this name"));
    } else {
        return Err(InvalidValue::new(rule.name(), "it is neither a name nor a dotted number"));
    }
    Ok(())
}

fn dn_key(rule: MatchingRule, dn: Result<NormDn, DnError>, out: &mut Vec<u8>) -> Result<(), InvalidValue> {
    let reason = match dn {
        Ok(dn) => {
            dn.key_into(out);
            return Ok(());
        }
        Err(DnError::Syntax { .. }) => "it is not a DN",
        Err(DnError::TooLarge { .. }) => "the DN is too large",
        Err(DnError::DuplicateType(_)) => "an RDN of the DN has one type twice",
        Err(DnError::UnknownType(_)) => "the DN has an attribute type that the schema does not define",
        Err(DnError::NoEqualityRule(_)) => "the DN has an attribute type without equality rule",
        Err(DnError::Value { .. }) => "the DN has a value that does not belong to its attribute type",
    };
    Err(InvalidValue::new(rule.name(), reason))
}

/// The first component of a description in parentheses.
fn first_component(rule: MatchingRule, value: &[u8]) -> Result<&[u8], InvalidValue> {
    let missing = InvalidValue::new(rule.name(), "it must be a description in parentheses");
    let inner = value.trim_ascii().strip_prefix(b"(").ok_or(missing)?.trim_ascii_start();
    if let Some(quoted) = inner.strip_prefix(b"'") {
        let end = quoted.iter().position(|&byte| byte == b'\'').ok_or(missing)?;
        return Ok(&quoted[..end]);
    }
    let end = inner.iter().position(|byte| byte.is_ascii_whitespace() || *byte == b')').ok_or(missing)?;
    if end == 0 { Err(missing) } else { Ok(&inner[..end]) }
}

/// Undoes `\24` and `\5C` in a line of a postal address (RFC 4517, 3.3.28).
pub(super) fn unescape_line(line: &[u8]) -> Vec<u8> {
    unescape(line, b"24", b'$')
}

/// Undoes the two escapes that a syntax of RFC 4517 has: `\5C` for the backslash, and a backslash with the
/// hexadecimal digits (upper case here, either case in `text`) of the one octet that separates its parts.
pub(super) fn unescape(text: &[u8], separator_digits: &[u8; 2], separator: u8) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        let escaped = match after {
            [high, low, ..] if first == b'\\' => match [high.to_ascii_uppercase(), low.to_ascii_uppercase()] {
                [b'5', b'C'] => Some(b'\\'),
                digits if digits == *separator_digits => Some(separator),
                _ => None,
            },
            _ => None,
        };
        plain.push(escaped.unwrap_or(first));
        rest = if escaped.is_some() { &after[2..] } else { after };
    }
    plain
}

impl MatchingRule {
    /// True when a value of the right syntax may still have no key, because the key depends on the schema.
    pub(crate) fn depends_on_schema(self) -> bool {
        matches!(
            self,
            Self::ObjectIdentifierMatch
                | Self::ObjectIdentifierFirstComponentMatch
                | Self::DistinguishedNameMatch
                | Self::UniqueMemberMatch
        )
    }

    /// True when keys compare as values do.
    pub fn has_order(self) -> bool {
        ordering::has_order(self)
    }
}
