//! Blocks of entries.

use super::*;

const OU: &[(&str, &[&str])] = &[("objectClass", &["organizationalUnit"])];

fn refused(reply: Reply) -> (OpErrorKind, Option<u32>) {
    match reply {
        Reply::Refused { error, entry } => (error.kind, entry),
        Reply::Done(done) => panic!("{done:?}"),
    }
}

fn done(reply: Reply) -> Done {
    reply.into_result().unwrap()
}

#[test]
fn parents_may_stand_in_the_same_block() {
    let mut node = Node::founded();
    let reply = node.block(
        ExistingMode::Error,
        &[
            ("dc=example,dc=com", &[("objectClass", &["domain"])]),
            ("ou=a,dc=example,dc=com", OU),
            ("ou=b,ou=a,dc=example,dc=com", OU),
            ("ou=c,ou=a,dc=example,dc=com", OU),
        ],
    );
    assert_eq!(done(reply).entries, 4);
    assert_eq!(node.children("ou=a,dc=example,dc=com"), 2);
    assert_eq!(node.indexed("objectClass", "organizationalUnit"), 3);
    let uuids: BTreeSet<String> = ["ou=a", "ou=b,ou=a", "ou=c,ou=a"]
        .iter()
        .flat_map(|dn| node.values(&format!("{dn},dc=example,dc=com"), "entryUUID"))
        .collect();
    assert_eq!(uuids.len(), 3);
    node.check();
}

#[test]
fn t43_a_block_is_all_or_nothing_and_names_its_bad_entry() {
    let mut node = Node::new();
    let before = dump(&node.view());
    let cases: &[(&[Given], OpErrorKind, u32)] = &[
        (&[("ou=a,dc=example,dc=com", OU), ("ou=A,dc=example,dc=com", OU)], OpErrorKind::EntryAlreadyExists, 1),
        (&[("ou=a,dc=example,dc=com", OU), ("ou=x,ou=y,dc=example,dc=com", OU)], OpErrorKind::NoSuchObject, 1),
        (&[("ou=x,ou=a,dc=example,dc=com", OU), ("ou=a,dc=example,dc=com", OU)], OpErrorKind::NoSuchObject, 0),
        (&[("ou=a,dc=example,dc=org", OU)], OpErrorKind::NoGlobalSuperiorKnowledge, 0),
        (
            &[("ou=a,dc=example,dc=com", OU), ("cn=x,dc=example,dc=com", &[("objectClass", &["person"])])],
            OpErrorKind::ObjectClassViolation,
            1,
        ),
    ];
    for (entries, kind, at) in cases {
        assert_eq!(refused(node.block(ExistingMode::Error, entries)), (*kind, Some(*at)));
    }
    let after = dump(&node.view());
    let differs: Vec<_> =
        before.iter().filter(|(key, value)| after.get(*key) != Some(value)).map(|(key, _)| key).collect();
    assert!(differs.iter().all(|(tree, _)| *tree == tables::META.0), "{differs:?}");
    assert_eq!(before.len(), after.len());
    node.check();
}

#[test]
fn operational_attributes_of_a_dump_are_kept() {
    let mut node = Node::new();
    let uuid = "11111111-2222-4333-8444-555555555555";
    let reply = node.block(
        ExistingMode::Error,
        &[(
            "ou=a,dc=example,dc=com",
            &[
                ("objectClass", &["organizationalUnit"]),
                ("entryUUID", &[uuid]),
                ("entryCSN", &["20200101000000.000000Z#000000#001#000000"]),
                ("creatorsName", &["cn=Manager,dc=example,dc=com"]),
                ("createTimestamp", &["20200101000000Z"]),
                ("structuralObjectClass", &["organizationalUnit"]),
                ("hasSubordinates", &["TRUE"]),
                ("entryDN", &["ou=a,dc=example,dc=com"]),
            ],
        )],
    );
    done(reply);
    let dn = "ou=a,dc=example,dc=com";
    assert_eq!(node.values(dn, "entryUUID"), [uuid]);
    assert_eq!(node.values(dn, "createTimestamp"), ["20200101000000Z"]);
    assert_eq!(node.values(dn, "creatorsName"), ["cn=Manager,dc=example,dc=com"]);
    assert_eq!(node.values(dn, "modifiersName"), ["cn=admin,dc=example,dc=com"]);
    assert!(node.values(dn, "hasSubordinates").is_empty());
    node.check();
}

#[test]
fn existing_entries_are_skipped_or_replaced() {
    let mut node = Node::new();
    node.add_ou("ou=a,dc=example,dc=com").unwrap();
    node.add_ou("ou=b,ou=a,dc=example,dc=com").unwrap();
    let with_text: &[(&str, &[&str])] = &[("objectClass", &["organizationalUnit"]), ("description", &["new"])];
    let block: &[Given] = &[("ou=a,dc=example,dc=com", with_text), ("ou=c,ou=a,dc=example,dc=com", with_text)];
    let skipped = done(node.block(ExistingMode::Skip, block));
    assert_eq!((skipped.entries, skipped.skipped), (1, 1));
    assert!(node.values("ou=a,dc=example,dc=com", "description").is_empty());
    let uuid = node.values("ou=a,dc=example,dc=com", "entryUUID");
    let replaced = done(node.block(ExistingMode::Replace, block));
    assert_eq!((replaced.entries, replaced.replaced), (2, 2));
    assert_eq!(node.values("ou=a,dc=example,dc=com", "description"), ["new"]);
    assert_eq!(node.values("ou=a,dc=example,dc=com", "entryUUID"), uuid);
    assert_eq!(node.children("ou=a,dc=example,dc=com"), 2);
    assert_eq!(node.indexed("description", "new"), 2);
    let twice: &[Given] = &[("ou=a,dc=example,dc=com", with_text), ("ou=A,dc=example,dc=com", with_text)];
    assert_eq!(refused(node.block(ExistingMode::Replace, twice)), (OpErrorKind::EntryAlreadyExists, Some(1)));
    node.check();
}

#[test]
fn a_block_has_its_bound() {
    let mut node = Node::new();
    let entries: Vec<crate::command::Add> =
        (0..1_001).map(|at| block_entry(&format!("ou={at},dc=example,dc=com"), OU)).collect();
    assert!(op::add_block::prepare(&ADMIN, entries.clone(), ExistingMode::Error).is_err());
    let forced =
        Command::new(&ADMIN, crate::command::Operation::AddBlock(crate::command::AddBlock { entries, mode: 0 }));
    assert_eq!(kind(node.run(forced)), OpErrorKind::AdminLimitExceeded);
    node.check();
}

#[test]
fn many_blocks_build_the_same_indexes() {
    let mut node = Node::new();
    for block in 0..5 {
        let entries = (0..400)
            .map(|at| {
                block_entry(
                    &format!("cn=p{block}-{at},dc=example,dc=com"),
                    &[("objectClass", &["person"]), ("sn", &["x"]), ("description", &[&format!("group {}", at % 7)])],
                )
            })
            .collect();
        let command = op::add_block::prepare(&ADMIN, entries, ExistingMode::Error).unwrap();
        assert_eq!(node.run(command).unwrap().entries, 400);
    }
    assert_eq!(node.indexed("objectClass", "person"), 2_000);
    node.check();
}
