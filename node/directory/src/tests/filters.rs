//! T04 in its general form: the same filter finds the same entries with and without indexes, and those that
//! evaluating it on every entry finds, for whoever asks.

use super::search::Ask;
use super::*;
use crate::{Scope, SearchOutcome};
use bindery_model::filter::Filter;
use proptest::prelude::*;

/// Enough for lists in several forms, few enough for a directory in each case.
const ENTRIES: usize = 150;

const BASE: &str = "dc=example,dc=com";

fn directory(indexes: &[(&str, IndexTypes)]) -> Node {
    let mut node = Node::blank();
    let request = BootstrapRequest {
        naming_contexts: vec![BASE.into()],
        admin_dn: None,
        admin_password: Vec::new(),
        indexes: indexes.iter().map(|(name, types)| ((*name).to_owned(), *types)).collect(),
        settings: Vec::new(),
    };
    node.run(op::bootstrap::prepare(&Schema::shipped(), request).unwrap()).unwrap();
    node.add(BASE, &[("objectClass", &["domain"])]).unwrap();
    node
}

fn all_indexes() -> Vec<(&'static str, IndexTypes)> {
    let all = IndexTypes::ALL.iter().fold(IndexTypes::default(), |all, (kind, _)| all.or(*kind));
    [
        "objectClass",
        "uid",
        "cn",
        "sn",
        "mail",
        "uidNumber",
        "telephoneNumber",
        "seeAlso",
        "description",
        "userPassword",
        "entryUUID",
        "modifyTimestamp",
    ]
    .map(|name| (name, all))
    .to_vec()
}

/// What one entry is made of.
#[derive(Debug, Clone)]
struct Seed {
    sn: String,
    descriptions: Vec<String>,
    number: Option<i32>,
    phone: Option<String>,
    password: bool,
    option: bool,
    below: bool,
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[ab]{1,3}",
        3 => "[aB]{1,2} [ab]{1,3}",
        1 => "[aé]{1,4}",
        1 => "Smi?th",
        1 => Just("a".repeat(400)),
        1 => "[ab]{3000}",
    ]
}

fn seed() -> impl Strategy<Value = Seed> {
    (
        word(),
        proptest::collection::vec(word(), 0..3),
        proptest::option::of(-3i32..12),
        proptest::option::of("[+][12]{1,2}[- ][12]{1,3}"),
        any::<bool>(),
        proptest::bool::weighted(0.1),
        proptest::bool::weighted(0.3),
    )
        .prop_map(|(sn, mut descriptions, number, phone, password, option, below)| {
            let mut seen = BTreeSet::new();
            descriptions.retain(|text| seen.insert(text.to_lowercase()));
            Seed { sn, descriptions, number, phone, password, option, below }
        })
}

fn fill(node: &mut Node, seeds: &[Seed]) {
    node.add_ou("ou=deep,dc=example,dc=com").unwrap();
    for (at, seed) in seeds.iter().enumerate() {
        let number = seed.number.unwrap_or_default().to_string();
        let (cn, home) = (format!("p{}", at % 7), format!("/h/{at}"));
        let also = format!("CN=p{}, dc=example,dc=com", at % 3);
        let descriptions: Vec<&str> = seed.descriptions.iter().map(String::as_str).collect();
        let mut attributes: Vec<(&str, &[&str])> = Vec::new();
        let sn = [seed.sn.as_str()];
        let (cn, home, number, also) = ([cn.as_str()], [home.as_str()], [number.as_str()], [also.as_str()]);
        let account = ["inetOrgPerson", "posixAccount"];
        attributes.push(("objectClass", if seed.number.is_some() { &account } else { &account[..1] }));
        if seed.number.is_some() {
            attributes.extend([("uidNumber", &number[..]), ("gidNumber", &["1"][..]), ("homeDirectory", &home[..])]);
        }
        attributes.extend([("cn", &cn[..]), ("seeAlso", &also[..])]);
        attributes.push((if seed.option { "sn;lang-en" } else { "sn" }, &sn));
        if seed.option {
            attributes.push(("sn", &["plain"]));
        }
        if !descriptions.is_empty() {
            attributes.push(("description", &descriptions));
        }
        let phone = seed.phone.iter().map(String::as_str).collect::<Vec<_>>();
        if !phone.is_empty() {
            attributes.push(("telephoneNumber", &phone));
        }
        if seed.password {
            attributes.push(("userPassword", &["{SSHA}abc"]));
        }
        let above = if seed.below { "ou=deep,dc=example,dc=com" } else { BASE };
        node.add(&format!("uid=u{at},{above}"), &attributes).unwrap();
    }
}

fn item() -> impl Strategy<Value = String> {
    let attribute = prop_oneof![
        Just("sn"),
        Just("description"),
        Just("cn"),
        Just("name"),
        Just("sn;lang-en"),
        Just("telephoneNumber"),
        Just("uidNumber"),
        Just("userPassword"),
        Just("nosuch"),
        Just("uid"),
        Just("hasSubordinates"),
    ];
    let value = prop_oneof![
        "[abAB]{1,3}",
        "[ab] [ab]",
        Just("smith".to_owned()),
        Just("p3".to_owned()),
        Just("+12 1".to_owned()),
        "-?[0-9]{1,2}",
        Just("TRUE".to_owned()),
        "a{4,6}",
        Just("{SSHA}abc".to_owned()),
        "[é]a",
    ];
    let pattern =
        prop_oneof!["[ab]{1,5}\\*", "\\*[ab]{1,5}", "\\*[ab]{1,4}\\*", "[ab]\\*[ab ]{1,3}\\*[ab]", "p\\*", "\\*1\\*"];
    prop_oneof![
        4 => (attribute.clone(), value.clone()).prop_map(|(name, value)| format!("({name}={value})")),
        3 => (attribute.clone(), pattern).prop_map(|(name, value)| format!("({name}={value})")),
        1 => (attribute.clone(), value.clone()).prop_map(|(name, value)| format!("({name}>={value})")),
        1 => (attribute.clone(), value.clone()).prop_map(|(name, value)| format!("({name}<={value})")),
        1 => (attribute.clone(), value.clone()).prop_map(|(name, value)| format!("({name}~={value})")),
        1 => attribute.clone().prop_map(|name| format!("({name}=*)")),
        1 => Just("(objectClass=posixAccount)".to_owned()),
        1 => Just("(objectClass=person)".to_owned()),
        1 => Just("(objectClass=*)".to_owned()),
        1 => (0..ENTRIES).prop_map(|at| format!("(entryDN=UID=u{at},{BASE})")),
        1 => (0..4u8).prop_map(|at| format!("(seeAlso=cn=P{at},dc=EXAMPLE , dc=com)")),
        1 => (attribute, value).prop_map(|(name, value)| format!("({name}:dn:={value})")),
        1 => Just("(modifyTimestamp>=20250101000000Z)".to_owned()),
    ]
}

fn filter() -> impl Strategy<Value = String> {
    item().prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            3 => proptest::collection::vec(inner.clone(), 0..4).prop_map(|list| format!("(&{})", list.concat())),
            2 => proptest::collection::vec(inner.clone(), 0..4).prop_map(|list| format!("(|{})", list.concat())),
            2 => inner.prop_map(|inner| format!("(!{inner})")),
        ]
    })
}

fn find(node: &Node, ask: &Ask<'_>) -> Vec<String> {
    let (found, outcome) = ask.run(&node.view()).unwrap();
    assert_eq!(outcome, SearchOutcome::Done);
    found.into_iter().map(|(dn, _)| dn).collect()
}

/// The same search, a page at a time.
fn find_paged(node: &Node, ask: Ask<'_>, size: u32) -> Vec<String> {
    let mut all = Vec::new();
    let mut ask = Ask { page_size: Some(size), ..ask };
    loop {
        let (found, outcome) = ask.run(&node.view()).unwrap();
        all.extend(found.into_iter().map(|(dn, _)| dn));
        match outcome {
            SearchOutcome::Page { next } => ask.resume_after = Some(next),
            _ => return all,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn t04_indexes_change_no_result(
        seeds in proptest::collection::vec(seed(), ENTRIES),
        filters in proptest::collection::vec(filter(), 120),
    ) {
        let (mut plain, mut indexed) = (directory(&[]), directory(&all_indexes()));
        fill(&mut plain, &seeds);
        fill(&mut indexed, &seeds);
        let own = "uid=u0,dc=example,dc=com";
        let own = indexed.id(own).map_or(ADMIN, |id| Identity::User { dn: own.into(), id });
        let view = indexed.view();
        for text in &filters {
            for identity in [ADMIN, own.clone()] {
                for (base, scope) in [
                    (BASE, Scope::Subtree),
                    (BASE, Scope::OneLevel),
                    ("ou=deep,dc=example,dc=com", Scope::Subtree),
                    ("ou=deep,dc=example,dc=com", Scope::Subordinates),
                    ("uid=u1,dc=example,dc=com", Scope::Base),
                ] {
                    if indexed.id(base).is_none() {
                        continue;
                    }
                    let ask = || Ask { base, scope, filter: text, identity: identity.clone(), ..Ask::default() };
                    let wanted = find(&plain, &ask());
                    let explained = view.explain(&Filter::parse(text).unwrap(), &identity).unwrap();
                    prop_assert_eq!(find(&indexed, &ask()), wanted.clone(), "{} {:?}\n{}", text, scope, explained);
                    prop_assert_eq!(find_paged(&indexed, ask(), 7), wanted, "paged {} {:?}", text, scope);
                }
            }
        }
    }
}
