use proptest::prelude::*;

use super::*;

/// Values that a syntax takes and values that it refuses (RFC 4517, 3.3).
const CASES: &[(Syntax, &[&str], &[&str])] = &[
    (Syntax::DirectoryString, &["a", " ", "é"], &[""]),
    (Syntax::Ia5String, &["", "a@b"], &["é"]),
    (Syntax::PrintableString, &["A b-1", "'()+,-./:?="], &["", "a_b", "a*b", "é"]),
    (Syntax::CountryString, &["DE"], &["D", "DEU", "", "d_"]),
    (Syntax::NumericString, &["1 2", "0"], &["", "a", "-1"]),
    (Syntax::Integer, &["0", "-1", "123456789012345678901234567890"], &["", "-", "-0", "01", "+1", "1.0", "1 "]),
    (Syntax::Boolean, &["TRUE", "FALSE"], &["true", "1", ""]),
    (Syntax::BitString, &["''B", "'0101'B"], &["0101", "'012'B", "'01'", "'"]),
    (Syntax::Oid, &["2.5.4.3", "cn", "a-1"], &["", "2..5", "02.5", "2.5.", "-a", "a b"]),
    (Syntax::DistinguishedName, &["", "cn=a", "cn=a+sn=b,dc=c"], &["a", "cn=a,"]),
    (Syntax::NameAndOptionalUid, &["cn=a", "cn=a#'01'B", "cn=a#x", "#'01'B"], &["x#'01'B"]),
    (
        Syntax::GeneralizedTime,
        &[
            "20250101000000Z",
            "202501010000Z",
            "2025010100Z",
            "20250101000000.5Z",
            "20250101000000,123456Z",
            "20241231235960Z",
            "20250101000000+0100",
            "20250101000000-05",
            "20240229000000Z",
            "2025010112.5Z",
        ],
        &[
            "",
            "20250101000000",
            "2025",
            "20251301000000Z",
            "20250229000000Z",
            "20250101240000Z",
            "20250101006000Z",
            "20250101000061Z",
            "20250101000000.Z",
            "20250101000000Zx",
            "2025-01-01T00:00:00Z",
            "20250101000000+2400",
        ],
    ),
    (
        Syntax::UtcTime,
        &["250101000000Z", "2501010000Z", "250101000000+0100", "250101000000"],
        &["", "25010100", "259901000000Z"],
    ),
    (Syntax::TelephoneNumber, &["+1 555-1234", "-"], &["", "#1", "é"]),
    (Syntax::FacsimileTelephoneNumber, &["+1 555", "+1 555$fineResolution"], &["", "a$", "*"]),
    (
        Syntax::Uuid,
        &["597ae2f6-16a6-1027-98f4-d28b5365dc14"],
        &["597ae2f616a6102798f4d28b5365dc14", "", "597ae2f6-16a6-1027-98f4-d28b5365dc1g"],
    ),
    (
        Syntax::Csn,
        &["20250101000000.000000Z#000000#000#000000", "20250101000000Z#00000c#00#000000"],
        &["", "20250101000000Z", "x#0#0#0"],
    ),
    (Syntax::PostalAddress, &["a$b", "a$$b", "\\241", "é"], &[""]),
    (Syntax::DeliveryMethod, &["any", "telephone $ mhs"], &["", "pigeon", "any $"]),
    (Syntax::OtherMailbox, &["internet$a@b"], &["", "$a", "a"]),
    (Syntax::NisNetgroupTriple, &["(a,b,c)", "(,,)", "(-,user,)"], &["", "a,b,c", "(a,b)", "(a,b,c", "(a,b,c,d)"]),
    (Syntax::BootParameter, &["root=srv:/export"], &["", "root", "=srv:/x", "root=srv"]),
    (Syntax::OctetString, &["", "a"], &[]),
    (Syntax::Jpeg, &["", "a"], &[]),
];

#[test]
fn rfc4517_3_3_values_of_syntaxes() {
    for (syntax, good, bad) in CASES {
        for value in *good {
            assert_eq!(syntax.validate(value.as_bytes()), Ok(()), "{syntax:?} {value:?}");
        }
        for value in *bad {
            assert!(syntax.validate(value.as_bytes()).is_err(), "{syntax:?} {value:?}");
        }
    }
    assert!(Syntax::DirectoryString.validate(b"\xff").is_err());
}

#[test]
fn the_table_is_in_the_order_of_the_variants() {
    for (at, syntax) in Syntax::all().enumerate() {
        assert_eq!(syntax as usize, at);
        assert_eq!(Syntax::from_oid(syntax.oid()), Some(syntax));
        assert!(is_numeric_oid(syntax.oid().as_bytes()));
    }
}

proptest! {
    #[test]
    fn any_octets_are_safe(octets in proptest::collection::vec(any::<u8>(), 0..40), like in "[0-9ZB'#$(),.+-]{0,24}") {
        for syntax in Syntax::all() {
            let _ = syntax.validate(&octets);
            let _ = syntax.validate(like.as_bytes());
        }
    }
}
