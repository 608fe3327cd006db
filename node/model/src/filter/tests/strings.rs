use proptest::prelude::*;

use crate::filter::{Filter, FilterError, MAX_NODES, MAX_STRING_BYTES};

fn bytes(text: &str) -> Vec<u8> {
    text.as_bytes().to_vec()
}

fn equality(description: &str, value: &[u8]) -> Filter {
    Filter::Equality { description: bytes(description), value: value.to_vec() }
}

fn substrings(description: &str, initial: &str, any: &[&str], last: &str) -> Filter {
    let filled = |text: &str| if text.is_empty() { None } else { Some(bytes(text)) };
    let any = any.iter().map(|piece| bytes(piece)).collect();
    Filter::Substrings { description: bytes(description), initial: filled(initial), any, last: filled(last) }
}

fn extensible(rule: Option<&str>, description: Option<&str>, value: &str, dn_attributes: bool) -> Filter {
    Filter::Extensible {
        rule: rule.map(bytes),
        description: description.map(bytes),
        value: bytes(value),
        dn_attributes,
    }
}

#[test]
fn rfc4515_section_4_examples() {
    let example_not = Filter::Not(Box::new(equality("cn", b"Tim Howes")));
    let nested = Filter::And(vec![
        equality("objectClass", b"Person"),
        Filter::Or(vec![equality("sn", b"Jensen"), substrings("cn", "Babs J", &[], "")]),
    ]);
    for (text, filter) in [
        ("(cn=Babs Jensen)", equality("cn", b"Babs Jensen")),
        ("(!(cn=Tim Howes))", example_not),
        ("(&(objectClass=Person)(|(sn=Jensen)(cn=Babs J*)))", nested),
        ("(o=univ*of*mich*)", substrings("o", "univ", &["of", "mich"], "")),
        ("(seeAlso=)", equality("seeAlso", b"")),
        (
            "(cn:caseExactMatch:=Fred Flintstone)",
            extensible(Some("caseExactMatch"), Some("cn"), "Fred Flintstone", false),
        ),
        ("(cn:=Betty Rubble)", extensible(None, Some("cn"), "Betty Rubble", false)),
        ("(sn:dn:2.4.6.8.10:=Barney Rubble)", extensible(Some("2.4.6.8.10"), Some("sn"), "Barney Rubble", true)),
        ("(o:dn:=Ace Industry)", extensible(None, Some("o"), "Ace Industry", true)),
        ("(:1.2.3:=Wilma Flintstone)", extensible(Some("1.2.3"), None, "Wilma Flintstone", false)),
        ("(:DN:2.4.6.8.10:=Dino)", extensible(Some("2.4.6.8.10"), None, "Dino", true)),
        (
            "(o=Parens R Us \\28for all your parenthetical needs\\29)",
            equality("o", b"Parens R Us (for all your parenthetical needs)"),
        ),
        ("(cn=*\\2A*)", substrings("cn", "", &["*"], "")),
        ("(filename=C:\\5cMyFile)", equality("filename", b"C:\\MyFile")),
        ("(bin=\\00\\00\\00\\04)", equality("bin", b"\0\0\0\x04")),
        ("(sn=Lu\\c4\\8di\\c4\\87)", equality("sn", "Lučić".as_bytes())),
        ("(1.3.6.1.4.1.1466.0=\\04\\02\\48\\69)", equality("1.3.6.1.4.1.1466.0", b"\x04\x02Hi")),
    ] {
        assert_eq!(Filter::parse(text), Ok(filter.clone()), "{text}");
        assert_eq!(Filter::parse(&filter.to_string()), Ok(filter), "{text}");
    }
}

#[test]
fn t01_escapes_are_data() {
    assert_eq!(Filter::parse("(cn=*\\2a*)").unwrap(), substrings("cn", "", &["*"], ""));
    assert_eq!(Filter::parse("(cn=a\\5cb)").unwrap(), equality("cn", b"a\\b"));
    assert_eq!(Filter::parse("(cn=a.*)").unwrap(), substrings("cn", "a.", &[], ""));
}

#[test]
fn rfc4526_absolute_true_and_false() {
    assert_eq!(Filter::parse("(&)"), Ok(Filter::And(vec![])));
    assert_eq!(Filter::parse("(|)"), Ok(Filter::Or(vec![])));
    assert_eq!(Filter::And(vec![]).to_string(), "(&)");
}

#[test]
fn lenient_forms() {
    for (text, same) in [
        ("uid=u1", "(uid=u1)"),
        ("uid=*", "(uid=*)"),
        (" ( & (a=b) (c=d) ) ", "(&(a=b)(c=d))"),
        ("(! (a=b))", "(!(a=b))"),
        ("(cn=**)", "(cn=*)"),
        ("(cn=a**b)", "(cn=a*b)"),
        ("(cn>= x )", "(cn>= x )"),
        ("(cn~=x)", "(cn~=x)"),
        ("(cn<=x)", "(cn<=x)"),
    ] {
        assert_eq!(Filter::parse(text).unwrap().to_string(), same);
    }
}

#[test]
fn malformed() {
    for text in [
        "",
        "(",
        ")",
        "()",
        "(cn)",
        "(cn=a",
        "cn=a)",
        "(cn=a))",
        "(=a)",
        "(cn=a(b)",
        "(cn=\\zz)",
        "(cn=\\5)",
        "(cn=\\)",
        "(cn=a\0)",
        "(&(a=b)c)",
        "(!)",
        "(!(a=b)(c=d))",
        "(cn>a)",
        "(cn~a)",
        "(cn>=a*)",
        "(cn:=*)",
        "(:=a)",
        "(:dn:=a)",
        "(cn:dn:r:s:=a)",
        "(cn:)",
        "(cn::=a)",
        "(c n=a)",
        "(a=b)(c=d)",
        "(a=\\+1)",
    ] {
        assert!(Filter::parse(text).is_err(), "{text:?}");
    }
    assert_eq!(Filter::parse("(cn=\\5g)"), Err(FilterError::InvalidEscape { offset: 4 }));
    assert_eq!(Filter::parse("(cn>=a*)"), Err(FilterError::Unescaped { byte: '*', offset: 6 }));
}

#[test]
fn t36_deep_and_wide_are_refused() {
    let nested = |depth: usize| format!("{}(a=b){}", "(!".repeat(depth), ")".repeat(depth));
    assert!(Filter::parse(&nested(10)).is_ok());
    assert!(Filter::parse(&nested(63)).is_ok());
    assert_eq!(Filter::parse(&nested(64)), Err(FilterError::TooDeep));
    assert_eq!(Filter::parse(&nested(100_000)), Err(FilterError::TooDeep));
    let wide = |width: usize| format!("(|{})", "(a=b)".repeat(width));
    assert!(Filter::parse(&wide(500)).is_ok());
    assert!(Filter::parse(&wide(MAX_NODES - 1)).is_ok());
    assert_eq!(Filter::parse(&wide(50_000)), Err(FilterError::TooWide));
    assert_eq!(Filter::parse(&format!("(a={}b)", "*x".repeat(50_000))), Err(FilterError::TooWide));
    assert_eq!(Filter::parse(&format!("(a={})", "x".repeat(MAX_STRING_BYTES))), Err(FilterError::TooLong));
}

fn any_filter() -> impl Strategy<Value = Filter> {
    let name = || "[a-zA-Z][a-zA-Z0-9-]{0,5}(;x-[a-z]{1,3})?".prop_map(String::into_bytes);
    let value = || prop::collection::vec(any::<u8>(), 0..12);
    let filled = || prop::collection::vec(any::<u8>(), 1..6);
    let item = prop_oneof![
        (name(), value()).prop_map(|(description, value)| Filter::Equality { description, value }),
        (name(), value()).prop_map(|(description, value)| Filter::GreaterOrEqual { description, value }),
        (name(), value()).prop_map(|(description, value)| Filter::LessOrEqual { description, value }),
        (name(), value()).prop_map(|(description, value)| Filter::Approx { description, value }),
        name().prop_map(|description| Filter::Present { description }),
        (name(), filled(), prop::collection::vec(filled(), 0..3), prop::option::of(filled())).prop_map(
            |(description, initial, any, last)| Filter::Substrings { description, initial: Some(initial), any, last }
        ),
        (prop::option::of("[a-zA-Z]{3,9}".prop_map(String::into_bytes)), name(), value(), any::<bool>()).prop_map(
            |(rule, description, value, dn_attributes)| Filter::Extensible {
                rule,
                description: Some(description),
                value,
                dn_attributes
            }
        ),
    ];
    item.prop_recursive(5, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Filter::And),
            prop::collection::vec(inner.clone(), 0..5).prop_map(Filter::Or),
            inner.prop_map(|negated| Filter::Not(Box::new(negated))),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_printed_parses_to_the_same(filter in any_filter()) {
        prop_assert_eq!(Filter::parse(&filter.to_string()), Ok(filter));
    }

    #[test]
    fn never_panics(text in prop_oneof![".{0,60}", "[()&|!=*:\\\\<>~a0 ]{0,60}"]) {
        if let Ok(filter) = Filter::parse(&text) {
            prop_assert_eq!(Filter::parse(&filter.to_string()), Ok(filter));
        }
    }
}
