use proptest::prelude::*;

use super::*;
use crate::entry::{AttributeDescription, Entry};
use crate::error::{DescriptionError, SchemaViolation};

fn refused(schema: &mut Schema, text: &str) -> String {
    schema.add_text(text).expect_err(text).to_string()
}

fn with_core(text: &str) -> Schema {
    let mut schema = Schema::shipped();
    schema.add_text(text).unwrap_or_else(|error| panic!("{error}"));
    schema
}

#[test]
fn shipped_definitions_say_what_the_rfcs_say() {
    let schema = Schema::shipped();
    for (name, oid, syntax, equality, ordering, substring, single) in [
        ("objectClass", "2.5.4.0", Syntax::Oid, Some("objectIdentifierMatch"), None, None, false),
        (
            "cn",
            "2.5.4.3",
            Syntax::DirectoryString,
            Some("caseIgnoreMatch"),
            None,
            Some("caseIgnoreSubstringsMatch"),
            false,
        ),
        ("c", "2.5.4.6", Syntax::CountryString, Some("caseIgnoreMatch"), None, Some("caseIgnoreSubstringsMatch"), true),
        ("member", "2.5.4.31", Syntax::DistinguishedName, Some("distinguishedNameMatch"), None, None, false),
        ("userPassword", "2.5.4.35", Syntax::OctetString, Some("octetStringMatch"), None, None, false),
        ("uniqueMember", "2.5.4.50", Syntax::NameAndOptionalUid, Some("uniqueMemberMatch"), None, None, false),
        (
            "domainComponent",
            "0.9.2342.19200300.100.1.25",
            Syntax::Ia5String,
            Some("caseIgnoreIA5Match"),
            None,
            Some("caseIgnoreIA5SubstringsMatch"),
            true,
        ),
        (
            "registeredAddress",
            "2.5.4.26",
            Syntax::PostalAddress,
            Some("caseIgnoreListMatch"),
            None,
            Some("caseIgnoreListSubstringsMatch"),
            false,
        ),
        ("jpegPhoto", "0.9.2342.19200300.100.1.60", Syntax::Jpeg, None, None, None, false),
        (
            "uidNumber",
            "1.3.6.1.1.1.1.0",
            Syntax::Integer,
            Some("integerMatch"),
            Some("integerOrderingMatch"),
            None,
            true,
        ),
        (
            "automountKey",
            "1.3.6.1.1.1.1.32",
            Syntax::Ia5String,
            Some("caseExactIA5Match"),
            None,
            Some("caseExactIA5SubstringsMatch"),
            true,
        ),
        (
            "modifyTimestamp",
            "2.5.18.2",
            Syntax::GeneralizedTime,
            Some("generalizedTimeMatch"),
            Some("generalizedTimeOrderingMatch"),
            None,
            true,
        ),
        ("entryUUID", "1.3.6.1.1.16.4", Syntax::Uuid, Some("UUIDMatch"), Some("UUIDOrderingMatch"), None, true),
        (
            "attributeTypes",
            "2.5.21.5",
            Syntax::AttributeTypeDescription,
            Some("objectIdentifierFirstComponentMatch"),
            None,
            None,
            false,
        ),
    ] {
        let attribute = schema.attribute(name).unwrap_or_else(|| panic!("{name}"));
        assert_eq!(attribute.oid, oid, "{name}");
        assert_eq!(attribute.syntax, syntax, "{name}");
        assert_eq!(attribute.equality.map(MatchingRule::name), equality, "{name}");
        assert_eq!(attribute.ordering.map(MatchingRule::name), ordering, "{name}");
        assert_eq!(attribute.substring.map(MatchingRule::name), substring, "{name}");
        assert_eq!(attribute.single_value, single, "{name}");
        assert_eq!(schema.attribute(oid).map(|attribute| attribute.id), Some(attribute.id));
    }
    for name in ["createTimestamp", "creatorsName", "entryDN", "hasSubordinates", "memberOf", "pwdChangedTime"] {
        let attribute = schema.attribute(name).unwrap();
        assert!(attribute.is_operational() && attribute.no_user_modification, "{name}");
    }
    let person = schema.object_class("inetOrgPerson").unwrap();
    assert_eq!(person.kind, ObjectClassKind::Structural);
    for name in ["organizationalPerson", "person", "top"] {
        assert!(schema.is_subclass(person.id, schema.object_class(name).unwrap().id), "{name}");
    }
    assert_eq!(schema.object_class("account").unwrap().must, [schema.attribute("uid").unwrap().id]);
}

#[test]
fn names_are_found_in_any_case() {
    let schema = Schema::shipped();
    let cn = schema.attribute("cn").unwrap();
    for name in ["CN", "commonname", "COMMONNAME", "2.5.4.3"] {
        assert_eq!(schema.attribute(name).unwrap().id, cn.id, "{name}");
    }
    assert!(schema.attribute("").is_none());
    assert!(schema.attribute("nosuch").is_none());
    assert!(schema.attribute("x".repeat(10_000)).is_none());
    assert!(schema.attribute_by_id(AttrId(0)).is_none());
    assert!(schema.attribute_by_id(AttrId(u32::MAX)).is_none());
    let name = schema.attribute("name").unwrap();
    assert!(schema.subtypes(name.id).contains(&cn.id) && schema.subtypes(name.id).contains(&name.id));
    assert_eq!(schema.subtypes(cn.id), [cn.id]);
}

#[test]
fn t10_superclasses_are_implied() {
    let schema = Schema::shipped();
    let classes = schema.expand_object_classes([b"INETORGPERSON".as_slice(), b"nosuch"]);
    for name in ["inetOrgPerson", "organizationalPerson", "2.5.6.6", "TOP"] {
        assert!(classes.contains(&schema.object_class(name).unwrap().id), "{name}");
    }
    assert_eq!(classes.len(), 4);
}

#[test]
fn openldap_schema_file_with_macros() {
    let text = "\
# A comment
#\tcontinued ( here
  and here: attributetype
objectidentifier MyRoot 1.3.6.1.4.1.99999
objectIdentifier MyAttrs MyRoot:1
objectidentifier MyClasses
    MyRoot:2

attributetype ( MyAttrs:1 NAME 'fooName'
\tDESC 'it''s (not balanced'
\tSUP barName )
attributeType ( MyAttrs:2
    NAME ( 'barName' 'barAlias' )
# inside
    EQUALITY caseIgnoreMatch
    SUBSTR caseIgnoreSubstringsMatch
    SYNTAX 1.3.6.1.4.1.1466.115.121.1.15{64}
    X-ORIGIN ( 'one' 'two' ) X-ORDERED 'VALUES'
)
objectclass(MyClasses:1 NAME 'fooClass' SUP 'top' AUXILIARY MUST fooName MAY (barAlias$description) )
ditcontentrule ( 2.5.6.6 NAME 'x' )
";
    let text = text.replace("it''s", "it\\27s");
    let mut schema = Schema::shipped();
    let before = schema.attributes().count();
    let added = schema.add_text(&text).unwrap();
    assert_eq!(added.attribute_types, ["barName", "fooName"], "a superior comes before what descends from it");
    assert_eq!(added.object_classes, ["fooClass"]);
    assert_eq!(added.skipped.len(), 1);
    let foo = schema.attribute("1.3.6.1.4.1.99999.1.1").unwrap();
    assert_eq!(foo.name(), "fooName");
    assert_eq!(foo.description, "it's (not balanced");
    assert_eq!(foo.equality, Some(MatchingRule::CaseIgnoreMatch));
    assert_eq!(foo.syntax_bound, Some(64));
    assert_eq!(
        schema.attribute("barAlias").unwrap().text,
        "( 1.3.6.1.4.1.99999.1.2 NAME ( 'barName' 'barAlias' ) EQUALITY caseIgnoreMatch SUBSTR \
         caseIgnoreSubstringsMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.15{64} X-ORIGIN ( 'one' 'two' ) X-ORDERED 'VALUES' )"
    );
    let again = schema.add_text(&text).unwrap();
    assert_eq!((again.attribute_types.len(), again.object_classes.len(), again.unchanged), (0, 0, 3));
    assert_eq!(schema.attributes().count(), before + 2);
}

#[test]
fn openldap_configuration_and_subschema_ldif() {
    let schema = with_core(
        "dn: cn=foo,cn=schema,cn=config\n\
         objectClass: olcSchemaConfig\n\
         cn: foo\n\
         olcObjectIdentifier: {0}Foo 1.2.3\n\
         olcLdapSyntaxes: {0}( 1.2.3.9 DESC 'mine' X-SUBST '1.3.6.1.4.1.1466.115.121.1.15' )\n\
         olcAttributeTypes: {0}( Foo:1 NAME 'fo\n o' SYNTAX 1.2.3.9 )\n\
         olcAttributeTypes:: ezF9KCBGb286MiBOQU1FICdiYXInIFNVUCBmb28gKQ==\n",
    );
    assert_eq!(schema.attribute("foo").unwrap().syntax, Syntax::DirectoryString);
    let schema = with_core(
        "version: 1\n\ndn: cn=schema\nchangetype: modify\nadd: attributeTypes\n\
         attributeTypes: ( nsFoo-oid NAME 'nsFoo' DESC 'x' SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 X-ORIGIN 'user defined' )\n\
         -\nadd: objectClasses\n\
         objectClasses: ( 1.2.3.4 NAME 'nsThing' DESC '' SUP top STRUCTURAL MUST cn MAY nsFoo )\n-\n",
    );
    assert!(schema.attribute("nsfoo").is_some() && schema.object_class("nsThing").is_some());
    let error = refused(
        &mut Schema::shipped(),
        "dn: cn=schema\nchangetype: modify\ndelete: attributeTypes\nattributeTypes: ( 2.5.4.3 )\n",
    );
    assert!(error.starts_with("line 3:"), "{error}");
}

#[test]
fn a_refused_text_changes_nothing() {
    let mut schema = Schema::shipped();
    let count = schema.definitions().count();
    for (text, line, words) in [
        ("attributetype ( 1.2.3 NAME 'a' SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 )\nnonsense\n", 2, "nonsense"),
        ("attributetype ( 1.2.3 NAME 'a' )", 1, "needs SYNTAX or SUP"),
        ("attributetype ( 1.2.3 NAME 'a' SYNTAX 1.2.3.4.5 )", 1, "syntax 1.2.3.4.5"),
        ("attributetype ( 1.2.3 NAME 'a' SUP nosuch )", 1, "nosuch"),
        ("attributetype ( 1.2.3 NAME 'a' SUP name EQUALITY noMatch )", 1, "noMatch"),
        ("attributetype ( 1.2.3 NAME 'a' SUP name EQUALITY caseIgnoreSubstringsMatch )", 1, "kind Equality"),
        ("attributetype ( 1.2.3 NAME 'a' SUP b )\nattributetype ( 1.2.4 NAME 'b' SUP a )", 1, "cycle"),
        ("attributetype ( 1.2.3 NAME 'a' SUP a )", 1, "cycle"),
        ("attributetype ( 1.2.3 NAME 'a' SUP name", 1, "closing parenthesis"),
        ("attributetype ( 1.2.3 NAME 'a SUP name )", 1, "quotation"),
        ("attributetype ( 1.2.3 NAME 'a' FOO name )", 1, "FOO"),
        ("attributetype ( 1.2.3 NAME 'a' SUP name ) )", 1, "follows"),
        ("attributetype ( Foo:3 NAME 'a' SUP name )", 1, "Foo:3"),
        ("attributetype ( 1.2.3 NAME '1a' SUP name )", 1, "1a"),
        ("attributetype ( 1.2.3 NAME 'CN' SUP name )", 1, "2.5.4.3"),
        (
            "attributetype ( 2.5.4.3 NAME 'cn' EQUALITY caseExactMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 )",
            1,
            "differently",
        ),
        ("\n\nobjectclass ( 1.2.3 NAME 'a' SUP top MUST nosuch )", 3, "nosuch"),
        ("objectclass ( 1.2.3 NAME 'a' SUP nosuch )", 1, "nosuch"),
        ("objectclass ( 1.2.3 NAME 'a' SUP person AUXILIARY )", 1, "2.4"),
        ("objectclass ( 1.2.3 NAME 'person' SUP top )", 1, "2.5.6.6"),
        ("objectidentifier a b", 1, "neither an OID"),
    ] {
        let error = refused(&mut schema, text);
        assert!(error.starts_with(&format!("line {line}:")), "{text}: {error}");
        assert!(error.contains(words), "{text}: {error}");
        assert_eq!(schema.definitions().count(), count);
    }
}

#[test]
fn chains_of_superiors_are_bounded() {
    let mut text = String::new();
    for at in (1..100).rev() {
        text += &format!(
            "attributetype ( 1.2.{at} NAME 'a{at}' SUP {} )\n",
            if at == 1 { "name".to_owned() } else { format!("a{}", at - 1) }
        );
    }
    assert!(refused(&mut Schema::shipped(), &text).contains("superiors"));
}

#[test]
fn rebuilding_gives_the_same_numbers() {
    let schema =
        with_core("attributetype ( 1.2.3 NAME 'zzz' SUP name )\nobjectclass ( 1.2.4 NAME 'zzzClass' SUP top MAY zzz )");
    let rebuilt = Schema::rebuild(schema.definitions()).unwrap();
    assert!(schema.definitions().eq(rebuilt.definitions()));
    for attribute in schema.attributes() {
        let other = rebuilt.attribute(&attribute.oid).unwrap();
        assert_eq!(other.id, attribute.id);
        assert_eq!(
            (other.syntax, other.equality, other.ordering, other.substring),
            (attribute.syntax, attribute.equality, attribute.ordering, attribute.substring)
        );
        assert_eq!(rebuilt.subtypes(attribute.id), schema.subtypes(attribute.id));
    }
    for class in schema.object_classes() {
        let other = rebuilt.object_class(&class.oid).unwrap();
        assert_eq!(
            (other.id, &other.ancestors, &other.must, &other.may),
            (class.id, &class.ancestors, &class.must, &class.may)
        );
        assert_eq!(other.structural_when_alone, class.structural_when_alone);
    }
    // In any order, with holes.
    let mut definitions: Vec<_> =
        schema.definitions().filter(|definition| !definition.text.contains("'glue'")).collect();
    definitions.reverse();
    let rebuilt = Schema::rebuild(definitions).unwrap();
    assert_eq!(rebuilt.attribute("zzz").unwrap().id, schema.attribute("zzz").unwrap().id);
    assert!(rebuilt.object_class("glue").is_none());
    let one = schema.definitions().next().unwrap();
    assert!(Schema::rebuild([one.clone(), Definition { id: u32::MAX, ..one }]).is_err());
}

#[test]
fn other_publications_of_shipped_definitions_change_nothing() {
    let mut schema = Schema::shipped();
    let added = schema
        .add_text(
            "objectclass ( 1.3.6.1.1.1.2.2 NAME 'posixGroup' DESC 'Abstraction of a group of accounts' SUP top STRUCTURAL
               MUST ( cn $ gidNumber ) MAY ( userPassword $ memberUid $ description ) )
             attributetype ( 1.3.6.1.1.1.1.2 NAME 'gecos' EQUALITY caseIgnoreIA5Match
               SUBSTR caseIgnoreIA5SubstringsMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.26 SINGLE-VALUE )",
        )
        .unwrap();
    assert_eq!(added.unchanged, 2);
    // OpenLDAP 2.4 gave this attribute the OID that is now pwdGraceExpiry's.
    let old = "attributetype ( 1.3.6.1.4.1.42.2.27.8.1.30 NAME 'pwdMaxRecordedFailure' EQUALITY integerMatch
      SYNTAX 1.3.6.1.4.1.1466.115.121.1.27 SINGLE-VALUE )";
    assert_eq!(schema.add_text(old).unwrap().unchanged, 1);
    assert_eq!(schema.object_class("posixGroup").unwrap().kind, ObjectClassKind::Auxiliary);
}

#[test]
fn every_accepted_definition_is_accepted() {
    let added = Schema::shipped().add_text(include_str!("../../schema/accepted.schema")).unwrap();
    assert!(added.attribute_types.is_empty() && added.object_classes.is_empty());
}

#[test]
fn definitions_in_use_are_not_removed() {
    let mut schema = with_core(
        "attributetype ( 1.2.3 NAME 'zOne' SUP name )\nattributetype ( 1.2.4 NAME 'zTwo' SUP zOne )
         \nobjectclass ( 1.2.5 NAME 'zClass' SUP top MAY zTwo )",
    );
    let count = schema.definitions().count();
    for (kind, name, words) in [
        (DefinitionKind::AttributeType, "zOne", "zTwo"),
        (DefinitionKind::AttributeType, "zTwo", "zClass"),
        (DefinitionKind::AttributeType, "nosuch", "not defined"),
        (DefinitionKind::AttributeType, "objectClass", "top"),
        (DefinitionKind::ObjectClass, "person", "organizationalPerson"),
    ] {
        let error = schema.remove(kind, name).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    assert_eq!(schema.definitions().count(), count);
    let numbers = (schema.attribute("zOne").unwrap().id.0, schema.attribute("zTwo").unwrap().id.0);
    assert!(schema.remove(DefinitionKind::ObjectClass, "ZCLASS").is_ok());
    assert_eq!(schema.remove(DefinitionKind::AttributeType, "1.2.4").unwrap(), numbers.1);
    assert_eq!(schema.remove(DefinitionKind::AttributeType, "zone").unwrap(), numbers.0);
    assert!(schema.attribute("zOne").is_none() && schema.attribute("1.2.3").is_none());
    assert!(!schema.subtypes(schema.attribute("name").unwrap().id).contains(&AttrId(numbers.0)));
    // A rebuilt schema numbers what comes next as this one does: replicas must agree after a restart.
    let mut rebuilt = Schema::rebuild(schema.definitions()).unwrap();
    for schema in [&mut schema, &mut rebuilt] {
        schema.add_text("attributetype ( 1.2.9 NAME 'zNine' SUP name )").unwrap();
        assert_eq!(schema.attribute("zNine").unwrap().id.0, numbers.0);
    }
}

#[test]
fn replacing_keeps_numbers() {
    let mut schema = Schema::shipped();
    let before = schema.clone();
    let added = schema
        .replace_text(
            "attributetype ( 1.2.3 NAME 'zOne' SUP name )
attributetype ( 1.3.6.1.1.1.1.2 NAME 'gecos' EQUALITY caseExactMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 )
objectclass ( 2.5.6.6 NAME 'person' SUP top STRUCTURAL MUST cn MAY ( sn $ zOne $ description ) )",
        )
        .unwrap();
    assert_eq!(added.attribute_types, ["gecos", "zOne"]);
    assert_eq!(added.object_classes, ["person"]);
    for attribute in before.attributes() {
        assert_eq!(schema.attribute(&attribute.oid).unwrap().id, attribute.id);
    }
    for class in before.object_classes() {
        assert_eq!(schema.object_class(&class.oid).unwrap().id, class.id);
    }
    let gecos = schema.attribute("gecos").unwrap();
    assert_eq!((gecos.equality, gecos.single_value), (Some(MatchingRule::CaseExactMatch), false));
    assert!(structural(&schema, &[("objectClass", "inetOrgPerson"), ("cn", "a"), ("zOne", "b")]).is_ok());
    assert!(Schema::rebuild(schema.definitions()).unwrap().definitions().eq(schema.definitions()));
    let count = schema.definitions().count();
    assert!(schema.replace_text("attributetype ( 2.5.4.41 NAME 'other' SUP cn )").is_err());
    assert_eq!(schema.definitions().count(), count);
}

#[test]
fn subschema_can_be_read_again() {
    let schema = Schema::shipped();
    let mut text = String::from("dn: cn=Subschema\n");
    for (name, values) in schema.subschema_attributes() {
        assert!(!values.is_empty(), "{name}");
        for value in values {
            text += &format!("{name}: {value}\n");
        }
    }
    let mut again = Schema::empty();
    again.add_text(&text).unwrap();
    assert!(schema.definitions().eq(again.definitions()));
}

#[test]
fn t11_attribute_descriptions() {
    let schema = Schema::shipped();
    let parse = |text: &str| AttributeDescription::parse(text.as_bytes(), &schema);
    assert_eq!(parse("CN;LANG-EN").unwrap(), parse("commonName;lang-en;lang-EN").unwrap());
    assert_eq!(parse("cn;b;a").unwrap().to_text(&schema).unwrap(), "cn;a;b");
    assert!(parse("cn;lang-en").unwrap().is_subtype_of(&parse("cn").unwrap(), &schema));
    assert!(parse("cn;lang-en").unwrap().is_subtype_of(&parse("name;lang-en").unwrap(), &schema));
    assert!(!parse("cn").unwrap().is_subtype_of(&parse("cn;lang-en").unwrap(), &schema));
    assert!(!parse("name").unwrap().is_subtype_of(&parse("cn").unwrap(), &schema));
    assert!(parse("userCertificate;binary").unwrap().is_subtype_of(&parse("userCertificate").unwrap(), &schema));
    assert!(matches!(parse("nosuch"), Err(DescriptionError::UnknownType(_))));
    for text in ["", ";binary", "cn;", "cn;;a", "c n", "cn;a b", "*"] {
        assert!(matches!(parse(text), Err(DescriptionError::Syntax(_))), "{text:?}");
    }
}

fn entry(schema: &Schema, content: &[(&str, &str)]) -> Entry {
    let mut entry = Entry::new();
    for (name, value) in content {
        entry.push(AttributeDescription::parse(name.as_bytes(), schema).unwrap(), value.as_bytes().to_vec());
    }
    entry
}

fn structural(schema: &Schema, content: &[(&str, &str)]) -> Result<String, SchemaViolation> {
    let checked = schema.check_entry(&entry(schema, content))?;
    Ok(schema.object_class_by_id(checked.structural).unwrap().name().to_owned())
}

#[test]
fn rfc4512_2_4_structural_class() {
    let schema = Schema::shipped();
    let check = |content: &[(&str, &str)]| structural(&schema, content);
    let person = [("cn", "a"), ("sn", "b")];
    let with = |classes: &[&'static str], rest: &[(&'static str, &'static str)]| {
        let mut content: Vec<_> = classes.iter().map(|class| ("objectClass", *class)).collect();
        content.extend_from_slice(rest);
        content
    };
    assert_eq!(check(&with(&["inetOrgPerson"], &person)).unwrap(), "inetOrgPerson");
    assert_eq!(
        check(&with(&["person", "top", "inetOrgPerson", "organizationalPerson"], &person)).unwrap(),
        "inetOrgPerson"
    );
    assert_eq!(check(&with(&["2.5.6.6"], &person)).unwrap(), "person");
    assert!(matches!(check(&person), Err(SchemaViolation::NoObjectClass)));
    assert!(matches!(check(&with(&["top"], &person)), Err(SchemaViolation::NoStructuralClass)));
    assert!(matches!(check(&with(&["posixAccount"], &person)), Err(SchemaViolation::NoStructuralClass)));
    assert!(matches!(check(&with(&["nosuch"], &person)), Err(SchemaViolation::UnknownObjectClass(_))));
    assert!(matches!(check(&with(&["person", "device"], &person)), Err(SchemaViolation::TwoStructuralClasses(..))));
    assert!(matches!(
        check(&with(&["inetOrgPerson", "account"], &[("cn", "a"), ("sn", "b"), ("uid", "c")])),
        Err(SchemaViolation::TwoStructuralClasses(..))
    ));
    let group = [("cn", "g"), ("gidNumber", "1"), ("memberUid", "a")];
    assert_eq!(check(&with(&["top", "posixGroup"], &group)).unwrap(), "posixGroup");
    let mut both = with(&["posixGroup", "groupOfNames"], &group);
    both.push(("member", "cn=a"));
    assert_eq!(check(&both).unwrap(), "groupOfNames");
}

#[test]
fn rfc4512_2_4_attributes_and_values() {
    let schema = Schema::shipped();
    let check = |more: &[(&str, &str)]| {
        let mut content = vec![("objectClass", "inetOrgPerson"), ("cn", "a"), ("sn", "b")];
        content.extend_from_slice(more);
        structural(&schema, &content)
    };
    assert!(
        check(&[("mail", "a@b"), ("description;lang-en", "x"), ("entryUUID", "597ae2f6-16a6-1027-98f4-d28b5365dc14")])
            .is_ok()
    );
    assert!(check(&[("userCertificate;binary", "\x30")]).is_ok());
    assert!(
        matches!(check(&[("uidNumber", "1")]), Err(SchemaViolation::AttributeNotAllowed(name)) if name == "uidNumber")
    );
    assert!(check(&[("objectClass", "extensibleObject"), ("uidNumber", "1")]).is_ok());
    assert!(matches!(check(&[("displayName", "a"), ("displayName", "b")]), Err(SchemaViolation::SingleValued(_))));
    assert!(matches!(check(&[("mail", "é")]), Err(SchemaViolation::InvalidSyntax { index: 1, .. })));
    assert!(matches!(check(&[("seeAlso", "nosuch=a")]), Err(SchemaViolation::InvalidSyntax { .. })));
    assert!(matches!(
        check(&[("title", "A  b"), ("title", " a B")]),
        Err(SchemaViolation::DuplicateValue { index: 2, .. })
    ));
    assert!(check(&[("title", "a"), ("title;lang-en", "a")]).is_ok());
    assert!(matches!(
        check(&[("seeAlso", "cn=a,dc=b"), ("seeAlso", "CN=A, DC=B")]),
        Err(SchemaViolation::DuplicateValue { .. })
    ));
    assert!(matches!(check(&[("objectClass", "INETORGPERSON")]), Err(SchemaViolation::DuplicateValue { .. })));
    assert!(matches!(check(&[("jpegPhoto", "x"), ("jpegPhoto", "x")]), Err(SchemaViolation::DuplicateValue { .. })));
    let missing = structural(&schema, &[("objectClass", "person"), ("cn", "a")]);
    assert!(matches!(missing, Err(SchemaViolation::MissingAttribute { attribute, .. }) if attribute == "sn"));
}

#[test]
fn entries_are_arranged_as_they_are_sent() {
    let schema = Schema::shipped();
    let mut entry = entry(&schema, &[("createTimestamp", "x"), ("cn", "a"), ("objectClass", "person"), ("sn", "b")]);
    entry.arrange(&schema);
    let names: Vec<_> =
        entry.attributes.iter().map(|attribute| attribute.description.to_text(&schema).unwrap()).collect();
    assert_eq!(names, ["objectClass", "cn", "sn", "createTimestamp"]);
}

proptest! {
    #[test]
    fn any_text_is_safe(text in "\\PC{0,80}", like in "(attributetype|objectclass|objectidentifier|dn:|attributeTypes:|#|\n| |\\(|\\)|'|NAME|SUP|SYNTAX|1\\.2|name|top|\\$|\\{|\\}|X-A){0,30}") {
        let _ = Schema::shipped().add_text(&text);
        let _ = Schema::shipped().add_text(&like);
    }
}
