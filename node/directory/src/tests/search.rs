//! Searches as clients make them, and what they must find.

use super::*;
use crate::command::ChangeKind::{Add, Delete};
use crate::{Check, Flow, Scope, SearchItem, SearchOutcome, SearchRequest};
use bindery_model::filter::Filter;

/// One entry as a client sees it: DN, and attributes in the order sent.
pub type Found = (String, Vec<(String, Vec<String>)>);

fn element(input: &[u8]) -> (u8, &[u8], &[u8]) {
    let (tag, first) = (input[0], usize::from(input[1]));
    let (len, start) = if first < 0x80 {
        (first, 2)
    } else {
        let digits = first & 0x7f;
        (input[2..2 + digits].iter().fold(0, |len, digit| len << 8 | usize::from(*digit)), 2 + digits)
    };
    (tag, &input[start..start + len], &input[start + len..])
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn decode(mut input: &[u8]) -> Vec<(String, Vec<String>)> {
    let mut out = Vec::new();
    while !input.is_empty() {
        let (tag, attribute, rest) = element(input);
        assert_eq!(tag, 0x30);
        let (tag, name, set) = element(attribute);
        assert_eq!(tag, 0x04);
        let (tag, mut values, end) = element(set);
        assert!(tag == 0x31 && end.is_empty());
        let mut list = Vec::new();
        while !values.is_empty() {
            let (tag, value, rest) = element(values);
            assert_eq!(tag, 0x04);
            list.push(text(value));
            values = rest;
        }
        out.push((text(name), list));
        input = rest;
    }
    out
}

pub struct Ask<'a> {
    pub base: &'a str,
    pub scope: Scope,
    pub filter: &'a str,
    pub attributes: &'a [&'a str],
    pub identity: Identity,
    pub types_only: bool,
    pub manage_dsa_it: bool,
    pub size_limit: Option<u64>,
    pub page_size: Option<u32>,
    pub resume_after: Option<u64>,
}

impl Default for Ask<'_> {
    fn default() -> Self {
        Ask {
            base: "dc=example,dc=com",
            scope: Scope::Subtree,
            filter: "(objectClass=*)",
            attributes: &[],
            identity: ADMIN,
            types_only: false,
            manage_dsa_it: false,
            size_limit: None,
            page_size: None,
            resume_after: None,
        }
    }
}

impl Ask<'_> {
    pub fn run(&self, view: &ReadView) -> Result<(Vec<Found>, SearchOutcome), OpError> {
        let filter = Filter::parse(self.filter).unwrap();
        let attributes: Vec<&[u8]> = self.attributes.iter().map(|name| name.as_bytes()).collect();
        let request = SearchRequest {
            base: self.base,
            scope: self.scope,
            filter: &filter,
            selection: &attributes,
            types_only: self.types_only,
            manage_dsa_it: self.manage_dsa_it,
            size_limit: self.size_limit,
            resume_after: self.resume_after,
            page_size: self.page_size,
        };
        let mut found = Vec::new();
        let outcome = view.search(&request, &self.identity, &mut || Check::Continue, &mut |item| {
            found.push(read_item(item));
            Flow::Continue
        })?;
        Ok((found, outcome))
    }

    fn names(&self, node: &Node) -> Vec<String> {
        let (found, outcome) = self.run(&node.view()).unwrap();
        assert_eq!(outcome, SearchOutcome::Done);
        found.into_iter().map(|(dn, _)| dn.split(',').next().unwrap_or_default().to_owned()).collect()
    }
}

fn read_item(item: SearchItem<'_>) -> Found {
    match item {
        SearchItem::Entry { dn, attributes, .. } => {
            let whole: Vec<u8> = attributes.slices().flatten().copied().collect();
            assert_eq!(whole.len(), attributes.len());
            (dn.to_owned(), decode(&whole))
        }
        SearchItem::Reference { dn, uris, .. } => {
            (format!("-> {dn}"), vec![("ref".to_owned(), uris.iter().map(|uri| text(uri)).collect())])
        }
    }
}

fn names(node: &Node, filter: &str) -> Vec<String> {
    Ask { filter, ..Ask::default() }.names(node)
}

fn user(node: &Node, dn: &str) -> Identity {
    Identity::User { dn: dn.to_owned(), id: node.id(dn).unwrap() }
}

fn described(found: &Found) -> Vec<&str> {
    found.1.iter().map(|(name, _)| name.as_str()).collect()
}

const PERSON: (&str, &[&str]) = ("objectClass", &["inetOrgPerson"]);

fn people() -> Node {
    let mut node = Node::new();
    node.add_ou("ou=People,dc=example,dc=com").unwrap();
    node.add(
        "uid=u1,ou=People,dc=example,dc=com",
        &[
            PERSON,
            ("cn", &["User One"]),
            ("sn", &["One"]),
            ("userPassword", &["{SSHA}x"]),
            ("mail", &["u1@example.com"]),
        ],
    )
    .unwrap();
    node.add(
        "uid=u2,ou=People,dc=example,dc=com",
        &[PERSON, ("cn", &["User Two"]), ("sn", &["Two"]), ("userPassword", &["{SSHA}y"])],
    )
    .unwrap();
    node
}

#[test]
fn t01_escapes_are_data() {
    let mut node = Node::new();
    for cn in ["test * me", "test x me", "a\\\\b", "(x)", "a.c", "abc"] {
        node.add(&format!("cn={cn},dc=example,dc=com"), &[("objectClass", &["person"]), ("sn", &["x"])]).unwrap();
    }
    assert_eq!(names(&node, "(cn=*\\2a*)"), ["cn=test * me"]);
    assert_eq!(names(&node, "(cn=a\\5cb)").len(), 1);
    assert_eq!(names(&node, "(cn=\\28x\\29)"), ["cn=(x)"]);
    assert_eq!(names(&node, "(cn=a.*)"), ["cn=a.c"]);
}

#[test]
fn t04_indexed_and_intersects() {
    let mut node = Node::new();
    for (cn, mail, description) in [("1", "x@y", "d"), ("2", "z@y", "y"), ("3", "x@y", "d")] {
        node.add(
            &format!("cn={cn},dc=example,dc=com"),
            &[PERSON, ("sn", &["s"]), ("mail", &[mail]), ("description", &[description])],
        )
        .unwrap();
    }
    assert!(names(&node, "(&(mail=x@y)(description=y))").is_empty());
    assert_eq!(names(&node, "(&(mail=x@y)(description=d))"), ["cn=1", "cn=3"]);
}

#[test]
fn t06_unknown_attributes_are_undefined() {
    let node = people();
    assert!(names(&node, "(nosuch=1)").is_empty());
    assert!(names(&node, "(!(nosuch=1))").is_empty());
    assert_eq!(names(&node, "(|(nosuch=1)(uid=u1))"), ["uid=u1"]);
    assert!(names(&node, "(&(uid=u1)(!(nosuch=1)))").is_empty());
}

#[test]
fn t07_substrings_without_a_rule_are_undefined() {
    let node = people();
    assert!(names(&node, "(entryUUID=abc*)").is_empty());
    assert!(names(&node, "(uidNumber=1*)").is_empty());
    assert_eq!(names(&node, "(|(uidNumber=1*)(uid=u1))"), ["uid=u1"]);
    assert!(names(&node, "(&(uidNumber=1*)(uid=u1))").is_empty());
}

#[test]
fn t09_one_level_stays_one_level() {
    let mut node = Node::new();
    node.add_ou("ou=top,dc=example,dc=com").unwrap();
    for (at, sn) in ["x", "y", "z"].into_iter().enumerate() {
        let dn = format!("cn=c{at},ou=top,dc=example,dc=com");
        node.add(&dn, &[("objectClass", &["person"]), ("sn", &[sn])]).unwrap();
    }
    let deep: Vec<_> = (0..1000)
        .map(|at| {
            block_entry(
                &format!("cn=d{at},cn=c1,ou=top,dc=example,dc=com"),
                &[("objectClass", &["person"]), ("sn", &["x"]), ("description", &["deep"])],
            )
        })
        .collect();
    node.run(op::add_block::prepare(&ADMIN, deep, ExistingMode::Error).unwrap()).unwrap();
    let one = Ask { base: "ou=top,dc=example,dc=com", scope: Scope::OneLevel, filter: "(sn=x)", ..Ask::default() };
    assert_eq!(one.names(&node), ["cn=c0"]);
    let indexed = Ask { filter: "(cn=d7)", ..one };
    assert!(indexed.names(&node).is_empty());
    let below = Ask { base: "cn=c1,ou=top,dc=example,dc=com", filter: "(cn=d7)", ..Ask::default() };
    assert_eq!(below.names(&node), ["cn=d7"]);
    let beside = Ask { base: "cn=c2,ou=top,dc=example,dc=com", filter: "(cn=d7)", ..Ask::default() };
    assert!(beside.names(&node).is_empty());
    let subordinates = Ask { base: "ou=top,dc=example,dc=com", scope: Scope::Subordinates, ..Ask::default() };
    assert_eq!(subordinates.names(&node).len(), 1003);
    let subtree = Ask { base: "ou=top,dc=example,dc=com", ..Ask::default() };
    assert_eq!(subtree.names(&node).len(), 1004);
}

#[test]
fn t10_superclasses_are_implied() {
    let node = people();
    for filter in
        ["(objectClass=person)", "(objectClass=PERSON)", "(objectClass=2.5.6.6)", "(objectClass=inetOrgPerson)"]
    {
        assert_eq!(names(&node, filter), ["uid=u1", "uid=u2"], "{filter}");
    }
    assert_eq!(names(&node, "(objectClass=top)").len(), 4);
    assert!(names(&node, "(objectClass=nosuch)").is_empty());
}

#[test]
fn t11_options_and_subtypes() {
    let mut node = Node::new();
    node.add(
        "cn=a,dc=example,dc=com",
        &[PERSON, ("cn", &["a"]), ("cn;lang-en", &["b"]), ("cn;lang-fr", &["c"]), ("sn", &["s"])],
    )
    .unwrap();
    for (filter, hits) in
        [("(cn=b)", 1), ("(cn;lang-en=a)", 0), ("(CN;LANG-EN=b)", 1), ("(cn;lang-en;lang-en=b)", 1), ("(name=c)", 1)]
    {
        assert_eq!(names(&node, filter).len(), hits, "{filter}");
    }
    let ask = |attributes: &[&str]| {
        let (found, _) = Ask { filter: "(cn=a)", attributes, ..Ask::default() }.run(&node.view()).unwrap();
        let mut names: Vec<String> = described(&found[0]).into_iter().map(str::to_owned).collect();
        names.sort();
        names
    };
    assert_eq!(ask(&["cn"]), ["cn", "cn;lang-en", "cn;lang-fr"]);
    assert_eq!(ask(&["cn;lang-fr"]), ["cn;lang-fr"]);
    assert_eq!(ask(&["name"]), ["cn", "cn;lang-en", "cn;lang-fr", "sn"]);
}

#[test]
fn t28_virtual_attributes_are_filterable_and_selectable() {
    let mut node = people();
    assert_eq!(names(&node, "(hasSubordinates=TRUE)"), ["dc=example", "ou=People"]);
    assert_eq!(names(&node, "(numSubordinates=2)"), ["ou=People"]);
    assert_eq!(names(&node, "(entryDN=UID=u2 , ou=people,dc=EXAMPLE,dc=com)"), ["uid=u2"]);
    assert!(names(&node, "(entryDN=uid=none,dc=example,dc=com)").is_empty());
    assert_eq!(names(&node, "(&(entryDN=uid=u2,ou=People,dc=example,dc=com)(sn=One))").len(), 0);
    assert_eq!(names(&node, "(!(hasSubordinates=TRUE))"), ["uid=u1", "uid=u2"]);
    assert_eq!(names(&node, "(subschemaSubentry=cn=Subschema)").len(), 4);
    node.delete("uid=u1,ou=People,dc=example,dc=com").unwrap();
    node.delete("uid=u2,ou=People,dc=example,dc=com").unwrap();
    let ask = Ask {
        base: "ou=People,dc=example,dc=com",
        scope: Scope::Base,
        attributes: &["hasSubordinates", "numSubordinates"],
        ..Ask::default()
    };
    let (found, _) = ask.run(&node.view()).unwrap();
    let wanted = [("hasSubordinates", "FALSE"), ("numSubordinates", "0")]
        .map(|(name, value)| (name.to_owned(), vec![value.to_owned()]));
    assert_eq!(found[0].1, wanted);
}

#[test]
fn t29_attribute_selectors() {
    let node = people();
    let ask = |attributes: &[&str], types_only: bool| {
        let ask = Ask { filter: "(uid=u1)", attributes, types_only, ..Ask::default() };
        let (found, _) = ask.run(&node.view()).unwrap();
        assert_eq!(found.len(), 1);
        found.into_iter().next().unwrap()
    };
    let plain =
        |attributes: &[&str]| described(&ask(attributes, false)).into_iter().map(str::to_owned).collect::<Vec<_>>();
    let user = plain(&[]);
    assert_eq!(user[0], "objectClass");
    assert!(user.iter().any(|name| name == "userPassword") && !user.iter().any(|name| name == "entryUUID"));
    assert_eq!(plain(&["*"]), user);
    assert!(plain(&["1.1"]).is_empty());
    assert_eq!(plain(&["1.1", "cn"]), ["cn"]);
    let operational = plain(&["+"]);
    for name in ["entryUUID", "createTimestamp", "entryDN", "hasSubordinates", "subschemaSubentry"] {
        assert!(operational.iter().any(|own| own == name), "{name}");
    }
    assert!(operational.iter().all(|name| !user.contains(name)));
    assert_eq!(plain(&["*", "+"]), [user.clone(), operational.clone()].concat());
    assert_eq!(plain(&["+", "*", "cn", "entryDN"]), [user.clone(), operational].concat());
    assert_eq!(plain(&["CN"]), ["cn"]);
    assert_eq!(plain(&["cn", "cn"]), ["cn"]);
    assert!(plain(&["nosuch", "dn"]).is_empty());
    assert_eq!(plain(&["*", "entryUUID"]), [user.clone(), vec!["entryUUID".to_owned()]].concat());
    let entry = ask(&["entryDN"], false);
    assert_eq!(entry.1, [("entryDN".to_owned(), vec![entry.0.clone()])]);
    let types = ask(&["*", "entryDN"], true);
    assert_eq!(described(&types), [user, vec!["entryDN".to_owned()]].concat());
    assert!(types.1.iter().all(|(_, values)| values.is_empty()));
    // RFC 4529: all attributes of a class and of its superclasses.
    let class: Vec<String> = plain(&["@person"]);
    assert_eq!(class, ["objectClass", "cn", "sn", "userPassword"]);
}

#[test]
fn t30_missing_base_and_no_match() {
    let node = people();
    let missing = Ask { base: "cn=x,uid=none,OU=people,dc=example,dc=com", scope: Scope::Base, ..Ask::default() };
    let error = missing.run(&node.view()).unwrap_err();
    assert_eq!(error.kind, OpErrorKind::NoSuchObject);
    assert_eq!(error.matched_dn.as_deref(), Some("ou=People,dc=example,dc=com"));
    let foreign = Ask { base: "dc=other", ..Ask::default() };
    assert_eq!(foreign.run(&node.view()).unwrap_err().matched_dn, None);
    let bad = Ask { base: "no name", ..Ask::default() };
    assert_eq!(bad.run(&node.view()).unwrap_err().kind, OpErrorKind::InvalidDnSyntax);
    let no_match = Ask { base: "ou=People,dc=example,dc=com", scope: Scope::Base, filter: "(cn=x)", ..Ask::default() };
    assert!(no_match.names(&node).is_empty());
}

#[test]
fn t32_pages_and_limits() {
    let mut node = Node::new();
    for at in 0..10 {
        node.add(&format!("cn=p{at},dc=example,dc=com"), &[("objectClass", &["person"]), ("sn", &["s"])]).unwrap();
    }
    for (filter, size, sizes) in
        [("(sn=s)", 3, vec![3, 3, 3, 1]), ("(cn=p*)", 5, vec![5, 5]), ("(sn=s)", 10, vec![10]), ("(sn=no)", 2, vec![0])]
    {
        let mut resume_after = None;
        let mut seen = BTreeSet::new();
        for (at, wanted) in sizes.iter().enumerate() {
            let ask = Ask { filter, page_size: Some(size), resume_after, ..Ask::default() };
            let (found, outcome) = ask.run(&node.view()).unwrap();
            assert_eq!(found.len(), *wanted, "{filter} page {at}");
            seen.extend(found.into_iter().map(|(dn, _)| dn));
            match outcome {
                SearchOutcome::Page { next } => resume_after = Some(next),
                other => assert_eq!((other, at), (SearchOutcome::Done, sizes.len() - 1)),
            }
        }
        assert_eq!(seen.len(), sizes.iter().sum::<usize>());
    }
    let limited = Ask { filter: "(sn=s)", size_limit: Some(4), ..Ask::default() };
    let (found, outcome) = limited.run(&node.view()).unwrap();
    assert_eq!((found.len(), outcome), (4, SearchOutcome::SizeLimit));
    let enough = Ask { size_limit: Some(10), ..limited };
    assert_eq!(enough.run(&node.view()).unwrap().1, SearchOutcome::Done);
}

#[test]
fn a_search_pauses_and_ends_by_its_caller() {
    let mut node = Node::new();
    let entries = (0..500)
        .map(|at| block_entry(&format!("cn=p{at},dc=example,dc=com"), &[("objectClass", &["person"]), ("sn", &["s"])]))
        .collect();
    node.run(op::add_block::prepare(&ADMIN, entries, ExistingMode::Error).unwrap()).unwrap();
    let filter = Filter::parse("(sn=s)").unwrap();
    let view = node.view();
    let mut request = SearchRequest {
        base: "dc=example,dc=com",
        scope: Scope::Subtree,
        filter: &filter,
        selection: &[b"1.1"],
        types_only: false,
        manage_dsa_it: false,
        size_limit: None,
        resume_after: None,
        page_size: None,
    };
    let mut seen = Vec::new();
    let mut rounds = 0;
    loop {
        rounds += 1;
        let (mut checks, mut sent) = (0, 0);
        let outcome = view
            .search(
                &request,
                &ADMIN,
                &mut || {
                    checks += 1;
                    if checks > 1 { Check::Pause } else { Check::Continue }
                },
                &mut |item| {
                    seen.push(read_item(item).0);
                    sent += 1;
                    if sent == 90 { Flow::Pause } else { Flow::Continue }
                },
            )
            .unwrap();
        match outcome {
            SearchOutcome::Paused { next } => request.resume_after = Some(next),
            other => {
                assert_eq!(other, SearchOutcome::Done);
                break;
            }
        }
    }
    assert!(rounds >= 6);
    assert_eq!(seen.len(), 500);
    assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), 500);
    request.resume_after = None;
    let outcome = view.search(&request, &ADMIN, &mut || Check::TimeUp, &mut |_| Flow::Continue).unwrap();
    assert_eq!(outcome, SearchOutcome::TimeLimit);
}

#[test]
fn access_hides_passwords_and_asks_to_bind() {
    let node = people();
    let dn = "uid=u1,ou=People,dc=example,dc=com";
    let one = user(&node, dn);
    for base in ["dc=example,dc=com", "dc=nowhere"] {
        let error = Ask { base, identity: Identity::Anonymous, ..Ask::default() }.run(&node.view()).unwrap_err();
        assert_eq!(error.kind, OpErrorKind::InsufficientAccess);
        assert!(error.diagnostic.contains("bind first") && error.matched_dn.is_none());
    }
    let ask = |filter: &'static str, attributes: &'static [&'static str]| {
        Ask { filter, attributes, identity: one.clone(), ..Ask::default() }.run(&node.view()).unwrap().0
    };
    for attributes in [&[][..], &["*"], &["*", "+"], &["userPassword", "cn", "sn"]] {
        for (found, admin) in ask("(uid=*)", attributes)
            .iter()
            .zip(Ask { filter: "(uid=*)", attributes, ..Ask::default() }.run(&node.view()).unwrap().0)
        {
            let wanted: Vec<_> = admin.1.into_iter().filter(|(name, _)| name != "userPassword").collect();
            assert!(!wanted.is_empty());
            assert_eq!(found.1, wanted);
        }
    }
    // An unreadable attribute is Undefined, also negated, also in one's own entry (=w).
    for filter in ["(userPassword=*)", "(!(userPassword=*))", "(!(userPassword={SSHA}x))"] {
        assert!(ask(filter, &[]).is_empty(), "{filter}");
    }
    assert_eq!(names(&node, "(userPassword=*)").len(), 2);
    assert_eq!(names(&node, "(!(userPassword=*))").len(), 2);
}

#[test]
fn rfc4511_4_10_compare() {
    let node = people();
    let dn = "uid=u1,ou=People,dc=example,dc=com";
    let one = user(&node, dn);
    let view = node.view();
    let compare = |name: &str, value: &str, identity: &Identity| view.compare(dn, name, value.as_bytes(), identity);
    assert_eq!(compare("cn", "USER  one", &one), Ok(true));
    assert_eq!(compare("cn", "other", &one), Ok(false));
    assert_eq!(compare("name", "one", &one), Ok(true));
    assert_eq!(compare("objectClass", "inetorgperson", &one), Ok(true));
    assert_eq!(compare("hasSubordinates", "FALSE", &one), Ok(true));
    assert_eq!(compare("entryDN", "UID=U1,ou=people,dc=example,dc=com", &one), Ok(true));
    let kind = |result: Result<bool, OpError>| result.unwrap_err().kind;
    assert_eq!(kind(compare("title", "x", &one)), OpErrorKind::NoSuchAttribute);
    assert_eq!(kind(compare("userPassword", "{SSHA}x", &one)), OpErrorKind::NoSuchAttribute);
    assert_eq!(compare("userPassword", "{SSHA}x", &ADMIN), Ok(true));
    assert_eq!(kind(compare("nosuch", "x", &one)), OpErrorKind::UndefinedAttributeType);
    assert_eq!(kind(compare("uidNumber", "x", &one)), OpErrorKind::InvalidAttributeSyntax);
    assert_eq!(kind(compare("cn", "x", &Identity::Anonymous)), OpErrorKind::InsufficientAccess);
    let missing = view.compare("uid=no,ou=People,dc=example,dc=com", "cn", b"x", &one).unwrap_err();
    assert_eq!(missing.kind, OpErrorKind::NoSuchObject);
    assert_eq!(missing.matched_dn.as_deref(), Some("ou=People,dc=example,dc=com"));
}

#[test]
fn bind_targets() {
    let node = people();
    let view = node.view();
    let admin = view.bind_target("CN=Admin,dc=example,dc=com").unwrap().unwrap();
    assert_eq!((admin.identity, admin.passwords), (Identity::Admin, vec![b"{ARGON2}x".to_vec()]));
    let one = view.bind_target("UID=U1,ou=people,dc=example,dc=com").unwrap().unwrap();
    assert_eq!(one.identity, user(&node, "uid=u1,ou=People,dc=example,dc=com"));
    assert_eq!(one.passwords, [b"{SSHA}x".to_vec()]);
    assert_eq!(view.bind_target("uid=none,ou=People,dc=example,dc=com").unwrap(), None);
    assert!(view.bind_target("ou=People,dc=example,dc=com").unwrap().unwrap().passwords.is_empty());
    assert!(view.bind_target("nonsense").is_err());
}

#[test]
fn rfc4512_5_1_root_dse_and_subschema() {
    let node = people();
    let view = node.view();
    let server = vec![
        ("supportedLDAPVersion".to_owned(), vec![b"3".to_vec()]),
        ("supportedControl".to_owned(), vec![b"1.2.840.113556.1.4.319".to_vec()]),
        ("supportedExtension".to_owned(), vec![]),
    ];
    let read = |filter: &str, attributes: &[&str]| {
        let filter = Filter::parse(filter).unwrap();
        let attributes: Vec<&[u8]> = attributes.iter().map(|name| name.as_bytes()).collect();
        let mut found = Vec::new();
        view.root_dse(&filter, &attributes, false, &server, &Identity::Anonymous, &mut |item| {
            found.push(read_item(item));
        })
        .unwrap();
        found
    };
    let plain = read("(objectClass=*)", &[]);
    assert_eq!(plain[0].0, "");
    assert!(described(&plain[0]).contains(&"namingContexts"));
    let named = read("(objectClass=*)", &["supportedControl", "+"]);
    let names = described(&named[0]);
    assert!(names.contains(&"supportedControl") && names.contains(&"supportedLDAPVersion"));
    assert!(!names.contains(&"supportedExtension"));
    assert!(read("(objectClass=person)", &[]).is_empty());

    let subschema = Ask {
        base: "CN=subschema",
        scope: Scope::Base,
        filter: "(objectClass=subschema)",
        attributes: &["attributeTypes", "objectClasses", "modifyTimestamp"],
        identity: Identity::Anonymous,
        ..Ask::default()
    };
    let (found, _) = subschema.run(&view).unwrap();
    assert_eq!(found[0].0, "cn=Subschema");
    assert_eq!(found[0].1.len(), 3);
    // The root DSE is not below anything, and everything is below the root.
    let all = Ask { base: "", ..Ask::default() };
    assert_eq!(all.names(&node).len(), 4);
    let contexts = Ask { base: "", scope: Scope::OneLevel, ..Ask::default() };
    assert_eq!(contexts.names(&node), ["dc=example"]);
}

#[test]
fn rfc3296_referral_objects() {
    let mut node = people();
    node.add(
        "ou=away,dc=example,dc=com",
        &[
            ("objectClass", &["referral", "extensibleObject"]),
            ("ou", &["away"]),
            ("ref", &["ldap://other/ou=away,dc=example,dc=com"]),
        ],
    )
    .unwrap();
    let found = names(&node, "(uid=u1)");
    assert_eq!(found, ["uid=u1", "-> ou=away"]);
    let managed = Ask { filter: "(ou=away)", manage_dsa_it: true, ..Ask::default() };
    assert_eq!(managed.names(&node), ["ou=away"]);
    for base in ["ou=away,dc=example,dc=com", "cn=below,ou=away,dc=example,dc=com"] {
        let (_, outcome) = Ask { base, scope: Scope::Base, ..Ask::default() }.run(&node.view()).unwrap();
        assert_eq!(outcome, SearchOutcome::Referral { uris: vec![b"ldap://other/ou=away,dc=example,dc=com".to_vec()] });
    }
    let elsewhere = Ask { base: "ou=People,dc=example,dc=com", filter: "(uid=u1)", ..Ask::default() };
    assert_eq!(elsewhere.names(&node), ["uid=u1"]);
}

#[test]
fn a_rename_is_seen_in_every_name_below_it() {
    let mut node = people();
    let old = node.view();
    let find = |view: &ReadView| Ask { filter: "(uid=u1)", ..Ask::default() }.run(view).unwrap().0[0].0.clone();
    assert_eq!(find(&old), "uid=u1,ou=People,dc=example,dc=com");
    node.rename("ou=People,dc=example,dc=com", "ou=Folk", true, None).unwrap();
    assert_eq!(find(&node.view()), "uid=u1,ou=Folk,dc=example,dc=com");
    // A reader of the version before goes on with the old name, whoever was first to keep one.
    assert_eq!(find(&old), "uid=u1,ou=People,dc=example,dc=com");
    assert_eq!(find(&node.view()), "uid=u1,ou=Folk,dc=example,dc=com");
}

#[test]
fn plans_are_explained() {
    let mut node = people();
    let view = node.view();
    let explain = |filter: &str| view.explain(&Filter::parse(filter).unwrap(), &ADMIN).unwrap();
    assert_eq!(explain("(objectClass=*)"), "all entries, exact\n");
    assert_eq!(explain("(nosuch=*)"), "nothing\n");
    assert_eq!(explain("(sn=One)"), "all entries, re-test\n");
    assert_eq!(explain("(mail=u1@example.com)"), "mail eq `u1@example.com`: 1 entries, exact\n");
    // The other list is longer, and one entry is tested faster than it is read.
    let both = explain("(&(objectClass=person)(mail=u1@example.com))");
    assert!(both.starts_with("and, re-test, 1 terms only re-tested\n  mail eq"), "{both}");
    let either = explain("(|(mail=u1@example.com)(cn=Use*))");
    assert!(either.starts_with("or, exact\n") && either.contains("cn sub range: 2 entries, exact"), "{either}");
    assert!(!explain("(!(mail=u1@example.com))").contains("exact"));
    node.modify("uid=u2,ou=People,dc=example,dc=com", &[(Add, "mail", &["u2@example.com"])]).unwrap();
    node.modify("uid=u2,ou=People,dc=example,dc=com", &[(Delete, "mail", &["u2@example.com"])]).unwrap();
    assert_eq!(names(&node, "(mail=*)"), ["uid=u1"]);
}
