use std::sync::LazyLock;

use proptest::prelude::*;

use super::increment::add_integers;
use super::*;

/// Parsed once: it is large.
fn schema() -> &'static Schema {
    static EXTENDED: LazyLock<Schema> = LazyLock::new(extended);
    &EXTENDED
}

fn extended() -> Schema {
    let mut schema = Schema::shipped();
    schema
        .add_text(
            "attributetype ( 1.3.6.1.4.1.55555.1.1 NAME 'testInteger' EQUALITY integerMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.27 )
             attributetype ( 1.3.6.1.4.1.55555.1.2 NAME 'testIntegerSub' SUP testInteger )
             attributetype ( 1.3.6.1.4.1.55555.1.3 NAME 'testNoRule' SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 )",
        )
        .unwrap();
    schema
}

fn description(schema: &Schema, text: &str) -> AttributeDescription {
    AttributeDescription::parse(text.as_bytes(), schema).unwrap()
}

fn modification(schema: &Schema, op: ModOp, text: &str, values: &[&str]) -> Modification {
    let values = values.iter().map(|value| value.as_bytes().to_vec()).collect();
    Modification { op, description: description(schema, text), values }
}

fn entry(schema: &Schema, values: &[(&str, &str)]) -> Entry {
    let mut entry = Entry::new();
    for (text, value) in values {
        entry.push(description(schema, text), value.as_bytes().to_vec());
    }
    entry
}

fn values(schema: &Schema, entry: &Entry, text: &str) -> Vec<String> {
    let values = entry.get(&description(schema, text)).map_or(&[][..], |attribute| &attribute.values);
    values.iter().map(|value| String::from_utf8_lossy(value).into_owned()).collect()
}

use ModOp::{Add, Delete, Increment, Replace};

#[test]
fn t15_replace_delete_add() {
    let schema = schema();
    let before = entry(schema, &[("objectClass", "inetOrgPerson"), ("cn", "A  B"), ("cn;lang-en", "x")]);
    let one = |op, text, values: &[&str]| {
        let mut changed = before.clone();
        let result = apply_modifications(&mut changed, &[modification(schema, op, text, values)], schema);
        if result.is_err() {
            assert_eq!(changed, before);
        }
        result.map(|()| changed)
    };
    assert_eq!(one(Replace, "title", &[]).unwrap(), before);
    assert!(matches!(one(Delete, "title", &[]), Err(ModifyError::NoSuchAttribute { .. })));
    assert!(matches!(one(Delete, "title", &["x"]), Err(ModifyError::NoSuchAttribute { .. })));
    assert!(matches!(one(Delete, "cn", &["a b", "c"]), Err(ModifyError::NoSuchValue { index: 2, .. })));
    assert!(matches!(one(Delete, "cn", &["a b", "A B"]), Err(ModifyError::NoSuchValue { index: 2, .. })));
    assert!(matches!(one(Add, "cn", &["c", "a b"]), Err(ModifyError::ValueExists { index: 2, .. })));
    assert!(matches!(one(Add, "title", &["T", "t"]), Err(ModifyError::ValueExists { index: 2, .. })));
    assert!(matches!(one(Replace, "title", &["T", "t"]), Err(ModifyError::ValueExists { .. })));
    assert!(matches!(one(Add, "title", &[]), Err(ModifyError::NoValues { .. })));
    assert_eq!(values(schema, &one(Delete, "commonName", &["a b"]).unwrap(), "cn"), Vec::<String>::new());
    assert_eq!(values(schema, &one(Delete, "cn", &[]).unwrap(), "cn;lang-en"), ["x"]);
    assert_eq!(values(schema, &one(Add, "cn;LANG-en", &["y"]).unwrap(), "cn;lang-en"), ["x", "y"]);
    assert_eq!(values(schema, &one(Replace, "cn", &["n"]).unwrap(), "cn"), ["n"]);
}

#[test]
fn many_values_are_compared_by_hash_with_the_same_results() {
    let schema = schema();
    let names: Vec<String> = (0..100).map(|index| format!("Value {index}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut changed = entry(schema, &[]);
    let apply = |changed: &mut Entry, op, values: &[&str]| {
        apply_modifications(changed, &[modification(schema, op, "description", values)], schema)
    };
    apply(&mut changed, Add, &names).unwrap();
    assert!(matches!(apply(&mut changed, Add, &names[50..]), Err(ModifyError::ValueExists { index: 1, .. })));
    apply(&mut changed, Delete, &names[..50]).unwrap();
    assert_eq!(values(schema, &changed, "description"), names[50..]);
    let missing: Vec<&str> = names[45..].to_vec();
    assert!(matches!(apply(&mut changed, Delete, &missing), Err(ModifyError::NoSuchValue { index: 1, .. })));
    let twice: Vec<&str> = names.iter().chain([&"VALUE 7"]).copied().collect();
    assert!(matches!(apply(&mut changed, Replace, &twice), Err(ModifyError::ValueExists { index: 101, .. })));
    apply(&mut changed, Delete, &names[50..]).unwrap();
    assert_eq!(changed, Entry::new());
}

#[test]
fn t17_ordered_and_atomic() {
    let schema = schema();
    let mut changed = entry(schema, &[("description", "old")]);
    let modifications = [
        modification(schema, Delete, "description", &[]),
        modification(schema, Add, "description", &["x"]),
        modification(schema, Delete, "description", &["x"]),
        modification(schema, Add, "description", &["y"]),
    ];
    apply_modifications(&mut changed, &modifications, schema).unwrap();
    assert_eq!(values(schema, &changed, "description"), ["y"]);
    let failing = [modification(schema, Add, "description", &["y1", "y2"]), modification(schema, Delete, "title", &[])];
    assert!(apply_modifications(&mut changed, &failing, schema).is_err());
    assert_eq!(values(schema, &changed, "description"), ["y"]);
}

#[test]
fn t16_delete_and_add_of_the_same_value() {
    let schema = schema();
    let mut changed = entry(schema, &[("mail", "a@x")]);
    let modifications = [modification(schema, Delete, "mail", &["a@x"]), modification(schema, Add, "mail", &["A@x"])];
    apply_modifications(&mut changed, &modifications, schema).unwrap();
    assert_eq!(values(schema, &changed, "mail"), ["A@x"]);
}

#[test]
fn t19_rfc4525_increment() {
    let schema = schema();
    let increment = |name: &str, value: &str, delta: &[&str]| {
        let mut changed = entry(schema, &[(name, value)]);
        apply_modifications(&mut changed, &[modification(schema, Increment, name, delta)], schema)
            .map(|()| values(schema, &changed, name).remove(0))
    };
    assert_eq!(increment("testIntegerSub", "41", &["1"]).unwrap(), "42");
    assert_eq!(increment("uidNumber", "5", &["-10"]).unwrap(), "-5");
    assert_eq!(increment("testInteger", "9223372036854775807", &["1"]).unwrap(), "9223372036854775808");
    assert!(matches!(increment("cn", "5", &["1"]), Err(ModifyError::NotInteger { .. })));
    assert!(matches!(increment("testInteger", "5", &["x"]), Err(ModifyError::NotInteger { .. })));
    assert!(matches!(increment("testInteger", "5", &["1", "2"]), Err(ModifyError::NotOneIncrement { .. })));
    assert!(matches!(increment("testInteger", "5", &[]), Err(ModifyError::NotOneIncrement { .. })));
    let longest = "9".repeat(increment::MAX_DIGITS);
    assert!(matches!(increment("testInteger", &longest, &["1"]), Err(ModifyError::TooManyDigits { .. })));
    let mut without = entry(schema, &[("cn", "x")]);
    let absent = apply_modifications(&mut without, &[modification(schema, Increment, "testInteger", &["1"])], schema);
    assert!(matches!(absent, Err(ModifyError::NoSuchAttribute { .. })));
}

#[test]
fn t10_a_superclass_value_comes_and_goes() {
    let schema = schema();
    let mut changed = entry(schema, &[("objectClass", "inetOrgPerson"), ("cn", "a"), ("sn", "b")]);
    let before = changed.clone();
    let absent = [modification(schema, Delete, "objectClass", &["person"])];
    assert!(matches!(apply_modifications(&mut changed, &absent, schema), Err(ModifyError::NoSuchValue { .. })));
    apply_modifications(&mut changed, &[modification(schema, Add, "objectClass", &["person"])], schema).unwrap();
    // By OID: one class, whichever way it is spelled.
    apply_modifications(&mut changed, &[modification(schema, Delete, "objectClass", &["2.5.6.6"])], schema).unwrap();
    assert_eq!(changed, before);
    schema.check_entry(&changed).unwrap();
    apply_modifications(&mut changed, &[modification(schema, Delete, "objectClass", &[])], schema).unwrap();
    assert!(schema.check_entry(&changed).is_err());
}

#[test]
fn without_an_equality_rule_bytes_are_compared() {
    let schema = schema();
    let mut changed = entry(schema, &[("testNoRule", "a")]);
    apply_modifications(&mut changed, &[modification(schema, Add, "testNoRule", &["A"])], schema).unwrap();
    let again = [modification(schema, Add, "testNoRule", &["a"])];
    assert!(matches!(apply_modifications(&mut changed, &again, schema), Err(ModifyError::ValueExists { .. })));
    apply_modifications(&mut changed, &[modification(schema, Delete, "testNoRule", &["a"])], schema).unwrap();
    assert_eq!(values(schema, &changed, "testNoRule"), ["A"]);
}

#[test]
fn no_user_modification() {
    let schema = schema();
    let mut changed = entry(schema, &[("cn", "a")]);
    let stamp = [modification(schema, Replace, "createTimestamp", &["20250101000000Z"])];
    assert!(matches!(apply_modifications(&mut changed, &stamp, schema), Err(ModifyError::NoUserModification { .. })));
    apply_system_modifications(&mut changed, &stamp, schema).unwrap();
    assert_eq!(values(schema, &changed, "createTimestamp"), ["20250101000000Z"]);
}

#[test]
fn invalid_values() {
    let schema = schema();
    let mut changed = entry(schema, &[("cn", "a")]);
    let bad = [modification(schema, Add, "uidNumber", &["1", "x"])];
    let error = apply_modifications(&mut changed, &bad, schema).unwrap_err();
    assert!(matches!(error, ModifyError::InvalidValue { index: 2, .. }));
    assert!(error.to_string().starts_with("uidNumber: value 2"), "{error}");
}

proptest! {
    #[test]
    fn sums_are_those_of_machine_integers(left in any::<i64>(), right in any::<i64>()) {
        let sum = i128::from(left) + i128::from(right);
        let found = add_integers(left.to_string().as_bytes(), right.to_string().as_bytes()).unwrap();
        prop_assert_eq!(String::from_utf8(found).unwrap(), sum.to_string());
    }

    #[test]
    fn integers_or_nothing(left in "-?[0-9x]{0,4}", right in "-?[0-9]{1,30}") {
        match (left.parse::<i128>(), right.parse::<i128>()) {
            (Ok(left_value), Ok(right_value)) => {
                let found = add_integers(left.as_bytes(), right.as_bytes()).unwrap();
                prop_assert_eq!(String::from_utf8(found).unwrap(), (left_value + right_value).to_string());
            }
            (Err(_), _) => prop_assert_eq!(add_integers(left.as_bytes(), right.as_bytes()), None),
            _ => {}
        }
    }
}
