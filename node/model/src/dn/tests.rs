use proptest::prelude::*;

use super::*;
use crate::schema::Schema;

fn printed(text: &str) -> String {
    Dn::parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}")).to_string()
}

fn key(text: &str) -> Vec<u8> {
    Dn::parse(text).unwrap().normalize(&Schema::shipped()).unwrap_or_else(|error| panic!("{text:?}: {error}")).key()
}

#[test]
fn rfc4514_4_examples() {
    for text in [
        "UID=jsmith,DC=example,DC=net",
        "OU=Sales+CN=J.  Smith,DC=example,DC=net",
        "CN=James \\\"Jim\\\" Smith\\, III,DC=example,DC=net",
    ] {
        assert_eq!(printed(text), text);
    }
    assert_eq!(
        printed("CN=Before\\0dAfter,DC=example,DC=net"),
        "CN=Before\\0DAfter,DC=example,DC=net",
        "a control character stays escaped"
    );
    assert_eq!(printed("1.3.6.1.4.1.1466.0=#04024869"), "1.3.6.1.4.1.1466.0=Hi");
    let lucic = Dn::parse("CN=Lu\\C4\\8Di\\C4\\87").unwrap();
    assert_eq!(lucic.rdns()[0].avas()[0].value(), "Lučić".as_bytes());
    assert_eq!(lucic.to_string(), "CN=Lučić");
}

#[test]
fn rfc4514_3_reading_and_printing() {
    for (text, canonical) in [
        ("", ""),
        ("  ", ""),
        ("cn=", "cn="),
        ("cn=a", "cn=a"),
        ("cn = a b , dc = c", "cn=a b,dc=c"),
        ("cn=a;dc=c", "cn=a,dc=c"),
        ("cn=a + sn=b", "cn=a+sn=b"),
        ("cn=\"a, b + c; <d>\"", "cn=a\\, b \\+ c\\; \\<d\\>"),
        ("cn=\" a \"", "cn=\\ a\\ "),
        ("cn=\"say \\\"hi\\\"\" , dc=x", "cn=say \\\"hi\\\",dc=x"),
        ("OID.2.5.4.3=a", "2.5.4.3=a"),
        ("oid.2.5.4.3=a", "2.5.4.3=a"),
        ("cn=\\20lead", "cn=\\ lead"),
        ("cn=trail\\20", "cn=trail\\ "),
        ("cn=trail\\ ", "cn=trail\\ "),
        ("cn=a\\20b", "cn=a b"),
        ("cn=\\#x", "cn=\\#x"),
        ("cn=a#x", "cn=a#x"),
        ("cn=a=b", "cn=a=b"),
        ("cn=a\\=b", "cn=a=b"),
        ("cn=\\FF\\00", "cn=\\FF\\00"),
        ("cn=#0C0161", "cn=a"),
        ("cn=#FF", "cn=\\FF"),
        ("ou=a\\\\b", "ou=a\\\\b"),
    ] {
        assert_eq!(printed(text), canonical, "{text:?}");
        assert_eq!(printed(canonical), canonical, "{text:?} again");
    }
}

#[test]
fn rfc4514_3_refused() {
    for text in [
        "cn",
        "=a",
        "cn=a,",
        ",cn=a",
        "cn=a,,dc=b",
        "cn=a+",
        "cn=\"a",
        "cn=\"a\"b",
        "cn=\\",
        "cn=\\g",
        "cn=\\4",
        "cn=#",
        "cn=#0",
        "cn=#04x",
        "cn=a\"b",
        "cn=<a",
        "1.=a",
        "01.2=a",
        "c n=a",
        "cn;lang-en=a",
        "-cn=a",
        "cn=a\0",
    ] {
        assert!(Dn::parse(text).is_err(), "{text:?}");
    }
    assert!(matches!(Dn::parse("cn=a,".repeat(1_001) + "dc=x"), Err(DnError::TooLarge { .. })));
    assert!(matches!(Dn::parse(vec![b'a'; MAX_DN_BYTES + 1]), Err(DnError::TooLarge { .. })));
}

#[test]
fn t02_any_spelling_is_the_same_name() {
    let stored = key("uid=u1,ou=People,dc=ex,dc=com");
    for text in [
        "UID=U1 , ou=people,DC=ex,dc=COM",
        "uid=\\751,ou=People,dc=ex,dc=com",
        "0.9.2342.19200300.100.1.1=u1,ou=People,dc=ex,dc=com",
        "OID.0.9.2342.19200300.100.1.1=u1,organizationalUnitName=People,domainComponent=ex,dc=com",
        "userid=u1;ou=  People ;dc=ex;dc=com",
        "uid=\"u1\",ou=#040650656F706C65,dc=ex,dc=com",
    ] {
        assert_eq!(key(text), stored, "{text:?}");
    }
    for text in ["uid=u2,ou=People,dc=ex,dc=com", "cn=u1,ou=People,dc=ex,dc=com", "ou=People,dc=ex,dc=com"] {
        assert_ne!(key(text), stored, "{text:?}");
    }
}

#[test]
fn t03_escaped_spaces() {
    assert_eq!(key("cn=\\20lead,dc=x"), key("cn=lead,dc=x"));
    assert_eq!(key("cn=a\\20b,dc=x"), key("cn=a   B,dc=x"));
    assert_eq!(key("cn=trail\\20,dc=x"), key("cn=trail,dc=x"));
}

#[test]
fn t22_one_type_twice_in_an_rdn() {
    assert!(matches!(Dn::parse("cn=a+cn=b,dc=x"), Err(DnError::DuplicateType(_))));
    assert!(matches!(Dn::parse("cn=a+CN=a,dc=x"), Err(DnError::DuplicateType(_))));
    // The same type under two names is found with the schema.
    let dn = Dn::parse("cn=a+commonName=b,dc=x").unwrap();
    assert!(matches!(dn.normalize(&Schema::shipped()), Err(DnError::DuplicateType(_))));
    let dn = Dn::parse("cn=a+2.5.4.3=b,dc=x").unwrap();
    assert!(matches!(dn.normalize(&Schema::shipped()), Err(DnError::DuplicateType(_))));
}

#[test]
fn t24_naming_attribute_without_equality_rule() {
    let schema = Schema::shipped();
    let normalize = |text: &str| Dn::parse(text).unwrap().normalize(&schema);
    assert!(matches!(normalize("jpegPhoto=a,dc=x"), Err(DnError::NoEqualityRule(_))));
    assert!(matches!(normalize("nosuch=a,dc=x"), Err(DnError::UnknownType(_))));
    assert!(matches!(normalize("uidNumber=x,dc=x"), Err(DnError::Value { .. })));
    assert!(matches!(normalize("cn=\\FF,dc=x"), Err(DnError::Value { .. })));
}

#[test]
fn order_of_values_in_an_rdn_does_not_count() {
    assert_eq!(key("cn=a+sn=b,dc=x"), key("SN=B+CN=A,dc=x"));
    assert_ne!(key("cn=a+sn=b,dc=x"), key("cn=b+sn=a,dc=x"));
    assert_ne!(key("cn=a+sn=b,dc=x"), key("cn=a,sn=b,dc=x"));
}

#[test]
fn long_values_keep_their_length() {
    let long = |length: usize| Dn::parse(format!("cn={}+sn=b,dc=x", "a".repeat(length))).unwrap();
    let schema = Schema::shipped();
    for length in [126, 127, 128, 129, 16_383, 16_384] {
        let norm = long(length).normalize(&schema).unwrap();
        assert_eq!(norm, long(length).normalize(&schema).unwrap());
        assert_ne!(norm, long(length + 1).normalize(&schema).unwrap());
        let overhead = norm.rdns()[0].as_bytes().len() - length;
        assert!((6..12).contains(&overhead), "{overhead}");
    }
}

#[test]
fn ancestry() {
    let schema = Schema::shipped();
    let dn = Dn::parse("cn=a,ou=b,dc=c").unwrap();
    let norm = dn.normalize(&schema).unwrap();
    assert_eq!(dn.parent().unwrap().to_string(), "ou=b,dc=c");
    assert_eq!(dn.ancestor(1).to_string(), "dc=c");
    assert_eq!(dn.ancestor(9), dn);
    assert_eq!(norm.parent().unwrap(), dn.parent().unwrap().normalize(&schema).unwrap());
    assert_eq!(NormDn::from_key(&norm.key()), Some(norm.clone()));
    assert_eq!(NormDn::from_key(&[]), Some(NormDn::default()));
    assert!(norm.is_under(&norm));
    assert!(norm.is_under(&norm.parent().unwrap()));
    assert!(norm.is_under(&NormDn::default()));
    assert!(!norm.parent().unwrap().is_under(&norm));
    assert!(Dn::root().is_root() && Dn::root().parent().is_none());
    let child = Dn::parse("ou=b,dc=c").unwrap().child(Rdn::parse("cn=a").unwrap()).unwrap();
    assert_eq!(child, dn);
    assert!(Rdn::parse("").is_err());
    assert!(Rdn::parse("cn=a,dc=b").is_err());
}

fn any_ava() -> impl Strategy<Value = Ava> {
    ("[a-zA-Z][a-zA-Z0-9-]{0,8}", proptest::collection::vec(any::<u8>(), 0..8))
        .prop_map(|(name, value)| Ava::new(name, value))
}

fn text_ava() -> impl Strategy<Value = Ava> {
    ("[a-z][a-z0-9-]{0,4}", "[ a,+\"\\\\<>;#=é\u{0}\n]{0,6}")
        .prop_map(|(name, value)| Ava::new(name, value.into_bytes()))
}

fn dns(ava: impl Strategy<Value = Ava>) -> impl Strategy<Value = Dn> {
    let rdn = proptest::collection::vec(ava, 1..4).prop_filter_map("one type twice", |avas| Rdn::new(avas).ok());
    proptest::collection::vec(rdn, 0..5).prop_map(|rdns| Dn::new(rdns).unwrap())
}

proptest! {
    #[test]
    fn printing_and_reading_gives_the_same(dn in dns(any_ava()), text in dns(text_ava())) {
        prop_assert_eq!(Dn::parse(dn.to_string()).unwrap(), dn);
        prop_assert_eq!(Dn::parse(text.to_string()).unwrap(), text);
    }

    #[test]
    fn any_octets_are_safe(octets in proptest::collection::vec(any::<u8>(), 0..60), like in "[a-c=,+;#\\\\\" 0-9<>]{0,40}") {
        for text in [octets.as_slice(), like.as_bytes()] {
            if let Ok(dn) = Dn::parse(text) {
                prop_assert_eq!(&Dn::parse(dn.to_string()).unwrap(), &dn);
                if let Ok(norm) = dn.normalize(&Schema::shipped()) {
                    prop_assert_eq!(NormDn::from_key(&norm.key()), Some(norm));
                }
            }
            if let Some(norm) = NormDn::from_key(text) {
                prop_assert_eq!(norm.key(), text);
            }
        }
    }

    #[test]
    fn keys_are_unambiguous(one in "[a-c ]{1,3}(\\+[a-c]{1,2})?", other in "[a-c ]{1,3}(\\+[a-c]{1,2})?") {
        let schema = Schema::shipped();
        let dn = |text: &str| Dn::new(vec![Rdn::new(vec![Ava::new("cn", text)]).unwrap(), Rdn::parse("dc=x").unwrap()]).unwrap();
        let words = |text: &str| text.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect::<Vec<_>>();
        let equal = dn(&one).normalize(&schema).unwrap() == dn(&other).normalize(&schema).unwrap();
        prop_assert_eq!(equal, words(&one) == words(&other));
    }
}
