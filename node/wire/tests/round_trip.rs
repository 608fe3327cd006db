//! What is written is read back the same: every request, response and value, with any content.

use bindery_wire::client::{Response, ResponseMessage, write_request};
use bindery_wire::control::*;
use bindery_wire::filter::{Assertion, Extensible, Filter, Piece, Substrings};
use bindery_wire::request::*;
use bindery_wire::response::*;
use bindery_wire::{Attribute, Control, LdapResult, Limits, List, RequestMessage, ResultCode, extended, next_message};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

const LIMITS: Limits = Limits::DEFAULT;

type Bytes = Vec<u8>;
type OwnedAttribute = (Bytes, Vec<Bytes>);

/// Short mostly, and sometimes across the borders of the length forms.
fn bytes() -> impl Strategy<Value = Bytes> {
    prop_oneof![6 => vec(any::<u8>(), 0..12), 1 => vec(any::<u8>(), 120..140), 1 => vec(any::<u8>(), 250..270)]
}

fn attributes(values: std::ops::Range<usize>) -> impl Strategy<Value = Vec<OwnedAttribute>> {
    vec((bytes(), vec(bytes(), values)), 0..5)
}

fn slices(values: &[Bytes]) -> Vec<&[u8]> {
    values.iter().map(Vec::as_slice).collect()
}

/// Lends owned attributes as the borrowed form.
fn with_attributes<R>(owned: &[OwnedAttribute], use_them: impl FnOnce(&[Attribute<'_>]) -> R) -> R {
    let values: Vec<Vec<&[u8]>> = owned.iter().map(|(_, values)| slices(values)).collect();
    let attributes: Vec<Attribute<'_>> = owned
        .iter()
        .zip(&values)
        .map(|((description, _), values)| Attribute { description, values: List::from(values) })
        .collect();
    use_them(&attributes)
}

type OwnedControl = (Bytes, bool, Option<Bytes>);

fn controls() -> impl Strategy<Value = Vec<OwnedControl>> {
    vec((bytes(), any::<bool>(), option::of(bytes())), 0..4)
}

fn lend_controls(owned: &[OwnedControl]) -> Vec<Control<'_>> {
    owned.iter().map(|(oid, critical, value)| Control { oid, critical: *critical, value: value.as_deref() }).collect()
}

#[derive(Debug, Clone)]
enum OwnedFilter {
    And(Vec<OwnedFilter>),
    Or(Vec<OwnedFilter>),
    Not(Box<OwnedFilter>),
    Item(u8, Bytes, Bytes),
    Substrings(Bytes, Option<Bytes>, Vec<Bytes>, Option<Bytes>),
    Extensible(Option<Bytes>, Bytes, Bytes, bool),
}

fn filter() -> impl Strategy<Value = OwnedFilter> {
    let leaf = prop_oneof![
        (0u8..6, bytes(), bytes()).prop_map(|(kind, a, v)| OwnedFilter::Item(kind, a, v)),
        (bytes(), option::of(bytes()), vec(bytes(), 1..3), option::of(bytes()))
            .prop_map(|(a, i, any, f)| OwnedFilter::Substrings(a, i, any, f)),
        (option::of(bytes()), bytes(), bytes(), any::<bool>())
            .prop_map(|(r, a, v, dn)| OwnedFilter::Extensible(r, a, v, dn)),
    ];
    leaf.prop_recursive(6, 40, 5, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(OwnedFilter::And),
            vec(inner.clone(), 0..5).prop_map(OwnedFilter::Or),
            inner.prop_map(|inner| OwnedFilter::Not(Box::new(inner))),
        ]
    })
}

/// Pieces of every substring filter in the order of a walk, kept apart since a filter borrows them.
fn pieces<'a>(filter: &'a OwnedFilter, out: &mut Vec<Vec<Piece<'a>>>) {
    match filter {
        OwnedFilter::And(members) | OwnedFilter::Or(members) => members.iter().for_each(|member| pieces(member, out)),
        OwnedFilter::Not(inner) => pieces(inner, out),
        OwnedFilter::Substrings(_, initial, any, last) => {
            let initial = initial.iter().map(|value| Piece::Initial(value));
            let last = last.iter().map(|value| Piece::Final(value));
            out.push(initial.chain(any.iter().map(|value| Piece::Any(value))).chain(last).collect());
        }
        OwnedFilter::Item(..) | OwnedFilter::Extensible(..) => {}
    }
}

fn lend_filter<'a>(filter: &'a OwnedFilter, pieces: &mut std::slice::Iter<'a, Vec<Piece<'a>>>) -> Filter<'a> {
    match filter {
        OwnedFilter::And(members) => Filter::And(members.iter().map(|member| lend_filter(member, pieces)).collect()),
        OwnedFilter::Or(members) => Filter::Or(members.iter().map(|member| lend_filter(member, pieces)).collect()),
        OwnedFilter::Not(inner) => Filter::Not(Box::new(lend_filter(inner, pieces))),
        OwnedFilter::Item(kind, attribute, value) => {
            let assertion = Assertion { attribute, value };
            match kind {
                0 => Filter::Equality(assertion),
                1 => Filter::GreaterOrEqual(assertion),
                2 => Filter::LessOrEqual(assertion),
                3 => Filter::Approx(assertion),
                4 => Filter::Present(attribute),
                _ => Filter::Unknown { tag: 0x9E, content: value },
            }
        }
        OwnedFilter::Substrings(attribute, ..) => {
            Filter::Substrings(Substrings { attribute, pieces: List::from(pieces.next().unwrap()) })
        }
        OwnedFilter::Extensible(rule, attribute, value, dn_attributes) => Filter::Extensible(Extensible {
            matching_rule: rule.as_deref(),
            attribute: if rule.is_some() && attribute.is_empty() { None } else { Some(attribute) },
            value,
            dn_attributes: *dn_attributes,
        }),
    }
}

/// Writes, frames, reads, compares, and writes again from what was read.
fn check_request(id: i32, request: &Request<'_>, owned_controls: &[OwnedControl]) {
    let controls = lend_controls(owned_controls);
    let mut out = Vec::new();
    write_request(&mut out, id, request, &controls);
    assert_eq!(next_message(&out, usize::MAX), Ok(Some(out.len())));
    let decoded = RequestMessage::decode(&out, &LIMITS).unwrap();
    assert_eq!((decoded.id, &decoded.request, decoded.controls), (id, request, List::from(&controls)));
    let mut again = Vec::new();
    write_request(&mut again, id, &decoded.request, &decoded.controls.iter().collect::<Vec<_>>());
    assert_eq!(out, again);
}

fn check_response(id: i32, response: &Response<'_>, owned_controls: &[OwnedControl]) {
    let controls = lend_controls(owned_controls);
    let mut out = vec![0xEE];
    response.write(&mut out, id, &controls);
    let message = &out[1..];
    assert_eq!(next_message(message, usize::MAX), Ok(Some(message.len())));
    let decoded = ResponseMessage::decode(message, &LIMITS).unwrap();
    assert_eq!((decoded.id, &decoded.response, decoded.controls), (id, response, List::from(&controls)));
}

/// Writes a value with one function and reads it with the other.
macro_rules! check_value {
    ($value:expr, $decode:expr) => {{
        let value = $value;
        let mut out = Vec::new();
        value.write(&mut out);
        assert_eq!($decode(&out[..]), Ok(value));
    }};
}

proptest! {
    #[test]
    fn searches(
        id in 0..=i32::MAX, base in bytes(), scope in 0usize..4, deref in 0usize..4,
        size_limit in 0..=i32::MAX, time_limit_s in 0..=i32::MAX, types_only: bool,
        owned in filter(), wanted in vec(bytes(), 0..6), controls in controls(),
    ) {
        let mut kept = Vec::new();
        pieces(&owned, &mut kept);
        let filter = lend_filter(&owned, &mut kept.iter());
        let mut value = Vec::new();
        filter.write(&mut value);
        prop_assert_eq!(&Filter::decode(&value, &LIMITS).unwrap(), &filter);
        let wanted = slices(&wanted);
        let scopes = [Scope::BaseObject, Scope::SingleLevel, Scope::WholeSubtree, Scope::SubordinateSubtree];
        let derefs = [DerefAliases::Never, DerefAliases::InSearching, DerefAliases::FindingBase, DerefAliases::Always];
        check_request(id, &Request::Search(SearchRequest {
            base: &base, scope: scopes[scope], deref_aliases: derefs[deref], size_limit, time_limit_s, types_only,
            filter, attributes: List::from(&wanted),
        }), &controls);
    }

    #[test]
    fn binds(
        id in 0..=i32::MAX, version in 1u8..=127, name in bytes(), secret in bytes(),
        credentials in option::of(bytes()), controls in controls(),
    ) {
        for authentication in [
            Authentication::Simple(&secret),
            Authentication::Sasl { mechanism: &secret, credentials: credentials.as_deref() },
            Authentication::Unknown { tag: 0x81, content: &secret },
        ] {
            check_request(id, &Request::Bind(BindRequest { version, name: &name, authentication }), &controls);
        }
    }

    #[test]
    fn updates(
        id in 0..=i32::MAX, dn in bytes(), other in bytes(), superior in option::of(bytes()), delete_old_rdn: bool,
        added in attributes(1..4), changed in attributes(0..4), kind in 0usize..4, controls in controls(),
    ) {
        check_request(id, &Request::Delete(DeleteRequest { dn: &dn }), &controls);
        check_request(id, &Request::ModifyDn(ModifyDnRequest {
            dn: &dn, new_rdn: &other, delete_old_rdn, new_superior: superior.as_deref(),
        }), &controls);
        with_attributes(&added, |attributes| {
            check_request(id, &Request::Add(AddRequest { dn: &dn, attributes: attributes.into() }), &controls);
        });
        let kinds = [
            ChangeOperation::Add, ChangeOperation::Delete, ChangeOperation::Replace, ChangeOperation::Increment,
        ];
        with_attributes(&changed, |attributes| {
            let changes: Vec<Change<'_>> = attributes.iter().enumerate()
                .map(|(at, modification)| Change { operation: kinds[(at + kind) % 4], modification: *modification })
                .collect();
            check_request(id, &Request::Modify(ModifyRequest { dn: &dn, changes: List::from(&changes) }), &controls);
        });
    }

    #[test]
    fn other_requests(
        id in 0..=i32::MAX, other_id in 0..=i32::MAX, dn in bytes(), attribute in bytes(), value in bytes(),
        optional in option::of(bytes()), controls in controls(),
    ) {
        check_request(id, &Request::Unbind, &controls);
        check_request(id, &Request::Abandon(AbandonRequest { message_id: other_id }), &controls);
        let assertion = Assertion { attribute: &attribute, value: &value };
        check_request(id, &Request::Compare(CompareRequest { dn: &dn, assertion }), &controls);
        let extended = ExtendedRequest { name: &attribute, value: optional.as_deref() };
        check_request(id, &Request::Extended(extended), &controls);
    }

    #[test]
    fn responses(
        id in 0..=i32::MAX, code in 0..=i32::MAX, matched in bytes(), diagnostic in bytes(), uris in vec(bytes(), 0..3),
        name in option::of(bytes()), value in option::of(bytes()), entry in attributes(0..4), controls in controls(),
    ) {
        let uris = slices(&uris);
        let code = ResultCode(code.cast_unsigned());
        let result = LdapResult { code, matched_dn: &matched, diagnostic: &diagnostic, referrals: List::from(&uris) };
        let (name, value) = (name.as_deref(), value.as_deref());
        for response in [
            Response::Bind(BindResponse { result, server_sasl_credentials: value }),
            Response::SearchDone(result), Response::Modify(result), Response::Add(result), Response::Delete(result),
            Response::ModifyDn(result), Response::Compare(result),
            Response::Extended(ExtendedResponse { result, name, value }),
            Response::Intermediate(IntermediateResponse { name, value }),
        ] {
            check_response(id, &response, &controls);
        }
        if !uris.is_empty() {
            check_response(id, &Response::SearchReference(List::from(&uris)), &controls);
        }
        with_attributes(&entry, |attributes| {
            let attributes = List::from(attributes);
            check_response(id, &Response::SearchEntry(SearchEntry { dn: &matched, attributes }), &controls);
            let (mut out, mut run, mut ready) = (Vec::new(), Vec::new(), Vec::new());
            read_entry::write_response(&mut out, &matched, attributes);
            let decoded = read_entry::decode_response(&out, &LIMITS).unwrap();
            assert_eq!(decoded, SearchEntry { dn: &matched, attributes });
            attributes.write_run(&mut run);
            read_entry::write_response_encoded(&mut ready, &matched, &[&run]);
            assert_eq!(out, ready);
        });
    }

    #[test]
    fn control_values(
        number in 0..=i32::MAX, other in 0..=i32::MAX, signed: i32, large: i64, flag: bool, second: bool,
        text in bytes(), more in bytes(), optional in option::of(bytes()), choice in 0usize..10,
        uuids in vec(any::<[u8; 16]>(), 0..4), list in vec(bytes(), 0..4), found in attributes(0..3),
    ) {
        let cookie = optional.as_deref();
        let result = ResultCode(number.cast_unsigned());
        check_value!(paged_results::PagedResults { size: number, cookie: &text }, paged_results::PagedResults::decode);
        let keys = [sort::SortKey { attribute: &text, ordering_rule: cookie, reverse: flag }];
        check_value!(sort::SortRequest { keys: List::from(&keys) }, |out| sort::SortRequest::decode(out, &LIMITS));
        check_value!(sort::SortResponse { result, attribute: cookie }, sort::SortResponse::decode);
        use virtual_list_view::{VlvRequest, VlvResponse, VlvTarget};
        for target in [VlvTarget::Offset { offset: number, content_count: other }, VlvTarget::GreaterOrEqual(&text)] {
            check_value!(VlvRequest { before: number, after: other, target, context_id: cookie }, VlvRequest::decode);
        }
        let list_view = VlvResponse { target_position: number, content_count: other, result, context_id: cookie };
        check_value!(list_view, VlvResponse::decode);
        use password_policy::{AccountUsability, PasswordPolicyError, PasswordPolicyResponse, PasswordWarning};
        for warning in [
            None,
            Some(PasswordWarning::TimeBeforeExpirationS(number)),
            Some(PasswordWarning::GraceAuthenticationsRemaining(other)),
        ] {
            let error = flag.then_some(PasswordPolicyError::ALL[choice]);
            check_value!(PasswordPolicyResponse { warning, error }, PasswordPolicyResponse::decode);
        }
        check_value!(AccountUsability::Available { seconds_before_expiration: signed }, AccountUsability::decode);
        check_value!(AccountUsability::NotAvailable {
            inactive: flag, reset: second, expired: !flag,
            remaining_grace: flag.then_some(number), seconds_before_unlock: second.then_some(signed),
        }, AccountUsability::decode);
        use persistent_search::{ChangeType, EntryChange, PersistentSearch};
        let change_types = 1 + choice as u8;
        let wanted = PersistentSearch { change_types, changes_only: flag, return_entry_changes: second };
        check_value!(wanted, PersistentSearch::decode);
        let change_type = [ChangeType::Add, ChangeType::Delete, ChangeType::Modify, ChangeType::ModifyDn][choice % 4];
        let change = EntryChange { change_type, previous_dn: cookie, change_number: flag.then_some(large) };
        check_value!(change, EntryChange::decode);
        use session_tracking::SessionTracking;
        check_value!(SessionTracking {
            source_ip: &text, source_name: &more, format_oid: b"1.2", identifier: &text,
        }, SessionTracking::decode);

        use sync::{EntryState, SyncDone, SyncInfo, SyncMode, SyncRequest, SyncState};
        let mode = if flag { SyncMode::RefreshOnly } else { SyncMode::RefreshAndPersist };
        check_value!(SyncRequest { mode, cookie, reload_hint: second }, SyncRequest::decode);
        let state = [EntryState::Present, EntryState::Add, EntryState::Modify, EntryState::Delete][choice % 4];
        check_value!(SyncState { state, entry_uuid: [choice as u8; 16], cookie }, SyncState::decode);
        check_value!(SyncDone { cookie, refresh_deletes: flag }, SyncDone::decode);
        let uuids: Vec<&[u8]> = uuids.iter().map(|uuid| &uuid[..]).collect();
        for info in [
            SyncInfo::NewCookie(&text),
            SyncInfo::RefreshDelete { cookie, refresh_done: flag },
            SyncInfo::RefreshPresent { cookie, refresh_done: flag },
            SyncInfo::SyncIdSet { cookie, refresh_deletes: flag, uuids: List::from(&uuids) },
        ] {
            check_value!(info, SyncInfo::decode);
        }

        let list = slices(&list);
        let mut out = Vec::new();
        read_entry::write_request(&mut out, List::from(&list));
        prop_assert_eq!(read_entry::decode_request(&out, &LIMITS), Ok(List::from(&list)));
        out.clear();
        proxied_authorization::write_v1(&mut out, &text);
        prop_assert_eq!(proxied_authorization::decode_v1(&out), Ok(&text[..]));
        out.clear();
        subentries::write(&mut out, flag);
        prop_assert_eq!(subentries::decode(&out), Ok(flag));
        out.clear();
        let specs = [deref::DerefSpec { attribute: &text, wanted: List::from(&list) }];
        deref::write_request(&mut out, List::from(&specs));
        prop_assert_eq!(deref::decode_request(&out, &LIMITS), Ok(List::from(&specs)));
        with_attributes(&found, |attributes| {
            let results = [deref::DerefResult { attribute: &text, target_dn: &more, attributes: attributes.into() }];
            let mut out = Vec::new();
            deref::write_response(&mut out, List::from(&results));
            assert_eq!(deref::decode_response(&out), Ok(List::from(&results)));
        });
    }

    #[test]
    fn extended_values(
        number in 0..=i32::MAX, ttl_s in 0u32..=31_557_600, flag: bool, text in bytes(),
        user in option::of(bytes()), old in option::of(bytes()), new in option::of(bytes()),
    ) {
        let change = extended::PasswordModifyRequest {
            user: user.as_deref(), old_password: old.as_deref(), new_password: new.as_deref(),
        };
        check_value!(change, |out| extended::PasswordModifyRequest::decode(Some(out)));
        check_value!(extended::TransactionEnd { commit: flag, identifier: &text }, extended::TransactionEnd::decode);
        check_value!(extended::RefreshRequest { dn: &text, ttl_s }, extended::RefreshRequest::decode);
        let mut out = Vec::new();
        extended::write_cancel(&mut out, number);
        prop_assert_eq!(extended::decode_cancel(&out), Ok(number));
        out.clear();
        extended::write_refresh_response(&mut out, ttl_s);
        prop_assert_eq!(extended::decode_refresh_response(&out), Ok(ttl_s));
        out.clear();
        extended::write_password_modify_response(&mut out, user.as_deref());
        prop_assert_eq!(extended::decode_password_modify_response(&out), Ok(user.as_deref()));
        out.clear();
        extended::write_transaction_end_response(&mut out, flag.then_some(number));
        prop_assert_eq!(extended::decode_transaction_end_response(&out), Ok(flag.then_some(number)));
    }
}
