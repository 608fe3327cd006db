use proptest::prelude::*;

use super::*;
use crate::entry::{Attribute, AttributeDescription, Entry};
use crate::schema::Schema;

fn schema() -> &'static Schema {
    static SHIPPED: std::sync::LazyLock<Schema> = std::sync::LazyLock::new(Schema::shipped);
    &SHIPPED
}

fn attribute(schema: &Schema, description: &str, values: &[&[u8]]) -> Attribute {
    let description = AttributeDescription::parse(description.as_bytes(), schema).unwrap();
    Attribute::new(description, values.iter().map(|value| value.to_vec()).collect())
}

fn sample(schema: &Schema) -> Entry {
    Entry {
        attributes: vec![
            attribute(schema, "entryUUID", &[b"0f1c2d3e-0000-4000-8000-000000000001"]),
            attribute(schema, "commonName", &[b"a", b"b"]),
            attribute(schema, "cn;lang-fr;lang-en", &[b"c"]),
            attribute(schema, "objectClass", &[b"inetOrgPerson"]),
            attribute(schema, "jpegPhoto", &[&[0xff; 70_000], b""]),
            attribute(schema, "description", &[&[b'x'; 200]]),
        ],
    }
}

#[test]
fn object_class_first_then_user_then_operational() {
    let schema = schema();
    let bytes = encode(7, "cn=a+sn=b", &sample(schema), schema).unwrap();
    let stored = StoredEntry::parse(&bytes).unwrap();
    stored.check().unwrap();
    assert_eq!((stored.parent(), stored.rdn()), (7, "cn=a+sn=b"));
    let names: Vec<_> = stored.attributes().map(|attribute| attribute.description().to_owned()).collect();
    assert_eq!(names, ["objectClass", "cn", "cn;lang-en;lang-fr", "jpegPhoto", "description", "entryUUID"]);
    assert_eq!(stored.user_attributes().count(), 5);
    let operational: Vec<_> = stored.operational_attributes().map(|attribute| attribute.description()).collect();
    assert_eq!(operational, ["entryUUID"]);
    let joined: Vec<u8> = stored.user_attributes().flat_map(|attribute| attribute.tlv().to_vec()).collect();
    assert_eq!(joined, stored.user_attributes_ber());
    let cn = schema.attribute_id(b"cn").unwrap();
    assert_eq!(stored.values_of(cn).collect::<Vec<_>>(), [b"a", b"b", b"c"]);
    assert_eq!(stored.attribute(cn).count(), 2);
    assert!(stored.has(cn) && !stored.has(schema.attribute_id(b"uid").unwrap()));
    let lang: Vec<_> = stored.attribute(cn).nth(1).unwrap().options().collect();
    assert_eq!(lang, ["lang-en", "lang-fr"]);
    let jpeg = stored.attribute(schema.attribute_id(b"jpegPhoto").unwrap()).next().unwrap();
    assert_eq!(jpeg.values().map(<[u8]>::len).collect::<Vec<_>>(), [70_000, 0]);
}

/// RFC 4511 4.1.7 and 4.5.2: SearchResultEntry's attributes are PartialAttributes.
#[test]
fn the_body_is_ready_to_send() {
    let schema = schema();
    let entry = Entry { attributes: vec![attribute(schema, "cn", &[b"ab", b"c"])] };
    let bytes = encode(1, "cn=ab", &entry, schema).unwrap();
    let stored = StoredEntry::parse(&bytes).unwrap();
    assert_eq!(
        stored.user_attributes_ber(),
        [0x30, 13, 0x04, 2, b'c', b'n', 0x31, 7, 0x04, 2, b'a', b'b', 0x04, 1, b'c']
    );
    assert!(stored.operational_attributes_ber().is_empty());
}

#[test]
fn decoding_gives_the_arranged_entry_and_encoding_is_deterministic() {
    let schema = schema();
    let mut entry = sample(schema);
    let bytes = encode(7, "cn=a", &entry, schema).unwrap();
    let decoded = StoredEntry::parse(&bytes).unwrap().to_entry();
    entry.arrange(schema);
    assert_eq!(decoded, entry);
    assert_eq!(encode(7, "cn=a", &decoded, schema).unwrap(), bytes);
}

#[test]
fn renaming_copies_the_attributes() {
    let schema = schema();
    let entry = sample(schema);
    let bytes = encode(7, "cn=a", &entry, schema).unwrap();
    let renamed = StoredEntry::parse(&bytes).unwrap().renamed(9, "cn=longer name").unwrap();
    assert_eq!(renamed, encode(9, "cn=longer name", &entry, schema).unwrap());
}

#[test]
fn attributes_without_values_are_left_out() {
    let schema = schema();
    let entry = Entry { attributes: vec![attribute(schema, "cn", &[])] };
    let bytes = encode(0, "", &entry, schema).unwrap();
    assert_eq!(StoredEntry::parse(&bytes).unwrap().attributes().count(), 0);
}

#[test]
fn unknown_attribute_numbers_are_refused() {
    let schema = schema();
    let description = AttributeDescription::plain(AttrId(u32::MAX));
    let entry = Entry { attributes: vec![Attribute::new(description, vec![b"x".to_vec()])] };
    assert_eq!(encode(0, "", &entry, schema), Err(CodecError::UnknownAttribute(AttrId(u32::MAX))));
}

#[test]
fn every_cut_is_found() {
    let schema = schema();
    let entry =
        Entry { attributes: vec![attribute(schema, "cn", &[b"a", b"b"]), attribute(schema, "entryUUID", &[b"x"])] };
    let bytes = encode(7, "cn=a", &entry, schema).unwrap();
    for end in 0..bytes.len() {
        assert!(StoredEntry::parse(&bytes[..end]).is_err(), "cut at {end}");
    }
    assert!(StoredEntry::parse(&[&bytes[..], b"x"].concat()).is_err());
    assert_eq!(StoredEntry::parse(&[&[9], &bytes[1..]].concat()).unwrap_err(), CodecError::Version(9));
}

/// Walks everything that a view offers.
fn walk(bytes: &[u8]) {
    let Ok(stored) = StoredEntry::parse(bytes) else { return };
    let _ = stored.check();
    for attribute in stored.attributes() {
        let _ = (attribute.options().count(), attribute.values().count(), attribute.tlv().len());
        let _ = stored.attribute(attribute.id()).count();
    }
    let _ = (stored.to_entry(), stored.user_attributes_ber().len(), stored.operational_attributes_ber().len());
    let _ = (stored.user_attributes().count(), stored.operational_attributes().count());
}

proptest! {
    #[test]
    fn round_trip(values in prop::collection::vec(
        (prop::sample::select(&["cn", "sn", "cn;lang-en", "description", "createTimestamp", "objectClass"][..]),
         prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 1..5)), 0..8),
        parent in any::<u64>(), rdn in ".{0,40}") {
        let schema = schema();
        let mut entry = Entry::new();
        for (description, values) in values {
            entry.set(AttributeDescription::parse(description.as_bytes(), schema).unwrap(), values);
        }
        let bytes = encode(parent, &rdn, &entry, schema).unwrap();
        let stored = StoredEntry::parse(&bytes).unwrap();
        prop_assert_eq!(stored.check(), Ok(()));
        entry.arrange(schema);
        prop_assert_eq!(stored.to_entry(), entry);
        prop_assert_eq!((stored.parent(), stored.rdn()), (parent, &*rdn));
    }

    #[test]
    fn damage_never_panics(flips in prop::collection::vec((0usize..400, any::<u8>()), 1..6)) {
        let schema = schema();
        let entry = Entry { attributes: vec![
            attribute(schema, "cn", &[b"a", b"b"]),
            attribute(schema, "sn;lang-en", &[&[b'x'; 140]]),
            attribute(schema, "entryUUID", &[b"x"]),
        ] };
        let mut bytes = encode(7, "cn=a", &entry, schema).unwrap();
        for (at, byte) in flips {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        walk(&bytes);
    }

    #[test]
    fn random_bytes_never_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..200), version in any::<bool>()) {
        if version && bytes.len() >= 4 {
            bytes[..4].copy_from_slice(&[1, 0, 0, 0]);
        }
        walk(&bytes);
    }
}
