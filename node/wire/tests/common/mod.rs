//! One valid message of every kind, with every optional part somewhere.

#![allow(dead_code)]

use bindery_wire::client::{Response, write_request};
use bindery_wire::control::paged_results::PagedResults;
use bindery_wire::filter::{Assertion, Extensible, Filter, Piece, Substrings};
use bindery_wire::request::*;
use bindery_wire::response::*;
use bindery_wire::{Attribute, Control, LdapResult, List, OctetStrings, ResultCode, oid};

pub fn equality<'a>(attribute: &'a str, value: &'a str) -> Filter<'a> {
    Filter::Equality(Assertion { attribute: attribute.as_bytes(), value: value.as_bytes() })
}

pub fn search(filter: Filter<'_>) -> Request<'_> {
    Request::Search(SearchRequest {
        base: b"dc=example,dc=com",
        scope: Scope::WholeSubtree,
        deref_aliases: DerefAliases::Never,
        size_limit: 0,
        time_limit_s: 0,
        types_only: false,
        filter,
        attributes: List::from(&[b"cn" as &[u8], b"sn", b"mail", b"uid", b"memberOf"]),
    })
}

pub fn every_filter() -> Filter<'static> {
    let assertion = Assertion { attribute: b"cn", value: b"\x00\xFFbinary" };
    let pieces: &[Piece<'_>] = &[Piece::Initial(b"a"), Piece::Any(b"b"), Piece::Any(b"c"), Piece::Final(b"d")];
    Filter::And(vec![
        Filter::Or(vec![Filter::Present(b"objectClass"), Filter::Or(vec![]), Filter::And(vec![])]),
        Filter::Not(Box::new(equality("uid", "user.1"))),
        Filter::Substrings(Substrings { attribute: b"cn", pieces: List::from(pieces) }),
        Filter::GreaterOrEqual(assertion),
        Filter::LessOrEqual(assertion),
        Filter::Approx(assertion),
        Filter::Extensible(Extensible {
            matching_rule: Some(b"caseExactMatch"),
            attribute: Some(b"cn"),
            value: b"v",
            dn_attributes: true,
        }),
        Filter::Extensible(Extensible {
            matching_rule: None,
            attribute: Some(b"cn"),
            value: b"",
            dn_attributes: false,
        }),
        Filter::Unknown { tag: 0xAF, content: b"\x04\x00" },
    ])
}

pub fn requests() -> Vec<Vec<u8>> {
    let values: OctetStrings<'static> = List::from(&[b"top" as &[u8], b"person", b""]);
    let attributes: &[Attribute<'_>] = &[
        Attribute { description: b"objectClass", values },
        Attribute { description: b"cn;lang-en", values: List::from(&[b"x" as &[u8]]) },
    ];
    let modification = attributes[0];
    let changes: &[Change<'_>] = &[
        Change { operation: ChangeOperation::Add, modification },
        Change {
            operation: ChangeOperation::Delete,
            modification: Attribute { description: b"a", values: List::EMPTY },
        },
        Change { operation: ChangeOperation::Replace, modification },
        Change { operation: ChangeOperation::Increment, modification },
    ];
    let sasl = |credentials| Authentication::Sasl { mechanism: b"EXTERNAL", credentials };
    let bind = |authentication| Request::Bind(BindRequest { version: 3, name: b"cn=admin", authentication });
    let mut paged = Vec::new();
    PagedResults { size: 500, cookie: b"abc" }.write(&mut paged);
    let controls = [
        Control::new(oid::control::PAGED_RESULTS).critical().with_value(&paged),
        Control::new(oid::control::MANAGE_DSA_IT),
        Control::new("1.2.3.4").with_value(b""),
    ];
    let rename =
        ModifyDnRequest { dn: b"cn=a,o=b", new_rdn: b"cn=c", delete_old_rdn: true, new_superior: Some(b"o=d") };
    let all = [
        bind(Authentication::Simple(b"\xFFsecret")),
        bind(sasl(Some(b""))),
        bind(sasl(None)),
        bind(Authentication::Unknown { tag: 0x8A, content: b"sicily" }),
        Request::Unbind,
        search(equality("uid", "user.123456")),
        search(every_filter()),
        Request::Modify(ModifyRequest { dn: b"cn=a", changes: List::from(changes) }),
        Request::Add(AddRequest { dn: b"cn=a", attributes: List::from(attributes) }),
        Request::Delete(DeleteRequest { dn: b"cn=a" }),
        Request::ModifyDn(rename),
        Request::ModifyDn(ModifyDnRequest { new_superior: None, ..rename }),
        Request::Compare(CompareRequest { dn: b"cn=a", assertion: Assertion { attribute: b"sn", value: b"v" } }),
        Request::Abandon(AbandonRequest { message_id: 70_000 }),
        Request::Extended(ExtendedRequest { name: b"1.3.6.1.4.1.4203.1.11.3", value: None }),
        Request::Extended(ExtendedRequest { name: b"1.3.6.1.4.1.4203.1.11.1", value: Some(b"\x30\x00") }),
    ];
    let mut messages = Vec::new();
    for (index, request) in all.iter().enumerate() {
        for controls in [&[][..], &controls] {
            let mut message = Vec::new();
            write_request(&mut message, index as i32 + 1, request, controls);
            messages.push(message);
        }
    }
    messages
}

pub fn responses() -> Vec<Vec<u8>> {
    let uris: OctetStrings<'static> = List::from(&[b"ldap://a/" as &[u8], b"ldap://b/"]);
    let attributes: &[Attribute<'_>] = &[
        Attribute { description: b"cn", values: List::from(&[b"x" as &[u8], b"y"]) },
        Attribute { description: b"sn", values: List::EMPTY },
    ];
    let plain = LdapResult::SUCCESS;
    let full = LdapResult::new(ResultCode(4096), "diagnostic").with_matched_dn(b"o=m").with_referrals(uris);
    let all = [
        Response::Bind(BindResponse { result: plain, server_sasl_credentials: None }),
        Response::Bind(BindResponse { result: full, server_sasl_credentials: Some(b"creds") }),
        Response::SearchEntry(SearchEntry { dn: b"cn=a", attributes: List::from(attributes) }),
        Response::SearchReference(uris),
        Response::SearchDone(plain),
        Response::Modify(full),
        Response::Add(plain),
        Response::Delete(plain),
        Response::ModifyDn(plain),
        Response::Compare(full),
        Response::Extended(ExtendedResponse { result: plain, name: Some(b"1.2"), value: Some(b"v") }),
        Response::Extended(ExtendedResponse { result: full, name: None, value: None }),
        Response::Intermediate(IntermediateResponse { name: Some(b"1.2"), value: Some(b"v") }),
    ];
    let controls = [Control::new(oid::control::PASSWORD_POLICY).with_value(b"\x30\x00")];
    let mut messages = Vec::new();
    for (index, response) in all.iter().enumerate() {
        for controls in [&[][..], &controls] {
            let mut message = Vec::new();
            response.write(&mut message, index as i32, controls);
            messages.push(message);
        }
    }
    messages
}
