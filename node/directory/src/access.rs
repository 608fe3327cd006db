//! Who may do what: a list of rules, the first that names the target decides, and in it the first clause that
//! names the asker (the order of OpenLDAP's `access to … by …`).
//!
//! The rules are turned into one small table for each kind of asker when they are read, so that a search asks
//! nothing but "which attributes of this entry are special".

use crate::identity::Identity;
use bindery_model::schema::{AttrId, Schema};

/// Privileges, as OpenLDAP's letters name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rights(u8);

impl Rights {
    /// Nothing.
    pub const NONE: Rights = Rights(0);
    /// `x`: use for authentication.
    pub const AUTH: Rights = Rights(1);
    /// `c`: compare.
    pub const COMPARE: Rights = Rights(2);
    /// `s`: use in a filter.
    pub const SEARCH: Rights = Rights(4);
    /// `r`: see.
    pub const READ: Rights = Rights(8);
    /// `w`: change.
    pub const WRITE: Rights = Rights(16);
    /// The level `read`: see, and all weaker uses.
    pub const READ_LEVEL: Rights = Rights(1 | 2 | 4 | 8);
    /// The level `write`: change, and all weaker uses.
    pub const WRITE_LEVEL: Rights = Rights(1 | 2 | 4 | 8 | 16);

    /// Whether all of `other` are granted.
    pub const fn has(self, other: Rights) -> bool {
        self.0 & other.0 == other.0
    }
}

/// What a rule is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// The root DSE and the subschema subentry.
    ServerEntries,
    /// These attribute types and their subtypes, in every entry.
    Attributes(Vec<String>),
    /// Every entry with all its attributes.
    Everything,
}

/// Whom a clause is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// The entry itself.
    Own,
    /// Whoever has not bound.
    Anonymous,
    /// Whoever has bound.
    Users,
    /// Everybody.
    All,
}

/// `access to WHAT by WHO RIGHTS …`. Who is named by no clause gets nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The target.
    pub what: What,
    /// Clauses in order.
    pub by: Vec<(Who, Rights)>,
}

/// Attributes that let their reader log in as someone else. Nobody but the administrator reads them.
pub const PASSWORD_ATTRIBUTES: [&str; 5] =
    ["userPassword", "sambaNTPassword", "sambaLMPassword", "krbPrincipalKey", "pwdHistory"];

/// The rules of a directory that sets none.
pub fn default_rules() -> Vec<Rule> {
    vec![
        Rule {
            what: What::Attributes(PASSWORD_ATTRIBUTES.map(str::to_owned).to_vec()),
            by: vec![(Who::Own, Rights::WRITE), (Who::Anonymous, Rights::AUTH), (Who::All, Rights::NONE)],
        },
        Rule {
            what: What::Attributes(vec!["shadowLastChange".to_owned()]),
            by: vec![(Who::Own, Rights::WRITE_LEVEL), (Who::Users, Rights::READ_LEVEL)],
        },
        Rule { what: What::ServerEntries, by: vec![(Who::All, Rights::READ_LEVEL)] },
        Rule { what: What::Everything, by: vec![(Who::Users, Rights::READ_LEVEL)] },
    ]
}

/// Rights of one kind of asker on one thing: in other entries, and in its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pair {
    other: Rights,
    own: Rights,
}

/// Everything that the rules say to one kind of asker.
#[derive(Debug, Clone)]
struct Table {
    server: Rights,
    rest: Pair,
    /// Attributes that a rule singles out, by ascending id.
    special: Vec<(AttrId, Pair)>,
}

/// The access rules of one version of the directory.
#[derive(Debug, Clone)]
pub struct AccessRules {
    anonymous: Table,
    user: Table,
}

impl AccessRules {
    /// Resolves rules against a schema. An attribute that the schema does not have protects nothing and is
    /// left out: it starts to count when its definition is added.
    pub fn new(rules: &[Rule], schema: &Schema) -> AccessRules {
        AccessRules { anonymous: table(rules, schema, false), user: table(rules, schema, true) }
    }

    /// The rules as they apply to `identity`.
    pub fn reader(&self, identity: &Identity) -> Reader<'_> {
        match identity {
            Identity::Anonymous => Reader { table: &self.anonymous, id: None },
            Identity::Admin => everything(),
            Identity::User { id, .. } => Reader { table: &self.user, id: Some(*id) },
        }
    }
}

fn granted(rule: &Rule, user: bool, own: bool) -> Rights {
    let named = rule.by.iter().find(|(who, _)| match who {
        Who::Own => user && own,
        Who::Anonymous => !user,
        Who::Users => user,
        Who::All => true,
    });
    named.map_or(Rights::NONE, |(_, rights)| *rights)
}

fn table(rules: &[Rule], schema: &Schema, user: bool) -> Table {
    let first = |wanted: &dyn Fn(&What) -> bool, own: bool| {
        rules.iter().find(|rule| wanted(&rule.what)).map_or(Rights::NONE, |rule| granted(rule, user, own))
    };
    let everything = |what: &What| *what == What::Everything;
    let mut special: Vec<(AttrId, Pair)> = Vec::new();
    for rule in rules {
        let What::Attributes(names) = &rule.what else {
            if rule.what == What::Everything {
                // Later rules are never reached.
                break;
            }
            continue;
        };
        for attribute in names.iter().filter_map(|name| schema.attribute(name)) {
            for id in schema.subtypes(attribute.id) {
                if special.iter().all(|(known, _)| known != id) {
                    let pair = Pair { other: granted(rule, user, false), own: granted(rule, user, true) };
                    special.push((*id, pair));
                }
            }
        }
    }
    special.sort_by_key(|(id, _)| id.0);
    Table {
        server: first(&|what| matches!(what, What::ServerEntries | What::Everything), false),
        rest: Pair { other: first(&everything, false), own: first(&everything, true) },
        special,
    }
}

/// A reader from whom nothing is kept.
pub(crate) fn everything() -> Reader<'static> {
    Reader { table: &EVERYTHING, id: None }
}

static EVERYTHING: Table = Table {
    server: Rights::WRITE_LEVEL,
    rest: Pair { other: Rights::WRITE_LEVEL, own: Rights::WRITE_LEVEL },
    special: Vec::new(),
};

/// The rules as they apply to one asker.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    table: &'a Table,
    id: Option<u64>,
}

impl Reader<'_> {
    fn pick(&self, pair: &Pair, entry: u64) -> Rights {
        if self.id == Some(entry) { pair.own } else { pair.other }
    }

    /// Rights on `attribute` in the entry with id `entry`.
    pub fn rights(&self, attribute: AttrId, entry: u64) -> Rights {
        let at = self.table.special.binary_search_by_key(&attribute.0, |(id, _)| id.0);
        self.pick(at.map_or(&self.table.rest, |at| &self.table.special[at].1), entry)
    }

    /// Rights on the entry itself, and on every attribute that no rule singles out.
    pub fn entry_rights(&self, entry: u64) -> Rights {
        self.pick(&self.table.rest, entry)
    }

    /// Rights on the root DSE and the subschema subentry.
    pub fn server_rights(&self) -> Rights {
        self.table.server
    }

    /// Whether there is any entry that this asker may see. If not, a search is refused before it looks for
    /// its base, so that the answer tells nothing about what exists.
    pub fn sees_entries(&self) -> bool {
        self.table.rest.other.has(Rights::READ) || self.id.is_some() && self.table.rest.own.has(Rights::READ)
    }

    /// Whether some attribute may be unreadable although its entry can be seen.
    pub fn is_partial(&self) -> bool {
        self.table
            .special
            .iter()
            .any(|(_, pair)| !pair.other.has(Rights::READ_LEVEL) || !pair.own.has(Rights::READ_LEVEL))
    }

    /// Attributes that must be left out of the entry with id `entry`.
    pub fn hidden(&self, entry: u64) -> impl Iterator<Item = AttrId> {
        self.table.special.iter().filter(move |(_, pair)| !self.pick(pair, entry).has(Rights::READ)).map(|(id, _)| *id)
    }

    /// Whether a filter may use `attribute` whatever the entry.
    pub fn may_search_everywhere(&self, attribute: AttrId) -> bool {
        let at = self.table.special.binary_search_by_key(&attribute.0, |(id, _)| id.0);
        let pair = at.map_or(&self.table.rest, |at| &self.table.special[at].1);
        pair.other.has(Rights::SEARCH) && (self.id.is_none() || pair.own.has(Rights::SEARCH))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(schema: &Schema, name: &str) -> AttrId {
        schema.attribute(name).unwrap().id
    }

    #[test]
    fn default_rules_as_written() {
        let schema = Schema::shipped();
        let rules = AccessRules::new(&default_rules(), &schema);
        let (password, shadow, cn) = (id(&schema, "userPassword"), id(&schema, "shadowLastChange"), id(&schema, "cn"));

        let nobody = rules.reader(&Identity::Anonymous);
        assert!(!nobody.sees_entries());
        assert_eq!(nobody.rights(password, 7), Rights::AUTH);
        assert_eq!(nobody.rights(cn, 7), Rights::NONE);
        assert!(nobody.server_rights().has(Rights::READ));

        let user = rules.reader(&Identity::User { dn: "uid=a".into(), id: 7 });
        assert!(user.sees_entries());
        assert_eq!(user.rights(password, 7), Rights::WRITE);
        assert_eq!(user.rights(password, 8), Rights::NONE);
        assert_eq!(user.rights(shadow, 7), Rights::WRITE_LEVEL);
        assert_eq!(user.rights(shadow, 8), Rights::READ_LEVEL);
        assert_eq!(user.rights(cn, 7), Rights::READ_LEVEL);
        assert!(user.hidden(7).any(|hidden| hidden == password));
        assert!(!user.hidden(8).any(|hidden| hidden == shadow));
        assert!(user.may_search_everywhere(cn));
        assert!(!user.may_search_everywhere(password));

        let admin = rules.reader(&Identity::Admin);
        assert_eq!(admin.rights(password, 7), Rights::WRITE_LEVEL);
        assert_eq!(admin.hidden(7).count(), 0);
    }
}
