use std::sync::LazyLock;

use proptest::prelude::*;

use crate::entry::{AttributeDescription, Entry};
use crate::entry_codec::{StoredEntry, encode};
use crate::filter::{AttributeTest, EntryValues, Filter, MAX_DEPTH, ResolvedFilter, Tri};
use crate::schema::{AttrId, Schema};

/// Parsed once: it is large.
fn schema() -> &'static Schema {
    static EXTENDED: LazyLock<Schema> = LazyLock::new(extended);
    &EXTENDED
}

fn extended() -> Schema {
    let mut schema = Schema::shipped();
    schema
        .add_text(
            "attributetype ( 1.3.6.1.4.1.55555.1.10 NAME 'b' EQUALITY booleanMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.7 )
             attributetype ( 1.3.6.1.4.1.55555.1.11 NAME 't' EQUALITY generalizedTimeMatch
               ORDERING generalizedTimeOrderingMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.24 )",
        )
        .unwrap();
    schema
}

fn entry(schema: &Schema, values: &[(&str, &str)]) -> Entry {
    let mut entry = Entry::new();
    for (text, value) in values {
        let description = AttributeDescription::parse(text.as_bytes(), schema).unwrap();
        entry.push(description, value.as_bytes().to_vec());
    }
    entry
}

/// The result for the stored form, which must be that for the entry in memory.
fn evaluate(schema: &Schema, entry: &Entry, filter: &str) -> Tri {
    let resolved = Filter::parse(filter).unwrap().resolve(schema);
    let bytes = encode(1, "cn=x", entry, schema).unwrap();
    let stored = StoredEntry::parse(&bytes).unwrap();
    let result = resolved.evaluate(schema, &stored);
    assert_eq!(resolved.evaluate(schema, entry), result, "{filter}");
    result
}

#[track_caller]
fn check(schema: &Schema, entry: &Entry, cases: &[(&str, Tri)]) {
    for (filter, expected) in cases {
        assert_eq!(evaluate(schema, entry, filter), *expected, "{filter}");
    }
}

use Tri::{False, True, Undefined};

#[test]
fn truth_tables() {
    let schema = schema();
    let u1 = &entry(schema, &[("uid", "u1")]);
    // T, F, U as items.
    let item = |value| match value {
        True => "(uid=u1)",
        False => "(uid=u2)",
        Undefined => "(nosuch=1)",
    };
    for left in [True, False, Undefined] {
        assert_eq!(evaluate(schema, u1, &format!("(!{})", item(left))), !left);
        for right in [True, False, Undefined] {
            assert_eq!(evaluate(schema, u1, &format!("(&{}{})", item(left), item(right))), left.min(right));
            assert_eq!(evaluate(schema, u1, &format!("(|{}{})", item(left), item(right))), left.max(right));
        }
    }
    check(schema, u1, &[("(&)", True), ("(|)", False), ("(!(&))", False)]);
}

#[test]
fn t01_escapes_are_data() {
    let schema = schema();
    let values = ["test * me", "test x me", "a\\b", "(x)", "a.c", "abc"];
    for (filter, only) in
        [("(cn=*\\2a*)", "test * me"), ("(cn=a\\5cb)", "a\\b"), ("(cn=\\28x\\29)", "(x)"), ("(cn=a.*)", "a.c")]
    {
        for value in values {
            let expected = if value == only { True } else { False };
            check(schema, &entry(schema, &[("cn", value)]), &[(filter, expected)]);
        }
    }
}

#[test]
fn t06_unknown_attribute_is_undefined() {
    let schema = schema();
    let u1 = &entry(schema, &[("uid", "u1")]);
    check(
        schema,
        u1,
        &[
            ("(nosuch=1)", Undefined),
            ("(!(nosuch=1))", Undefined),
            ("(|(nosuch=1)(uid=u1))", True),
            ("(&(uid=u1)(!(nosuch=1)))", Undefined),
            ("(nosuch=*)", Undefined),
            ("(cn;=x)", Undefined),
            ("(cn:nosuchMatch:=x)", Undefined),
            ("(nosuch:caseExactMatch:=x)", Undefined),
        ],
    );
}

#[test]
fn t07_no_rule_is_undefined() {
    let schema = schema();
    let u1 = &entry(schema, &[("uid", "u1"), ("uidNumber", "100"), ("jpegPhoto", "x")]);
    check(
        schema,
        u1,
        &[
            ("(entryUUID=abc*)", Undefined),
            ("(uidNumber=1*)", Undefined),
            ("(|(uidNumber=1*)(uid=u1))", True),
            ("(&(uidNumber=1*)(uid=u1))", Undefined),
            ("(jpegPhoto=x)", Undefined),
            ("(jpegPhoto=*)", True),
            ("(uidNumber=abc)", Undefined),
            ("(!(uidNumber=abc))", Undefined),
            ("(uid>=a)", Undefined),
        ],
    );
}

#[test]
fn t10_superclasses_are_implied() {
    let schema = schema();
    let person = &entry(schema, &[("objectClass", "inetOrgPerson"), ("cn", "a")]);
    check(
        schema,
        person,
        &[
            ("(objectClass=person)", True),
            ("(objectClass=PERSON)", True),
            ("(objectClass=2.5.6.6)", True),
            ("(objectClass=top)", True),
            ("(objectClass=inetorgperson)", True),
            ("(objectClass:objectIdentifierMatch:=person)", True),
            ("(objectClass:=organizationalPerson)", True),
            ("(objectClass=device)", False),
            ("(!(objectClass=device))", True),
            ("(objectClass=nosuch)", Undefined),
            ("(objectClass=*)", True),
        ],
    );
}

#[test]
fn t11_options_and_subtypes() {
    let schema = schema();
    let tagged = &entry(schema, &[("cn", "a"), ("cn;lang-en", "b"), ("cn;lang-fr", "c"), ("cn;lang-de-at", "d")]);
    check(
        schema,
        tagged,
        &[
            ("(cn=b)", True),
            ("(cn;lang-en=a)", False),
            ("(CN;LANG-EN=b)", True),
            ("(cn;lang-en;lang-en=b)", True),
            ("(cn;lang-en;lang-fr=b)", False),
            ("(name=c)", True),
            ("(name;lang-fr=c)", True),
            ("(2.5.4.41=c)", True),
            ("(cn;lang-de-=d)", True),
            ("(cn;lang-de=d)", False),
            ("(cn;lang-en-=b)", True),
            ("(cn;x-none=*)", False),
        ],
    );
    let certificate = &entry(schema, &[("userCertificate;binary", "\x30\x03")]);
    check(schema, certificate, &[("(userCertificate=*)", True), ("(userCertificate;binary=*)", True)]);
}

#[test]
fn t12_boolean_telephone_time() {
    let schema = schema();
    let values = &entry(schema, &[("b", "TRUE"), ("telephoneNumber", "+1 555-1234"), ("t", "20250101000000Z")]);
    check(
        schema,
        values,
        &[
            ("(b=true)", True),
            ("(b=false)", False),
            ("(telephoneNumber=+15551234)", True),
            ("(telephoneNumber=-)", False),
            ("(telephoneNumber=*555*)", True),
            ("(telephoneNumber=+1555*34)", True),
            ("(t=202501010000Z)", True),
            ("(t>=20241231235959.5Z)", True),
            ("(t>=20241231235960Z)", True),
            ("(t<=20241231235959Z)", False),
            ("(t<=20250101010000+0100)", True),
        ],
    );
}

#[test]
fn substrings_by_words() {
    let schema = schema();
    let values = &entry(schema, &[("cn", "Foo Bar  Baz"), ("sn", " Zürich  See ")]);
    check(
        schema,
        values,
        &[
            ("(cn=foo*)", True),
            ("(cn=*BAZ)", True),
            ("(cn=foo *baz)", True),
            ("(cn=foo bar*)", True),
            ("(cn=foo  bar*)", True),
            ("(cn=*o b*b*)", True),
            ("(cn=*foo*foo*)", False),
            ("(cn=*baz*bar*)", False),
            ("(cn=oo*)", False),
            ("(cn=*ba)", False),
            ("(cn=foo bar baz)", True),
            ("(sn=zÜRICH*)", True),
            ("(sn=*ürich see)", True),
            ("(sn=zürich see)", True),
        ],
    );
}

/// The short way for plain values must give what the long way gives.
#[test]
fn substrings_of_plain_and_other_values_agree() {
    let schema = schema();
    for (plain, other) in [("Foo Bar", "Foo\u{ad} Bar"), ("a", "\u{200b}a"), ("x y z", "x\u{a0}y z")] {
        for filter in
            ["(cn=foo*)", "(cn=*o b*)", "(cn=*bar)", "(cn=a*)", "(cn=*a)", "(cn=x y*)", "(cn=*y  z)", "(cn=* *)"]
        {
            let of = |value| evaluate(schema, &entry(schema, &[("cn", value)]), filter);
            assert_eq!(of(plain), of(other), "{filter} on {plain:?}");
        }
    }
}

#[test]
fn ordering_and_approximation() {
    let schema = schema();
    let values = &entry(schema, &[("uidNumber", "100"), ("createTimestamp", "20250101000000Z"), ("sn", "Smith")]);
    check(
        schema,
        values,
        &[
            ("(uidNumber>=99)", True),
            ("(uidNumber>=100)", True),
            ("(uidNumber>=101)", False),
            ("(uidNumber<=1000)", True),
            ("(uidNumber<=-1)", False),
            ("(uidNumber=0100)", True),
            ("(createTimestamp>=20240101000000Z)", True),
            ("(sn~=smith)", True),
            ("(sn~=Smyth)", True),
            ("(sn~=Jones)", False),
            ("(uidNumber~=100)", True),
        ],
    );
}

#[test]
fn rfc4511_extensible_match() {
    let schema = schema();
    let values = &entry(schema, &[("cn", "Fred"), ("uidNumber", "6"), ("description", "FRED")]);
    check(
        schema,
        values,
        &[
            ("(cn:caseExactMatch:=Fred)", True),
            ("(cn:caseExactMatch:=fred)", False),
            ("(cn:=fred)", True),
            ("(cn:2.5.13.5:=Fred)", True),
            ("(:caseExactMatch:=FRED)", True),
            ("(:caseExactMatch:=fReD)", False),
            ("(:caseIgnoreMatch:=fReD)", True),
            ("(uidNumber:1.2.840.113556.1.4.803:=6)", True),
            ("(uidNumber:1.2.840.113556.1.4.803:=2)", True),
            ("(uidNumber:1.2.840.113556.1.4.803:=1)", False),
            ("(uidNumber:1.2.840.113556.1.4.804:=3)", True),
            ("(uidNumber:1.2.840.113556.1.4.804:=9)", False),
            ("(uidNumber:1.2.840.113556.1.4.803:=x)", Undefined),
            ("(uidNumber:integerOrderingMatch:=7)", True),
            ("(uidNumber:integerOrderingMatch:=6)", False),
            ("(cn:caseIgnoreSubstringsMatch:=f\\2aED)", True),
            ("(cn:caseIgnoreSubstringsMatch:=f\\2ax)", False),
            ("(cn:caseIgnoreSubstringsMatch:=fred)", Undefined),
            ("(jpegPhoto:=x)", Undefined),
        ],
    );
}

/// An entry with a DN, a virtual attribute and one attribute that may not be read.
struct Wrapped<'a> {
    entry: &'a Entry,
    dn: Vec<(AttrId, &'a str)>,
    computed: (AttrId, &'a str),
    hidden: AttrId,
}

impl EntryValues for Wrapped<'_> {
    fn any_value(&self, test: &AttributeTest, visit: &mut dyn FnMut(AttrId, &[u8]) -> bool) -> bool {
        let (id, value) = self.computed;
        test.has_id(id) && visit(id, value.as_bytes()) || self.entry.any_value(test, visit)
    }

    fn any_dn_value(&self, visit: &mut dyn FnMut(AttrId, &[u8]) -> bool) -> bool {
        self.dn.iter().any(|(id, value)| visit(*id, value.as_bytes()))
    }

    fn is_readable(&self, id: AttrId) -> bool {
        id != self.hidden
    }
}

#[test]
fn dn_attributes_virtual_and_unreadable_ones() {
    let schema = schema();
    let id = |name: &str| schema.attribute_id(name.as_bytes()).unwrap();
    let entry = &entry(schema, &[("cn", "a"), ("userPassword", "secret")]);
    let wrapped = Wrapped {
        entry,
        dn: vec![(id("cn"), "a"), (id("ou"), "People"), (id("dc"), "com")],
        computed: (id("hasSubordinates"), "TRUE"),
        hidden: id("userPassword"),
    };
    for (filter, expected) in [
        ("(ou:dn:=people)", True),
        ("(ou:=people)", False),
        ("(ou:dn:=x)", False),
        ("(:dn:caseIgnoreMatch:=people)", True),
        ("(:caseIgnoreMatch:=people)", False),
        ("(hasSubordinates=TRUE)", True),
        ("(hasSubordinates=FALSE)", False),
        ("(userPassword=secret)", Undefined),
        ("(userPassword=other)", Undefined),
        ("(userPassword=*)", Undefined),
        ("(!(userPassword=*))", Undefined),
        ("(|(userPassword=*)(cn=a))", True),
    ] {
        let resolved = Filter::parse(filter).unwrap().resolve(schema);
        assert_eq!(resolved.evaluate(schema, &wrapped), expected, "{filter}");
    }
    // The same whether or not the entry has the attribute.
    let without = Entry::new();
    let wrapped = Wrapped { entry: &without, ..wrapped };
    let resolved = Filter::parse("(!(userPassword=*))").unwrap().resolve(schema);
    assert_eq!(resolved.evaluate(schema, &wrapped), Undefined);
    assert!(resolved.mentions(id("userPassword")) && !resolved.mentions(id("cn")));
}

#[test]
fn t36_a_filter_made_too_deep_is_undefined() {
    let schema = schema();
    let mut filter = Filter::And(vec![]);
    for _ in 0..MAX_DEPTH {
        filter = Filter::Not(Box::new(filter));
    }
    assert_eq!(filter.resolve(schema).evaluate(schema, &Entry::new()), Undefined);
    let Filter::Not(filter) = filter else { panic!() };
    assert_eq!(filter.resolve(schema).evaluate(schema, &Entry::new()), False);
}

#[test]
fn what_the_planner_sees() {
    let schema = schema();
    let resolved = Filter::parse("(&(cn=A  B)(mail=x*))").unwrap().resolve(schema);
    let ResolvedFilter::And(members) = &resolved else { panic!() };
    let ResolvedFilter::Item { attribute, .. } = &members[0] else { panic!() };
    assert_eq!(attribute.named, schema.attribute_id(b"cn"));
    assert!(attribute.has_id(schema.attribute_id(b"cn").unwrap()));
    let mut items = 0;
    resolved.for_each_item(&mut |_, _| items += 1);
    assert_eq!(items, 2);
}

proptest! {
    /// Stored and in-memory entries agree, and nothing panics, whatever the values and assertions.
    #[test]
    fn any_values(
        values in prop::collection::vec(
            (prop::sample::select(&["cn", "sn;lang-en", "uidNumber", "member", "telephoneNumber", "objectClass", "createTimestamp"][..]),
             prop_oneof![".{0,12}", "[0-9]{1,14}Z?", "cn=[a-z ]{1,4},dc=x"]), 0..5),
        name in prop::sample::select(&["cn", "name", "uidNumber", "member", "telephoneNumber", "objectClass", "createTimestamp", "nosuch"][..]),
        comparison in prop::sample::select(&["=", ">=", "<=", "~=", ":=", ":caseExactMatch:=", ":1.2.840.113556.1.4.803:="][..]),
        value in prop_oneof!["[a-zA-Z0-9 ]{0,6}", "[0-9]{1,14}Z?", "cn=[a-z ]{1,4},dc=x"],
    ) {
        let schema = schema();
        let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, &**value)).collect();
        let entry = entry(schema, &values);
        let text = format!("({name}{comparison}{value})");
        let result = evaluate(schema, &entry, &text);
        prop_assert_eq!(evaluate(schema, &entry, &format!("(!{text})")), !result);
    }
}
