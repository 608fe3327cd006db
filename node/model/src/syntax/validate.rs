//! Validation by syntax: strict where OpenLDAP is, lenient where it stores more than the RFC allows.

use super::Syntax;
use super::strings::{is_descr, is_numeric_oid};
use super::time::{Instant, validate_utc_time};
use crate::dn::Dn;
use crate::error::InvalidValue;

/// Digits of an integer at most. Nothing needs more than a serial number's 49; the bound keeps keys short.
pub(crate) const MAX_INTEGER_DIGITS: usize = 512;

/// Refuses what is not a value of the syntax.
pub(super) fn validate(syntax: Syntax, value: &[u8]) -> Result<(), InvalidValue> {
    use Syntax as S;
    let check = |good: bool, reason| if good { Ok(()) } else { Err(InvalidValue::new(syntax.description(), reason)) };
    match syntax {
        // Octets. Certificates and the like are not decoded: what OpenLDAP could not have read it has not stored.
        S::OctetString
        | S::Binary
        | S::Audio
        | S::Fax
        | S::Jpeg
        | S::Certificate
        | S::CertificateList
        | S::CertificatePair
        | S::SupportedAlgorithm
        | S::AttributeCertificate
        | S::Pkcs8PrivateKey => Ok(()),
        S::DirectoryString | S::CaseIgnoreTeletex => text(syntax, value),
        S::Ia5String => check(value.is_ascii(), "it has octets outside ASCII"),
        S::PrintableString | S::TelephoneNumber => check(is_printable(value), "it is empty or not printable"),
        S::CountryString => check(value.len() == 2 && is_printable(value), "it must be two letters"),
        S::NumericString => check(
            !value.is_empty() && value.iter().all(|byte| byte.is_ascii_digit() || *byte == b' '),
            "it must be digits and spaces",
        ),
        S::Integer | S::LargeInteger => check(is_integer(value), "it must be a decimal number without leading zeros"),
        S::Boolean => check(matches!(value, b"TRUE" | b"FALSE"), "it must be TRUE or FALSE"),
        S::BitString => check(is_bit_string(value), "it must look like '0101'B"),
        S::Oid => check(is_numeric_oid(value) || is_descr(value), "it must be a name or a dotted number"),
        S::DistinguishedName => Dn::parse(value).map(|_| ()).or_else(|_| check(false, "it is not a DN")),
        S::NameAndOptionalUid => name_and_uid(value).map(|_| ()),
        S::GeneralizedTime => Instant::parse(value).map(|_| ()),
        S::UtcTime => validate_utc_time(value),
        S::Uuid => check(is_uuid(value), "it must look like 597ae2f6-16a6-1027-98f4-d28b5365dc14"),
        S::Csn => check(is_csn(value), "it must look like 20250101000000.000000Z#000000#000#000000"),
        S::Sid => check(
            (1..=3).contains(&value.len()) && value.iter().all(u8::is_ascii_hexdigit),
            "it must be three hex digits",
        ),
        S::DeliveryMethod => check(is_delivery_method(value), "it must be delivery methods joined by $"),
        S::FacsimileTelephoneNumber => {
            let mut parts = value.split(|&byte| byte == b'$');
            check(parts.all(|part| is_printable(trim(part))), "it must be a telephone number and parameters after $")
        }
        S::TelexNumber => check(
            value.split(|&byte| byte == b'$').all(|part| is_printable(trim(part))),
            "it must be printable strings joined by $",
        ),
        S::OtherMailbox => {
            let mut parts = value.splitn(2, |&byte| byte == b'$');
            let kind = parts.next().is_some_and(|kind| is_printable(trim(kind)));
            check(kind && parts.next().is_some_and(<[u8]>::is_ascii), "it must be a mailbox type, $ and a mailbox")
        }
        S::NisNetgroupTriple => check(is_netgroup_triple(value), "it must look like (host,user,domain)"),
        S::BootParameter => check(is_boot_parameter(value), "it must look like key=server:path"),
        S::TeletexTerminalIdentifier => {
            let kind = value.split(|&byte| byte == b'$').next().is_some_and(|kind| is_printable(trim(kind)));
            check(kind, "it must begin with a printable string")
        }
        // Structured text that nothing here looks into: empty lines of an address, guides, schema descriptions.
        S::PostalAddress
        | S::AciItem
        | S::AccessPoint
        | S::AttributeTypeDescription
        | S::DataQuality
        | S::DitContentRuleDescription
        | S::DitStructureRuleDescription
        | S::DlSubmitPermission
        | S::DsaQuality
        | S::DseType
        | S::EnhancedGuide
        | S::Guide
        | S::MatchingRuleDescription
        | S::MatchingRuleUseDescription
        | S::MailPreference
        | S::MhsOrAddress
        | S::NameFormDescription
        | S::ObjectClassDescription
        | S::ProtocolInformation
        | S::PresentationAddress
        | S::SubtreeSpecification
        | S::LdapSyntaxDescription
        | S::ModifyRights
        | S::LdapSchemaDefinition
        | S::LdapSchemaDescription
        | S::SubstringAssertion
        | S::AuthPassword
        | S::Authz => text(syntax, value),
    }
}

fn text(syntax: Syntax, value: &[u8]) -> Result<(), InvalidValue> {
    if value.is_empty() {
        Err(InvalidValue::new(syntax.description(), "it is empty"))
    } else if std::str::from_utf8(value).is_err() {
        Err(InvalidValue::new(syntax.description(), "it is not UTF-8"))
    } else {
        Ok(())
    }
}

fn trim(part: &[u8]) -> &[u8] {
    part.trim_ascii()
}

/// `PrintableString` of RFC 4517, 3.2.
fn is_printable(value: &[u8]) -> bool {
    !value.is_empty()
        && value.iter().all(|byte| {
            byte.is_ascii_alphanumeric()
                || matches!(byte, b'\'' | b'(' | b')' | b'+' | b',' | b'-' | b'.' | b'=' | b'/' | b':' | b'?' | b' ')
        })
}

/// RFC 4517, 3.3.16.
fn is_integer(value: &[u8]) -> bool {
    let digits = value.strip_prefix(b"-").unwrap_or(value);
    let negative = digits.len() < value.len();
    !digits.is_empty()
        && digits.len() <= MAX_INTEGER_DIGITS
        && digits.iter().all(u8::is_ascii_digit)
        && (digits[0] != b'0' || digits.len() == 1 && !negative)
}

/// RFC 4517, 3.3.2.
fn is_bit_string(value: &[u8]) -> bool {
    value
        .strip_prefix(b"'")
        .and_then(|value| value.strip_suffix(b"'B"))
        .is_some_and(|bits| bits.iter().all(|bit| matches!(bit, b'0' | b'1')))
}

/// A DN and the bits after `#`, if any (RFC 4517, 3.3.21).
pub(crate) fn name_and_uid(value: &[u8]) -> Result<(Dn, Option<&[u8]>), InvalidValue> {
    let bits_at = value.iter().rposition(|&byte| byte == b'#').filter(|&at| is_bit_string(&value[at + 1..]));
    let (name, bits) = match bits_at {
        Some(at) => (&value[..at], Some(&value[at + 1..])),
        None => (value, None),
    };
    match Dn::parse(name) {
        Ok(dn) => Ok((dn, bits)),
        Err(_) => Err(InvalidValue::new(Syntax::NameAndOptionalUid.description(), "it is not a DN")),
    }
}

/// RFC 4530, 2.1.
fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// OpenLDAP's change sequence numbers: time, count, server and modifier joined by `#`.
fn is_csn(value: &[u8]) -> bool {
    let mut parts = value.split(|&byte| byte == b'#');
    let time = parts.next().is_some_and(|time| Instant::parse(time).is_ok());
    let rest: Vec<_> = parts.collect();
    time && rest.len() == 3
        && rest.iter().all(|part| (1..=8).contains(&part.len()) && part.iter().all(u8::is_ascii_hexdigit))
}

/// RFC 4517, 3.3.5.
fn is_delivery_method(value: &[u8]) -> bool {
    const METHODS: [&str; 10] =
        ["any", "mhs", "physical", "telex", "teletex", "g3fax", "g4fax", "ia5", "videotex", "telephone"];
    value.split(|&byte| byte == b'$').all(|method| {
        let method = trim(method);
        METHODS.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(method))
    })
}

/// RFC 2307, 2.4.
fn is_netgroup_triple(value: &[u8]) -> bool {
    value.strip_prefix(b"(").and_then(|value| value.strip_suffix(b")")).is_some_and(|triple| {
        triple.iter().filter(|&&byte| byte == b',').count() == 2
            && triple.iter().all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'(' | b')'))
    })
}

/// RFC 2307, 2.4.
fn is_boot_parameter(value: &[u8]) -> bool {
    let Some(equals) = value.iter().position(|&byte| byte == b'=') else { return false };
    value.is_ascii() && equals > 0 && value[equals..].contains(&b':')
}
