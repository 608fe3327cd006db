//! Syntaxes: which octets are values of what kind (RFC 4517, 3; RFC 2252, 2307, 4523 and 4530 for the older and
//! the further ones).

mod strings;
#[cfg(test)]
mod tests;
pub(crate) mod time;
pub(crate) mod validate;

pub(crate) use strings::{is_descr, is_numeric_oid};

/// A syntax that attribute types may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Syntax {
    /// ACI Item, `1.3.6.1.4.1.1466.115.121.1.1`.
    AciItem,
    /// Access Point, `1.3.6.1.4.1.1466.115.121.1.2`.
    AccessPoint,
    /// Attribute Type Description, `1.3.6.1.4.1.1466.115.121.1.3`.
    AttributeTypeDescription,
    /// Audio, `1.3.6.1.4.1.1466.115.121.1.4`.
    Audio,
    /// Binary, `1.3.6.1.4.1.1466.115.121.1.5`.
    Binary,
    /// Bit String, `1.3.6.1.4.1.1466.115.121.1.6`.
    BitString,
    /// Boolean, `1.3.6.1.4.1.1466.115.121.1.7`.
    Boolean,
    /// Certificate, `1.3.6.1.4.1.1466.115.121.1.8`.
    Certificate,
    /// Certificate List, `1.3.6.1.4.1.1466.115.121.1.9`.
    CertificateList,
    /// Certificate Pair, `1.3.6.1.4.1.1466.115.121.1.10`.
    CertificatePair,
    /// Country String, `1.3.6.1.4.1.1466.115.121.1.11`.
    CountryString,
    /// DN, `1.3.6.1.4.1.1466.115.121.1.12`.
    DistinguishedName,
    /// Data Quality, `1.3.6.1.4.1.1466.115.121.1.13`.
    DataQuality,
    /// Delivery Method, `1.3.6.1.4.1.1466.115.121.1.14`.
    DeliveryMethod,
    /// Directory String, `1.3.6.1.4.1.1466.115.121.1.15`.
    DirectoryString,
    /// DIT Content Rule Description, `1.3.6.1.4.1.1466.115.121.1.16`.
    DitContentRuleDescription,
    /// DIT Structure Rule Description, `1.3.6.1.4.1.1466.115.121.1.17`.
    DitStructureRuleDescription,
    /// DL Submit Permission, `1.3.6.1.4.1.1466.115.121.1.18`.
    DlSubmitPermission,
    /// DSA Quality, `1.3.6.1.4.1.1466.115.121.1.19`.
    DsaQuality,
    /// DSE Type, `1.3.6.1.4.1.1466.115.121.1.20`.
    DseType,
    /// Enhanced Guide, `1.3.6.1.4.1.1466.115.121.1.21`.
    EnhancedGuide,
    /// Facsimile Telephone Number, `1.3.6.1.4.1.1466.115.121.1.22`.
    FacsimileTelephoneNumber,
    /// Fax, `1.3.6.1.4.1.1466.115.121.1.23`.
    Fax,
    /// Generalized Time, `1.3.6.1.4.1.1466.115.121.1.24`.
    GeneralizedTime,
    /// Guide, `1.3.6.1.4.1.1466.115.121.1.25`.
    Guide,
    /// IA5 String, `1.3.6.1.4.1.1466.115.121.1.26`.
    Ia5String,
    /// INTEGER, `1.3.6.1.4.1.1466.115.121.1.27`.
    Integer,
    /// JPEG, `1.3.6.1.4.1.1466.115.121.1.28`.
    Jpeg,
    /// Matching Rule Description, `1.3.6.1.4.1.1466.115.121.1.30`.
    MatchingRuleDescription,
    /// Matching Rule Use Description, `1.3.6.1.4.1.1466.115.121.1.31`.
    MatchingRuleUseDescription,
    /// Mail Preference, `1.3.6.1.4.1.1466.115.121.1.32`.
    MailPreference,
    /// MHS OR Address, `1.3.6.1.4.1.1466.115.121.1.33`.
    MhsOrAddress,
    /// Name And Optional UID, `1.3.6.1.4.1.1466.115.121.1.34`.
    NameAndOptionalUid,
    /// Name Form Description, `1.3.6.1.4.1.1466.115.121.1.35`.
    NameFormDescription,
    /// Numeric String, `1.3.6.1.4.1.1466.115.121.1.36`.
    NumericString,
    /// Object Class Description, `1.3.6.1.4.1.1466.115.121.1.37`.
    ObjectClassDescription,
    /// OID, `1.3.6.1.4.1.1466.115.121.1.38`.
    Oid,
    /// Other Mailbox, `1.3.6.1.4.1.1466.115.121.1.39`.
    OtherMailbox,
    /// Octet String, `1.3.6.1.4.1.1466.115.121.1.40`.
    OctetString,
    /// Postal Address, `1.3.6.1.4.1.1466.115.121.1.41`.
    PostalAddress,
    /// Protocol Information, `1.3.6.1.4.1.1466.115.121.1.42`.
    ProtocolInformation,
    /// Presentation Address, `1.3.6.1.4.1.1466.115.121.1.43`.
    PresentationAddress,
    /// Printable String, `1.3.6.1.4.1.1466.115.121.1.44`.
    PrintableString,
    /// Subtree Specification, `1.3.6.1.4.1.1466.115.121.1.45`.
    SubtreeSpecification,
    /// Supported Algorithm, `1.3.6.1.4.1.1466.115.121.1.49`.
    SupportedAlgorithm,
    /// Telephone Number, `1.3.6.1.4.1.1466.115.121.1.50`.
    TelephoneNumber,
    /// Teletex Terminal Identifier, `1.3.6.1.4.1.1466.115.121.1.51`.
    TeletexTerminalIdentifier,
    /// Telex Number, `1.3.6.1.4.1.1466.115.121.1.52`.
    TelexNumber,
    /// UTC Time, `1.3.6.1.4.1.1466.115.121.1.53`.
    UtcTime,
    /// LDAP Syntax Description, `1.3.6.1.4.1.1466.115.121.1.54`.
    LdapSyntaxDescription,
    /// Modify Rights, `1.3.6.1.4.1.1466.115.121.1.55`.
    ModifyRights,
    /// LDAP Schema Definition, `1.3.6.1.4.1.1466.115.121.1.56`.
    LdapSchemaDefinition,
    /// LDAP Schema Description, `1.3.6.1.4.1.1466.115.121.1.57`.
    LdapSchemaDescription,
    /// Substring Assertion, `1.3.6.1.4.1.1466.115.121.1.58`.
    SubstringAssertion,
    /// RFC 2307 NIS Netgroup Triple, `1.3.6.1.1.1.0.0`.
    NisNetgroupTriple,
    /// RFC 2307 Boot Parameter, `1.3.6.1.1.1.0.1`.
    BootParameter,
    /// UUID, `1.3.6.1.1.16.1`.
    Uuid,
    /// Change Sequence Number, `1.3.6.1.4.1.4203.666.11.2.1`.
    Csn,
    /// Change Sequence Number SID, `1.3.6.1.4.1.4203.666.11.2.4`.
    Sid,
    /// Authentication Password, `1.3.6.1.4.1.4203.1.1.2`.
    AuthPassword,
    /// OpenLDAP authz, `1.3.6.1.4.1.4203.666.2.7`.
    Authz,
    /// X.509 Attribute Certificate, `1.3.6.1.4.1.4203.666.11.10.2.1`.
    AttributeCertificate,
    /// PKCS#8 PrivateKeyInfo, `1.2.840.113549.1.8.1.1`.
    Pkcs8PrivateKey,
    /// Large Integer, `1.2.840.113556.1.4.906`.
    LargeInteger,
    /// Case Ignore String (Teletex), `1.2.840.113556.1.4.905`.
    CaseIgnoreTeletex,
}

/// OID, name and whether values are octets that people cannot read.
const TABLE: &[(Syntax, &str, &str, bool)] = &[
    (Syntax::AciItem, "1.3.6.1.4.1.1466.115.121.1.1", "ACI Item", false),
    (Syntax::AccessPoint, "1.3.6.1.4.1.1466.115.121.1.2", "Access Point", false),
    (Syntax::AttributeTypeDescription, "1.3.6.1.4.1.1466.115.121.1.3", "Attribute Type Description", false),
    (Syntax::Audio, "1.3.6.1.4.1.1466.115.121.1.4", "Audio", true),
    (Syntax::Binary, "1.3.6.1.4.1.1466.115.121.1.5", "Binary", true),
    (Syntax::BitString, "1.3.6.1.4.1.1466.115.121.1.6", "Bit String", false),
    (Syntax::Boolean, "1.3.6.1.4.1.1466.115.121.1.7", "Boolean", false),
    (Syntax::Certificate, "1.3.6.1.4.1.1466.115.121.1.8", "Certificate", true),
    (Syntax::CertificateList, "1.3.6.1.4.1.1466.115.121.1.9", "Certificate List", true),
    (Syntax::CertificatePair, "1.3.6.1.4.1.1466.115.121.1.10", "Certificate Pair", true),
    (Syntax::CountryString, "1.3.6.1.4.1.1466.115.121.1.11", "Country String", false),
    (Syntax::DistinguishedName, "1.3.6.1.4.1.1466.115.121.1.12", "DN", false),
    (Syntax::DataQuality, "1.3.6.1.4.1.1466.115.121.1.13", "Data Quality", false),
    (Syntax::DeliveryMethod, "1.3.6.1.4.1.1466.115.121.1.14", "Delivery Method", false),
    (Syntax::DirectoryString, "1.3.6.1.4.1.1466.115.121.1.15", "Directory String", false),
    (Syntax::DitContentRuleDescription, "1.3.6.1.4.1.1466.115.121.1.16", "DIT Content Rule Description", false),
    (Syntax::DitStructureRuleDescription, "1.3.6.1.4.1.1466.115.121.1.17", "DIT Structure Rule Description", false),
    (Syntax::DlSubmitPermission, "1.3.6.1.4.1.1466.115.121.1.18", "DL Submit Permission", false),
    (Syntax::DsaQuality, "1.3.6.1.4.1.1466.115.121.1.19", "DSA Quality", false),
    (Syntax::DseType, "1.3.6.1.4.1.1466.115.121.1.20", "DSE Type", false),
    (Syntax::EnhancedGuide, "1.3.6.1.4.1.1466.115.121.1.21", "Enhanced Guide", false),
    (Syntax::FacsimileTelephoneNumber, "1.3.6.1.4.1.1466.115.121.1.22", "Facsimile Telephone Number", false),
    (Syntax::Fax, "1.3.6.1.4.1.1466.115.121.1.23", "Fax", true),
    (Syntax::GeneralizedTime, "1.3.6.1.4.1.1466.115.121.1.24", "Generalized Time", false),
    (Syntax::Guide, "1.3.6.1.4.1.1466.115.121.1.25", "Guide", false),
    (Syntax::Ia5String, "1.3.6.1.4.1.1466.115.121.1.26", "IA5 String", false),
    (Syntax::Integer, "1.3.6.1.4.1.1466.115.121.1.27", "INTEGER", false),
    (Syntax::Jpeg, "1.3.6.1.4.1.1466.115.121.1.28", "JPEG", true),
    (Syntax::MatchingRuleDescription, "1.3.6.1.4.1.1466.115.121.1.30", "Matching Rule Description", false),
    (Syntax::MatchingRuleUseDescription, "1.3.6.1.4.1.1466.115.121.1.31", "Matching Rule Use Description", false),
    (Syntax::MailPreference, "1.3.6.1.4.1.1466.115.121.1.32", "Mail Preference", false),
    (Syntax::MhsOrAddress, "1.3.6.1.4.1.1466.115.121.1.33", "MHS OR Address", false),
    (Syntax::NameAndOptionalUid, "1.3.6.1.4.1.1466.115.121.1.34", "Name And Optional UID", false),
    (Syntax::NameFormDescription, "1.3.6.1.4.1.1466.115.121.1.35", "Name Form Description", false),
    (Syntax::NumericString, "1.3.6.1.4.1.1466.115.121.1.36", "Numeric String", false),
    (Syntax::ObjectClassDescription, "1.3.6.1.4.1.1466.115.121.1.37", "Object Class Description", false),
    (Syntax::Oid, "1.3.6.1.4.1.1466.115.121.1.38", "OID", false),
    (Syntax::OtherMailbox, "1.3.6.1.4.1.1466.115.121.1.39", "Other Mailbox", false),
    (Syntax::OctetString, "1.3.6.1.4.1.1466.115.121.1.40", "Octet String", false),
    (Syntax::PostalAddress, "1.3.6.1.4.1.1466.115.121.1.41", "Postal Address", false),
    (Syntax::ProtocolInformation, "1.3.6.1.4.1.1466.115.121.1.42", "Protocol Information", false),
    (Syntax::PresentationAddress, "1.3.6.1.4.1.1466.115.121.1.43", "Presentation Address", false),
    (Syntax::PrintableString, "1.3.6.1.4.1.1466.115.121.1.44", "Printable String", false),
    (Syntax::SubtreeSpecification, "1.3.6.1.4.1.1466.115.121.1.45", "Subtree Specification", false),
    (Syntax::SupportedAlgorithm, "1.3.6.1.4.1.1466.115.121.1.49", "Supported Algorithm", true),
    (Syntax::TelephoneNumber, "1.3.6.1.4.1.1466.115.121.1.50", "Telephone Number", false),
    (Syntax::TeletexTerminalIdentifier, "1.3.6.1.4.1.1466.115.121.1.51", "Teletex Terminal Identifier", false),
    (Syntax::TelexNumber, "1.3.6.1.4.1.1466.115.121.1.52", "Telex Number", false),
    (Syntax::UtcTime, "1.3.6.1.4.1.1466.115.121.1.53", "UTC Time", false),
    (Syntax::LdapSyntaxDescription, "1.3.6.1.4.1.1466.115.121.1.54", "LDAP Syntax Description", false),
    (Syntax::ModifyRights, "1.3.6.1.4.1.1466.115.121.1.55", "Modify Rights", false),
    (Syntax::LdapSchemaDefinition, "1.3.6.1.4.1.1466.115.121.1.56", "LDAP Schema Definition", false),
    (Syntax::LdapSchemaDescription, "1.3.6.1.4.1.1466.115.121.1.57", "LDAP Schema Description", false),
    (Syntax::SubstringAssertion, "1.3.6.1.4.1.1466.115.121.1.58", "Substring Assertion", false),
    (Syntax::NisNetgroupTriple, "1.3.6.1.1.1.0.0", "RFC 2307 NIS Netgroup Triple", false),
    (Syntax::BootParameter, "1.3.6.1.1.1.0.1", "RFC 2307 Boot Parameter", false),
    (Syntax::Uuid, "1.3.6.1.1.16.1", "UUID", false),
    (Syntax::Csn, "1.3.6.1.4.1.4203.666.11.2.1", "Change Sequence Number", false),
    (Syntax::Sid, "1.3.6.1.4.1.4203.666.11.2.4", "Change Sequence Number SID", false),
    (Syntax::AuthPassword, "1.3.6.1.4.1.4203.1.1.2", "Authentication Password", false),
    (Syntax::Authz, "1.3.6.1.4.1.4203.666.2.7", "OpenLDAP authz", false),
    (Syntax::AttributeCertificate, "1.3.6.1.4.1.4203.666.11.10.2.1", "X.509 Attribute Certificate", true),
    (Syntax::Pkcs8PrivateKey, "1.2.840.113549.1.8.1.1", "PKCS#8 PrivateKeyInfo", true),
    (Syntax::LargeInteger, "1.2.840.113556.1.4.906", "Large Integer", false),
    (Syntax::CaseIgnoreTeletex, "1.2.840.113556.1.4.905", "Case Ignore String (Teletex)", false),
];

impl Syntax {
    /// The syntax of an OID.
    pub fn from_oid(oid: &str) -> Option<Self> {
        TABLE.iter().find(|row| row.1 == oid).map(|row| row.0)
    }

    /// Every syntax, by OID.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| row.0)
    }

    fn row(self) -> &'static (Self, &'static str, &'static str, bool) {
        &TABLE[self as usize]
    }

    /// Its OID.
    pub fn oid(self) -> &'static str {
        self.row().1
    }

    /// Its name, for people and for `DESC` in the subschema.
    pub fn description(self) -> &'static str {
        self.row().2
    }

    /// True when values are octets to be shown in base64.
    pub fn is_binary(self) -> bool {
        self.row().3
    }

    /// Refuses what is not a value of this syntax.
    pub fn validate(self, value: &[u8]) -> Result<(), crate::error::InvalidValue> {
        validate::validate(self, value)
    }
}
