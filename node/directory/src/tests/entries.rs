//! Add, modify and delete.

use super::*;
use crate::command::ChangeKind::{Add, Delete, Increment, Replace};
use OpErrorKind::*;

const PEOPLE: &str = "ou=people,dc=example,dc=com";

fn with_people() -> Node {
    let mut node = Node::new();
    node.add_ou(PEOPLE).unwrap();
    node
}

#[test]
fn rfc4512_3_4_operational_attributes_are_kept() {
    let mut node = with_people();
    node.add_person("uid=a,ou=people,dc=example,dc=com").unwrap();
    let dn = "uid=a,ou=people,dc=example,dc=com";
    let value = |node: &Node, name: &str| node.values(dn, name).pop().unwrap();
    assert_eq!(value(&node, "creatorsName"), "cn=admin,dc=example,dc=com");
    assert_eq!(value(&node, "createTimestamp"), "20241231235959Z");
    assert_eq!(value(&node, "structuralObjectClass"), "inetOrgPerson");
    let (uuid, csn) = (value(&node, "entryUUID"), value(&node, "entryCSN"));
    assert_eq!(uuid.len(), 36);
    node.time_us += 60_000_000;
    node.modify(dn, &[(Add, "description", &["x"])]).unwrap();
    assert_eq!(value(&node, "createTimestamp"), "20241231235959Z");
    assert_eq!(value(&node, "modifyTimestamp"), "20250101000059Z");
    assert_eq!(value(&node, "entryUUID"), uuid);
    assert!(value(&node, "entryCSN") > csn);
    node.check();
}

#[test]
fn time_never_goes_back() {
    let mut node = with_people();
    node.time_us -= 3_600_000_000;
    node.add_person("uid=a,ou=people,dc=example,dc=com").unwrap();
    let created = node.values("uid=a,ou=people,dc=example,dc=com", "createTimestamp");
    assert_eq!(created, node.values(PEOPLE, "createTimestamp"));
}

#[test]
fn rfc4511_4_7_add_refusals() {
    let mut node = with_people();
    let ou: &[(&str, &[&str])] = &[("objectClass", &["organizationalUnit"])];
    assert_eq!(kind(node.add(PEOPLE, ou)), EntryAlreadyExists);
    assert_eq!(kind(node.add("OU = People , DC=Example,dc=COM", ou)), EntryAlreadyExists);
    let missing = node.add("ou=a,ou=b,ou=people,dc=example,dc=com", ou).unwrap_err();
    assert_eq!(missing.kind, NoSuchObject);
    assert_eq!(missing.matched_dn.as_deref(), Some(PEOPLE));
    assert_eq!(kind(node.add("ou=a,dc=example,dc=org", ou)), NoGlobalSuperiorKnowledge);
    assert_eq!(kind(node.add("", ou)), UnwillingToPerform);
    assert_eq!(kind(node.add("ou", ou)), InvalidDnSyntax);
    let parent = "dc=example,dc=com";
    let mut add = |rdn: &str, attributes: &[(&str, &[&str])]| kind(node.add(&format!("{rdn},{parent}"), attributes));
    assert_eq!(add("ou=a", &[]), ObjectClassViolation);
    assert_eq!(add("cn=a", &[("objectClass", &["person"])]), ObjectClassViolation);
    assert_eq!(add("ou=a", &[("objectClass", &["organizationalUnit", "nosuch"])]), ObjectClassViolation);
    assert_eq!(add("ou=a", &[("objectClass", &["organizationalUnit"]), ("nosuch", &["1"])]), UndefinedAttributeType);
    assert_eq!(add("ou=a", &[("objectClass", &["organizationalUnit"]), ("uid", &["1"])]), ObjectClassViolation);
    assert_eq!(
        add("ou=a", &[("objectClass", &["organizationalUnit"]), ("createTimestamp", &["20250101000000Z"])]),
        ConstraintViolation
    );
    assert_eq!(
        add("ou=a", &[("objectClass", &["organizationalUnit"]), ("description", &["x", "X"])]),
        AttributeOrValueExists
    );
    // T22, T24.
    assert!(matches!(add("ou=a+ou=b", &[("objectClass", &["organizationalUnit"])]), NamingViolation | InvalidDnSyntax));
    node.check();
}

#[test]
fn values_of_the_rdn_are_added_to_the_entry() {
    let mut node = with_people();
    assert_eq!(node.values(PEOPLE, "ou"), ["people"]);
    node.add("ou=Sales,dc=example,dc=com", &[("objectClass", &["organizationalUnit"]), ("ou", &["SALES"])]).unwrap();
    assert_eq!(node.values("ou=sales,dc=example,dc=com", "ou"), ["SALES"]);
}

#[test]
fn t03_escaped_spaces_name_the_same_entry() {
    let mut node = with_people();
    let group = |node: &mut Node, rdn: &str| {
        node.add(
            &format!("{rdn},dc=example,dc=com"),
            &[("objectClass", &["organizationalRole"]), ("description", &["d"])],
        )
    };
    group(&mut node, "cn=\\20lead").unwrap();
    assert_eq!(kind(group(&mut node, "cn=lead")), EntryAlreadyExists);
    group(&mut node, "cn=trail\\20").unwrap();
    group(&mut node, "cn=a b").unwrap();
    assert!(node.id("cn=a\\20b,dc=example,dc=com").is_some());
    node.delete("cn=\\20lead,dc=example,dc=com").unwrap();
    group(&mut node, "cn=\\20lead").unwrap();
    node.directory.checkpoint().unwrap();
    node.directory = open_again(&mut node);
    assert!(node.id("cn=\\20lead,dc=example,dc=com").is_some());
    node.check();
}

fn open_again(node: &mut Node) -> Directory {
    let elsewhere = tempfile::tempdir().unwrap();
    node.directory = open(elsewhere.path());
    open(node.folder.path())
}

#[test]
fn t15_add_delete_replace_semantics() {
    let mut node = with_people();
    let dn = "uid=a,ou=people,dc=example,dc=com";
    node.add_person(dn).unwrap();
    node.modify(dn, &[(Replace, "title", &[])]).unwrap();
    assert_eq!(kind(node.modify(dn, &[(Delete, "title", &[])])), NoSuchAttribute);
    assert_eq!(kind(node.modify(dn, &[(Delete, "cn", &["nobody"])])), NoSuchAttribute);
    assert_eq!(kind(node.modify(dn, &[(Add, "cn", &["some one"])])), AttributeOrValueExists);
    assert_eq!(kind(node.modify(dn, &[(Add, "title", &["x", "X"])])), AttributeOrValueExists);
    assert_eq!(kind(node.modify(dn, &[(Add, "title", &["x"]), (Delete, "mail", &[])])), NoSuchAttribute);
    assert!(node.values(dn, "title").is_empty());
    node.check();
}

#[test]
fn t16_index_follows_replace() {
    let mut node = with_people();
    let dn = "uid=a,ou=people,dc=example,dc=com";
    node.add_person(dn).unwrap();
    node.modify(dn, &[(Add, "mail", &["a@x"])]).unwrap();
    node.modify(dn, &[(Replace, "mail", &["b@x"])]).unwrap();
    assert_eq!((node.indexed("mail", "a@x"), node.indexed("mail", "b@x")), (0, 1));
    node.modify(dn, &[(Delete, "mail", &["b@x"]), (Add, "mail", &["c@x"])]).unwrap();
    assert_eq!((node.indexed("mail", "b@x"), node.indexed("mail", "c@x")), (0, 1));
    node.modify(dn, &[(Delete, "mail", &["c@x"]), (Add, "mail", &["c@x"])]).unwrap();
    assert_eq!(node.indexed("mail", "c@x"), 1);
    node.check();
}

#[test]
fn t17_a_modify_is_ordered_and_atomic() {
    let mut node = with_people();
    let dn = "uid=a,ou=people,dc=example,dc=com";
    node.add_person(dn).unwrap();
    node.modify(dn, &[(Add, "description", &["old"])]).unwrap();
    let steps: &[(ChangeKind, &str, &[&str])] = &[
        (Delete, "description", &[]),
        (Add, "description", &["x"]),
        (Delete, "description", &["x"]),
        (Add, "description", &["y"]),
    ];
    node.modify(dn, steps).unwrap();
    assert_eq!(node.values(dn, "description"), ["y"]);
    let failing: &[(ChangeKind, &str, &[&str])] =
        &[(Add, "description", &["y1", "y2"]), (Delete, "description", &["nosuch"])];
    assert_eq!(kind(node.modify(dn, failing)), NoSuchAttribute);
    assert_eq!(node.values(dn, "description"), ["y"]);
    node.check();
}

#[test]
fn t19_rfc4525_increment() {
    let mut node = with_people();
    let dn = "uid=a,ou=people,dc=example,dc=com";
    node.add(
        dn,
        &[
            ("objectClass", &["inetOrgPerson", "posixAccount"]),
            ("cn", &["a"]),
            ("sn", &["a"]),
            ("uidNumber", &["41"]),
            ("gidNumber", &["1"]),
            ("homeDirectory", &["/"]),
        ],
    )
    .unwrap();
    node.modify(dn, &[(Increment, "uidNumber", &["1"])]).unwrap();
    assert_eq!(node.values(dn, "uidNumber"), ["42"]);
    assert_eq!(kind(node.modify(dn, &[(Increment, "shadowMax", &["1"])])), NoSuchAttribute);
    assert_eq!(kind(node.modify(dn, &[(Increment, "sn", &["1"])])), ConstraintViolation);
    node.check();
}

#[test]
fn rfc4511_4_6_modify_refusals() {
    let mut node = with_people();
    let dn = "uid=a,ou=people,dc=example,dc=com";
    node.add_person(dn).unwrap();
    let missing = node.modify("uid=b,ou=people,dc=example,dc=com", &[(Add, "cn", &["x"])]).unwrap_err();
    assert_eq!((missing.kind, missing.matched_dn.as_deref()), (NoSuchObject, Some(PEOPLE)));
    let mut modify = |change: (ChangeKind, &str, &[&str])| kind(node.modify(dn, &[change]));
    assert_eq!(modify((Delete, "uid", &["a"])), NotAllowedOnRdn);
    assert_eq!(modify((Replace, "uid", &["b"])), NotAllowedOnRdn);
    assert_eq!(modify((Delete, "uid", &[])), NotAllowedOnRdn);
    assert_eq!(modify((Delete, "sn", &[])), ObjectClassViolation);
    assert_eq!(modify((Add, "nosuch", &["1"])), UndefinedAttributeType);
    assert_eq!(modify((Replace, "entryUUID", &["00000000-0000-4000-8000-000000000000"])), ConstraintViolation);
    assert_eq!(modify((Add, "preferredLanguage", &["de", "en"])), ConstraintViolation);
    assert_eq!(modify((Add, "manager", &["not a dn"])), InvalidAttributeSyntax);
    assert_eq!(modify((Replace, "objectClass", &["organizationalUnit"])), ObjectClassViolation);
    assert!(matches!(
        modify((Replace, "objectClass", &["person", "uidObject"])),
        ObjectClassModsProhibited | ObjectClassViolation
    ));
    assert_eq!(kind(node.modify("", &[(Add, "cn", &["x"])])), UnwillingToPerform);
    node.check();
}

#[test]
fn t10_an_auxiliary_class_comes_and_goes() {
    let mut node = with_people();
    let dn = "uid=a,ou=people,dc=example,dc=com";
    node.add_person(dn).unwrap();
    node.modify(dn, &[(Add, "objectClass", &["person"])]).unwrap();
    node.modify(dn, &[(Delete, "objectClass", &["person"])]).unwrap();
    node.modify(
        dn,
        &[
            (Add, "objectClass", &["posixAccount"]),
            (Add, "uidNumber", &["1"]),
            (Add, "gidNumber", &["1"]),
            (Add, "homeDirectory", &["/"]),
        ],
    )
    .unwrap();
    assert_eq!(kind(node.modify(dn, &[(Delete, "objectClass", &["posixAccount"])])), ObjectClassViolation);
    assert_eq!(kind(node.modify(dn, &[(Delete, "objectClass", &["inetOrgPerson"])])), ObjectClassViolation);
    node.check();
}

#[test]
fn t28_deleting_from_the_leaves() {
    let mut node = with_people();
    node.add_person("uid=a,ou=people,dc=example,dc=com").unwrap();
    assert_eq!(kind(node.delete(PEOPLE)), NotAllowedOnNonLeaf);
    assert_eq!(node.children(PEOPLE), 1);
    node.delete("uid=a,ou=people,dc=example,dc=com").unwrap();
    assert_eq!(node.children(PEOPLE), 0);
    node.delete(PEOPLE).unwrap();
    assert_eq!(kind(node.delete(PEOPLE)), NoSuchObject);
    node.delete("dc=example,dc=com").unwrap();
    assert!(entries(&node.view()).is_empty());
    node.check();
}

#[test]
fn a_subtree_is_deleted_in_steps() {
    let mut node = with_people();
    for at in 0..30 {
        node.add_ou(&format!("ou=g{at},{PEOPLE}")).unwrap();
        for person in 0..40 {
            node.add_person(&format!("uid=p{person},ou=g{at},{PEOPLE}")).unwrap();
        }
    }
    let mut deleted = 0;
    loop {
        let request = DeleteRequest { dn: PEOPLE.into(), subtree: true };
        let done = node.run(op::delete::prepare(&node.view(), &ADMIN, request).unwrap()).unwrap();
        assert!(done.entries <= 1_000);
        deleted += done.entries;
        node.check();
        if !done.more {
            break;
        }
    }
    assert_eq!(deleted, 30 * 41 + 1);
    assert_eq!(node.children("dc=example,dc=com"), 0);
}

#[test]
fn a_chain_deeper_than_a_step_is_deleted() {
    let mut node = Node::new();
    // Two chains joined by a move.
    let mut chain = |root: &str, length: usize| {
        let mut dn = format!("ou={root},dc=example,dc=com");
        let mut entries = vec![block_entry(&dn, &[("objectClass", &["organizationalUnit"])])];
        for _ in 1..length {
            dn = format!("ou=x,{dn}");
            entries.push(block_entry(&dn, &[("objectClass", &["organizationalUnit"])]));
        }
        node.run(op::add_block::prepare(&ADMIN, entries, ExistingMode::Error).unwrap()).unwrap();
        dn
    };
    let bottom = chain("a", 700);
    chain("b", 700);
    node.rename("ou=b,dc=example,dc=com", "ou=b", true, Some(&bottom)).unwrap();
    let mut steps = Vec::new();
    loop {
        let request = DeleteRequest { dn: "ou=a,dc=example,dc=com".into(), subtree: true };
        let done = node.run(op::delete::prepare(&node.view(), &ADMIN, request).unwrap()).unwrap();
        steps.push(done.entries);
        if !done.more {
            break;
        }
    }
    assert_eq!(steps, [1_000, 399, 1]);
    node.check();
}

#[test]
fn only_the_administrator_changes_the_tree_and_users_their_password() {
    let mut node = with_people();
    let dn = "uid=a,ou=people,dc=example,dc=com";
    node.add_person(dn).unwrap();
    node.add_person("uid=b,ou=people,dc=example,dc=com").unwrap();
    let user = Identity::User { dn: dn.into(), id: node.id(dn).unwrap() };
    let ou: &[(&str, &[&str])] = &[("objectClass", &["organizationalUnit"])];
    for identity in [&user, &Identity::Anonymous] {
        assert_eq!(kind(node.add_as(identity, "ou=x,dc=example,dc=com", ou)), InsufficientAccess);
        let command = |operation| Command::new(identity, operation);
        let delete = crate::command::Delete { dn: dn.into(), subtree: false };
        let forced = command(crate::command::Operation::Delete(delete));
        assert_eq!(kind(node.run(forced)), InsufficientAccess);
        assert_eq!(kind(node.modify_as(identity, dn, &[(Replace, "cn", &["x"])])), InsufficientAccess);
    }
    node.modify_as(&user, dn, &[(Replace, "userPassword", &["{SSHA}x"])]).unwrap();
    assert_eq!(node.values(dn, "modifiersName"), [dn]);
    let other = "uid=b,ou=people,dc=example,dc=com";
    assert_eq!(kind(node.modify_as(&user, other, &[(Replace, "userPassword", &["x"])])), InsufficientAccess);
    // Between request and apply the asker's entry has gone.
    let late = op::modify::prepare(
        &node.view(),
        &user,
        ModifyRequest { dn: dn.into(), changes: vec![(Replace, "userPassword".into(), bytes(&["y"]))] },
    )
    .unwrap();
    node.delete(dn).unwrap();
    assert_eq!(kind(node.run(late)), InsufficientAccess);
    node.check();
}
