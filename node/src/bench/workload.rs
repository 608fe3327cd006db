//! What is asked of the server: one kind of request after another, from a small fixed sequence of random
//! numbers for each connection, so that two runs ask the same.

use bindery_wire::filter::{Assertion, Filter};
use bindery_wire::request::{
    AddRequest, Authentication, BindRequest, Change, ChangeOperation, DeleteRequest, DerefAliases, ModifyRequest,
    Request, Scope, SearchRequest,
};
use bindery_wire::{Attribute, List};
use clap::ValueEnum;

use super::client::Client;

/// The kinds of load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// (uid=user.N) below the base, all attributes
    Search,
    /// Base read of a person by DN, all attributes
    Read,
    /// Search for a person, then bind as it: two requests, counted as one
    Auth,
    /// Bind as a person
    Bind,
    /// Replace a person's description
    Modify,
    /// 29 % modify, 71 % search
    Mixed,
    /// Add an entry, then delete it: two requests, counted as two
    Add,
}

impl Kind {
    /// As typed.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Search => "search",
            Kind::Read => "read",
            Kind::Auth => "auth",
            Kind::Bind => "bind",
            Kind::Modify => "modify",
            Kind::Mixed => "mixed",
            Kind::Add => "add",
        }
    }

    /// Whether people's DNs must be known beforehand.
    pub fn needs_names(self) -> bool {
        !matches!(self, Kind::Search | Kind::Add)
    }

    /// Requests that make one operation.
    pub fn requests(self) -> u32 {
        if self == Kind::Auth { 2 } else { 1 }
    }
}

/// Share of modifies in a mixed load, percent.
const MODIFY_PERCENT: u64 = 29;

/// The requests of one connection.
pub struct Workload<'a> {
    kind: Kind,
    base: &'a str,
    /// People's numbers and DNs.
    people: &'a [(u32, String)],
    count: u32,
    connection: u32,
    random: u64,
    sequence: u64,
}

impl<'a> Workload<'a> {
    /// The requests of connection number `connection`.
    pub fn new(kind: Kind, base: &'a str, people: &'a [(u32, String)], count: u32, connection: u32) -> Workload<'a> {
        let random = 0x9E37_79B9_7F4A_7C15 ^ (u64::from(connection) + 1).wrapping_mul(0xD1B5_4A32_D192_ED03);
        Workload { kind, base, people, count, connection, random, sequence: 0 }
    }

    /// xorshift64*: even enough to choose people.
    fn random(&mut self) -> u64 {
        self.random ^= self.random >> 12;
        self.random ^= self.random << 25;
        self.random ^= self.random >> 27;
        self.random.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn person(&mut self) -> (u32, &'a str) {
        let at = self.random() % self.people.len() as u64;
        let (number, dn) = &self.people[at as usize];
        (*number, dn)
    }

    /// Encodes the next request.
    pub fn push(&mut self, client: &mut Client, id: i32) {
        self.sequence += 1;
        let first = self.sequence % 2 == 1;
        let kind = match (self.kind, self.random() % 100 < MODIFY_PERCENT) {
            (Kind::Mixed, true) => Kind::Modify,
            (Kind::Mixed, false) => Kind::Search,
            (kind, _) => kind,
        };
        match kind {
            Kind::Search | Kind::Mixed => self.search(client, id),
            Kind::Read => {
                let (_, dn) = self.person();
                let filter = Filter::Present(b"objectClass");
                client.push(id, &search(dn, Scope::BaseObject, filter));
            }
            Kind::Bind => self.bind(client, id),
            Kind::Auth if first => self.search(client, id),
            Kind::Auth => self.bind(client, id),
            Kind::Modify => self.modify(client, id),
            Kind::Add if first => self.add(client, id),
            Kind::Add => {
                let dn = self.own_dn(self.sequence - 1);
                client.push(id, &Request::Delete(DeleteRequest { dn: dn.as_bytes() }));
            }
        }
    }

    fn search(&mut self, client: &mut Client, id: i32) {
        let uid = format!("user.{}", self.random() % u64::from(self.count));
        let filter = Filter::Equality(Assertion { attribute: b"uid", value: uid.as_bytes() });
        client.push(id, &search(self.base, Scope::WholeSubtree, filter));
    }

    fn bind(&mut self, client: &mut Client, id: i32) {
        let (number, dn) = self.person();
        let password = format!("secret{number}");
        let authentication = Authentication::Simple(password.as_bytes());
        client.push(id, &Request::Bind(BindRequest { version: 3, name: dn.as_bytes(), authentication }));
    }

    fn modify(&mut self, client: &mut Client, id: i32) {
        let (_, dn) = self.person();
        let text = format!("changed {} times by connection {}", self.sequence, self.connection);
        let values = [text.as_bytes()];
        let modification = Attribute { description: b"description", values: (&values).into() };
        let changes = [Change { operation: ChangeOperation::Replace, modification }];
        client.push(id, &Request::Modify(ModifyRequest { dn: dn.as_bytes(), changes: (&changes).into() }));
    }

    fn own_dn(&self, sequence: u64) -> String {
        format!("uid=bench.{}.{sequence},{}", self.connection, self.base)
    }

    fn add(&mut self, client: &mut Client, id: i32) {
        let dn = self.own_dn(self.sequence);
        let uid = format!("bench.{}.{}", self.connection, self.sequence);
        let telephone = format!("+1 {} {}", self.connection, self.sequence);
        let (classes, uids) = ([&b"inetOrgPerson"[..]], [uid.as_bytes()]);
        let (names, numbers) = ([&b"Bench"[..]], [telephone.as_bytes()]);
        let attribute = |description: &'static [u8], values| Attribute { description, values };
        let attributes = [
            attribute(b"objectClass", (&classes).into()),
            attribute(b"uid", (&uids).into()),
            attribute(b"cn", (&uids).into()),
            attribute(b"sn", (&names).into()),
            attribute(b"givenName", (&names).into()),
            attribute(b"mail", (&uids).into()),
            attribute(b"telephoneNumber", (&numbers).into()),
            attribute(b"homePhone", (&numbers).into()),
            attribute(b"mobile", (&numbers).into()),
            attribute(b"l", (&names).into()),
            attribute(b"ou", (&names).into()),
        ];
        client.push(id, &Request::Add(AddRequest { dn: dn.as_bytes(), attributes: (&attributes).into() }));
    }
}

fn search<'a>(base: &'a str, scope: Scope, filter: Filter<'a>) -> Request<'a> {
    Request::Search(SearchRequest {
        base: base.as_bytes(),
        scope,
        deref_aliases: DerefAliases::Never,
        size_limit: 0,
        time_limit_s: 0,
        types_only: false,
        filter,
        attributes: List::EMPTY,
    })
}

/// A search that returns one person's name only.
pub fn name_of<'a>(base: &'a str, uid: &'a str, selection: &'a [&'a [u8]]) -> Request<'a> {
    let filter = Filter::Equality(Assertion { attribute: b"uid", value: uid.as_bytes() });
    match search(base, Scope::WholeSubtree, filter) {
        Request::Search(search) => Request::Search(SearchRequest { attributes: selection.into(), ..search }),
        other => other,
    }
}
