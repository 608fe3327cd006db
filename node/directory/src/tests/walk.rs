use super::*;
use crate::Walk;
use crate::op::add_block;

fn walked(node: &Node, base: &str) -> Vec<String> {
    let mut walk = Walk::new(node.view(), base).unwrap();
    let mut seen = Vec::new();
    while walk.step(&mut |dn, _| seen.push(dn.to_owned())).unwrap() {}
    seen
}

#[test]
fn parents_come_first_and_siblings_in_the_order_of_their_names() {
    let mut node = Node::new();
    for dn in
        ["ou=b,dc=example,dc=com", "ou=a,dc=example,dc=com", "ou=x,ou=b,dc=example,dc=com", "ou=c,dc=example,dc=com"]
    {
        node.add_ou(dn).unwrap();
    }
    // Moved below an entry that is younger: ids no longer tell what comes first.
    node.rename("ou=b,dc=example,dc=com", "ou=b", false, Some("ou=c,dc=example,dc=com")).unwrap();
    let expected = [
        "dc=example,dc=com",
        "ou=a,dc=example,dc=com",
        "ou=c,dc=example,dc=com",
        "ou=b,ou=c,dc=example,dc=com",
        "ou=x,ou=b,ou=c,dc=example,dc=com",
    ];
    assert_eq!(walked(&node, ""), expected);
    assert_eq!(walked(&node, "OU=C,dc=example,dc=com"), expected[2..]);
    assert_eq!(walked(&node, "ou=a,dc=example,dc=com"), expected[1..2]);
    assert!(Walk::new(node.view(), "ou=none,dc=example,dc=com").is_err());
}

#[test]
fn more_children_than_are_listed_at_once() {
    let mut node = Node::new();
    for at in 0..600 {
        node.add_ou(&format!("ou={at:03},dc=example,dc=com")).unwrap();
    }
    let seen = walked(&node, "");
    assert_eq!(seen.len(), 601);
    assert!(seen[1..].is_sorted());
}

#[test]
fn an_entry_is_checked_without_its_parent() {
    let node = Node::new();
    let check = |dn: &str, attributes: &[(&str, &[&str])]| {
        add_block::check(&node.view(), block_entry(dn, attributes)).map_err(|error| error.kind)
    };
    assert_eq!(check("ou=x,ou=none,dc=example,dc=com", &[("objectClass", &["organizationalUnit"])]), Ok(()));
    let unknown = check("ou=x,dc=example,dc=com", &[("objectClass", &["organizationalUnit"]), ("zzz", &["1"])]);
    assert_eq!(unknown, Err(OpErrorKind::UndefinedAttributeType));
    let elsewhere = check("ou=x,dc=example,dc=org", &[("objectClass", &["organizationalUnit"])]);
    assert_eq!(elsewhere, Err(OpErrorKind::NoGlobalSuperiorKnowledge));
    let lacking = check("cn=x,dc=example,dc=com", &[("objectClass", &["person"])]);
    assert_eq!(lacking, Err(OpErrorKind::ObjectClassViolation));
}
