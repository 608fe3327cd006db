//! Matching rules as keys: two values match exactly when their keys are equal (RFC 4517, 4).

mod approx;
mod normalize;
mod ordering;
mod substring;
#[cfg(test)]
mod tests;

pub use approx::approx_key;
pub use substring::substrings_match;

use crate::error::InvalidValue;
use crate::prep::Part;
use crate::schema::Schema;
use crate::syntax::Syntax;

/// A matching rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MatchingRule {
    /// `objectIdentifierMatch`, 2.5.13.0.
    ObjectIdentifierMatch,
    /// `distinguishedNameMatch`, 2.5.13.1.
    DistinguishedNameMatch,
    /// `caseIgnoreMatch`, 2.5.13.2.
    CaseIgnoreMatch,
    /// `caseIgnoreOrderingMatch`, 2.5.13.3.
    CaseIgnoreOrderingMatch,
    /// `caseIgnoreSubstringsMatch`, 2.5.13.4.
    CaseIgnoreSubstringsMatch,
    /// `caseExactMatch`, 2.5.13.5.
    CaseExactMatch,
    /// `caseExactOrderingMatch`, 2.5.13.6.
    CaseExactOrderingMatch,
    /// `caseExactSubstringsMatch`, 2.5.13.7.
    CaseExactSubstringsMatch,
    /// `numericStringMatch`, 2.5.13.8.
    NumericStringMatch,
    /// `numericStringOrderingMatch`, 2.5.13.9.
    NumericStringOrderingMatch,
    /// `numericStringSubstringsMatch`, 2.5.13.10.
    NumericStringSubstringsMatch,
    /// `caseIgnoreListMatch`, 2.5.13.11.
    CaseIgnoreListMatch,
    /// `caseIgnoreListSubstringsMatch`, 2.5.13.12.
    CaseIgnoreListSubstringsMatch,
    /// `booleanMatch`, 2.5.13.13.
    BooleanMatch,
    /// `integerMatch`, 2.5.13.14.
    IntegerMatch,
    /// `integerOrderingMatch`, 2.5.13.15.
    IntegerOrderingMatch,
    /// `bitStringMatch`, 2.5.13.16.
    BitStringMatch,
    /// `octetStringMatch`, 2.5.13.17.
    OctetStringMatch,
    /// `octetStringOrderingMatch`, 2.5.13.18.
    OctetStringOrderingMatch,
    /// `octetStringSubstringsMatch`, 2.5.13.19.
    OctetStringSubstringsMatch,
    /// `telephoneNumberMatch`, 2.5.13.20.
    TelephoneNumberMatch,
    /// `telephoneNumberSubstringsMatch`, 2.5.13.21.
    TelephoneNumberSubstringsMatch,
    /// `presentationAddressMatch`, 2.5.13.22.
    PresentationAddressMatch,
    /// `uniqueMemberMatch`, 2.5.13.23.
    UniqueMemberMatch,
    /// `protocolInformationMatch`, 2.5.13.24.
    ProtocolInformationMatch,
    /// `generalizedTimeMatch`, 2.5.13.27.
    GeneralizedTimeMatch,
    /// `generalizedTimeOrderingMatch`, 2.5.13.28.
    GeneralizedTimeOrderingMatch,
    /// `integerFirstComponentMatch`, 2.5.13.29.
    IntegerFirstComponentMatch,
    /// `objectIdentifierFirstComponentMatch`, 2.5.13.30.
    ObjectIdentifierFirstComponentMatch,
    /// `directoryStringFirstComponentMatch`, 2.5.13.31.
    DirectoryStringFirstComponentMatch,
    /// `certificateExactMatch`, 2.5.13.34.
    CertificateExactMatch,
    /// `certificateListExactMatch`, 2.5.13.38.
    CertificateListExactMatch,
    /// `attributeCertificateExactMatch`, 2.5.13.45.
    AttributeCertificateExactMatch,
    /// `attributeCertificateMatch`, 2.5.13.42.
    AttributeCertificateMatch,
    /// `caseExactIA5Match`, 1.3.6.1.4.1.1466.109.114.1.
    CaseExactIa5Match,
    /// `caseIgnoreIA5Match`, 1.3.6.1.4.1.1466.109.114.2.
    CaseIgnoreIa5Match,
    /// `caseIgnoreIA5SubstringsMatch`, 1.3.6.1.4.1.1466.109.114.3.
    CaseIgnoreIa5SubstringsMatch,
    /// `caseExactIA5SubstringsMatch`, 1.3.6.1.4.1.4203.1.2.1.
    CaseExactIa5SubstringsMatch,
    /// `UUIDMatch`, 1.3.6.1.1.16.2.
    UuidMatch,
    /// `UUIDOrderingMatch`, 1.3.6.1.1.16.3.
    UuidOrderingMatch,
    /// `CSNMatch`, 1.3.6.1.4.1.4203.666.11.2.2.
    CsnMatch,
    /// `CSNOrderingMatch`, 1.3.6.1.4.1.4203.666.11.2.3.
    CsnOrderingMatch,
    /// `CSNSIDMatch`, 1.3.6.1.4.1.4203.666.11.2.5.
    CsnSidMatch,
    /// `authzMatch`, 1.3.6.1.4.1.4203.666.4.12.
    AuthzMatch,
    /// `privateKeyMatch`, 1.3.6.1.4.1.4203.666.4.13.
    PrivateKeyMatch,
    /// `authPasswordMatch`, 1.3.6.1.4.1.4203.1.2.3.
    AuthPasswordMatch,
    /// `integerBitAndMatch`, 1.2.840.113556.1.4.803.
    BitAnd,
    /// `integerBitOrMatch`, 1.2.840.113556.1.4.804.
    BitOr,
}

/// What a rule is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RuleKind {
    /// Two values are equal.
    Equality,
    /// A value is less than another.
    Ordering,
    /// A value holds parts.
    Substring,
    /// Only in extensible filter items.
    Extensible,
}

/// Rule, OID, name, kind, assertion syntax.
const TABLE: &[(MatchingRule, &str, &str, RuleKind, Syntax)] = &[
    (MatchingRule::ObjectIdentifierMatch, "2.5.13.0", "objectIdentifierMatch", RuleKind::Equality, Syntax::Oid),
    (
        MatchingRule::DistinguishedNameMatch,
        "2.5.13.1",
        "distinguishedNameMatch",
        RuleKind::Equality,
        Syntax::DistinguishedName,
    ),
    (MatchingRule::CaseIgnoreMatch, "2.5.13.2", "caseIgnoreMatch", RuleKind::Equality, Syntax::DirectoryString),
    (
        MatchingRule::CaseIgnoreOrderingMatch,
        "2.5.13.3",
        "caseIgnoreOrderingMatch",
        RuleKind::Ordering,
        Syntax::DirectoryString,
    ),
    (
        MatchingRule::CaseIgnoreSubstringsMatch,
        "2.5.13.4",
        "caseIgnoreSubstringsMatch",
        RuleKind::Substring,
        Syntax::SubstringAssertion,
    ),
    (MatchingRule::CaseExactMatch, "2.5.13.5", "caseExactMatch", RuleKind::Equality, Syntax::DirectoryString),
    (
        MatchingRule::CaseExactOrderingMatch,
        "2.5.13.6",
        "caseExactOrderingMatch",
        RuleKind::Ordering,
        Syntax::DirectoryString,
    ),
    (
        MatchingRule::CaseExactSubstringsMatch,
        "2.5.13.7",
        "caseExactSubstringsMatch",
        RuleKind::Substring,
        Syntax::SubstringAssertion,
    ),
    (MatchingRule::NumericStringMatch, "2.5.13.8", "numericStringMatch", RuleKind::Equality, Syntax::NumericString),
    (
        MatchingRule::NumericStringOrderingMatch,
        "2.5.13.9",
        "numericStringOrderingMatch",
        RuleKind::Ordering,
        Syntax::NumericString,
    ),
    (
        MatchingRule::NumericStringSubstringsMatch,
        "2.5.13.10",
        "numericStringSubstringsMatch",
        RuleKind::Substring,
        Syntax::SubstringAssertion,
    ),
    (MatchingRule::CaseIgnoreListMatch, "2.5.13.11", "caseIgnoreListMatch", RuleKind::Equality, Syntax::PostalAddress),
    (
        MatchingRule::CaseIgnoreListSubstringsMatch,
        "2.5.13.12",
        "caseIgnoreListSubstringsMatch",
        RuleKind::Substring,
        Syntax::SubstringAssertion,
    ),
    (MatchingRule::BooleanMatch, "2.5.13.13", "booleanMatch", RuleKind::Equality, Syntax::Boolean),
    (MatchingRule::IntegerMatch, "2.5.13.14", "integerMatch", RuleKind::Equality, Syntax::Integer),
    (MatchingRule::IntegerOrderingMatch, "2.5.13.15", "integerOrderingMatch", RuleKind::Ordering, Syntax::Integer),
    (MatchingRule::BitStringMatch, "2.5.13.16", "bitStringMatch", RuleKind::Equality, Syntax::BitString),
    (MatchingRule::OctetStringMatch, "2.5.13.17", "octetStringMatch", RuleKind::Equality, Syntax::OctetString),
    (
        MatchingRule::OctetStringOrderingMatch,
        "2.5.13.18",
        "octetStringOrderingMatch",
        RuleKind::Ordering,
        Syntax::OctetString,
    ),
    (
        MatchingRule::OctetStringSubstringsMatch,
        "2.5.13.19",
        "octetStringSubstringsMatch",
        RuleKind::Substring,
        Syntax::SubstringAssertion,
    ),
    (
        MatchingRule::TelephoneNumberMatch,
        "2.5.13.20",
        "telephoneNumberMatch",
        RuleKind::Equality,
        Syntax::TelephoneNumber,
    ),
    (
        MatchingRule::TelephoneNumberSubstringsMatch,
        "2.5.13.21",
        "telephoneNumberSubstringsMatch",
        RuleKind::Substring,
        Syntax::SubstringAssertion,
    ),
    (
        MatchingRule::PresentationAddressMatch,
        "2.5.13.22",
        "presentationAddressMatch",
        RuleKind::Equality,
        Syntax::PresentationAddress,
    ),
    (MatchingRule::UniqueMemberMatch, "2.5.13.23", "uniqueMemberMatch", RuleKind::Equality, Syntax::NameAndOptionalUid),
    (
        MatchingRule::ProtocolInformationMatch,
        "2.5.13.24",
        "protocolInformationMatch",
        RuleKind::Equality,
        Syntax::ProtocolInformation,
    ),
    (
        MatchingRule::GeneralizedTimeMatch,
        "2.5.13.27",
        "generalizedTimeMatch",
        RuleKind::Equality,
        Syntax::GeneralizedTime,
    ),
    (
        MatchingRule::GeneralizedTimeOrderingMatch,
        "2.5.13.28",
        "generalizedTimeOrderingMatch",
        RuleKind::Ordering,
        Syntax::GeneralizedTime,
    ),
    (
        MatchingRule::IntegerFirstComponentMatch,
        "2.5.13.29",
        "integerFirstComponentMatch",
        RuleKind::Equality,
        Syntax::Integer,
    ),
    (
        MatchingRule::ObjectIdentifierFirstComponentMatch,
        "2.5.13.30",
        "objectIdentifierFirstComponentMatch",
        RuleKind::Equality,
        Syntax::Oid,
    ),
    (
        MatchingRule::DirectoryStringFirstComponentMatch,
        "2.5.13.31",
        "directoryStringFirstComponentMatch",
        RuleKind::Equality,
        Syntax::DirectoryString,
    ),
    (
        MatchingRule::CertificateExactMatch,
        "2.5.13.34",
        "certificateExactMatch",
        RuleKind::Equality,
        Syntax::Certificate,
    ),
    (
        MatchingRule::CertificateListExactMatch,
        "2.5.13.38",
        "certificateListExactMatch",
        RuleKind::Equality,
        Syntax::CertificateList,
    ),
    (
        MatchingRule::AttributeCertificateExactMatch,
        "2.5.13.45",
        "attributeCertificateExactMatch",
        RuleKind::Equality,
        Syntax::AttributeCertificate,
    ),
    (
        MatchingRule::AttributeCertificateMatch,
        "2.5.13.42",
        "attributeCertificateMatch",
        RuleKind::Equality,
        Syntax::AttributeCertificate,
    ),
    (
        MatchingRule::CaseExactIa5Match,
        "1.3.6.1.4.1.1466.109.114.1",
        "caseExactIA5Match",
        RuleKind::Equality,
        Syntax::Ia5String,
    ),
    (
        MatchingRule::CaseIgnoreIa5Match,
        "1.3.6.1.4.1.1466.109.114.2",
        "caseIgnoreIA5Match",
        RuleKind::Equality,
        Syntax::Ia5String,
    ),
    (
        MatchingRule::CaseIgnoreIa5SubstringsMatch,
        "1.3.6.1.4.1.1466.109.114.3",
        "caseIgnoreIA5SubstringsMatch",
        RuleKind::Substring,
        Syntax::SubstringAssertion,
    ),
    (
        MatchingRule::CaseExactIa5SubstringsMatch,
        "1.3.6.1.4.1.4203.1.2.1",
        "caseExactIA5SubstringsMatch",
        RuleKind::Substring,
        Syntax::SubstringAssertion,
    ),
    (MatchingRule::UuidMatch, "1.3.6.1.1.16.2", "UUIDMatch", RuleKind::Equality, Syntax::Uuid),
    (MatchingRule::UuidOrderingMatch, "1.3.6.1.1.16.3", "UUIDOrderingMatch", RuleKind::Ordering, Syntax::Uuid),
    (MatchingRule::CsnMatch, "1.3.6.1.4.1.4203.666.11.2.2", "CSNMatch", RuleKind::Equality, Syntax::Csn),
    (
        MatchingRule::CsnOrderingMatch,
        "1.3.6.1.4.1.4203.666.11.2.3",
        "CSNOrderingMatch",
        RuleKind::Ordering,
        Syntax::Csn,
    ),
    (MatchingRule::CsnSidMatch, "1.3.6.1.4.1.4203.666.11.2.5", "CSNSIDMatch", RuleKind::Equality, Syntax::Sid),
    (MatchingRule::AuthzMatch, "1.3.6.1.4.1.4203.666.4.12", "authzMatch", RuleKind::Equality, Syntax::Authz),
    (
        MatchingRule::PrivateKeyMatch,
        "1.3.6.1.4.1.4203.666.4.13",
        "privateKeyMatch",
        RuleKind::Equality,
        Syntax::Pkcs8PrivateKey,
    ),
    (
        MatchingRule::AuthPasswordMatch,
        "1.3.6.1.4.1.4203.1.2.3",
        "authPasswordMatch",
        RuleKind::Equality,
        Syntax::OctetString,
    ),
    (MatchingRule::BitAnd, "1.2.840.113556.1.4.803", "integerBitAndMatch", RuleKind::Extensible, Syntax::Integer),
    (MatchingRule::BitOr, "1.2.840.113556.1.4.804", "integerBitOrMatch", RuleKind::Extensible, Syntax::Integer),
];

impl MatchingRule {
    /// The rule of a name or OID, in any case.
    pub fn from_name_or_oid(name_or_oid: impl AsRef<[u8]>) -> Option<Self> {
        let text = name_or_oid.as_ref();
        let rule = TABLE
            .iter()
            .find(|row| row.2.as_bytes().eq_ignore_ascii_case(text) || row.1.as_bytes() == text)
            .map(|row| row.0);
        match rule {
            Some(rule) => Some(rule),
            // Names that others give to the same rules.
            None if text.eq_ignore_ascii_case(b"caseExactIA5SubstringMatch") => Some(Self::CaseExactIa5SubstringsMatch),
            None if text.eq_ignore_ascii_case(b"caseIgnoreIA5SubstringMatch") => {
                Some(Self::CaseIgnoreIa5SubstringsMatch)
            }
            None => None,
        }
    }

    /// Every rule.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| row.0)
    }

    fn row(self) -> &'static (Self, &'static str, &'static str, RuleKind, Syntax) {
        &TABLE[self as usize]
    }

    /// Its OID.
    pub fn oid(self) -> &'static str {
        self.row().1
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.row().2
    }

    /// What it is for.
    pub fn kind(self) -> RuleKind {
        self.row().3
    }

    /// The syntax of its assertions.
    pub fn syntax(self) -> Syntax {
        self.row().4
    }

    /// The key of a stored value: two values match by this rule iff their keys are the same octets. An ordering
    /// rule's keys compare as the values do; a substrings rule's are those of its equality rule.
    pub fn normalize(self, value: &[u8], schema: &Schema) -> Result<Vec<u8>, InvalidValue> {
        let mut out = Vec::with_capacity(value.len() + 8);
        self.normalize_into(value, schema, &mut out)?;
        Ok(out)
    }

    /// [`Self::normalize`], appended to `out`. On an error `out` may have grown.
    pub fn normalize_into(self, value: &[u8], schema: &Schema, out: &mut Vec<u8>) -> Result<(), InvalidValue> {
        normalize::value(self, value, schema, out)
    }

    /// The key of an asserted value, to compare with [`Self::normalize`]'s keys. Differs from it only for the
    /// first-component rules, whose assertion is not of the attribute's syntax.
    pub fn normalize_assertion(self, assertion: &[u8], schema: &Schema) -> Result<Vec<u8>, InvalidValue> {
        let mut out = Vec::with_capacity(assertion.len() + 8);
        normalize::assertion(self, assertion, schema, &mut out)?;
        Ok(out)
    }

    /// The key of a value for `<=`, `>=` and sorting: keys compare, octet by octet, as values do by this rule.
    /// Fails for rules without an order ([`Self::has_order`]); for the others it is the same as the equality key, so
    /// that one index serves both.
    pub fn ordering_key(self, value: &[u8], schema: &Schema) -> Result<Vec<u8>, InvalidValue> {
        let mut out = Vec::with_capacity(value.len() + 8);
        self.ordering_key_into(value, schema, &mut out)?;
        Ok(out)
    }

    /// [`Self::ordering_key`], appended to `out`. On an error `out` may have grown.
    pub fn ordering_key_into(self, value: &[u8], schema: &Schema, out: &mut Vec<u8>) -> Result<(), InvalidValue> {
        ordering::key(self, value, schema, out)
    }

    /// The form of a stored value that substring assertions are sought in: RFC 4518, 2.6.1 puts one space at
    /// either end and two for each inner run. Fails for rules that are not of the kind Substring.
    pub fn substring_value_into(self, value: &[u8], schema: &Schema, out: &mut Vec<u8>) -> Result<(), InvalidValue> {
        substring::value(self, value, schema, out)
    }

    /// The form of an `initial` assertion: a prefix of [`Self::substring_value_into`]'s form iff it matches.
    pub fn normalize_initial(self, part: &[u8], schema: &Schema) -> Result<Vec<u8>, InvalidValue> {
        substring::part(self, part, Part::Initial, schema)
    }

    /// The form of an `any` assertion: within the value's form iff it matches.
    pub fn normalize_any(self, part: &[u8], schema: &Schema) -> Result<Vec<u8>, InvalidValue> {
        substring::part(self, part, Part::Any, schema)
    }

    /// The form of a `final` assertion: a suffix of the value's form iff it matches.
    pub fn normalize_final(self, part: &[u8], schema: &Schema) -> Result<Vec<u8>, InvalidValue> {
        substring::part(self, part, Part::Final, schema)
    }

    /// Words of the value as they sound, for approximate matching: an assertion matches a value when each of its
    /// keys is among the value's. Empty when the rule is not one of text.
    pub fn approx_key(self, value: &[u8]) -> Vec<Vec<u8>> {
        if self.is_text() { approx::approx_key(value) } else { Vec::new() }
    }

    /// True when the rule compares text, so that approximate matching has a meaning.
    pub fn is_text(self) -> bool {
        matches!(
            self.syntax(),
            Syntax::DirectoryString | Syntax::Ia5String | Syntax::PostalAddress | Syntax::NumericString
        )
    }

    /// Whether the value matches the assertion by a rule of any kind but Substring; for an ordering rule, whether
    /// the value is less (RFC 4517, 4.2). Used by extensible filter items.
    pub fn extensible_match(self, value: &[u8], assertion: &[u8], schema: &Schema) -> Result<bool, InvalidValue> {
        normalize::extensible(self, value, assertion, schema)
    }
}
