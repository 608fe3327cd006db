//! Black-box cases, named by their ids, and RFC clauses in the titles. All against one real node.

use std::sync::OnceLock;

use bindery_tests::client::{Client, Search, search};
use bindery_tests::process::{ADMIN_DN, ClusterOptions, ProcessCluster, SUFFIX};
use bindery_wire::control::Control;
use bindery_wire::oid;
use bindery_wire::request::{
    AbandonRequest, Authentication, BindRequest, ChangeOperation, DeleteRequest, Request, Scope,
};

use ChangeOperation::{Add, Delete, Increment, Replace};

/// Schema of the tests: a boolean, a time, an integer declared only through SUP, a type without matching.
const SCHEMA: &str = "\
attributetype ( 1.3.6.1.4.1.99999.1.1 NAME 'testBoolean' EQUALITY booleanMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.7 )\n\
attributetype ( 1.3.6.1.4.1.99999.1.2 NAME 'testTime' EQUALITY generalizedTimeMatch ORDERING generalizedTimeOrderingMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.24 )\n\
attributetype ( 1.3.6.1.4.1.99999.1.3 NAME 'testInteger' EQUALITY integerMatch ORDERING integerOrderingMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.27 )\n\
attributetype ( 1.3.6.1.4.1.99999.1.4 NAME 'testSubInteger' SUP testInteger )\n\
attributetype ( 1.3.6.1.4.1.99999.1.5 NAME 'testNoMatching' SYNTAX 1.3.6.1.4.1.1466.115.121.1.40 )\n\
objectclass ( 1.3.6.1.4.1.99999.2.1 NAME 'testThing' SUP top AUXILIARY MAY ( testBoolean $ testTime $ testInteger $ testSubInteger $ testNoMatching ) )\n";

fn cluster() -> &'static ProcessCluster {
    static CLUSTER: OnceLock<ProcessCluster> = OnceLock::new();
    CLUSTER.get_or_init(|| {
        let cluster = ProcessCluster::start(ClusterOptions { nodes: 1, ..ClusterOptions::default() });
        let file = cluster.path().join("test.schema");
        std::fs::write(&file, SCHEMA).expect("schema file");
        cluster.nodes[0].admin_ok(&["schema", "add", file.to_str().expect("UTF-8 path")]);
        let mut client = Client::admin(cluster.nodes[0].ldap).expect("a ready node");
        let attributes: &[(&str, &[&str])] =
            &[("objectClass", &["organization", "dcObject"]), ("o", &["Example"]), ("dc", &["example"])];
        client.add(SUFFIX, attributes).expect("a connection").ok();
        cluster
    })
}

/// The administrator's connection, and a subtree of the test's own.
fn place(name: &str) -> (Client, String) {
    let mut client = Client::admin(cluster().nodes[0].ldap).expect("a ready node");
    let base = format!("ou={name},{SUFFIX}");
    client.add(&base, &[("objectClass", &["organizationalUnit"])]).expect("a connection").ok();
    (client, base)
}

fn person(client: &mut Client, base: &str, cn: &str, more: &[(&str, &[&str])]) -> String {
    let dn = format!("cn={},{base}", escape(cn));
    let mut attributes: Vec<(&str, &[&str])> = vec![("objectClass", &["inetOrgPerson", "testThing"]), ("sn", &["x"])];
    let cn = [cn];
    attributes.push(("cn", &cn));
    attributes.extend_from_slice(more);
    client.add(&dn, &attributes).expect("a connection").ok();
    dn
}

fn escape(value: &str) -> String {
    bindery_model::dn::Rdn::new(vec![bindery_model::dn::Ava::new("cn", value)])
        .expect("one value")
        .to_string()
        .split_once('=')
        .expect("type=value")
        .1
        .to_owned()
}

fn hits(client: &mut Client, base: &str, filter: &str) -> usize {
    client.search(&search(base, filter)).expect("a connection").ok().entries.len()
}

fn read(client: &mut Client, dn: &str, attribute: &str) -> Vec<String> {
    let found = client.search(&search(dn, "(objectClass=*)").base_only().attributes(&[attribute]));
    found.expect("a connection").ok().entries[0].values(attribute)
}

#[test]
fn t01_rfc4515_3_escapes_are_data_and_regular_expressions_are_not() {
    let (mut client, base) = place("T01");
    for cn in ["test * me", "test x me", "a\\b", "(x)", "a.c", "abc"] {
        person(&mut client, &base, cn, &[]);
    }
    for (filter, cn) in
        [("(cn=*\\2a*)", "test * me"), ("(cn=a\\5cb)", "a\\b"), ("(cn=\\28x\\29)", "(x)"), ("(cn=a.*)", "a.c")]
    {
        let found = client.search(&search(&base, filter)).expect("a connection").ok();
        assert_eq!(found.entries.len(), 1, "{filter}: {:?}", found.dns());
        assert_eq!(found.entries[0].values("cn"), [cn], "{filter}");
    }
}

#[test]
fn t02_rfc4517_4_2_15_dn_assertions_match_in_any_spelling() {
    let (mut client, base) = place("T02");
    client
        .add(
            &format!("cn=g,{base}"),
            &[("objectClass", &["groupOfNames"]), ("member", &["uid=u1,ou=People,dc=ex,dc=com"])],
        )
        .expect("a connection")
        .ok();
    for spelling in [
        "UID=U1 , ou=people,DC=ex,dc=COM",
        "uid=\\5c751,ou=People,dc=ex,dc=com",
        "0.9.2342.19200300.100.1.1=u1,ou=People,dc=ex,dc=com",
    ] {
        assert_eq!(hits(&mut client, &base, &format!("(member={spelling})")), 1, "{spelling}");
    }
}

#[test]
fn t03_rfc4514_2_4_escaped_spaces() {
    let (mut client, base) = place("T03");
    for (dn, cn) in [("cn=\\20lead", " lead"), ("cn=trail\\20", "trail "), ("cn=a b", "a b")] {
        let dn = format!("{dn},{base}");
        let attributes: &[(&str, &[&str])] =
            &[("objectClass", &["person"]), ("sn", &["x"]), ("cn", &[cn]), ("userPassword", &["pw"])];
        client.add(&dn, attributes).expect("a connection").ok();
    }
    let lead: &[(&str, &[&str])] = &[("objectClass", &["person"]), ("sn", &["x"]), ("cn", &["lead"])];
    client.add(&format!("cn=lead,{base}"), lead).expect("a connection").is(68);
    let mut user = Client::connect(cluster().nodes[0].ldap).expect("a ready node");
    user.bind(&format!("cn=a\\20b,{base}"), "pw").expect("a connection").ok();
    client.delete(&format!("cn=\\20lead,{base}")).expect("a connection").ok();
    client.add(&format!("cn=lead,{base}"), lead).expect("a connection").ok();
}

#[test]
fn t04_rfc4511_4_5_1_7_and_intersects() {
    let (mut client, base) = place("T04");
    person(&mut client, &base, "1", &[("l", &["t04x"])]);
    person(&mut client, &base, "2", &[("ou", &["t04y"])]);
    person(&mut client, &base, "3", &[("l", &["t04x"])]);
    assert_eq!(hits(&mut client, &base, "(&(l=t04x)(ou=t04y))"), 0);
    assert_eq!(hits(&mut client, &base, "(|(l=t04x)(ou=t04y))"), 3);
}

#[test]
fn t06_rfc4511_4_5_1_7_unknown_attributes_are_undefined() {
    let (mut client, base) = place("T06");
    person(&mut client, &base, "a", &[("uid", &["t06u1"])]);
    for (filter, expected) in
        [("(nosuch=1)", 0), ("(!(nosuch=1))", 0), ("(|(nosuch=1)(uid=t06u1))", 1), ("(&(uid=t06u1)(!(nosuch=1)))", 0)]
    {
        assert_eq!(hits(&mut client, &base, filter), expected, "{filter}");
    }
}

#[test]
fn t07_rfc4511_4_5_1_7_substrings_without_a_rule_are_undefined() {
    let (mut client, base) = place("T07");
    client
        .add(
            &format!("uid=t07u1,{base}"),
            &[
                ("objectClass", &["account", "posixAccount"]),
                ("cn", &["x"]),
                ("uidNumber", &["123"]),
                ("gidNumber", &["1"]),
                ("homeDirectory", &["/"]),
            ],
        )
        .expect("a connection")
        .ok();
    for (filter, expected) in [
        ("(entryUUID=abc*)", 0),
        ("(uidNumber=1*)", 0),
        ("(|(uidNumber=1*)(uid=t07u1))", 1),
        ("(&(uidNumber=1*)(uid=t07u1))", 0),
    ] {
        assert_eq!(hits(&mut client, &base, filter), expected, "{filter}");
    }
}

#[test]
fn t09_rfc4511_4_5_1_2_scopes() {
    let (mut client, base) = place("T09");
    for name in ["a", "b", "c"] {
        let dn = format!("ou={name},{base}");
        client.add(&dn, &[("objectClass", &["organizationalUnit"])]).expect("a connection").ok();
    }
    for i in 0..50 {
        person(&mut client, &format!("ou=a,{base}"), &format!("p{i}"), &[("title", &["t09"])]);
    }
    let child = person(&mut client, &base, "child", &[("title", &["t09"])]);
    let found = client.search(&search(&base, "(title=t09)").one_level()).expect("a connection").ok();
    assert_eq!(found.dns(), [child]);
    let subordinates = search(&base, "(objectClass=*)").scope(Scope::SubordinateSubtree);
    assert_eq!(client.search(&subordinates).expect("a connection").ok().entries.len(), 54);
    assert_eq!(hits(&mut client, &base, "(objectClass=*)"), 55);
    let only = client.search(&search(&base, "(objectClass=*)").base_only()).expect("a connection").ok();
    assert_eq!(only.dns(), [base]);
}

#[test]
fn t10_rfc4512_3_3_superclasses_are_implied() {
    let (mut client, base) = place("T10");
    let dn = format!("cn=t10,{base}");
    client
        .add(&dn, &[("objectClass", &["inetOrgPerson"]), ("cn", &["t10"]), ("sn", &["x"])])
        .expect("a connection")
        .ok();
    for filter in ["(objectClass=person)", "(objectClass=PERSON)", "(objectClass=2.5.6.6)", "(objectClass=top)"] {
        assert_eq!(hits(&mut client, &base, &format!("(&(cn=t10){filter})")), 1, "{filter}");
    }
    let outcome = client.modify(&dn, &[(Add, "objectClass", &["person"])]).expect("a connection");
    assert!(matches!(outcome.code, 0 | 20), "{outcome:?}");
    let outcome = client.modify(&dn, &[(Delete, "objectClass", &["person"])]).expect("a connection");
    assert!(matches!(outcome.code, 0 | 16 | 65 | 69), "{outcome:?}");
    assert_eq!(hits(&mut client, &base, "(&(cn=t10)(objectClass=person))"), 1);
}

#[test]
fn t11_rfc4512_2_5_options_and_subtypes() {
    let (mut client, base) = place("T11");
    let dn = format!("cn=t11a,{base}");
    client
        .add(
            &dn,
            &[
                ("objectClass", &["person"]),
                ("cn", &["t11a"]),
                ("cn;lang-en", &["t11b"]),
                ("cn;lang-fr", &["t11c"]),
                ("sn", &["x"]),
            ],
        )
        .expect("a connection")
        .ok();
    for (filter, expected) in [
        ("(cn=t11b)", 1),
        ("(cn;lang-en=t11a)", 0),
        ("(CN;LANG-EN=t11b)", 1),
        ("(cn;lang-en;lang-en=t11b)", 1),
        ("(name=t11c)", 1),
    ] {
        assert_eq!(hits(&mut client, &base, filter), expected, "{filter}");
    }
    let all = client.search(&search(&dn, "(objectClass=*)").base_only().attributes(&["cn"])).expect("a connection");
    assert_eq!(all.entries[0].attributes.len(), 3, "{:?}", all.entries[0].descriptions());
    let one = client.search(&search(&dn, "(objectClass=*)").base_only().attributes(&["cn;lang-fr"]));
    assert_eq!(one.expect("a connection").entries[0].descriptions(), ["cn;lang-fr"]);
}

#[test]
fn t12_rfc4517_3_3_booleans_telephones_times() {
    let (mut client, base) = place("T12");
    person(
        &mut client,
        &base,
        "t12",
        &[("testBoolean", &["TRUE"]), ("telephoneNumber", &["+1 555-1234"]), ("testTime", &["20250101000000Z"])],
    );
    for filter in [
        "(testBoolean=true)",
        "(telephoneNumber=+15551234)",
        "(testTime=202501010000Z)",
        "(testTime>=20241231235959.5Z)",
        "(testTime>=20241231235960Z)",
    ] {
        assert_eq!(hits(&mut client, &base, filter), 1, "{filter}");
    }
    let dn = format!("cn=t12,{base}");
    let outcome = client.modify(&dn, &[(Add, "telephoneNumber", &["-"])]).expect("a connection");
    assert!(matches!(outcome.code, 0 | 21), "{outcome:?}");
    for time in ["createTimestamp", "modifyTimestamp"] {
        let value = &read(&mut client, &dn, time)[0];
        assert!(
            value.len() >= 15 && value.ends_with('Z') && value[..14].bytes().all(|b| b.is_ascii_digit()),
            "{value}"
        );
    }
}

#[test]
fn t15_rfc4511_4_6_replace_delete_and_add() {
    let (mut client, base) = place("T15");
    let dn = person(&mut client, &base, "t15", &[("l", &["here"])]);
    for (change, code) in [
        ((Replace, "title", &[][..]), 0),
        ((Delete, "title", &[][..]), 16),
        ((Delete, "l", &["there"][..]), 16),
        ((Add, "l", &["HERE"][..]), 20),
        ((Add, "title", &["twice", "Twice"][..]), 20),
    ] {
        client.modify(&dn, &[change]).expect("a connection").is(code);
    }
    assert_eq!(read(&mut client, &dn, "l"), ["here"]);
    assert!(read(&mut client, &dn, "title").is_empty());
}

#[test]
fn t16_indexes_follow_replace() {
    let (mut client, base) = place("T16");
    let dn = person(&mut client, &base, "t16", &[("mail", &["t16a@x"])]);
    let check = |client: &mut Client, gone: &str, there: &str| {
        assert_eq!(hits(client, SUFFIX, &format!("(mail={gone})")), 0);
        assert_eq!(hits(client, SUFFIX, &format!("(mail={there})")), 1);
    };
    client.modify(&dn, &[(Replace, "mail", &["t16b@x"])]).expect("a connection").ok();
    check(&mut client, "t16a@x", "t16b@x");
    client.modify(&dn, &[(Delete, "mail", &[]), (Add, "mail", &["t16c@x"])]).expect("a connection").ok();
    check(&mut client, "t16b@x", "t16c@x");
    client.modify(&dn, &[(Delete, "mail", &["t16c@x"]), (Add, "mail", &["t16c@x"])]).expect("a connection").ok();
    check(&mut client, "t16b@x", "t16c@x");
}

#[test]
fn t17_rfc4511_4_6_changes_are_ordered_and_atomic() {
    let (mut client, base) = place("T17");
    let dn = person(&mut client, &base, "t17", &[("description", &["old"])]);
    let changes: &[(ChangeOperation, &str, &[&str])] = &[
        (Delete, "description", &[]),
        (Add, "description", &["x"]),
        (Delete, "description", &["x"]),
        (Add, "description", &["y"]),
    ];
    client.modify(&dn, changes).expect("a connection").ok();
    assert_eq!(read(&mut client, &dn, "description"), ["y"]);
    let failing: &[(ChangeOperation, &str, &[&str])] =
        &[(Add, "description", &["y1", "y2"]), (Delete, "title", &["none"])];
    client.modify(&dn, failing).expect("a connection").is(16);
    assert_eq!(read(&mut client, &dn, "description"), ["y"]);
}

#[test]
fn t19_rfc4525_increment() {
    let (mut client, base) = place("T19");
    let dn = person(&mut client, &base, "t19", &[("testSubInteger", &["41"])]);
    client.modify(&dn, &[(Increment, "testSubInteger", &["1"])]).expect("a connection").ok();
    assert_eq!(read(&mut client, &dn, "testSubInteger"), ["42"]);
    let outcome = client.modify(&dn, &[(Increment, "sn", &["1"])]).expect("a connection");
    assert!(matches!(outcome.code, 19 | 21), "{outcome:?}");
    client.modify(&dn, &[(Increment, "testInteger", &["1"])]).expect("a connection").is(16);
    client.modify(&dn, &[(Replace, "testSubInteger", &["9223372036854775807"])]).expect("a connection").ok();
    let outcome = client.modify(&dn, &[(Increment, "testSubInteger", &["1"])]).expect("a connection");
    let value = read(&mut client, &dn, "testSubInteger");
    match outcome.code {
        0 => assert_eq!(value, ["9223372036854775808"]),
        _ => assert_eq!(value, ["9223372036854775807"]),
    }
}

#[test]
fn t21_rfc4511_4_9_old_rdn_values_and_indexes() {
    let (mut client, base) = place("T21");
    let add = |client: &mut Client, tag: &str| {
        let (a, b) = (format!("{tag}a"), format!("{tag}b"));
        let dn = format!("cn={a}+sn={b},{base}");
        client.add(&dn, &[("objectClass", &["person"]), ("cn", &[&a]), ("sn", &[&b])]).expect("a connection").ok();
        dn
    };
    let dn = add(&mut client, "t21k");
    client.modify_dn(&dn, "cn=t21kc", false, None).expect("a connection").ok();
    assert_eq!(hits(&mut client, &base, "(cn=t21ka)"), 1);
    assert_eq!(hits(&mut client, &base, "(sn=t21kb)"), 1);
    assert_eq!(hits(&mut client, &base, "(cn=t21kc)"), 1);
    let dn = add(&mut client, "t21d");
    // sn is required, so deleting the old value must be refused and change nothing.
    let outcome = client.modify_dn(&dn, "cn=t21dc", true, None).expect("a connection");
    assert!(matches!(outcome.code, 65), "{outcome:?}");
    assert_eq!(hits(&mut client, &base, "(cn=t21da)"), 1);
    client.modify_dn(&dn, "cn=t21dc+sn=new", true, None).expect("a connection").ok();
    assert_eq!(hits(&mut client, &base, "(cn=t21da)"), 0);
    assert_eq!(hits(&mut client, &base, "(sn=t21db)"), 0);
    assert_eq!(hits(&mut client, &base, "(&(cn=t21dc)(sn=new))"), 1);
    client.modify_dn(&format!("cn=t21dc+sn=new,{base}"), "cn=t21kc", false, None).expect("a connection").is(68);
    assert_eq!(hits(&mut client, &base, "(&(cn=t21dc)(sn=new))"), 1);
}

#[test]
fn rfc4511_4_9_a_subtree_moves_with_its_top() {
    let (mut client, base) = place("Move");
    for name in ["from", "to"] {
        let dn = format!("ou={name},{base}");
        client.add(&dn, &[("objectClass", &["organizationalUnit"])]).expect("a connection").ok();
    }
    let child = person(&mut client, &format!("ou=from,{base}"), "child", &[]);
    let to = format!("ou=to,{base}");
    client.modify_dn(&format!("ou=from,{base}"), "ou=moved", true, Some(&to)).expect("a connection").ok();
    assert_eq!(client.search(&search(&child, "(objectClass=*)").base_only()).expect("a connection").outcome.code, 32);
    let found = client.search(&search(&base, "(cn=child)")).expect("a connection").ok();
    assert_eq!(found.dns(), [format!("cn=child,ou=moved,ou=to,{base}")]);
    let outcome = client.modify_dn(&to, "ou=to", true, Some(&format!("ou=moved,{to}"))).expect("a connection");
    assert!(matches!(outcome.code, 53 | 64 | 80), "moved under itself: {outcome:?}");
}

#[test]
fn t22_rfc4512_2_3_1_a_type_stands_once_in_an_rdn() {
    let (mut client, base) = place("T22");
    let outcome = client
        .add(&format!("cn=a+cn=b,{base}"), &[("objectClass", &["person"]), ("cn", &["a", "b"]), ("sn", &["x"])])
        .expect("a connection");
    assert!(matches!(outcome.code, 34 | 64), "{outcome:?}");
}

#[test]
fn t24_a_naming_attribute_needs_an_equality_rule() {
    let (mut client, base) = place("T24");
    let dn = person(&mut client, &base, "t24", &[("testNoMatching", &["x"])]);
    let outcome = client.modify_dn(&dn, "testNoMatching=x", false, None).expect("a connection");
    assert!(matches!(outcome.code, 34 | 64), "{outcome:?}");
    assert_eq!(hits(&mut client, &base, "(cn=t24)"), 1);
}

#[test]
fn t28_rfc4511_4_8_only_leaves_are_deleted() {
    let (mut client, base) = place("T28");
    let parent = format!("ou=parent,{base}");
    client.add(&parent, &[("objectClass", &["organizationalUnit"])]).expect("a connection").ok();
    let child = person(&mut client, &parent, "child", &[]);
    client.delete(&parent).expect("a connection").is(66);
    assert_eq!(read(&mut client, &parent, "hasSubordinates"), ["TRUE"]);
    assert_eq!(read(&mut client, &parent, "numSubordinates"), ["1"]);
    assert_eq!(hits(&mut client, &base, "(&(ou=parent)(hasSubordinates=TRUE))"), 1);
    client.delete(&child).expect("a connection").ok();
    assert_eq!(read(&mut client, &parent, "hasSubordinates"), ["FALSE"]);
    assert_eq!(hits(&mut client, &base, "(&(ou=parent)(hasSubordinates=TRUE))"), 0);
    client.delete(&parent).expect("a connection").ok();
    client.delete(&parent).expect("a connection").is(32);
}

#[test]
fn t29_rfc4511_4_5_1_8_attribute_selectors() {
    let (mut client, base) = place("T29");
    let dn = person(&mut client, &base, "t29", &[]);
    let mut names = |selectors: &[&str]| -> Vec<String> {
        let found = client.search(&search(&dn, "(objectClass=*)").base_only().attributes(selectors));
        found.expect("a connection").ok().entries[0].descriptions().iter().map(|d| (*d).to_owned()).collect()
    };
    let user = ["objectClass", "sn", "cn"];
    assert!(names(&["1.1"]).is_empty());
    assert_eq!(names(&["1.1", "cn"]), ["cn"]);
    for all in [&[][..], &["*"][..]] {
        let got = names(all);
        assert!(got.len() == 3 && user.iter().all(|u| got.iter().any(|g| g == u)), "{got:?}");
    }
    let operational = names(&["+"]);
    for expected in [
        "entryUUID",
        "entryDN",
        "entryCSN",
        "createTimestamp",
        "modifyTimestamp",
        "creatorsName",
        "modifiersName",
        "structuralObjectClass",
        "hasSubordinates",
        "numSubordinates",
        "subschemaSubentry",
    ] {
        assert!(operational.iter().any(|o| o == expected), "{expected} is not in {operational:?}");
    }
    assert!(!operational.iter().any(|o| user.contains(&o.as_str())), "{operational:?}");
    assert_eq!(names(&["*", "+"]).len(), operational.len() + 3);
    assert_eq!(names(&["CN"]), ["cn"]);
    assert_eq!(names(&["cn", "cn"]), ["cn"]);
    assert!(names(&["nosuch"]).is_empty());
    assert_eq!(names(&["entryDN"]), ["entryDN"]);
    let bare = client.search(&search(&dn, "(objectClass=*)").base_only().types_only()).expect("a connection").ok();
    assert!(bare.entries[0].attributes.iter().all(|(_, values)| values.is_empty()));
    assert_eq!(bare.entries[0].attributes.len(), 3);
}

#[test]
fn t30_rfc4511_4_1_9_a_missing_base_is_not_an_empty_result() {
    let (mut client, base) = place("T30");
    let missing = client.search(&search(&format!("cn=no,ou=such,{base}"), "(objectClass=*)").base_only());
    let missing = missing.expect("a connection");
    assert_eq!(missing.outcome.code, 32);
    assert_eq!(missing.outcome.matched_dn, base);
    let present = client.search(&search(&base, "(cn=no)").base_only()).expect("a connection").ok();
    assert!(present.entries.is_empty());
}

#[test]
fn t32_rfc2696_paged_results() {
    let (mut client, base) = place("T32");
    for i in 0..10 {
        person(&mut client, &base, &format!("t32-{i}"), &[("title", &["t32"])]);
    }
    let all = search(&base, "(title=t32)");
    let mut pages = |size: i32| -> (Vec<usize>, usize) {
        let (mut sizes, mut seen, mut cookie) = (Vec::new(), std::collections::BTreeSet::new(), Vec::new());
        loop {
            let page = client.search(&all.clone().page(size, &cookie)).expect("a connection").ok();
            sizes.push(page.entries.len());
            seen.extend(page.dns());
            cookie = page.cookie.expect("every page carries the control");
            if cookie.is_empty() {
                return (sizes, seen.len());
            }
            assert!(sizes.len() < 20, "no end");
        }
    };
    assert_eq!(pages(3), (vec![3, 3, 3, 1], 10));
    assert_eq!(pages(5), (vec![5, 5], 10));
    assert_eq!(pages(100), (vec![10], 10));
    let zero = client.search(&all.clone().page(0, b"")).expect("a connection").ok();
    assert_eq!(zero.cookie.as_deref(), Some(&b""[..]));
    // A cookie of nobody, and of another search.
    let random = client.search(&all.clone().page(3, b"nonsense")).expect("a connection");
    assert!(matches!(random.outcome.code, 53 | 2 | 1), "{:?}", random.outcome);
    assert!(random.entries.is_empty());
    let first = client.search(&all.clone().page(3, b"")).expect("a connection").ok();
    let cookie = first.cookie.expect("a cookie");
    let other = client.search(&search(&base, "(sn=x)").page(3, &cookie)).expect("a connection");
    assert!(matches!(other.outcome.code, 53 | 2 | 1), "{:?}", other.outcome);
    // Abandoned with size 0 and the cookie; a page of a base search.
    client.search(&all.clone().page(0, &cookie)).expect("a connection").ok();
    let one = client.search(&search(&base, "(objectClass=*)").base_only().page(3, b"")).expect("a connection").ok();
    assert_eq!((one.entries.len(), one.cookie.as_deref()), (1, Some(&b""[..])));
}

#[test]
fn t33_rfc4511_4_1_11_controls() {
    let (mut client, base) = place("T33");
    let delete = |name: &str| format!("cn={name},{base}");
    for name in ["a", "b", "c"] {
        person(&mut client, &base, name, &[]);
    }
    let mut operate = |name: &str, controls: &[Control<'_>]| {
        let dn = delete(name);
        client.operate(&Request::Delete(DeleteRequest { dn: dn.as_bytes() }), controls).expect("a connection").code
    };
    let unknown = Control::new("1.3.6.1.4.1.99999.9.9");
    assert_eq!(operate("a", &[unknown.critical()]), 12);
    assert_eq!(operate("a", &[unknown]), 0);
    let manage = Control::new(oid::control::MANAGE_DSA_IT);
    assert!(matches!(operate("b", &[manage, manage]), 2 | 0));
    assert!(matches!(operate("c", &vec![manage; 1000]), 2 | 11 | 53));
    assert_eq!(client.who_am_i().expect("a connection"), format!("dn:{ADMIN_DN}"));
}

#[test]
fn t34_rfc4511_4_11_abandoned_operations_are_not_answered() {
    let (mut client, base) = place("T34");
    for i in 0..200 {
        person(&mut client, &base, &format!("t34-{i}"), &[]);
    }
    let id = client.send_search(&search(&base, "(objectClass=*)")).expect("a connection");
    let abandon = client.send(&Request::Abandon(AbandonRequest { message_id: id }), &[]).expect("a connection");
    assert_eq!(abandon, id + 1);
    let whoami = Request::Extended(bindery_wire::request::ExtendedRequest {
        name: oid::extended::WHO_AM_I.as_bytes(),
        value: None,
    });
    let asked = client.send(&whoami, &[]).expect("a connection");
    loop {
        let bytes = client.receive().expect("an answer");
        let message = bindery_wire::client::ResponseMessage::decode(&bytes, &bindery_wire::Limits::DEFAULT);
        let message = message.expect("a readable answer");
        assert_ne!(message.id, abandon, "abandon has no answer");
        if message.id == asked {
            break;
        }
    }
}

#[test]
fn t40_rfc4513_5_1_binds() {
    let (mut client, base) = place("T40");
    let dn = person(&mut client, &base, "t40", &[("userPassword", &["right"])]);
    let mut user = Client::connect(cluster().nodes[0].ldap).expect("a ready node");
    user.bind(&dn, "").expect("a connection").is(53);
    let outcome = user.bind("", "pw").expect("a connection");
    assert!(matches!(outcome.code, 49 | 53 | 48), "{outcome:?}");
    let absent = user.bind(&format!("cn=absent,{base}"), "right").expect("a connection").is(49);
    let wrong = user.bind(&dn, "wrong").expect("a connection").is(49);
    assert_eq!(absent, wrong, "the two must not be told apart");
    user.bind(&dn, "right").expect("a connection").ok();
    assert_eq!(user.who_am_i().expect("a connection"), format!("dn:{dn}"));
    // RFC 4513 4: after a failed bind the session is anonymous.
    user.bind(&dn, "wrong").expect("a connection").is(49);
    assert_eq!(user.who_am_i().expect("a connection"), "");
    user.bind("", "").expect("a connection").ok();
    // A bind that is refused for its control ends the identity before it too.
    user.bind(&dn, "right").expect("a connection").ok();
    let bind = BindRequest { version: 3, name: dn.as_bytes(), authentication: Authentication::Simple(b"right") };
    let unknown = Control::new("1.3.6.1.4.1.99999.9.9").critical();
    user.operate(&Request::Bind(bind), &[unknown]).expect("a connection").is(12);
    assert_eq!(user.who_am_i().expect("a connection"), "");
    let sasl = Authentication::Sasl { mechanism: b"GSSAPI", credentials: None };
    let request = Request::Bind(BindRequest { version: 3, name: b"", authentication: sasl });
    user.operate(&request, &[]).expect("a connection").is(7);
    let old = BindRequest { version: 2, name: b"", authentication: Authentication::Simple(b"") };
    user.operate(&Request::Bind(old), &[]).expect("a connection").is(2);
}

#[test]
fn default_access_rules() {
    let (mut client, base) = place("Access");
    let dn = person(&mut client, &base, "acc", &[("userPassword", &["pw"])]);
    let address = cluster().nodes[0].ldap;
    // Anonymous: nothing but the root DSE and the subschema, whether or not the base exists.
    let mut anonymous = Client::connect(address).expect("a ready node");
    for name in [&dn, &format!("cn=absent,{base}")] {
        let found = anonymous.search(&search(name, "(objectClass=*)").base_only()).expect("a connection");
        assert_eq!((found.outcome.code, found.entries.len()), (50, 0), "{:?}", found.outcome);
        assert!(found.outcome.diagnostic.contains("bind first"), "{:?}", found.outcome);
    }
    let read = |client: &mut Client, search: &Search| client.search(search).expect("a connection").ok();
    assert_eq!(read(&mut anonymous, &search("", "(objectClass=*)").base_only()).entries.len(), 1);
    assert_eq!(read(&mut anonymous, &search("cn=Subschema", "(objectClass=subschema)").base_only()).entries.len(), 1);
    // A user reads all but passwords, and writes only its own password.
    let mut user = Client::bound(address, &dn, "pw").expect("the password is right");
    let own = read(&mut user, &search(&dn, "(objectClass=*)").base_only());
    assert!(own.entries[0].values("userPassword").is_empty());
    assert_eq!(read(&mut user, &search(&base, "(userPassword=*)")).entries.len(), 0);
    assert_eq!(read(&mut user, &search(&base, "(!(userPassword=*))")).entries.len(), 0, "Undefined, not False");
    user.modify(&dn, &[(Replace, "title", &["x"])]).expect("a connection").is(50);
    user.modify(&dn, &[(Replace, "userPassword", &["new"])]).expect("a connection").ok();
    assert_eq!(user.bind(&dn, "new").expect("a connection").code, 0);
    user.add_person(&base, "no").expect("a connection").is(50);
    user.delete(&dn).expect("a connection").is(50);
    // No clear password is stored.
    let stored = read(&mut client, &search(&dn, "(objectClass=*)").base_only().attributes(&["userPassword"]));
    assert!(stored.entries[0].values("userPassword")[0].starts_with("{ARGON2}$argon2id$"), "{stored:?}");
}

/// Hashing a password takes tens of milliseconds of a processor: nobody may order it for a request that is refused.
#[test]
fn refused_requests_buy_no_hashing() {
    let (mut client, base) = place("NoHash");
    let passwords: Vec<String> = (0..15).map(|i| format!("clear{i}")).collect();
    let passwords: Vec<&str> = passwords.iter().map(String::as_str).collect();
    let person = |passwords: &[&str]| -> Vec<(String, Vec<String>)> {
        [("objectClass", &["person"][..]), ("sn", &["x"]), ("cn", &["a"]), ("userPassword", passwords)]
            .iter()
            .map(|(name, values)| ((*name).to_owned(), values.iter().map(|v| (*v).to_owned()).collect()))
            .collect()
    };
    let add = |client: &mut Client, attributes: &[(String, Vec<String>)]| {
        let values: Vec<Vec<&str>> = attributes.iter().map(|(_, v)| v.iter().map(String::as_str).collect()).collect();
        let attributes: Vec<(&str, &[&str])> =
            attributes.iter().zip(&values).map(|((name, _), values)| (name.as_str(), values.as_slice())).collect();
        client.add(&format!("cn=a,{base}"), &attributes).expect("a connection").code
    };
    let mut anonymous = Client::connect(cluster().nodes[0].ldap).expect("a ready node");
    let began = std::time::Instant::now();
    for _ in 0..20 {
        assert_eq!(add(&mut anonymous, &person(&passwords)), 50);
    }
    // 300 hashes would take several seconds.
    assert!(began.elapsed() < std::time::Duration::from_secs(2), "{:?}", began.elapsed());
    let many: Vec<&str> = std::iter::repeat_n("x", 1000).collect();
    assert_eq!(add(&mut client, &person(&many)), 53, "far more clear passwords than a person has");
}

#[test]
fn rfc3062_password_modify() {
    use bindery_wire::extended::{PasswordModifyRequest, decode_password_modify_response};
    let (mut client, base) = place("Passwd");
    let dn = person(&mut client, &base, "pm", &[("userPassword", &["old"])]);
    let address = cluster().nodes[0].ldap;
    let modify = |client: &mut Client, request: PasswordModifyRequest<'_>| {
        let mut value = Vec::new();
        request.write(&mut value);
        client.extended(oid::extended::PASSWORD_MODIFY, Some(&value)).expect("a connection")
    };
    let mut user = Client::bound(address, &dn, "old").expect("the password is right");
    let wrong =
        modify(&mut user, PasswordModifyRequest { user: None, old_password: Some(b"no"), new_password: Some(b"new") });
    assert!(matches!(wrong.code, 49 | 53), "{wrong:?}");
    modify(&mut user, PasswordModifyRequest { user: None, old_password: Some(b"old"), new_password: Some(b"new") })
        .ok();
    Client::bound(address, &dn, "new").expect("the new password is right");
    assert!(Client::bound(address, &dn, "old").is_err());
    let made = modify(
        &mut client,
        PasswordModifyRequest { user: Some(dn.as_bytes()), old_password: None, new_password: None },
    )
    .ok();
    let value = made.value.expect("a generated password");
    let generated = decode_password_modify_response(&value).expect("readable").expect("a password");
    Client::bound(address, &dn, std::str::from_utf8(generated).expect("text"))
        .expect("the generated password is right");
}

#[test]
fn schema_violations_have_their_codes() {
    let (mut client, base) = place("Schema");
    let mut add = |rdn: &str, attributes: &[(&str, &[&str])]| {
        client.add(&format!("{rdn},{base}"), attributes).expect("a connection").code
    };
    assert_eq!(add("cn=a", &[("objectClass", &["person"]), ("cn", &["a"])]), 65, "sn is required");
    assert_eq!(add("cn=a", &[("objectClass", &["person"]), ("cn", &["a"]), ("sn", &["x"]), ("mail", &["x"])]), 65);
    assert_eq!(add("cn=a", &[("objectClass", &["person"]), ("cn", &["a"]), ("sn", &["x"]), ("nosuch", &["x"])]), 17);
    let nosuch = add("cn=a", &[("objectClass", &["nosuch"]), ("cn", &["a"])]);
    assert!(matches!(nosuch, 21 | 65), "{nosuch}");
    assert_eq!(add("cn=a", &[("cn", &["a"])]), 65, "no object class");
    assert_eq!(
        add(
            "cn=a",
            &[("objectClass", &["person", "testThing"]), ("cn", &["a"]), ("sn", &["x"]), ("testInteger", &["x"])]
        ),
        21
    );
    let two = add("cn=a", &[("objectClass", &["person", "device"]), ("cn", &["a"]), ("sn", &["x"])]);
    assert_eq!(two, 65, "two structural chains");
    let single =
        [("objectClass", &["inetOrgPerson"][..]), ("cn", &["a"]), ("sn", &["x"]), ("displayName", &["1", "2"])];
    assert_eq!(add("cn=a", &single), 19, "displayName is single-valued");
    let stamped =
        [("objectClass", &["person"][..]), ("cn", &["a"]), ("sn", &["x"]), ("createTimestamp", &["20200101000000Z"])];
    assert_eq!(add("cn=a", &stamped), 19, "NO-USER-MODIFICATION");
    assert_eq!(
        client
            .add(&format!("cn=a,ou=absent,{base}"), &[("objectClass", &["person"]), ("sn", &["x"])])
            .expect("a connection")
            .code,
        32
    );
    let dn = person(&mut client, &base, "rdn", &[]);
    client.modify(&dn, &[(Delete, "cn", &["rdn"])]).expect("a connection").is(67);
    let structural = client.modify(&dn, &[(Replace, "objectClass", &["device"])]).expect("a connection");
    assert!(matches!(structural.code, 69 | 65), "{structural:?}");
}

#[test]
fn rfc4512_5_1_root_dse_advertises_what_works() {
    let mut client = Client::connect(cluster().nodes[0].ldap).expect("a ready node");
    let found = client.search(&search("", "(objectClass=*)").base_only().attributes(&["*", "+"]));
    let dse = &found.expect("a connection").ok().entries[0];
    assert_eq!(dse.values("namingContexts"), [SUFFIX]);
    assert_eq!(dse.values("supportedLDAPVersion"), ["3"]);
    assert_eq!(dse.values("subschemaSubentry").len(), 1);
    for control in [oid::control::PAGED_RESULTS, oid::control::MANAGE_DSA_IT, oid::control::DONT_USE_COPY] {
        assert!(dse.values("supportedControl").iter().any(|c| c == control), "{control}");
    }
    for operation in [oid::extended::WHO_AM_I, oid::extended::PASSWORD_MODIFY] {
        assert!(dse.values("supportedExtension").iter().any(|e| e == operation), "{operation}");
    }
    client.extended("1.3.6.1.4.1.99999.9", None).expect("a connection").is(2);
    // A subtree search from the root does not include it, and a named read without a list shows the suffix.
    let plain = client.search(&search("", "(objectClass=*)").base_only()).expect("a connection").ok();
    assert_eq!(plain.entries[0].values("namingContexts"), [SUFFIX]);
    let schema = &dse.values("subschemaSubentry")[0];
    let found = client.search(&search(schema, "(objectClass=subschema)").base_only().attributes(&[
        "attributeTypes",
        "objectClasses",
        "modifyTimestamp",
    ]));
    let subschema = &found.expect("a connection").ok().entries[0];
    assert!(subschema.values("attributeTypes").iter().any(|text| text.contains("'testBoolean'")));
    assert!(subschema.values("objectClasses").iter().any(|text| text.contains("'inetOrgPerson'")));
    assert_eq!(subschema.values("modifyTimestamp").len(), 1);
}

#[test]
fn size_limits_end_a_search_with_what_was_found() {
    let (mut client, base) = place("Limit");
    for i in 0..10 {
        person(&mut client, &base, &format!("l{i}"), &[("title", &["limit"])]);
    }
    let found = client.search(&search(&base, "(title=limit)").size_limit(4)).expect("a connection");
    assert_eq!((found.outcome.code, found.entries.len()), (4, 4));
    let exact = client.search(&search(&base, "(title=limit)").size_limit(10)).expect("a connection");
    assert_eq!((exact.outcome.code, exact.entries.len()), (0, 10));
}

#[test]
fn rfc6171_dont_use_copy_is_honoured() {
    let (mut client, base) = place("Copy");
    let dn = person(&mut client, &base, "copy", &[]);
    let found = client.search(&search(&dn, "(objectClass=*)").base_only().strict()).expect("a connection").ok();
    assert_eq!(found.entries.len(), 1);
}

#[test]
fn compare_answers_true_false_and_errors() {
    let (mut client, base) = place("Compare");
    let dn = person(&mut client, &base, "cmp", &[("l", &["Here"])]);
    client.compare(&dn, "l", "HERE").expect("a connection").is(6);
    client.compare(&dn, "l", "there").expect("a connection").is(5);
    client.compare(&dn, "title", "x").expect("a connection").is(16);
    client.compare(&dn, "nosuch", "x").expect("a connection").is(17);
    client.compare(&format!("cn=no,{base}"), "l", "x").expect("a connection").is(32);
}
