//! The client's side: every request out, every response in.

use crate::ber::write;
use crate::ber::{SEQUENCE, Tlv};
use crate::control::{Control, Controls};
use crate::entry::SearchEntryWriter;
use crate::error::{DecodeError, DecodeErrorKind, MessageError};
use crate::limits::Limits;
use crate::list::{List, OctetStrings};
use crate::message::decode_envelope;
use crate::request::Request;
use crate::response::{
    BindResponse, ExtendedResponse, IntermediateResponse, LdapResult, SearchEntry, put_controls, write_bind_response,
    write_extended_response, write_intermediate_response, write_result, write_search_reference,
};
use crate::tag::{INTERMEDIATE, ResponseTag, SEARCH_ENTRY, SEARCH_REFERENCE};

/// Appends a request with its envelope.
pub fn write_request(out: &mut Vec<u8>, id: i32, request: &Request<'_>, controls: &[Control<'_>]) {
    write::put_constructed(out, SEQUENCE, |out| {
        write::put_integer(out, id.into());
        request.write(out);
        put_controls(out, controls);
    });
}

/// A response of any kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Response<'a> {
    /// Section 4.2.2.
    Bind(BindResponse<'a>),
    /// Section 4.5.2: one entry.
    SearchEntry(SearchEntry<'a>),
    /// Section 4.5.3: URIs of where the search goes on.
    SearchReference(OctetStrings<'a>),
    /// Section 4.5.2: the end of a search.
    SearchDone(LdapResult<'a>),
    /// Section 4.6.
    Modify(LdapResult<'a>),
    /// Section 4.7.
    Add(LdapResult<'a>),
    /// Section 4.8.
    Delete(LdapResult<'a>),
    /// Section 4.9.
    ModifyDn(LdapResult<'a>),
    /// Section 4.10.
    Compare(LdapResult<'a>),
    /// Section 4.12; with message id 0 an unsolicited notification (section 4.4).
    Extended(ExtendedResponse<'a>),
    /// Section 4.13.
    Intermediate(IntermediateResponse<'a>),
}

/// A response with its envelope. Borrows from the bytes it was decoded from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResponseMessage<'a> {
    /// Message id of the request, 0 for unsolicited notifications.
    pub id: i32,
    /// The response.
    pub response: Response<'a>,
    /// Controls in the order sent.
    pub controls: Controls<'a>,
}

impl<'a> ResponseMessage<'a> {
    /// Decodes one whole message, as [`crate::frame::next_message`] cut it.
    pub fn decode(bytes: &'a [u8], limits: &Limits) -> Result<Self, MessageError> {
        let (id, response, controls) = decode_envelope(bytes, limits, |tlv| Response::decode(&tlv, limits))?;
        Ok(ResponseMessage { id, response, controls })
    }
}

impl<'a> Response<'a> {
    fn decode(operation: &Tlv<'a>, limits: &Limits) -> Result<Self, DecodeError> {
        let mut reader = operation.reader();
        let tag = match operation.tag {
            SEARCH_ENTRY => return SearchEntry::read(reader, limits).map(Response::SearchEntry),
            SEARCH_REFERENCE => {
                if reader.is_empty() {
                    return Err(operation.fault("SearchResultReference", DecodeErrorKind::Empty));
                }
                let uris = List::decode(reader, usize::MAX, "SearchResultReference")?;
                return Ok(Response::SearchReference(uris));
            }
            INTERMEDIATE => return IntermediateResponse::read(reader).map(Response::Intermediate),
            other => ResponseTag::from_octet(other)
                .ok_or_else(|| operation.fault("protocolOp", DecodeErrorKind::UnknownOperation(other)))?,
        };
        let wrap = match tag {
            ResponseTag::Bind => return BindResponse::read(reader).map(Response::Bind),
            ResponseTag::Extended => return ExtendedResponse::read(reader).map(Response::Extended),
            ResponseTag::SearchDone => Response::SearchDone,
            ResponseTag::Modify => Response::Modify,
            ResponseTag::Add => Response::Add,
            ResponseTag::Delete => Response::Delete,
            ResponseTag::ModifyDn => Response::ModifyDn,
            ResponseTag::Compare => Response::Compare,
        };
        let result = LdapResult::read(&mut reader)?;
        reader.skip_unknown("LDAPResult")?;
        Ok(wrap(result))
    }

    /// The LDAPResult, for every response that ends an operation.
    pub fn result(&self) -> Option<&LdapResult<'a>> {
        match self {
            Response::Bind(bind) => Some(&bind.result),
            Response::Extended(extended) => Some(&extended.result),
            Response::SearchDone(result)
            | Response::Modify(result)
            | Response::Add(result)
            | Response::Delete(result)
            | Response::ModifyDn(result)
            | Response::Compare(result) => Some(result),
            Response::SearchEntry(_) | Response::SearchReference(_) | Response::Intermediate(_) => None,
        }
    }

    /// Appends the response with its envelope, by the writer of its kind: for proxies and test servers.
    pub fn write(&self, out: &mut Vec<u8>, id: i32, controls: &[Control<'_>]) {
        let (tag, result) = match self {
            Response::Bind(bind) => return write_bind_response(out, id, bind, controls),
            Response::SearchEntry(entry) => {
                let mut writer = SearchEntryWriter::begin(out, id, entry.dn);
                entry.attributes.iter().for_each(|attribute| writer.values(attribute.description, attribute.values));
                return writer.finish(controls);
            }
            Response::SearchReference(uris) => return write_search_reference(out, id, *uris, controls),
            Response::Extended(extended) => return write_extended_response(out, id, extended, controls),
            Response::Intermediate(response) => return write_intermediate_response(out, id, response, controls),
            Response::SearchDone(result) => (ResponseTag::SearchDone, result),
            Response::Modify(result) => (ResponseTag::Modify, result),
            Response::Add(result) => (ResponseTag::Add, result),
            Response::Delete(result) => (ResponseTag::Delete, result),
            Response::ModifyDn(result) => (ResponseTag::ModifyDn, result),
            Response::Compare(result) => (ResponseTag::Compare, result),
        };
        write_result(out, id, tag, result, controls);
    }
}
