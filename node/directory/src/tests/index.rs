//! Defining, building and dropping indexes.

use super::*;
use crate::command::ChangeKind::Replace;

fn add_index(node: &mut Node, attribute: &str, types: IndexTypes) -> Result<Done, OpError> {
    node.run(op::index_change::prepare_add(&node.view(), &ADMIN, attribute, types)?)
}

fn drop_index(node: &mut Node, attribute: &str, types: IndexTypes) -> Result<Done, OpError> {
    node.run(op::index_change::prepare_drop(&node.view(), &ADMIN, attribute, types)?)
}

fn build(node: &mut Node) -> Done {
    node.run(op::index_build::prepare()).unwrap()
}

fn people(node: &mut Node, count: usize) {
    for start in (0..count).step_by(1_000) {
        let entries = (start..count.min(start + 1_000))
            .map(|at| {
                block_entry(
                    &format!("cn=p{at},dc=example,dc=com"),
                    &[("objectClass", &["person"]), ("sn", &[&format!("s{}", at % 10)])],
                )
            })
            .collect();
        let command = op::add_block::prepare(&ADMIN, entries, ExistingMode::Error).unwrap();
        node.run(command).unwrap();
    }
}

#[test]
fn an_index_is_built_beside_changes() {
    let mut node = Node::new();
    people(&mut node, 2_500);
    assert!(add_index(&mut node, "sn", IndexTypes::EQUALITY).unwrap().more);
    let sn = node.view().schema().attribute("sn").unwrap().id;
    assert_eq!(node.view().indexes().ready(sn, IndexTypes::EQUALITY), None);
    let step = build(&mut node);
    assert_eq!((step.entries, step.more), (1_000, true));
    // Behind and ahead of the build: changed, deleted, added.
    for dn in ["cn=p5,dc=example,dc=com", "cn=p2400,dc=example,dc=com"] {
        node.modify(dn, &[(Replace, "sn", &["changed"])]).unwrap();
    }
    for dn in ["cn=p6,dc=example,dc=com", "cn=p2300,dc=example,dc=com"] {
        node.delete(dn).unwrap();
    }
    node.add("cn=new,dc=example,dc=com", &[("objectClass", &["person"]), ("sn", &["new"])]).unwrap();
    // A further type starts the build of this attribute again.
    assert!(add_index(&mut node, "sn", IndexTypes::SUBSTRING).unwrap().more);
    let mut steps = 0;
    while build(&mut node).more {
        steps += 1;
        assert!(steps < 10);
    }
    assert!(node.view().indexes().ready(sn, IndexTypes::EQUALITY.or(IndexTypes::SUBSTRING)).is_some());
    assert_eq!(node.indexed("sn", "changed"), 2);
    node.check();
    // Nothing left to do: no change.
    assert!(!build(&mut node).more);
}

#[test]
fn an_index_on_an_empty_directory_is_ready_at_once() {
    let mut node = Node::founded();
    assert!(!add_index(&mut node, "sn", IndexTypes::EQUALITY).unwrap().more);
    people(&mut node, 0);
    node.add("dc=example,dc=com", &[("objectClass", &["domain"])]).unwrap();
    people(&mut node, 10);
    assert_eq!(node.indexed("sn", "s1"), 1);
    assert!(!add_index(&mut node, "sn", IndexTypes::EQUALITY).unwrap().more);
    node.check();
}

#[test]
fn dropping_one_type_builds_the_others_in_a_new_tree() {
    let mut node = Node::new();
    people(&mut node, 50);
    drop_index(&mut node, "cn", IndexTypes::SUBSTRING).unwrap();
    while build(&mut node).more {}
    assert_eq!(node.indexed("cn", "p7"), 1);
    node.check();
    drop_index(&mut node, "cn", IndexTypes::EQUALITY).unwrap();
    assert!(drop_index(&mut node, "cn", IndexTypes::EQUALITY).is_err());
    node.check();
    add_index(&mut node, "cn", IndexTypes::EQUALITY).unwrap();
    while build(&mut node).more {}
    node.check();
}

#[test]
fn an_index_is_dropped_in_the_batch_that_fills_it() {
    let mut node = Node::new();
    let add = op::add::prepare(
        &node.view(),
        &ADMIN,
        AddRequest {
            dn: "cn=x,dc=example,dc=com".into(),
            attributes: attribute_list(&[("objectClass", &["person"]), ("sn", &["x"])]),
        },
    )
    .unwrap();
    let drop = op::index_change::prepare_drop(&node.view(), &ADMIN, "cn", IndexTypes::EQUALITY).unwrap();
    let mut batch = Vec::new();
    for command in [add, drop] {
        let entry = node.entry(command.to_payload().unwrap());
        node.log.push(entry.clone());
        batch.push(entry);
    }
    node.directory.apply(&batch).unwrap();
    while build(&mut node).more {}
    node.check();
}

#[test]
fn index_refusals() {
    let mut node = Node::new();
    assert_eq!(kind(add_index(&mut node, "nosuch", IndexTypes::EQUALITY)), OpErrorKind::UndefinedAttributeType);
    assert_eq!(kind(add_index(&mut node, "jpegPhoto", IndexTypes::EQUALITY)), OpErrorKind::InappropriateMatching);
    assert_eq!(kind(drop_index(&mut node, "title", IndexTypes::EQUALITY)), OpErrorKind::NoSuchAttribute);
    assert!(op::index_change::prepare_add(&node.view(), &Identity::Anonymous, "sn", IndexTypes::EQUALITY).is_err());
}
