//! Pre-read and post-read (RFC 4527). The request's value is an AttributeSelection, the response's a
//! SearchResultEntry.

use crate::attribute::Attributes;
use crate::ber::{OCTET_STRING, SEQUENCE, read::whole, write};
use crate::error::DecodeError;
use crate::limits::Limits;
use crate::list::{List, OctetStrings};
use crate::response::SearchEntry;
use crate::tag::SEARCH_ENTRY;

/// Decodes the value of a request: which attributes are wanted.
pub fn decode_request<'a>(value: &'a [u8], limits: &Limits) -> Result<OctetStrings<'a>, DecodeError> {
    whole(value, "AttributeSelection", |reader| {
        List::decode(reader.sequence("AttributeSelection")?, limits.selectors, "AttributeSelection")
    })
}

/// Appends the value of a request.
pub fn write_request(out: &mut Vec<u8>, attributes: OctetStrings<'_>) {
    attributes.write(out, SEQUENCE);
}

/// Decodes the value of a response.
pub fn decode_response<'a>(value: &'a [u8], limits: &Limits) -> Result<SearchEntry<'a>, DecodeError> {
    whole(value, "SearchResultEntry", |reader| {
        SearchEntry::read(reader.expect(SEARCH_ENTRY, "SearchResultEntry")?.reader(), limits)
    })
}

/// Appends the value of a response from attributes.
pub fn write_response(out: &mut Vec<u8>, dn: &[u8], attributes: Attributes<'_>) {
    write::put_constructed(out, SEARCH_ENTRY, |out| {
        write::put_octets(out, dn);
        attributes.write(out, SEQUENCE);
    });
}

/// Appends the value of a response from runs of encoded PartialAttributes.
pub fn write_response_encoded(out: &mut Vec<u8>, dn: &[u8], attributes: &[&[u8]]) {
    let list_size = attributes.iter().map(|run| run.len()).sum();
    write::put_header(out, SEARCH_ENTRY, write::tlv_size(dn.len()) + write::tlv_size(list_size));
    write::put_tlv(out, OCTET_STRING, dn);
    write::put_header(out, SEQUENCE, list_size);
    attributes.iter().for_each(|run| out.extend_from_slice(run));
}
