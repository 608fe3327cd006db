//! Messages written out byte by byte from the ASN.1 of the RFCs, and the rules that bytes must obey.

mod common;

use bindery_wire::client::{Response, ResponseMessage, write_request};
use bindery_wire::control::*;
use bindery_wire::entry::{SearchEntryWriter, search_entry_bytes, write_search_entry, write_search_entry_head};
use bindery_wire::filter::{Assertion, Filter, Piece};
use bindery_wire::request::*;
use bindery_wire::response::*;
use bindery_wire::*;

const LIMITS: Limits = Limits::DEFAULT;

fn decode(bytes: &[u8]) -> RequestMessage<'_> {
    RequestMessage::decode(bytes, &LIMITS).unwrap()
}

fn fault(bytes: &[u8]) -> MessageError {
    RequestMessage::decode(bytes, &LIMITS).unwrap_err()
}

/// Message 1 with this protocolOp and whatever follows it.
fn message(operation: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    ber::write::put_constructed(&mut out, 0x30, |out| {
        out.extend_from_slice(&[2, 1, 1]);
        out.extend_from_slice(operation);
    });
    out
}

/// A search message whose filter is these bytes.
fn search_with(filter: &[u8]) -> Vec<u8> {
    let mut operation = Vec::new();
    ber::write::put_constructed(&mut operation, 0x63, |out| {
        out.extend_from_slice(b"\x04\x00\x0A\x01\x02\x0A\x01\x00\x02\x01\x00\x02\x01\x00\x01\x01\x00");
        out.extend_from_slice(filter);
        out.extend_from_slice(&[0x30, 0]);
    });
    message(&operation)
}

#[test]
fn rfc4511_4_2_simple_bind() {
    let bytes = b"\x30\x16\x02\x01\x01\x60\x11\x02\x01\x03\x04\x04cn=a\x80\x06secret";
    let decoded = decode(bytes);
    let bind = BindRequest { version: 3, name: b"cn=a", authentication: Authentication::Simple(b"secret") };
    assert_eq!(decoded, RequestMessage { id: 1, request: Request::Bind(bind), controls: List::EMPTY });
    let mut out = Vec::new();
    write_request(&mut out, 1, &decoded.request, &[]);
    assert_eq!(out, bytes);
    assert!(!format!("{decoded:?}").contains("secret"));
}

#[test]
fn rfc4511_4_2_sasl_bind_with_and_without_credentials() {
    let bytes = message(b"\x60\x13\x02\x01\x03\x04\x00\xA3\x0C\x04\x08EXTERNAL\x04\x00");
    let Request::Bind(bind) = decode(&bytes).request else { panic!() };
    assert_eq!(bind.authentication, Authentication::Sasl { mechanism: b"EXTERNAL", credentials: Some(b"") });
    let bytes = message(b"\x60\x11\x02\x01\x03\x04\x00\xA3\x0A\x04\x08EXTERNAL");
    let Request::Bind(bind) = decode(&bytes).request else { panic!() };
    assert_eq!(bind.authentication, Authentication::Sasl { mechanism: b"EXTERNAL", credentials: None });
}

#[test]
fn rfc4511_4_5_1_search_with_paged_control() {
    let bytes = b"\x30\x4D\x02\x01\x02\x63\x24\x04\x04dc=x\x0A\x01\x02\x0A\x01\x00\x02\x01\x00\x02\x01\x00\x01\x01\x00\
        \xA3\x09\x04\x03uid\x04\x02u1\x30\x00\
        \xA0\x22\x30\x20\x04\x161.2.840.113556.1.4.319\x01\x01\xFF\x04\x03\x30\x01\x00";
    let mut bytes = bytes.to_vec();
    // The lengths that depend on the parts.
    let total = bytes.len() - 2;
    bytes[1] = total as u8;
    bytes[6] = 2 + 4 + 3 * 5 + 11 + 2;
    let decoded = decode(&bytes);
    let Request::Search(search) = decoded.request else { panic!() };
    assert_eq!((search.base, search.scope), (b"dc=x" as &[u8], Scope::WholeSubtree));
    assert_eq!(search.filter, common::equality("uid", "u1"));
    let control = decoded.controls.iter().next().unwrap();
    assert_eq!(control, Control::new(oid::control::PAGED_RESULTS).critical().with_value(b"\x30\x01\x00"));
}

#[test]
fn rfc4511_4_5_1_7_filters_from_the_published_examples() {
    // (cn:caseExactMatch:=Fred Flintstone), RFC 4515 section 4.
    let bytes = b"\xA9\x27\x81\x0EcaseExactMatch\x82\x02cn\x83\x0FFred Flintstone";
    let mut bytes = bytes.to_vec();
    bytes[1] = (bytes.len() - 2) as u8;
    let Filter::Extensible(extensible) = Filter::decode(&bytes, &LIMITS).unwrap() else { panic!() };
    assert_eq!(extensible.matching_rule, Some(b"caseExactMatch" as &[u8]));
    assert!(!extensible.dn_attributes);
    // (o=univ*of*mich*), RFC 4515 section 4.
    let bytes = b"\xA4\x15\x04\x01o\x30\x10\x80\x04univ\x81\x02of\x81\x04mich";
    let Filter::Substrings(substrings) = Filter::decode(bytes, &LIMITS).unwrap() else { panic!() };
    let pieces: Vec<Piece<'_>> = substrings.pieces.iter().collect();
    assert_eq!(pieces, [Piece::Initial(b"univ"), Piece::Any(b"of"), Piece::Any(b"mich")]);
    let mut out = Vec::new();
    Filter::Substrings(substrings).write(&mut out);
    assert_eq!(out, bytes);
    // RFC 4526: absolute true and false.
    assert_eq!(Filter::decode(&[0xA0, 0], &LIMITS).unwrap(), Filter::And(vec![]));
    assert_eq!(Filter::decode(&[0xA1, 0], &LIMITS).unwrap(), Filter::Or(vec![]));
    // The CHOICE is extensible.
    assert_eq!(Filter::decode(&[0x8A, 0], &LIMITS).unwrap(), Filter::Unknown { tag: 0x8A, content: b"" });
}

#[test]
fn rfc4511_4_1_1_faults_are_answered_by_their_class() {
    let respond = |tag, code| ErrorReply::Respond { message_id: 1, tag, code };
    // Scope 4, a bind of version 0, a substring filter without pieces, a final piece in the middle, an
    // extensible match without type and rule, an add without values, an unknown kind of change.
    let search = respond(ResponseTag::SearchDone, ResultCode::PROTOCOL_ERROR);
    let mut scope = search_with(b"\x87\x01a");
    let at = scope.windows(3).position(|window| window == [0x0A, 1, 2]).unwrap();
    scope[at + 2] = 4;
    assert_eq!(fault(&scope).reply(), search);
    assert_eq!(fault(&search_with(b"\xA4\x05\x04\x01a\x30\x00")).reply(), search);
    assert_eq!(fault(&search_with(b"\xA4\x0B\x04\x01a\x30\x06\x82\x01x\x81\x01y")).reply(), search);
    assert_eq!(fault(&search_with(b"\xA4\x0B\x04\x01a\x30\x06\x81\x01x\x80\x01y")).reply(), search);
    assert_eq!(fault(&search_with(b"\xA9\x03\x83\x01x")).reply(), search);
    let bind = fault(&message(b"\x60\x07\x02\x01\x00\x04\x00\x80\x00"));
    assert_eq!(bind.reply(), respond(ResponseTag::Bind, ResultCode::PROTOCOL_ERROR));
    let add = fault(&message(b"\x68\x0C\x04\x01x\x30\x07\x30\x05\x04\x01a\x31\x00"));
    assert_eq!(add.reply(), respond(ResponseTag::Add, ResultCode::PROTOCOL_ERROR));
    let modify = fault(&message(b"\x66\x11\x04\x01x\x30\x0C\x30\x0A\x0A\x01\x04\x30\x05\x04\x01a\x31\x00"));
    assert_eq!(modify.reply(), respond(ResponseTag::Modify, ResultCode::PROTOCOL_ERROR));
    assert_eq!(fault(&message(b"\x50\x01\xFF")).reply(), ErrorReply::Ignore);
    // Structure: an unknown operation, a response, a length beyond its container, bytes in an unbind.
    for operation in [&b"\x7D\x00"[..], b"\x65\x07\x0A\x01\x00\x04\x00\x04\x00", b"\x60\x03\x02\x05\x03", b"\x42\x01x"]
    {
        let error = fault(&message(operation));
        assert_eq!(error.message_id, Some(1));
        assert_eq!(error.operation, Some(operation[0]));
        assert_eq!(error.reply(), ErrorReply::Disconnect, "{error}");
    }
    assert_eq!(fault(b"\x30\x05\x02\x01\xFF\x42\x00").message_id, None);
    assert_eq!(fault(b"\x30\x00").cause.what, "messageID");
    assert_eq!(fault(b"\x30\x05\x02\x01\x01\x42\x00\x00").cause.kind, DecodeErrorKind::TrailingBytes);
}

#[test]
fn rfc4511_4_unknown_trailing_elements_are_ignored() {
    assert_eq!(decode(&message(b"\x42\x00\x85\x01x")).request, Request::Unbind);
    let compare = message(b"\x6E\x10\x04\x01x\x30\x08\x04\x01a\x04\x01v\x8A\x00\x8A\x01z");
    assert!(matches!(decode(&compare).request, Request::Compare(_)));
    // But the tag of an optional element in the wrong form is no unknown element.
    let rename = message(b"\x6C\x0C\x04\x01x\x04\x01y\x01\x01\xFF\xA0\x01z");
    assert_eq!(fault(&rename).cause.what, "newSuperior");
    assert_eq!(fault(&message(b"\x42\x00\x80\x00")).cause.what, "controls");
}

#[test]
fn rfc4525_and_subordinate_scope_are_known() {
    let bytes = message(b"\x66\x14\x04\x01x\x30\x0F\x30\x0D\x0A\x01\x03\x30\x08\x04\x01a\x31\x03\x04\x011");
    let Request::Modify(modify) = decode(&bytes).request else { panic!() };
    assert_eq!(modify.changes.iter().next().unwrap().operation, ChangeOperation::Increment);
    let mut scope = search_with(b"\x87\x01a");
    let at = scope.windows(3).position(|window| window == [0x0A, 1, 2]).unwrap();
    scope[at + 2] = 3;
    let Request::Search(search) = decode(&scope).request else { panic!() };
    assert_eq!(search.scope, Scope::SubordinateSubtree);
}

#[test]
fn case_t36_deep_and_wide_filters() {
    let nested = |depth: usize| {
        let mut filter = b"\x87\x01a".to_vec();
        for _ in 0..depth {
            let mut outer = Vec::with_capacity(filter.len() + 6);
            ber::write::put_tlv(&mut outer, 0xA2, &filter);
            filter = outer;
        }
        search_with(&filter)
    };
    decode(&nested(10));
    decode(&nested(64));
    for depth in [65, 100, 2_000] {
        let error = fault(&nested(depth));
        assert_eq!(error.cause.kind, DecodeErrorKind::TooDeep { limit: 64 });
        let reply =
            ErrorReply::Respond { message_id: 1, tag: ResponseTag::SearchDone, code: ResultCode::ADMIN_LIMIT_EXCEEDED };
        assert_eq!(error.reply(), reply);
    }
    let wide = |terms: usize| {
        let mut filter = Vec::new();
        ber::write::put_constructed(&mut filter, 0xA1, |out| {
            (0..terms).for_each(|_| out.extend_from_slice(b"\xA3\x06\x04\x01a\x04\x01v"));
        });
        search_with(&filter)
    };
    decode(&wide(500));
    decode(&wide(9_999));
    for terms in [10_000, 50_000] {
        assert_eq!(fault(&wide(terms)).cause.kind, DecodeErrorKind::TooMany { limit: 10_000 });
    }
}

#[test]
fn a_configured_depth_never_exceeds_the_stack_bound() {
    let mut filter = b"\x87\x01a".to_vec();
    for _ in 0..600 {
        let mut outer = Vec::new();
        ber::write::put_tlv(&mut outer, 0xA2, &filter);
        filter = outer;
    }
    let limits = Limits { filter_depth: usize::MAX, ..LIMITS };
    let error = Filter::decode(&filter, &limits).unwrap_err();
    assert_eq!(error.kind, DecodeErrorKind::TooDeep { limit: bindery_wire::limits::MAX_FILTER_DEPTH });
}

#[test]
fn case_t33_a_thousand_controls() {
    let with_controls = |count: usize| {
        let controls = vec![Control::new("1.2.3"); count];
        let mut out = Vec::new();
        write_request(&mut out, 1, &Request::Delete(DeleteRequest { dn: b"cn=a" }), &controls);
        out
    };
    assert_eq!(decode(&with_controls(64)).controls.len(), 64);
    let tag = ResponseTag::Delete;
    let reply = ErrorReply::Respond { message_id: 1, tag, code: ResultCode::ADMIN_LIMIT_EXCEEDED };
    assert_eq!(fault(&with_controls(1_000)).reply(), reply);
}

#[test]
fn case_t35_split_at_every_byte_and_glued() {
    let messages = common::requests();
    let stream = messages.concat();
    let (mut buffer, mut found) = (Vec::new(), Vec::new());
    for byte in &stream {
        buffer.push(*byte);
        if let Some(size) = next_message(&buffer, 1 << 20).unwrap() {
            assert_eq!(size, buffer.len());
            found.push(std::mem::take(&mut buffer));
        }
    }
    assert_eq!(found, messages);
    let (mut rest, mut found) = (&stream[..], Vec::new());
    while let Some(size) = next_message(rest, 1 << 20).unwrap() {
        found.push(rest[..size].to_vec());
        rest = &rest[size..];
    }
    assert_eq!((found, rest.len()), (messages, 0));
}

#[test]
fn rfc4511_5_1_padded_lengths_booleans_and_integers_are_accepted() {
    let mut bytes =
        b"\x30\x84\x00\x00\x00\x16\x02\x04\x00\x00\x00\x07\x60\x81\x0D\x02\x01\x03\x04\x82\x00\x04cn=a\x80\x00"
            .to_vec();
    bytes[5] = (bytes.len() - 6) as u8;
    bytes[14] = (bytes.len() - 15) as u8;
    assert_eq!(decode(&bytes).id, 7);
    let rename = message(b"\x6C\x09\x04\x01x\x04\x01y\x01\x01\x01");
    let Request::ModifyDn(rename) = decode(&rename).request else { panic!() };
    assert!(rename.delete_old_rdn);
}

#[test]
fn rfc4511_4_1_9_results() {
    let mut out = Vec::new();
    write_result(&mut out, 2, ResponseTag::SearchDone, &LdapResult::SUCCESS, &[]);
    assert_eq!(out, b"\x30\x0C\x02\x01\x02\x65\x07\x0A\x01\x00\x04\x00\x04\x00");
    out.clear();
    let uris: &[&[u8]] = &[b"ldap://h/"];
    let result = LdapResult::new(ResultCode::REFERRAL, "d").with_matched_dn(b"o=m").with_referrals(uris.into());
    write_result(&mut out, 300, ResponseTag::Add, &result, &[Control::new("1.2").critical()]);
    assert_eq!(
        out,
        b"\x30\x2D\x02\x02\x01\x2C\x69\x18\x0A\x01\x0A\x04\x03o=m\x04\x01d\xA3\x0B\x04\x09ldap://h/\
          \xA0\x0A\x30\x08\x04\x031.2\x01\x01\xFF"
            .iter()
            .enumerate()
            .map(|(at, byte)| if at == 1 { (out.len() - 2) as u8 } else { *byte })
            .collect::<Vec<u8>>()
    );
    let decoded = ResponseMessage::decode(&out, &LIMITS).unwrap();
    assert_eq!(decoded.response, Response::Add(result));
}

#[test]
fn rfc4511_4_4_1_notice_of_disconnection() {
    let mut out = Vec::new();
    write_notice_of_disconnection(&mut out, ResultCode::PROTOCOL_ERROR, "bad");
    let expected = b"\x30\x27\x02\x01\x00\x78\x22\x0A\x01\x02\x04\x00\x04\x03bad\x8A\x161.3.6.1.4.1.1466.20036";
    assert_eq!(out, expected);
}

#[test]
fn rfc4511_4_5_2_entries_are_the_same_by_every_writer() {
    let long = vec![b'x'; 70_000];
    for size in [0usize, 1, 50, 90, 100, 110, 120, 130, 200, 250, 300, 66_000] {
        for dn in [&b""[..], b"cn=a", &long[..200]] {
            let values: &[&[u8]] = &[&long[..size], b"second"];
            let attributes: &[Attribute<'_>] = &[
                Attribute { description: b"cn", values: values.into() },
                Attribute { description: b"sn", values: List::EMPTY },
            ];
            let mut run = Vec::new();
            List::from(attributes).write_run(&mut run);
            for controls in [&[][..], &[Control::new("1.2")]] {
                let (mut ready, mut pieces) = (vec![9], vec![9]);
                write_search_entry(&mut ready, 5, dn, &[&run[..3], &run[3..]], controls);
                let mut writer = SearchEntryWriter::begin(&mut pieces, 5, dn);
                writer.values(b"cn", values);
                writer.type_only(b"sn");
                assert_eq!(writer.list_bytes(), run.len());
                writer.finish(controls);
                assert_eq!(ready, pieces);
                let decoded = ResponseMessage::decode(&ready[1..], &LIMITS).unwrap();
                let entry = SearchEntry { dn, attributes: attributes.into() };
                assert_eq!(decoded.response, Response::SearchEntry(entry));
                if controls.is_empty() {
                    assert_eq!(search_entry_bytes(5, dn.len(), run.len()), ready.len() - 1);
                    let mut head = vec![9];
                    write_search_entry_head(&mut head, 5, dn, run.len());
                    assert_eq!([head, run.clone()].concat(), ready);
                }
            }
        }
    }
    let mut out = vec![1, 2];
    SearchEntryWriter::begin(&mut out, 5, b"cn=a").type_only(b"cn");
    assert_eq!(out, [1, 2], "an entry that is not finished leaves nothing behind");
}

#[test]
fn rfc3876_matched_values_takes_items_only() {
    let items = vec![common::equality("a", "v"), Filter::Present(b"b")];
    let mut value = Vec::new();
    matched_values::write(&mut value, &items);
    assert_eq!(matched_values::decode(&value, &LIMITS).unwrap(), items);
    for bad in [Filter::Not(Box::new(items[0].clone())), Filter::And(vec![])] {
        let mut value = Vec::new();
        matched_values::write(&mut value, &[items[0].clone(), bad]);
        let kind = matched_values::decode(&value, &LIMITS).unwrap_err().kind;
        assert_eq!(kind.class(), ErrorClass::Value);
    }
}

#[test]
fn rfc2696_and_others_in_bytes() {
    let paged = paged_results::PagedResults { size: 100, cookie: b"c" };
    let mut out = Vec::new();
    paged.write(&mut out);
    assert_eq!(out, b"\x30\x06\x02\x01\x64\x04\x01c");
    out.clear();
    let policy = password_policy::PasswordPolicyResponse {
        warning: Some(password_policy::PasswordWarning::GraceAuthenticationsRemaining(2)),
        error: Some(password_policy::PasswordPolicyError::ChangeAfterReset),
    };
    policy.write(&mut out);
    assert_eq!(out, b"\x30\x08\xA0\x03\x81\x01\x02\x81\x01\x02");
    assert_eq!(password_policy::PasswordPolicyResponse::decode(&out), Ok(policy));
    out.clear();
    Filter::Equality(Assertion { attribute: b"a", value: b"v" }).write(&mut out);
    let control = Control::new(oid::control::ASSERTION).with_value(&out);
    assert_eq!(Filter::decode(control.required_value().unwrap(), &LIMITS).unwrap(), common::equality("a", "v"));
    assert!(Control::new(oid::control::DONT_USE_COPY).expect_no_value().is_ok());
    assert!(control.expect_no_value().is_err());
    assert!(Control::new("1.2").required_value().is_err());
    assert_eq!(extended::decode_cancel(b"\x30\x03\x02\x01\x05"), Ok(5));
    let change = extended::PasswordModifyRequest::decode(Some(b"\x30\x08\x80\x01u\x82\x03new")).unwrap();
    assert_eq!((change.user, change.old_password, change.new_password), (Some(&b"u"[..]), None, Some(&b"new"[..])));
}
