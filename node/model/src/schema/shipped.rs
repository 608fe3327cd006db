//! The definitions that come with the server. They are facts from the RFCs and other publications that the files name.

use std::sync::LazyLock;

use super::Schema;

/// In the order in which they are numbered.
const FILES: [&str; 13] = [
    include_str!("../../schema/system.schema"),
    include_str!("../../schema/core.schema"),
    include_str!("../../schema/cosine.schema"),
    include_str!("../../schema/inetorgperson.schema"),
    include_str!("../../schema/rfc2307.schema"),
    include_str!("../../schema/misc.schema"),
    include_str!("../../schema/dyngroup.schema"),
    include_str!("../../schema/ppolicy.schema"),
    include_str!("../../schema/sudo.schema"),
    include_str!("../../schema/openssh-lpk.schema"),
    include_str!("../../schema/samba.schema"),
    include_str!("../../schema/eduperson.schema"),
    include_str!("../../schema/kerberos.schema"),
];

static SHIPPED: LazyLock<Schema> = LazyLock::new(|| {
    let mut schema = Schema::empty();
    for file in FILES {
        schema.add_text(file).expect("the shipped schema is part of the program and tested to be well-formed");
    }
    schema
});

impl Schema {
    /// The shipped schema: operational attributes, core, cosine, inetOrgPerson, RFC 2307 merged with its successor
    /// (automount among it), mail routing, dynamic groups, password policies, sudo, OpenSSH keys, Samba, eduPerson and
    /// Kerberos.
    pub fn shipped() -> Self {
        SHIPPED.clone()
    }
}
