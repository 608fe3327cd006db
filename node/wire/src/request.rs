//! The requests (RFC 4511 section 4): one struct each, borrowed from the message. A server
//! decodes them through [`crate::message`], a client writes them through [`crate::client`].

use std::fmt;

use crate::attribute::{Attribute, Attributes};
use crate::ber::{ENUMERATED, INTEGER, Reader, SEQUENCE, Tlv, context, context_constructed, read, write};
use crate::error::{DecodeError, DecodeErrorKind};
use crate::filter::{Assertion, Filter};
use crate::limits::Limits;
use crate::list::{Element, List, OctetStrings};
use crate::tag::RequestTag;

const AUTH_SIMPLE: u8 = context(0);
const AUTH_SASL: u8 = context_constructed(3);
const NEW_SUPERIOR: u8 = context(0);
const REQUEST_NAME: u8 = context(0);
const REQUEST_VALUE: u8 = context(1);

/// A request of any kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request<'a> {
    /// Section 4.2.
    Bind(BindRequest<'a>),
    /// Section 4.3. It has no answer; the connection ends.
    Unbind,
    /// Section 4.5.
    Search(SearchRequest<'a>),
    /// Section 4.6.
    Modify(ModifyRequest<'a>),
    /// Section 4.7.
    Add(AddRequest<'a>),
    /// Section 4.8.
    Delete(DeleteRequest<'a>),
    /// Section 4.9.
    ModifyDn(ModifyDnRequest<'a>),
    /// Section 4.10.
    Compare(CompareRequest<'a>),
    /// Section 4.11. It has no answer.
    Abandon(AbandonRequest),
    /// Section 4.12.
    Extended(ExtendedRequest<'a>),
}

/// BindRequest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BindRequest<'a> {
    /// LDAP version, 1 to 127; other than 3 is to be answered by protocolError (section 4.2).
    pub version: u8,
    /// DN, empty for anonymous and for SASL.
    pub name: &'a [u8],
    /// Method and credentials.
    pub authentication: Authentication<'a>,
}

/// AuthenticationChoice.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Authentication<'a> {
    /// A password, in any encoding.
    Simple(&'a [u8]),
    /// SASL.
    Sasl {
        /// Mechanism name; empty aborts a negotiation (section 4.2.1).
        mechanism: &'a [u8],
        /// Credentials; absent and empty differ.
        credentials: Option<&'a [u8]>,
    },
    /// A choice that LDAPv3 does not define: to be answered by authMethodNotSupported (section 4.2).
    Unknown {
        /// The identifier octet.
        tag: u8,
        /// Its content.
        content: &'a [u8],
    },
}

/// Never shows credentials.
impl fmt::Debug for Authentication<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Simple(_) => write!(f, "simple"),
            Self::Sasl { mechanism, .. } => write!(f, "SASL {}", mechanism.escape_ascii()),
            Self::Unknown { tag, .. } => write!(f, "unknown method 0x{tag:02x}"),
        }
    }
}

/// Scope of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Scope {
    /// The base entry only.
    BaseObject = 0,
    /// The entries directly below the base.
    SingleLevel = 1,
    /// The base and everything below.
    WholeSubtree = 2,
    /// Everything below the base, without it (draft-sermersheim-ldap-subordinate-scope).
    SubordinateSubtree = 3,
}

/// When to follow aliases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum DerefAliases {
    /// Never.
    Never = 0,
    /// In what is found below the base.
    InSearching = 1,
    /// In finding the base.
    FindingBase = 2,
    /// In both.
    Always = 3,
}

/// SearchRequest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchRequest<'a> {
    /// DN of the base.
    pub base: &'a [u8],
    /// Scope.
    pub scope: Scope,
    /// Alias handling.
    pub deref_aliases: DerefAliases,
    /// Most entries wanted; 0 is no limit of the client's. Not negative.
    pub size_limit: i32,
    /// Most time wanted, in seconds; 0 is no limit of the client's. Not negative.
    pub time_limit_s: i32,
    /// Descriptions without values.
    pub types_only: bool,
    /// The filter.
    pub filter: Filter<'a>,
    /// Attributes wanted: descriptions, `*`, `+`, `1.1`, `@class`; empty is as `*`.
    pub attributes: OctetStrings<'a>,
}

/// ModifyRequest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModifyRequest<'a> {
    /// DN of the entry.
    pub dn: &'a [u8],
    /// Changes, to be applied in order and all or none.
    pub changes: List<'a, Change<'a>>,
}

/// What a change does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ChangeOperation {
    /// Add values.
    Add = 0,
    /// Delete values, or the attribute when there are none.
    Delete = 1,
    /// Replace the attribute; by no values: remove it.
    Replace = 2,
    /// Increment by the one value (RFC 4525).
    Increment = 3,
}

/// One change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change<'a> {
    /// What to do.
    pub operation: ChangeOperation,
    /// With what.
    pub modification: Attribute<'a>,
}

/// AddRequest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddRequest<'a> {
    /// DN of the entry.
    pub dn: &'a [u8],
    /// Attributes, each with at least one value.
    pub attributes: Attributes<'a>,
}

/// DelRequest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeleteRequest<'a> {
    /// DN of the entry.
    pub dn: &'a [u8],
}

/// ModifyDNRequest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModifyDnRequest<'a> {
    /// DN of the entry.
    pub dn: &'a [u8],
    /// The new RDN.
    pub new_rdn: &'a [u8],
    /// Whether the values of the old RDN go.
    pub delete_old_rdn: bool,
    /// DN of the new parent.
    pub new_superior: Option<&'a [u8]>,
}

/// CompareRequest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompareRequest<'a> {
    /// DN of the entry.
    pub dn: &'a [u8],
    /// What to compare.
    pub assertion: Assertion<'a>,
}

/// AbandonRequest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AbandonRequest {
    /// Message id of the operation to abandon.
    pub message_id: i32,
}

/// ExtendedRequest.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ExtendedRequest<'a> {
    /// OID of the operation.
    pub name: &'a [u8],
    /// Its value; absent and empty differ.
    pub value: Option<&'a [u8]>,
}

/// Shows no value: password modify carries passwords.
impl fmt::Debug for ExtendedRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (value of {:?} bytes)", self.name.escape_ascii(), self.value.map(<[u8]>::len))
    }
}

/// Reads an ENUMERATED that must be one of `known`, which holds value `n` at position `n`.
#[inline]
fn enumerated<T: Copy>(reader: &mut Reader<'_>, known: &[T], what: &'static str) -> Result<T, DecodeError> {
    let tlv = reader.expect(ENUMERATED, what)?;
    let value = tlv.integer(what)?;
    let choice = usize::try_from(value).ok().and_then(|index| known.get(index));
    choice.copied().ok_or_else(|| tlv.fault(what, DecodeErrorKind::OutOfRange(value)))
}

impl<'a> Request<'a> {
    /// Decodes the content of protocolOp.
    #[inline]
    pub(crate) fn decode(tag: RequestTag, operation: &Tlv<'a>, limits: &Limits) -> Result<Self, DecodeError> {
        let reader = operation.reader();
        Ok(match tag {
            RequestTag::Search => Request::Search(SearchRequest::read(reader, limits)?),
            RequestTag::Bind => Request::Bind(BindRequest::read(reader)?),
            RequestTag::Unbind => {
                reader.finish("UnbindRequest")?;
                Request::Unbind
            }
            RequestTag::Modify => Request::Modify(ModifyRequest::read(reader, limits)?),
            RequestTag::Add => Request::Add(AddRequest::read(reader, limits)?),
            RequestTag::Delete => Request::Delete(DeleteRequest { dn: operation.content }),
            RequestTag::ModifyDn => Request::ModifyDn(ModifyDnRequest::read(reader)?),
            RequestTag::Compare => Request::Compare(CompareRequest::read(reader)?),
            RequestTag::Abandon => {
                Request::Abandon(AbandonRequest { message_id: read::non_negative(operation, "AbandonRequest")? })
            }
            RequestTag::Extended => Request::Extended(ExtendedRequest::read(reader)?),
        })
    }

    /// The request's identifier octet.
    pub fn tag(&self) -> RequestTag {
        match self {
            Request::Bind(_) => RequestTag::Bind,
            Request::Unbind => RequestTag::Unbind,
            Request::Search(_) => RequestTag::Search,
            Request::Modify(_) => RequestTag::Modify,
            Request::Add(_) => RequestTag::Add,
            Request::Delete(_) => RequestTag::Delete,
            Request::ModifyDn(_) => RequestTag::ModifyDn,
            Request::Compare(_) => RequestTag::Compare,
            Request::Abandon(_) => RequestTag::Abandon,
            Request::Extended(_) => RequestTag::Extended,
        }
    }

    /// Appends protocolOp.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let tag = self.tag() as u8;
        match self {
            Request::Bind(bind) => write::put_constructed(out, tag, |out| bind.write(out)),
            Request::Unbind => write::put_header(out, tag, 0),
            Request::Search(search) => write::put_constructed(out, tag, |out| search.write(out)),
            Request::Modify(modify) => write::put_constructed(out, tag, |out| {
                write::put_octets(out, modify.dn);
                modify.changes.write(out, SEQUENCE);
            }),
            Request::Add(add) => write::put_constructed(out, tag, |out| {
                write::put_octets(out, add.dn);
                add.attributes.write(out, SEQUENCE);
            }),
            Request::Delete(delete) => write::put_tlv(out, tag, delete.dn),
            Request::ModifyDn(modify_dn) => write::put_constructed(out, tag, |out| {
                write::put_octets(out, modify_dn.dn);
                write::put_octets(out, modify_dn.new_rdn);
                write::put_boolean(out, modify_dn.delete_old_rdn);
                write::put_optional(out, NEW_SUPERIOR, modify_dn.new_superior);
            }),
            Request::Compare(compare) => write::put_constructed(out, tag, |out| {
                write::put_octets(out, compare.dn);
                compare.assertion.write_sequence(out);
            }),
            Request::Abandon(abandon) => write::put_tagged_integer(out, tag, abandon.message_id.into()),
            Request::Extended(extended) => write::put_constructed(out, tag, |out| {
                write::put_tlv(out, REQUEST_NAME, extended.name);
                write::put_optional(out, REQUEST_VALUE, extended.value);
            }),
        }
    }
}

impl<'a> BindRequest<'a> {
    fn read(mut reader: Reader<'a>) -> Result<Self, DecodeError> {
        let tlv = reader.expect(INTEGER, "version")?;
        let number = tlv.integer("version")?;
        let version = match u8::try_from(number) {
            Ok(version @ 1..=127) => version,
            _ => return Err(tlv.fault("version", DecodeErrorKind::OutOfRange(number))),
        };
        let name = reader.octets("name")?;
        let at = reader;
        let method = reader.any("authentication")?;
        let authentication = match method.tag {
            AUTH_SIMPLE => Authentication::Simple(method.content),
            AUTH_SASL => {
                let mut sasl = method.reader();
                let mechanism = sasl.octets("mechanism")?;
                let credentials = sasl.optional_octets(crate::ber::OCTET_STRING, "credentials")?;
                sasl.skip_unknown("SaslCredentials")?;
                Authentication::Sasl { mechanism, credentials }
            }
            tag if tag & 0xC0 == 0x80 && tag & 0x1F != 0 && tag & 0x1F != 3 => {
                Authentication::Unknown { tag, content: method.content }
            }
            found => return Err(at.fault("authentication", DecodeErrorKind::UnexpectedTag { found })),
        };
        reader.skip_unknown("BindRequest")?;
        Ok(BindRequest { version, name, authentication })
    }

    fn write(&self, out: &mut Vec<u8>) {
        write::put_integer(out, self.version.into());
        write::put_octets(out, self.name);
        match self.authentication {
            Authentication::Simple(password) => write::put_tlv(out, AUTH_SIMPLE, password),
            Authentication::Sasl { mechanism, credentials } => write::put_constructed(out, AUTH_SASL, |out| {
                write::put_octets(out, mechanism);
                write::put_optional(out, crate::ber::OCTET_STRING, credentials);
            }),
            Authentication::Unknown { tag, content } => write::put_tlv(out, tag, content),
        }
    }
}

impl<'a> SearchRequest<'a> {
    #[inline]
    fn read(mut reader: Reader<'a>, limits: &Limits) -> Result<Self, DecodeError> {
        const SCOPES: [Scope; 4] =
            [Scope::BaseObject, Scope::SingleLevel, Scope::WholeSubtree, Scope::SubordinateSubtree];
        const DEREFS: [DerefAliases; 4] =
            [DerefAliases::Never, DerefAliases::InSearching, DerefAliases::FindingBase, DerefAliases::Always];
        let base = reader.octets("baseObject")?;
        let scope = enumerated(&mut reader, &SCOPES, "scope")?;
        let deref_aliases = enumerated(&mut reader, &DEREFS, "derefAliases")?;
        let size_limit = reader.non_negative("sizeLimit")?;
        let time_limit_s = reader.non_negative("timeLimit")?;
        let types_only = reader.boolean("typesOnly")?;
        let filter = Filter::read(&mut reader, limits)?;
        let attributes = List::decode(reader.sequence("attributes")?, limits.selectors, "attributes")?;
        reader.skip_unknown("SearchRequest")?;
        Ok(SearchRequest { base, scope, deref_aliases, size_limit, time_limit_s, types_only, filter, attributes })
    }

    fn write(&self, out: &mut Vec<u8>) {
        write::put_octets(out, self.base);
        write::put_enumerated(out, self.scope as i64);
        write::put_enumerated(out, self.deref_aliases as i64);
        write::put_integer(out, self.size_limit.into());
        write::put_integer(out, self.time_limit_s.into());
        write::put_boolean(out, self.types_only);
        self.filter.write(out);
        self.attributes.write(out, SEQUENCE);
    }
}

impl<'a> ModifyRequest<'a> {
    fn read(mut reader: Reader<'a>, limits: &Limits) -> Result<Self, DecodeError> {
        let dn = reader.octets("object")?;
        let changes = List::decode(reader.sequence("changes")?, limits.changes, "changes")?;
        reader.skip_unknown("ModifyRequest")?;
        Ok(ModifyRequest { dn, changes })
    }
}

impl<'a> Element<'a> for Change<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        const OPERATIONS: [ChangeOperation; 4] =
            [ChangeOperation::Add, ChangeOperation::Delete, ChangeOperation::Replace, ChangeOperation::Increment];
        let mut change = reader.sequence("change")?;
        let operation = enumerated(&mut change, &OPERATIONS, "operation")?;
        let modification = Attribute::read(&mut change)?;
        change.skip_unknown("change")?;
        Ok(Change { operation, modification })
    }

    fn write(&self, out: &mut Vec<u8>) {
        write::put_constructed(out, SEQUENCE, |out| {
            write::put_enumerated(out, self.operation as i64);
            self.modification.write(out);
        });
    }
}

impl<'a> AddRequest<'a> {
    fn read(mut reader: Reader<'a>, limits: &Limits) -> Result<Self, DecodeError> {
        let dn = reader.octets("entry")?;
        let list = reader.sequence("attributes")?;
        // Attribute, unlike PartialAttribute, has at least one value (section 4.1.7).
        let attributes = List::decode_checked(list, limits.attributes, "attributes", |attribute: &Attribute<'_>| {
            if attribute.values.is_empty() { Err(DecodeErrorKind::Empty) } else { Ok(()) }
        })?;
        reader.skip_unknown("AddRequest")?;
        Ok(AddRequest { dn, attributes })
    }
}

impl<'a> ModifyDnRequest<'a> {
    fn read(mut reader: Reader<'a>) -> Result<Self, DecodeError> {
        let dn = reader.octets("entry")?;
        let new_rdn = reader.octets("newrdn")?;
        let delete_old_rdn = reader.boolean("deleteoldrdn")?;
        let new_superior = reader.optional_octets(NEW_SUPERIOR, "newSuperior")?;
        reader.skip_unknown("ModifyDNRequest")?;
        Ok(ModifyDnRequest { dn, new_rdn, delete_old_rdn, new_superior })
    }
}

impl<'a> CompareRequest<'a> {
    fn read(mut reader: Reader<'a>) -> Result<Self, DecodeError> {
        let dn = reader.octets("entry")?;
        let assertion = Assertion::read_sequence(&mut reader)?;
        reader.skip_unknown("CompareRequest")?;
        Ok(CompareRequest { dn, assertion })
    }
}

impl<'a> ExtendedRequest<'a> {
    fn read(mut reader: Reader<'a>) -> Result<Self, DecodeError> {
        let name = reader.expect(REQUEST_NAME, "requestName")?.content;
        let value = reader.optional_octets(REQUEST_VALUE, "requestValue")?;
        reader.skip_unknown("ExtendedRequest")?;
        Ok(ExtendedRequest { name, value })
    }
}
