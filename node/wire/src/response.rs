//! The responses that carry an LDAPResult, references and intermediate responses (RFC 4511 section 4):
//! structs for both directions, and the server's writers. Search entries have [`crate::entry`].

use std::fmt;

use crate::attribute::Attributes;
use crate::ber::write::{self, Gather};
use crate::ber::{ENUMERATED, INTEGER, OCTET_STRING, Reader, SEQUENCE, context, read};
use crate::control::Control;
use crate::error::{DecodeError, DecodeErrorKind};
use crate::limits::Limits;
use crate::list::{Element, List, OctetStrings};
use crate::oid;
use crate::result_code::ResultCode;
use crate::tag::{CONTROLS, INTERMEDIATE, REFERRAL, ResponseTag, SEARCH_REFERENCE};

const SERVER_SASL_CREDENTIALS: u8 = context(7);
const RESPONSE_NAME: u8 = context(10);
const RESPONSE_VALUE: u8 = context(11);
const INTERMEDIATE_NAME: u8 = context(0);
const INTERMEDIATE_VALUE: u8 = context(1);

/// Worst case of what a result gathers before its matchedDN: two headers, message id, code, one header.
const RESULT_HEAD_BYTES: usize = 64;

/// LDAPResult.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LdapResult<'a> {
    /// resultCode.
    pub code: ResultCode,
    /// matchedDN; empty except with noSuchObject and a few others (section 4.1.9).
    pub matched_dn: &'a [u8],
    /// diagnosticMessage, UTF-8, for people.
    pub diagnostic: &'a [u8],
    /// Referral URIs; only, and then at least one, with the code referral.
    pub referrals: OctetStrings<'a>,
}

impl<'a> LdapResult<'a> {
    /// Success, with nothing more to say.
    pub const SUCCESS: LdapResult<'static> = LdapResult::new(ResultCode::SUCCESS, "");

    /// A result with a diagnostic message.
    pub const fn new(code: ResultCode, diagnostic: &'a str) -> Self {
        LdapResult { code, matched_dn: b"", diagnostic: diagnostic.as_bytes(), referrals: List::EMPTY }
    }

    /// The same with matchedDN.
    pub fn with_matched_dn(self, matched_dn: &'a [u8]) -> Self {
        LdapResult { matched_dn, ..self }
    }

    /// The same with referral URIs.
    pub fn with_referrals(self, referrals: OctetStrings<'a>) -> Self {
        LdapResult { referrals, ..self }
    }

    /// Reads the components of LDAPResult, which other elements may follow.
    pub(crate) fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let code = read::non_negative(&reader.expect(ENUMERATED, "resultCode")?, "resultCode")?;
        let matched_dn = reader.octets("matchedDN")?;
        let diagnostic = reader.octets("diagnosticMessage")?;
        let referrals = match reader.optional(REFERRAL, "referral")? {
            Some(tlv) if tlv.content.is_empty() => return Err(tlv.fault("referral", DecodeErrorKind::Empty)),
            Some(tlv) => List::decode(tlv.reader(), usize::MAX, "referral")?,
            None => List::EMPTY,
        };
        Ok(LdapResult { code: ResultCode(code.cast_unsigned()), matched_dn, diagnostic, referrals })
    }
}

/// BindResponse.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct BindResponse<'a> {
    /// The result.
    pub result: LdapResult<'a>,
    /// serverSaslCreds; absent and empty differ.
    pub server_sasl_credentials: Option<&'a [u8]>,
}

/// Never shows credentials.
impl fmt::Debug for BindResponse<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BindResponse").field("result", &self.result).finish_non_exhaustive()
    }
}

/// ExtendedResponse.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ExtendedResponse<'a> {
    /// The result.
    pub result: LdapResult<'a>,
    /// responseName.
    pub name: Option<&'a [u8]>,
    /// responseValue; absent and empty differ.
    pub value: Option<&'a [u8]>,
}

/// Shows no value: it may be a generated password.
impl fmt::Debug for ExtendedResponse<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExtendedResponse").field("result", &self.result).finish_non_exhaustive()
    }
}

/// IntermediateResponse (section 4.13).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IntermediateResponse<'a> {
    /// responseName.
    pub name: Option<&'a [u8]>,
    /// responseValue.
    pub value: Option<&'a [u8]>,
}

/// SearchResultEntry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchEntry<'a> {
    /// DN of the entry.
    pub dn: &'a [u8],
    /// Its attributes, without values for typesOnly.
    pub attributes: Attributes<'a>,
}

impl<'a> SearchEntry<'a> {
    /// Reads the content of SearchResultEntry.
    pub(crate) fn read(mut reader: Reader<'a>, limits: &Limits) -> Result<Self, DecodeError> {
        let dn = reader.octets("objectName")?;
        let attributes = List::decode(reader.sequence("attributes")?, limits.attributes, "attributes")?;
        reader.skip_unknown("SearchResultEntry")?;
        Ok(SearchEntry { dn, attributes })
    }
}

impl<'a> BindResponse<'a> {
    /// Reads the content of BindResponse.
    pub(crate) fn read(mut reader: Reader<'a>) -> Result<Self, DecodeError> {
        let result = LdapResult::read(&mut reader)?;
        let server_sasl_credentials = reader.optional_octets(SERVER_SASL_CREDENTIALS, "serverSaslCreds")?;
        reader.skip_unknown("BindResponse")?;
        Ok(BindResponse { result, server_sasl_credentials })
    }
}

impl<'a> ExtendedResponse<'a> {
    /// Reads the content of ExtendedResponse.
    pub(crate) fn read(mut reader: Reader<'a>) -> Result<Self, DecodeError> {
        let result = LdapResult::read(&mut reader)?;
        let name = reader.optional_octets(RESPONSE_NAME, "responseName")?;
        let value = reader.optional_octets(RESPONSE_VALUE, "responseValue")?;
        reader.skip_unknown("ExtendedResponse")?;
        Ok(ExtendedResponse { result, name, value })
    }
}

impl<'a> IntermediateResponse<'a> {
    /// Reads the content of IntermediateResponse.
    pub(crate) fn read(mut reader: Reader<'a>) -> Result<Self, DecodeError> {
        let name = reader.optional_octets(INTERMEDIATE_NAME, "responseName")?;
        let value = reader.optional_octets(INTERMEDIATE_VALUE, "responseValue")?;
        reader.skip_unknown("IntermediateResponse")?;
        Ok(IntermediateResponse { name, value })
    }
}

/// Bytes that the controls of a message take, header included; none take none.
#[inline]
pub(crate) fn controls_size(controls: &[Control<'_>]) -> usize {
    if controls.is_empty() { 0 } else { write::tlv_size(controls.iter().map(Control::size).sum()) }
}

/// Appends the controls of a message, if any.
#[inline]
pub(crate) fn put_controls(out: &mut Vec<u8>, controls: &[Control<'_>]) {
    if !controls.is_empty() {
        write::put_header(out, CONTROLS, controls.iter().map(Control::size).sum());
        controls.iter().for_each(|control| control.write(out));
    }
}

/// Bytes of a message id element.
#[inline]
pub(crate) fn message_id_size(id: i32) -> usize {
    2 + write::integer_content_size(id as i64)
}

/// Appends a response made of an LDAPResult and nothing else: search done, modify, add, delete, modify
/// DN, compare, and, where they have no more to say, bind and extended.
pub fn write_result(out: &mut Vec<u8>, id: i32, tag: ResponseTag, result: &LdapResult<'_>, controls: &[Control<'_>]) {
    write_result_with(out, id, tag, result, &[], controls);
}

/// Appends a bind response; `server_sasl_credentials` only when SASL has any.
pub fn write_bind_response(out: &mut Vec<u8>, id: i32, response: &BindResponse<'_>, controls: &[Control<'_>]) {
    let tail = [(SERVER_SASL_CREDENTIALS, response.server_sasl_credentials)];
    write_result_with(out, id, ResponseTag::Bind, &response.result, &tail, controls);
}

/// Appends an extended response.
pub fn write_extended_response(out: &mut Vec<u8>, id: i32, response: &ExtendedResponse<'_>, controls: &[Control<'_>]) {
    let tail = [(RESPONSE_NAME, response.name), (RESPONSE_VALUE, response.value)];
    write_result_with(out, id, ResponseTag::Extended, &response.result, &tail, controls);
}

/// Appends the unsolicited notification that the server is about to close the connection (section
/// 4.4.1): protocolError, strongerAuthRequired or unavailable.
pub fn write_notice_of_disconnection(out: &mut Vec<u8>, code: ResultCode, diagnostic: &str) {
    let response = ExtendedResponse {
        result: LdapResult::new(code, diagnostic),
        name: Some(oid::extended::NOTICE_OF_DISCONNECTION.as_bytes()),
        value: None,
    };
    // Message id zero marks it as unsolicited (section 4.4).
    write_extended_response(out, 0, &response, &[]);
}

fn write_result_with(
    out: &mut Vec<u8>,
    id: i32,
    tag: ResponseTag,
    result: &LdapResult<'_>,
    tail: &[(u8, Option<&[u8]>)],
    controls: &[Control<'_>],
) {
    let code = i64::from(result.code.0);
    let referrals_size = result.referrals.elements_size();
    let tail_size: usize = tail.iter().filter_map(|(_, value)| value.map(|value| write::tlv_size(value.len()))).sum();
    let result_size = 2
        + write::integer_content_size(code)
        + write::tlv_size(result.matched_dn.len())
        + write::tlv_size(result.diagnostic.len())
        + if result.referrals.is_empty() { 0 } else { write::tlv_size(referrals_size) }
        + tail_size;
    let message_size = message_id_size(id) + write::tlv_size(result_size) + controls_size(controls);
    out.reserve(write::tlv_size(message_size));

    let mut head = Gather::<RESULT_HEAD_BYTES>::new();
    head.header(SEQUENCE, message_size);
    head.integer(INTEGER, id.into());
    head.header(tag as u8, result_size);
    head.integer(ENUMERATED, code);
    if result.matched_dn.is_empty() {
        head.header(OCTET_STRING, 0);
        head.header(OCTET_STRING, result.diagnostic.len());
        out.extend_from_slice(head.as_slice());
    } else {
        head.header(OCTET_STRING, result.matched_dn.len());
        out.extend_from_slice(head.as_slice());
        out.extend_from_slice(result.matched_dn);
        write::put_header(out, OCTET_STRING, result.diagnostic.len());
    }
    out.extend_from_slice(result.diagnostic);
    if !result.referrals.is_empty() {
        write::put_header(out, REFERRAL, referrals_size);
        result.referrals.write_elements(out);
    }
    for (tag, value) in tail {
        write::put_optional(out, *tag, *value);
    }
    put_controls(out, controls);
}

/// Appends a search result reference (section 4.5.3): at least one URI.
pub fn write_search_reference(out: &mut Vec<u8>, id: i32, uris: OctetStrings<'_>, controls: &[Control<'_>]) {
    write::put_constructed(out, SEQUENCE, |out| {
        write::put_integer(out, id.into());
        uris.write(out, SEARCH_REFERENCE);
        put_controls(out, controls);
    });
}

/// Appends an intermediate response (section 4.13).
pub fn write_intermediate_response(
    out: &mut Vec<u8>,
    id: i32,
    response: &IntermediateResponse<'_>,
    controls: &[Control<'_>],
) {
    write::put_constructed(out, SEQUENCE, |out| {
        write::put_integer(out, id.into());
        write::put_constructed(out, INTERMEDIATE, |out| {
            write::put_optional(out, INTERMEDIATE_NAME, response.name);
            write::put_optional(out, INTERMEDIATE_VALUE, response.value);
        });
        put_controls(out, controls);
    });
}
