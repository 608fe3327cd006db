//! Modify DN.

use super::*;
use OpErrorKind::*;

fn role(node: &mut Node, dn: &str) {
    node.add(dn, &[("objectClass", &["organizationalRole"])]).unwrap();
}

#[test]
fn rfc4511_4_9_a_subtree_moves_with_its_top() {
    let mut node = Node::new();
    node.add_ou("ou=a,dc=example,dc=com").unwrap();
    node.add_ou("ou=b,dc=example,dc=com").unwrap();
    node.add_ou("ou=x,ou=a,dc=example,dc=com").unwrap();
    node.add_person("uid=p,ou=x,ou=a,dc=example,dc=com").unwrap();
    let id = node.id("uid=p,ou=x,ou=a,dc=example,dc=com");
    node.rename("ou=x,ou=a,dc=example,dc=com", "ou=y", true, Some("ou=b,dc=example,dc=com")).unwrap();
    assert_eq!(node.id("uid=p,ou=y,ou=b,dc=example,dc=com"), id);
    assert_eq!(node.id("uid=p,ou=x,ou=a,dc=example,dc=com"), None);
    assert_eq!((node.children("ou=a,dc=example,dc=com"), node.children("ou=b,dc=example,dc=com")), (0, 1));
    assert_eq!(node.values("ou=y,ou=b,dc=example,dc=com", "ou"), ["y"]);
    node.check();
}

#[test]
fn rfc4511_4_9_refusals() {
    let mut node = Node::new();
    node.add_ou("ou=a,dc=example,dc=com").unwrap();
    node.add_ou("ou=b,ou=a,dc=example,dc=com").unwrap();
    node.add_ou("ou=c,dc=example,dc=com").unwrap();
    let a = "ou=a,dc=example,dc=com";
    let mut rename = |dn: &str, rdn: &str, superior: Option<&str>| kind(node.rename(dn, rdn, true, superior));
    assert_eq!(rename(a, "ou=a", Some(a)), UnwillingToPerform);
    assert_eq!(rename(a, "ou=a", Some("ou=b,ou=a,dc=example,dc=com")), UnwillingToPerform);
    assert_eq!(rename(a, "ou=C", None), EntryAlreadyExists);
    assert_eq!(rename(a, "ou=x", Some("ou=nosuch,dc=example,dc=com")), NoSuchObject);
    assert_eq!(rename("ou=nosuch,dc=example,dc=com", "ou=x", None), NoSuchObject);
    assert_eq!(rename("dc=example,dc=com", "dc=other", None), UnwillingToPerform);
    assert_eq!(rename(a, "uid=x", None), ObjectClassViolation);
    assert_eq!(rename(a, "nosuch=x", None), InvalidDnSyntax);
    assert_eq!(rename(a, "ou=x,ou=y", None), InvalidDnSyntax);
    assert!(matches!(rename(a, "entryUUID=x", None), NamingViolation | ConstraintViolation));
    // T24: an attribute without equality rule.
    assert!(matches!(rename(a, "jpegPhoto=x", None), NamingViolation | InvalidDnSyntax));
    // T22.
    assert!(matches!(rename(a, "ou=x+ou=y", None), NamingViolation | InvalidDnSyntax));
    assert_eq!(node.values(a, "ou"), ["a"]);
    node.check();
}

#[test]
fn t21_delete_old_rdn_and_indexes() {
    let mut node = Node::new();
    node.add_ou("ou=r,dc=example,dc=com").unwrap();
    let person: &[(&str, &[&str])] = &[("objectClass", &["person"]), ("cn", &["extra"])];
    node.add("cn=a+sn=b,dc=example,dc=com", person).unwrap();
    node.rename("sn=b+cn=a,dc=example,dc=com", "cn=c", false, None).unwrap();
    assert_eq!(node.values("cn=c,dc=example,dc=com", "cn"), ["a", "c", "extra"]);
    assert_eq!(node.values("cn=c,dc=example,dc=com", "sn"), ["b"]);
    assert_eq!((node.indexed("cn", "a"), node.indexed("cn", "c")), (1, 1));
    node.rename("cn=c,dc=example,dc=com", "cn=d", true, Some("ou=r,dc=example,dc=com")).unwrap();
    assert_eq!(node.values("cn=d,ou=r,dc=example,dc=com", "cn"), ["a", "d", "extra"]);
    assert_eq!((node.indexed("cn", "c"), node.indexed("cn", "d")), (0, 1));
    // Removing the old RDN would take the last value of a required attribute.
    node.add("cn=e+sn=f,dc=example,dc=com", &[("objectClass", &["person"])]).unwrap();
    assert_eq!(kind(node.rename("cn=e+sn=f,dc=example,dc=com", "cn=g", true, None)), ObjectClassViolation);
    assert_eq!(
        kind(node.rename("cn=e+sn=f,dc=example,dc=com", "cn=d", false, Some("ou=r,dc=example,dc=com"))),
        EntryAlreadyExists
    );
    assert_eq!(node.values("cn=e+sn=f,dc=example,dc=com", "cn"), ["e"]);
    node.check();
}

#[test]
fn a_new_spelling_of_the_same_name() {
    let mut node = Node::new();
    role(&mut node, "cn=Some One,dc=example,dc=com");
    let id = node.id("cn=some one,dc=example,dc=com");
    node.rename("cn=some one,dc=example,dc=com", "cn=SOME  ONE", true, None).unwrap();
    assert_eq!(node.id("cn=some one,dc=example,dc=com"), id);
    assert_eq!(node.load("cn=some one,dc=example,dc=com").rdn, "cn=SOME  ONE");
    assert_eq!(node.view().naming_generation, 1);
    node.check();
}

#[test]
fn t26_a_taken_name_is_refused_without_new_superior() {
    let mut node = Node::new();
    role(&mut node, "cn=a,dc=example,dc=com");
    role(&mut node, "cn=b,dc=example,dc=com");
    assert_eq!(kind(node.rename("cn=a,dc=example,dc=com", "cn=B", true, None)), EntryAlreadyExists);
    node.check();
}
