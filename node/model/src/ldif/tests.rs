use std::borrow::Cow;

use proptest::prelude::*;

use super::*;
use crate::modify::ModOp;

type Owned = (String, Vec<(String, Vec<u8>)>);

fn entries(text: &[u8]) -> Vec<Owned> {
    let mut reader = Reader::new(text);
    let mut found = Vec::new();
    while let Some(record) = reader.next_record().expect("valid LDIF") {
        let Content::Entry(lines) = record.content else { panic!("a change record") };
        let values = lines.iter().map(|line| (line.description.to_owned(), line.value.to_vec())).collect();
        found.push((record.dn.into_owned(), values));
    }
    found
}

fn values(text: &[u8], name: &str) -> Vec<Vec<u8>> {
    let all = entries(text).remove(0).1;
    all.into_iter().filter(|(description, _)| description == name).map(|(_, value)| value).collect()
}

fn error(text: &[u8]) -> LdifError {
    Reader::new(text).next_record().expect_err("an error")
}

fn change(text: &[u8]) -> Change<'static> {
    // Leaked, so that tests can hold the change without its record.
    let mut raw = Box::new(RawRecord::default());
    assert!(Reader::new(text).read_raw(&mut raw).unwrap());
    let raw: &'static RawRecord = Box::leak(raw);
    match raw.parse().unwrap().content {
        Content::Change { change, .. } => change,
        Content::Entry(_) => panic!("an entry"),
    }
}

#[test]
fn t41_lexical_rules() {
    let mut text = b"version: 1\r\ndn: cn=a,dc=example,\r\n dc=com\r\nobjectClass: device\r\n".to_vec();
    text.extend_from_slice(b"# a comment\r\n folded: over two lines\r\ncn: a\r\nl:      v\r\nl: \tv\r\n");
    text.extend_from_slice(
        b"l:: \t aGVs\t bG8= \r\nl:: aGV\r\n sbG8\r\n =\r\nl:\r\nsn: Z\xc3\r\n \xbcrich\r\n\r\n\r\n",
    );
    text.extend_from_slice(b"dn:: Y249YixkYz1leGFtcGxlLGRjPWNvbQ==\ncn: b");
    let found = entries(&text);
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].0, "cn=a,dc=example,dc=com");
    let l: Vec<_> = found[0].1.iter().filter(|(name, _)| name == "l").map(|(_, value)| value.clone()).collect();
    assert_eq!(l, [&b"v"[..], b"\tv", b"hello", b"hello", b""]);
    assert_eq!(found[0].1.last().unwrap().1, "Zürich".as_bytes());
    assert_eq!(found[1], ("cn=b,dc=example,dc=com".into(), vec![("cn".into(), b"b".to_vec())]));
}

#[test]
fn t41_empty_attribute_type_names_its_line() {
    let error = error(b"# c\n c\nversion: 1\ndn: cn=a\ncn: a\n:v\n\n");
    assert_eq!(error.line, 6);
    assert_eq!(error.dn.as_deref(), Some("cn=a"));
    assert!(matches!(error.kind, LdifErrorKind::EmptyAttributeType));
}

#[test]
fn t41_url_refused() {
    let error = error(b"dn: cn=a\njpegPhoto:< file:///etc/passwd\n");
    assert!(matches!(error.kind, LdifErrorKind::UrlRefused));
    assert_eq!(error.line, 2);
}

#[test]
fn lines_of_one_attribute_are_gathered_in_order() {
    let text = b"dn: cn=a\ncn: 1\nsn: x\nCN: 2\nmail: m\nsn: y\ncn: 3\n";
    let mut reader = Reader::new(&text[..]);
    let record = reader.next_record().unwrap().unwrap();
    let Content::Entry(lines) = &record.content else { panic!() };
    let groups: Vec<Vec<(&str, &[u8], u64)>> = AttributeLine::groups(lines)
        .map(|group| group.iter().map(|line| (line.description, &*line.value, line.line)).collect())
        .collect();
    assert_eq!(groups[0], [("cn", &b"1"[..], 2), ("CN", b"2", 4), ("cn", b"3", 7)]);
    assert_eq!(groups[1], [("sn", &b"x"[..], 3), ("sn", b"y", 6)]);
    assert_eq!(groups[2], [("mail", &b"m"[..], 5)]);
}

#[test]
fn many_attributes_gather_too() {
    let mut text = String::from("dn: cn=a\n");
    for round in 0..2 {
        for index in 0..500 {
            text += &format!("a{index}: {round}\n");
        }
    }
    let mut reader = Reader::new(text.as_bytes());
    let record = reader.next_record().unwrap().unwrap();
    let Content::Entry(lines) = &record.content else { panic!() };
    assert_eq!(AttributeLine::groups(lines).count(), 500);
    assert!(AttributeLine::groups(lines).all(|group| group.len() == 2 && &*group[0].value == b"0"));
}

#[test]
fn records_after_an_error_are_read() {
    let text = b"dn: cn=a\nnonsense\n\ndn: cn=b\ncn: b\n\n stray\ndn: cn=c\ncn: c\n\ncn: d\n\ndn: cn=e\ncn: e\n";
    let mut reader = Reader::new(&text[..]);
    let mut seen = Vec::new();
    loop {
        match reader.next_record() {
            Ok(Some(record)) => seen.push(format!("{} {}", record.line, record.dn)),
            Ok(None) => break,
            Err(error) => seen.push(format!("error {}", error.line)),
        }
    }
    assert_eq!(seen, ["error 2", "4 cn=b", "error 7", "error 11", "13 cn=e"]);
}

#[test]
fn oversized_records_are_skipped_within_bounds() {
    let mut text = b"dn: cn=a\ncn: ".to_vec();
    text.extend(std::iter::repeat_n(b'x', 200_000));
    text.extend_from_slice(b"\nsn: x\n\ndn: cn=b\ncn: b\n");
    let mut reader = Reader::with_max_record_bytes(&text[..], 1000);
    let error = reader.next_record().unwrap_err();
    assert!(matches!(error.kind, LdifErrorKind::RecordTooLarge { limit: 1000 }));
    assert_eq!(error.line, 2);
    let record = reader.next_record().unwrap().unwrap();
    assert_eq!((&*record.dn, record.line), ("cn=b", 5));
    // Many short lines count as well.
    let mut text = b"dn: cn=a\n".to_vec();
    text.extend(b"a: b\n".repeat(1000));
    text.extend_from_slice(b"\ndn: cn=b\ncn: b\n");
    let mut reader = Reader::with_max_record_bytes(&text[..], 1000);
    assert!(reader.next_record().is_err());
    assert_eq!(reader.next_record().unwrap().unwrap().dn, "cn=b");
    assert!(reader.next_record().unwrap().is_none());
}

#[test]
fn a_record_of_exactly_the_limit_is_read() {
    let text = b"dn: cn=a\ncn: a\n\ndn: cn=b\ncn: b\n\n";
    let mut reader = Reader::with_max_record_bytes(&text[..], 16);
    assert_eq!(reader.next_record().unwrap().unwrap().dn, "cn=a");
    assert_eq!(reader.next_record().unwrap().unwrap().dn, "cn=b");
    assert!(Reader::with_max_record_bytes(&text[..], 15).next_record().is_err());
}

#[test]
fn byte_order_mark_and_white_space_lines() {
    assert_eq!(entries(b"\xef\xbb\xbfdn: cn=a\ncn: a\n\n   \n\ndn: cn=b\ncn: b\n").len(), 2);
    assert!(entries(b"").is_empty());
    assert!(entries(b"version: 1\n\n# only comments\n").is_empty());
    assert!(matches!(error(b"version: 2\ndn: cn=a\ncn: a\n").kind, LdifErrorKind::UnknownVersion(_)));
}

#[test]
fn malformed_records() {
    for (text, line) in [
        (&b"dn: cn=a\n"[..], 1),
        (b"dn: cn=a\ndn: cn=b\ncn: b\n", 2),
        (b"dn: cn=a\ncn: a\ndn: cn=b\ncn: b\n", 3),
        (b"dn:: !!!\ncn: a\n", 1),
        (b"dn:: gICA\ncn: a\n", 1),
        (b"dn: cn=a\ncn:: a\n", 2),
        (b"dn: cn=a\nc n: a\n", 2),
        (b"dn: cn=a\n;lang-en: a\n", 2),
        (b"dn: cn=a\n\tcn: a\n", 2),
        (b"dn: cn=a\ncontrol: 1.2.3 true\ncn: a\n", 3),
        (b"dn: cn=a\ncontrol: 1.2.3 maybe\nchangetype: delete\n", 2),
        (b"dn: cn=a\nchangetype: remove\n", 2),
        (b"dn: cn=a\nchangetype: delete\ncn: a\n", 3),
        (b"dn: cn=a\nchangetype: add\n", 2),
        (b"dn: cn=a\nchangetype: modify\nadd: cn\nsn: a\n-\n", 4),
        (b"dn: cn=a\nchangetype: modify\ncn: a\n-\n", 3),
        (b"dn: cn=a\nchangetype: modrdn\nnewrdn: cn=b\n", 2),
        (b"dn: cn=a\nchangetype: modrdn\nnewrdn: cn=b\ndeleteoldrdn: 2\n", 4),
    ] {
        let error = error(text);
        assert_eq!(error.line, line, "{error} in {}", String::from_utf8_lossy(text));
        assert!(!error.is_fatal());
    }
}

#[test]
fn rfc2849_change_records() {
    let lines = change(b"dn: cn=a\nchangetype: add\ncn: a\nsn:: YQ==\n");
    let Change::Add(lines) = lines else { panic!() };
    assert_eq!(lines.len(), 2);
    assert_eq!(change(b"dn: cn=a\nchangetype: delete\n"), Change::Delete);
    let specs = change(
        b"dn: cn=a\nchangetype: modify\nadd: cn\ncn: b\ncn: c\n-\ndelete: sn\n-\nreplace: l;lang-en\nL;lang-EN: x\n-\nincrement: n\nn: 5\n",
    );
    let Change::Modify(specs) = specs else { panic!() };
    let ops: Vec<_> = specs.iter().map(|spec| (spec.op, spec.description, spec.values.len(), spec.line)).collect();
    assert_eq!(
        ops,
        [
            (ModOp::Add, "cn", 2, 3),
            (ModOp::Delete, "sn", 0, 7),
            (ModOp::Replace, "l;lang-en", 1, 9),
            (ModOp::Increment, "n", 1, 12)
        ]
    );
    assert_eq!(
        change(b"dn: cn=a\nchangetype: moddn\nnewrdn: cn=b\ndeleteoldrdn: 1\nnewsuperior:: ZGM9eA==\n"),
        Change::ModDn {
            new_rdn: Cow::Borrowed("cn=b"),
            delete_old_rdn: true,
            new_superior: Some(Cow::Borrowed("dc=x"))
        }
    );
    let text = b"dn: cn=a\ncontrol: 1.2.840.113556.1.4.805 true\ncontrol: 1.2.3: v\ncontrol: 1.2.4 false:: YQ==\nchangetype: delete\n";
    let mut reader = Reader::new(&text[..]);
    let Content::Change { controls, line, .. } = reader.next_record().unwrap().unwrap().content else { panic!() };
    assert_eq!(line, 5);
    assert_eq!((controls[0].oid, controls[0].critical, &controls[0].value), ("1.2.840.113556.1.4.805", true, &None));
    assert_eq!(controls[1].value.as_deref(), Some(&b"v"[..]));
    assert_eq!(controls[2].value.as_deref(), Some(&b"a"[..]));
}

#[test]
fn slapcat_output_loads_unchanged() {
    let text = b"dn: dc=example,dc=com\nobjectClass: dcObject\nobjectClass: organization\no: Example\ndc: example\n\
        structuralObjectClass: organization\nentryUUID: 8a9d5e3c-0f2e-103f-8f7c-1d2a5a8c6b1e\ncreatorsName: cn=admin,dc=ex\n ample,dc=com\n\
        createTimestamp: 20250101000000Z\nentryCSN: 20250101000000.000000Z#000000#000#000000\n\n";
    let found = entries(text);
    assert_eq!(found[0].1.len(), 9);
    assert_eq!(values(text, "creatorsName"), [b"cn=admin,dc=example,dc=com"]);
}

#[test]
fn writer_folds_at_76_columns_and_encodes_what_is_not_safe() {
    let mut writer = Writer::new(Vec::new());
    writer.version().unwrap();
    let long = "x".repeat(200);
    let cases: [(&str, &[u8]); 8] = [
        ("cn", b"plain"),
        ("cn", b" leading"),
        ("cn", b"trailing "),
        ("cn", b":colon"),
        ("cn", b"<less"),
        ("cn", "Zürich".as_bytes()),
        ("cn", b""),
        ("description", long.as_bytes()),
    ];
    writer.entry("cn=plain,dc=x", cases).unwrap();
    let text = writer.into_inner();
    let printed = String::from_utf8(text.clone()).unwrap();
    assert!(printed.lines().all(|line| line.len() <= 76));
    assert!(printed.lines().any(|line| line.len() == 76));
    for expected in ["cn: plain\n", "cn:: IGxlYWRpbmc=\n", "cn:: OmNvbG9u\n", "cn:: WsO8cmljaA==\n", "cn:\n"] {
        assert!(printed.contains(expected), "{expected:?} in {printed}");
    }
    let found = entries(&text);
    assert_eq!(found[0].1.iter().map(|(_, value)| &value[..]).collect::<Vec<_>>(), cases.map(|(_, value)| value));
}

/// Gathered by description, as the reader does.
fn gathered(values: &[(String, Vec<u8>)]) -> Vec<(String, Vec<u8>)> {
    let mut order: Vec<&String> = Vec::new();
    for (description, _) in values {
        if !order.contains(&description) {
            order.push(description);
        }
    }
    let of = |name: &String| values.iter().filter(|(other, _)| other == name).cloned().collect::<Vec<_>>();
    order.into_iter().flat_map(of).collect()
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        records in prop::collection::vec(
            (".{0,90}", prop::collection::vec(
                ("[a-c](;lang-[a-c])?", prop::collection::vec(any::<u8>(), 0..200)), 1..8)),
            0..6),
        crlf in any::<bool>(),
    ) {
        let mut writer = Writer::new(Vec::new());
        for (dn, values) in &records {
            let values = values.iter().map(|(description, value)| (&**description, &**value));
            writer.entry(dn, values).unwrap();
        }
        let mut text = writer.into_inner();
        if crlf {
            text = String::from_utf8(text).unwrap().replace('\n', "\r\n").into_bytes();
        }
        let expected: Vec<Owned> =
            records.iter().map(|(dn, values)| (dn.clone(), gathered(values))).collect();
        prop_assert_eq!(entries(&text), expected);
    }

    #[test]
    fn never_panics(text in prop::collection::vec(
        prop_oneof![
            any::<u8>(),
            prop::sample::select(&b"\n\r: <#-dnacov=\t"[..]),
        ], 0..400), limit in 1usize..200) {
        let mut reader = Reader::with_max_record_bytes(&text[..], limit);
        // Each call consumes something, so that the end is reached.
        for _ in 0..=text.len() + 1 {
            if let Ok(None) = reader.next_record() {
                return Ok(());
            }
        }
        prop_assert!(false, "no end");
    }
}
