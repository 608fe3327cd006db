use std::cmp::Ordering;

use proptest::prelude::*;

use super::*;

fn key(rule: MatchingRule, value: &str) -> Vec<u8> {
    rule.normalize(value.as_bytes(), &Schema::shipped()).unwrap_or_else(|error| panic!("{rule:?} {value:?}: {error}"))
}

/// Rule, values that are all equal, values that differ from the first.
const EQUALITY: &[(MatchingRule, &[&str], &[&str])] = &[
    (MatchingRule::CaseIgnoreMatch, &["Foo Bar", "foo bar", "  FOO   BAR "], &["foobar", "foo"]),
    (MatchingRule::CaseExactMatch, &["Foo Bar", " Foo  Bar"], &["foo Bar"]),
    (MatchingRule::CaseIgnoreIa5Match, &["A@B", "a@b"], &["a@c"]),
    (MatchingRule::CaseExactIa5Match, &["/Home", " /Home "], &["/home"]),
    (MatchingRule::NumericStringMatch, &["123", "1 2 3"], &["124"]),
    (MatchingRule::TelephoneNumberMatch, &["+1 555-1234", "+15551234", "+1-555 1234"], &["+15551235"]),
    (MatchingRule::BooleanMatch, &["TRUE", "true", "True"], &["FALSE"]),
    (MatchingRule::IntegerMatch, &["7", "007"], &["-7", "8", "70"]),
    (MatchingRule::IntegerMatch, &["0", "-0", "00"], &["1"]),
    (MatchingRule::BitStringMatch, &["'01'B"], &["'010'B", "'1'B"]),
    (MatchingRule::OctetStringMatch, &["a"], &["A", "a "]),
    (
        MatchingRule::GeneralizedTimeMatch,
        &[
            "20250101000000Z",
            "202501010000Z",
            "2025010100Z",
            "20250101000000.000Z",
            "20250101010000+0100",
            "20241231190000-05",
        ],
        &["20250101000001Z", "20250101000000.1Z", "20241231235960Z"],
    ),
    (MatchingRule::GeneralizedTimeMatch, &["20250101123000Z", "2025010112.5Z", "202501011230,0Z"], &[]),
    (
        MatchingRule::UuidMatch,
        &[
            "597ae2f6-16a6-1027-98f4-d28b5365dc14",
            "597AE2F6-16A6-1027-98F4-D28B5365DC14",
            "597ae2f616a6102798f4d28b5365dc14",
        ],
        &["597ae2f6-16a6-1027-98f4-d28b5365dc15"],
    ),
    (MatchingRule::ObjectIdentifierMatch, &["person", "PERSON", "2.5.6.6"], &["top", "2.5.6.7", "1.2.3"]),
    (MatchingRule::ObjectIdentifierMatch, &["userPassword", "2.5.4.35"], &[]),
    (
        MatchingRule::DistinguishedNameMatch,
        &["cn=A,dc=x", "CN = a, DC = X", "2.5.4.3=a,dc=x"],
        &["cn=a", "", "dc=x,cn=a"],
    ),
    (MatchingRule::UniqueMemberMatch, &["cn=a#'01'B", "CN=A#'01'B"], &["cn=a", "cn=a#'10'B"]),
    (MatchingRule::CaseIgnoreListMatch, &["A b$C", "a  b$ c "], &["a$b c", "a b c", "a b\\24c"]),
    (MatchingRule::ObjectIdentifierFirstComponentMatch, &["( 2.5.6.6 NAME 'person' )", "(2.5.6.6)"], &["( 2.5.6.7 )"]),
    (
        MatchingRule::CsnMatch,
        &["20250101000000.000000Z#00000A#000#000000", "20250101000000.000000Z#00000a#000#000000"],
        &[],
    ),
];

#[test]
fn rfc4517_4_2_equality() {
    for (rule, equal, different) in EQUALITY {
        let first = key(*rule, equal[0]);
        for value in *equal {
            assert_eq!(key(*rule, value), first, "{rule:?} {value:?}");
        }
        for value in *different {
            assert_ne!(key(*rule, value), first, "{rule:?} {value:?}");
        }
    }
}

#[test]
fn rfc4517_4_1_undefined() {
    for (rule, value) in [
        (MatchingRule::CaseIgnoreMatch, "\u{fffd}".as_bytes().split_at(1).0),
        (MatchingRule::BooleanMatch, b"yes".as_slice()),
        (MatchingRule::IntegerMatch, b"abc"),
        (MatchingRule::IntegerMatch, b""),
        (MatchingRule::UuidMatch, b"abc"),
        (MatchingRule::UuidMatch, b"597ae2f6-16a6-1027-98f4-d28b5365dc1"),
        (MatchingRule::GeneralizedTimeMatch, b"now"),
        (MatchingRule::ObjectIdentifierMatch, b"noSuchName"),
        (MatchingRule::ObjectIdentifierMatch, b"a b"),
        (MatchingRule::DistinguishedNameMatch, b"nosuch=a"),
        (MatchingRule::DistinguishedNameMatch, b"a"),
        (MatchingRule::CertificateExactMatch, b"{ serialNumber 1, issuer rdnSequence:\"cn=a\" }"),
    ] {
        assert!(rule.normalize(value, &Schema::shipped()).is_err(), "{rule:?} {value:?}");
    }
}

#[test]
fn t12_telephone_number_of_a_hyphen() {
    let schema = Schema::shipped();
    for value in ["-", " ", ""] {
        let _ = MatchingRule::TelephoneNumberMatch.normalize(value.as_bytes(), &schema);
        let _ = MatchingRule::TelephoneNumberSubstringsMatch.normalize_any(value.as_bytes(), &schema);
    }
}

#[test]
fn first_component_assertions_are_not_descriptions() {
    let schema = Schema::shipped();
    let rule = MatchingRule::ObjectIdentifierFirstComponentMatch;
    let value = rule.normalize(b"( 2.5.6.6 NAME 'person' SUP top )", &schema).unwrap();
    assert_eq!(rule.normalize_assertion(b"person", &schema).unwrap(), value);
    assert_eq!(rule.normalize_assertion(b"2.5.6.6", &schema).unwrap(), value);
    let rule = MatchingRule::IntegerFirstComponentMatch;
    assert_eq!(rule.normalize(b"( 7 NAME 'x' )", &schema).unwrap(), rule.normalize_assertion(b"7", &schema).unwrap());
    assert!(rule.normalize(b"7", &schema).is_err());
}

#[test]
fn rfc4517_4_2_ordering() {
    let schema = Schema::shipped();
    let ascending: &[(MatchingRule, &[&str])] = &[
        (
            MatchingRule::IntegerOrderingMatch,
            &[
                "-1000000000000000000000000000000000000000000000",
                "-999999999999999999999999999999999999999999999",
                "-340282366920938463463374607431768211455",
                "-65536",
                "-256",
                "-255",
                "-2",
                "-1",
                "0",
                "1",
                "2",
                "9",
                "10",
                "255",
                "256",
                "65535",
                "9223372036854775808",
                "340282366920938463463374607431768211455",
                "340282366920938463463374607431768211456",
                "1000000000000000000000000000000000000000000000",
            ],
        ),
        (
            MatchingRule::GeneralizedTimeOrderingMatch,
            &[
                "00000101000000+2300",
                "00000101000000Z",
                "19700101000000Z",
                "20241231235959Z",
                "20241231235959.5Z",
                "20241231235959.999999Z",
                "20241231235960Z",
                "20241231235960.5Z",
                "20250101000000Z",
                "20250101000000.000001Z",
                "99991231235959Z",
            ],
        ),
        (MatchingRule::CaseIgnoreOrderingMatch, &["", "A", "a b", "ab", "B", "é"]),
        (
            MatchingRule::CsnOrderingMatch,
            &["20250101000000.000000Z#000000#000#000000", "20250101000000.000001Z#000000#000#000000"],
        ),
    ];
    for (rule, values) in ascending {
        let keys: Vec<_> = values.iter().map(|value| rule.ordering_key(value.as_bytes(), &schema).unwrap()).collect();
        for (at, pair) in keys.windows(2).enumerate() {
            assert!(pair[0] < pair[1], "{rule:?}: {} < {}", values[at], values[at + 1]);
        }
    }
    assert!(MatchingRule::DistinguishedNameMatch.ordering_key(b"cn=a", &schema).is_err());
}

#[test]
fn sssd_asserts_second_60() {
    let schema = Schema::shipped();
    let order = |value: &str, asserted: &str| {
        let rule = MatchingRule::GeneralizedTimeOrderingMatch;
        rule.ordering_key(value.as_bytes(), &schema)
            .unwrap()
            .cmp(&rule.ordering_key(asserted.as_bytes(), &schema).unwrap())
    };
    assert_eq!(order("20250101000000Z", "20241231235959.5Z"), Ordering::Greater);
    assert_eq!(order("20250101000000Z", "20241231235960Z"), Ordering::Greater);
    assert_eq!(order("20241231235959Z", "20241231235960Z"), Ordering::Less);
}

fn substring(rule: MatchingRule, value: &str, assertion: &str) -> bool {
    rule.extensible_match(value.as_bytes(), assertion.as_bytes(), &Schema::shipped()).unwrap()
}

#[test]
fn rfc4517_4_2_substrings() {
    use MatchingRule as R;
    for (rule, value, assertion, matches) in [
        (R::CaseIgnoreSubstringsMatch, "Foo Bar", "foo*", true),
        (R::CaseIgnoreSubstringsMatch, "Foo Bar", "*BAR", true),
        (R::CaseIgnoreSubstringsMatch, "Foo Bar", "f*o*b*r", true),
        (R::CaseIgnoreSubstringsMatch, "Foo Bar", "foo *", true),
        (R::CaseIgnoreSubstringsMatch, "Foo Bar", "*o b*", true),
        (R::CaseIgnoreSubstringsMatch, "Foo   Bar", "*foo bar*", true),
        (R::CaseIgnoreSubstringsMatch, "Foo Bar", "*foobar*", false),
        (R::CaseIgnoreSubstringsMatch, "Foo Bar", "bar*", false),
        (R::CaseIgnoreSubstringsMatch, "Foo", "foo *", true),
        (R::CaseIgnoreSubstringsMatch, "aba", "ab*ba", false),
        (R::CaseIgnoreSubstringsMatch, "abba", "ab*ba", true),
        (R::CaseIgnoreSubstringsMatch, "a*b", "*\\2a*", true),
        (R::CaseIgnoreSubstringsMatch, "ab", "*\\2a*", false),
        (R::CaseExactIa5SubstringsMatch, "/Home/x", "/Home*", true),
        (R::CaseExactIa5SubstringsMatch, "/Home/x", "/home*", false),
        (R::TelephoneNumberSubstringsMatch, "+1 555-1234", "*555 12*", true),
        (R::CaseIgnoreListSubstringsMatch, "1 Main St$Anytown", "*main*any*", true),
        (R::CaseIgnoreListSubstringsMatch, "1 Main St$Anytown", "*St Any*", false),
        (R::OctetStringSubstringsMatch, "aXb", "*X*", true),
        (R::OctetStringSubstringsMatch, "aXb", "*x*", false),
    ] {
        assert_eq!(substring(rule, value, assertion), matches, "{value:?} {assertion:?}");
    }
    assert!(R::IntegerMatch.normalize_any(b"1", &Schema::shipped()).is_err());
    assert!(!substrings_match::<&[u8]>(b"a", Some(b"ab"), &[], None));
}

#[test]
fn long_values_are_searched_in_linear_time() {
    let text = vec![b'a'; 4 << 20];
    let mut part = vec![b'a'; 1 << 20];
    part.push(b'b');
    assert!(!substrings_match(&text, None, &[part.as_slice()], None));
    part.pop();
    assert!(substrings_match(&text, None, &[part.as_slice(), part.as_slice()], None));
}

#[test]
fn bitwise_rules() {
    let schema = Schema::shipped();
    let bit = |rule: MatchingRule, value: &str, mask: &str| {
        rule.extensible_match(value.as_bytes(), mask.as_bytes(), &schema).unwrap()
    };
    assert!(bit(MatchingRule::BitAnd, "7", "5"));
    assert!(!bit(MatchingRule::BitAnd, "6", "5"));
    assert!(bit(MatchingRule::BitOr, "6", "5"));
    assert!(!bit(MatchingRule::BitOr, "2", "5"));
    assert!(bit(MatchingRule::BitAnd, "-2147483646", "2"));
    assert!(MatchingRule::BitAnd.extensible_match(b"x", b"1", &schema).is_err());
}

#[test]
fn approximate_words() {
    let within = |assertion: &str, value: &str| {
        let keys = approx_key(value.as_bytes());
        approx_key(assertion.as_bytes()).iter().all(|key| keys.contains(key))
    };
    assert!(within("Smyth", "John Smith"));
    assert!(within("jon smith", "John Smith"));
    assert!(within("Katherine", "Catherine"));
    assert!(within("Meyer", "Maier") && within("Schmidt", "schmitt"));
    assert!(within("Andre", "André"));
    assert!(!within("Miller", "John Smith"));
    assert!(within("12", "Room 12"));
    assert!(approx_key(b"\xff").is_empty());
}

#[test]
fn the_table_is_in_the_order_of_the_variants() {
    for (at, rule) in MatchingRule::all().enumerate() {
        assert_eq!(rule as usize, at);
        assert_eq!(MatchingRule::from_name_or_oid(rule.name()), Some(rule));
        assert_eq!(MatchingRule::from_name_or_oid(rule.oid()), Some(rule));
    }
}

proptest! {
    #[test]
    fn any_octets_are_safe(octets in proptest::collection::vec(any::<u8>(), 0..40), like in "[0-9a-cZB'#$(){},.+=* -]{0,24}") {
        let schema = Schema::shipped();
        for rule in MatchingRule::all() {
            for value in [octets.as_slice(), like.as_bytes()] {
                let _ = rule.normalize(value, &schema);
                let _ = rule.normalize_assertion(value, &schema);
                let _ = rule.ordering_key(value, &schema);
                let _ = rule.normalize_initial(value, &schema);
                let _ = rule.normalize_final(value, &schema);
                let _ = rule.substring_value_into(value, &schema, &mut Vec::new());
                let _ = rule.extensible_match(value, like.as_bytes(), &schema);
                let _ = rule.approx_key(value);
            }
        }
    }

    #[test]
    fn integer_keys_are_ordered(one in any::<i128>(), other in any::<i128>(), small in -300_i128..300, near in -300_i128..300) {
        let schema = Schema::shipped();
        let key = |value: i128| MatchingRule::IntegerOrderingMatch.ordering_key(value.to_string().as_bytes(), &schema).unwrap();
        prop_assert_eq!(key(one).cmp(&key(other)), one.cmp(&other));
        prop_assert_eq!(key(small).cmp(&key(near)), small.cmp(&near));
        prop_assert_eq!(key(one).cmp(&key(near)), one.cmp(&near));
    }

    #[test]
    fn a_part_of_a_value_is_found(text in "[a-c ]{3,12}", from in 0_usize..6, length in 0_usize..6) {
        let schema = Schema::shipped();
        let rule = MatchingRule::CaseIgnoreSubstringsMatch;
        let part = &text[from.min(text.len())..(from + length).min(text.len())];
        let mut value = Vec::new();
        rule.substring_value_into(text.as_bytes(), &schema, &mut value).unwrap();
        if !part.is_empty() {
            let any = rule.normalize_any(part.as_bytes(), &schema).unwrap();
            prop_assert!(substrings_match(&value, None, &[any], None));
            let initial = rule.normalize_initial(text.as_bytes(), &schema).unwrap();
            prop_assert!(substrings_match::<&[u8]>(&value, Some(&initial), &[], None));
        }
    }
}
