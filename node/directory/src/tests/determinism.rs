//! The same log, cut into batches in different ways, makes the same directory.

use super::*;
use crate::command::ChangeKind::{Add, Replace};

fn history() -> Node {
    let mut node = Node::new();
    node.add_ou("ou=a,dc=example,dc=com").unwrap();
    node.add_ou("ou=b,dc=example,dc=com").unwrap();
    for at in 0..40 {
        let dn = format!("uid=p{at},ou=a,dc=example,dc=com");
        node.add_person(&dn).unwrap();
        node.modify(&dn, &[(Add, "mail", &[&format!("p{at}@x"), "shared@x"])]).unwrap();
        if at % 3 == 0 {
            node.rename(&dn, &format!("uid=q{at}"), at % 2 == 0, Some("ou=b,dc=example,dc=com")).unwrap();
        }
        if at % 5 == 0 {
            let _ = node.delete(&dn);
        }
        let _ = node.modify("ou=b,dc=example,dc=com", &[(Replace, "description", &[&format!("{at}")])]);
        let _ = node.add_ou("ou=b,dc=example,dc=com");
    }
    node.run(op::index_change::prepare_add(&node.view(), &ADMIN, "sn", IndexTypes::EQUALITY).unwrap()).unwrap();
    while node.run(op::index_build::prepare()).unwrap().more {}
    node.check();
    node
}

#[test]
fn batches_do_not_matter() {
    let node = history();
    let expected = dump(&node.view());
    let digest = node.view().digest().unwrap();
    for size in [1, 2, 7, 50, node.log.len()] {
        let folder = tempfile::tempdir().unwrap();
        let directory = open(folder.path());
        let mut replies = Vec::new();
        for batch in node.log.chunks(size) {
            replies.extend(directory.apply(batch).unwrap());
        }
        assert_eq!(replies.len(), node.log.len());
        assert_eq!(directory.view().digest().unwrap(), digest, "batches of {size}");
        assert_eq!(dump(&directory.view()), expected, "batches of {size}");
    }
}

#[test]
fn a_replica_reopened_at_its_checkpoint_catches_up() {
    let node = history();
    let folder = tempfile::tempdir().unwrap();
    let directory = open(folder.path());
    let (first, rest) = node.log.split_at(node.log.len() / 2);
    directory.apply(first).unwrap();
    directory.checkpoint().unwrap();
    directory.apply(rest).unwrap();
    drop(directory);
    let directory = open(folder.path());
    let at = directory.applied().unwrap().position.unwrap();
    assert_eq!(at, first.last().unwrap().position);
    check_consistent(&directory.view());
    directory.apply(rest).unwrap();
    assert_eq!(dump(&directory.view()), dump(&node.view()));
}
