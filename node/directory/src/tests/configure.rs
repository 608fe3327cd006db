//! Bootstrap, settings and schema.

use super::*;
use crate::command::{FeatureRaise, Operation, SetAdmin, SetSetting, Suffix};
use OpErrorKind::*;

fn configure(node: &mut Node, operation: Operation) -> Result<Done, OpError> {
    node.run(Command::new(&ADMIN, operation))
}

#[test]
fn nothing_can_be_done_before_the_bootstrap_and_no_second_one() {
    let mut node = Node::blank();
    assert_eq!(kind(node.add_ou("ou=a,dc=example,dc=com")), NoGlobalSuperiorKnowledge);
    let suffix = || Operation::SuffixAdd(Suffix { dn: "dc=x".into() });
    assert_eq!(kind(configure(&mut node, suffix())), UnwillingToPerform);
    assert!(node.directory.applied().unwrap().position.is_some());

    let mut node = Node::founded();
    let again = op::bootstrap::prepare(&Schema::shipped(), BootstrapRequest::default()).unwrap();
    assert_eq!(kind(node.run(again)), UnwillingToPerform);
    let view = node.view();
    assert_eq!(view.settings().admin_dn().unwrap().to_string(), "cn=admin,dc=example,dc=com");
    assert_eq!(view.settings().values().collect::<Vec<_>>(), [("a", "1"), ("b", "2")]);
}

#[test]
fn naming_contexts_come_and_go() {
    let mut node = Node::new();
    let suffix = |dn: &str| Suffix { dn: dn.into() };
    configure(&mut node, Operation::SuffixAdd(suffix("o=Other"))).unwrap();
    assert_eq!(kind(configure(&mut node, Operation::SuffixAdd(suffix("O=other")))), ConstraintViolation);
    assert_eq!(kind(configure(&mut node, Operation::SuffixAdd(suffix("ou=x,dc=example,dc=com")))), ConstraintViolation);
    assert_eq!(kind(configure(&mut node, Operation::SuffixAdd(suffix("")))), ConstraintViolation);
    assert_eq!(kind(configure(&mut node, Operation::SuffixAdd(suffix("nosuch=x")))), InvalidDnSyntax);
    node.add("o=Other", &[("objectClass", &["organization"])]).unwrap();
    node.add_ou("ou=a,o=other").unwrap();
    assert_eq!(kind(configure(&mut node, Operation::SuffixDrop(suffix("o=other")))), NotAllowedOnNonLeaf);
    node.delete("ou=a,o=other").unwrap();
    node.delete("o=other").unwrap();
    configure(&mut node, Operation::SuffixDrop(suffix("o=other"))).unwrap();
    assert_eq!(kind(configure(&mut node, Operation::SuffixDrop(suffix("o=other")))), NoSuchAttribute);
    node.check();
}

#[test]
fn settings_and_administrator_change() {
    let mut node = Node::new();
    let set = |name: &str, value: Option<&str>| {
        Operation::SetSetting(SetSetting { name: name.into(), value: value.map(str::to_owned) })
    };
    configure(&mut node, set("limit", Some("5"))).unwrap();
    configure(&mut node, set("a", None)).unwrap();
    assert_eq!(kind(configure(&mut node, set("a", None))), NoSuchAttribute);
    assert_eq!(kind(configure(&mut node, set("", Some("x")))), ConstraintViolation);
    let admin = SetAdmin { dn: Some("cn=root".into()), password: Some(b"{SSHA}y".to_vec()) };
    configure(&mut node, Operation::SetAdmin(admin)).unwrap();
    node.directory.checkpoint().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    node.directory = open(elsewhere.path());
    node.directory = open(node.folder.path());
    let view = node.view();
    assert_eq!(view.settings().value("limit"), Some("5"));
    assert_eq!(view.settings().value("a"), None);
    assert_eq!(view.settings().admin_dn().unwrap().to_string(), "cn=root");
    assert_eq!(view.settings().admin_password(), b"{SSHA}y");
    let user = Identity::User { dn: "dc=example,dc=com".into(), id: 1 };
    let forced = Command::new(&user, set("limit", Some("6")));
    assert_eq!(kind(node.run(forced)), InsufficientAccess);
}

#[test]
fn schema_is_added_online_and_survives() {
    let mut node = Node::new();
    let text = "attributetype ( 1.3.6.1.4.1.99999.1 NAME 'favouriteTree' SUP name )\n\
                objectclass ( 1.3.6.1.4.1.99999.2 NAME 'treeLover' AUXILIARY MAY favouriteTree )\n";
    let add = |node: &mut Node| {
        let command = op::schema_add::prepare(&node.view(), &ADMIN, text.into())?;
        node.run(command)
    };
    assert_eq!(add(&mut node).unwrap().definitions, 2);
    assert_eq!(add(&mut node).unwrap().definitions, 0);
    let tree = |node: &mut Node, dn: &str| {
        node.add(dn, &[("objectClass", &["organizationalUnit", "treeLover"]), ("favouriteTree", &["oak"])])
    };
    tree(&mut node, "ou=a,dc=example,dc=com").unwrap();
    node.directory.checkpoint().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    node.directory = open(elsewhere.path());
    node.directory = open(node.folder.path());
    tree(&mut node, "ou=b,dc=example,dc=com").unwrap();
    let shipped = Schema::shipped().definitions().count();
    assert_eq!(node.view().schema().definitions().count(), shipped + 2);
    assert!(op::schema_add::prepare(&node.view(), &ADMIN, "attributetype ( nonsense".into()).is_err());
    node.check();
}

#[test]
fn absurd_commands_are_refusals() {
    let mut node = Node::new();
    let reply = |node: &mut Node, payload: &[u8]| node.apply_payload(Bytes::copy_from_slice(payload));
    for payload in [&b""[..], b"\xff\xff\xff", b"\x08\x01", &[0x52, 0xff, 0xff, 0xff, 0x7f]] {
        assert_eq!(
            kind(reply(&mut node, payload).into_result()),
            match payload {
                b"" => UnwillingToPerform,
                _ => Protocol,
            }
        );
    }
    let level = Command { level: 2, ..Command::new(&ADMIN, Operation::FeatureRaise(FeatureRaise { level: 2 })) };
    assert_eq!(kind(node.run(level)), UnwillingToPerform);
    for raise in [0, 1, 3, u32::MAX] {
        let operation = Operation::FeatureRaise(FeatureRaise { level: raise });
        assert_eq!(kind(configure(&mut node, operation)), UnwillingToPerform);
    }
    // The next level is one that this version cannot apply: it stops, and nothing has changed.
    let raise = Command::new(&ADMIN, Operation::FeatureRaise(FeatureRaise { level: 2 }));
    let entry = node.entry(raise.to_payload().unwrap());
    assert!(node.directory.apply(&[entry]).is_err());
    assert!(op::configure::prepare(&ADMIN, Operation::FeatureRaise(FeatureRaise { level: 2 })).is_err());

    let mut entry = node.entry(Bytes::new());
    if let Body::Command { stamp, .. } = &mut entry.body {
        stamp.time_us = u64::MAX;
    }
    node.log.push(entry.clone());
    let replies = node.directory.apply(&[entry]).unwrap();
    assert_eq!(kind(Reply::from_bytes(&replies[0]).into_result()), Protocol);
    let late = node.log[2].clone();
    assert!(node.directory.apply(&[late]).is_err());
    node.check();
}

#[test]
fn positions_and_memberships_are_kept_with_the_data() {
    let mut node = Node::new();
    let at = |node: &Node| node.log.last().unwrap().position.index;
    for round in 0..100u8 {
        let index = at(&node) + 1;
        let entry = LogEntry {
            position: LogPosition { term: 2, leader: 3, index },
            body: if round % 10 == 0 { Body::Membership(Bytes::from(vec![round])) } else { Body::Blank },
        };
        node.log.push(entry.clone());
        assert_eq!(node.directory.apply(&[entry]).unwrap(), [Bytes::new()]);
        if round == 34 || round == 77 {
            node.directory.checkpoint().unwrap();
        }
    }
    let applied = node.directory.applied().unwrap();
    assert_eq!(applied.position.unwrap().index, at(&node));
    assert_eq!(applied.membership.unwrap().1, Bytes::from(vec![90]));
    let durable = node.directory.durable().unwrap().unwrap();
    assert_eq!(durable.position.unwrap().index, at(&node) - 99 + 34);
    assert_eq!(durable.membership.unwrap().1, Bytes::from(vec![30]));
    assert_eq!(node.view().store().label(), applied.position.unwrap().encode());
}
