//! Tests of the write half against a store on disk.

mod block;
mod configure;
mod determinism;
mod durable;
mod entries;
mod filters;
mod index;
mod lists;
mod model;
mod rename;
mod search;
mod snapshot;
mod walk;

use crate::command::{
    AttributeValues, Body, ChangeKind, Command, Done, ExistingMode, LogEntry, LogPosition, Reply, Stamp,
};
use crate::dit::{self, Resolved};
use crate::index::config::IndexTypes;
use crate::index::{keys, posting};
use crate::op::add::AddRequest;
use crate::op::bootstrap::BootstrapRequest;
use crate::op::delete::DeleteRequest;
use crate::op::modify::ModifyRequest;
use crate::op::modify_dn::ModifyDnRequest;
use crate::op::{self, Loaded};
use crate::tables::{self, FIRST_INDEX_TREE, ID2ENTRY};
use crate::{Directory, DirectoryOptions, Identity, OpError, OpErrorKind, ReadView};
use bindery_model::dn::Dn;
use bindery_model::entry::Entry;
use bindery_model::entry_codec::StoredEntry;
use bindery_model::schema::Schema;
use bindery_store::{OsFiles, StoreOptions};
use bytes::Bytes;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

pub const ADMIN: Identity = Identity::Admin;

pub fn options() -> DirectoryOptions {
    DirectoryOptions {
        store: StoreOptions { arena_bytes: 16 << 20, ..StoreOptions::default() },
        ..DirectoryOptions::default()
    }
}

pub fn open(folder: &Path) -> Directory {
    Directory::open(Arc::new(OsFiles), folder, options()).unwrap()
}

/// An entry of a block: DN, and attributes with their values.
pub type Given<'a> = (&'a str, &'a [(&'a str, &'a [&'a str])]);

/// A directory with the log that made it.
pub struct Node {
    pub folder: tempfile::TempDir,
    pub directory: Directory,
    pub log: Vec<LogEntry>,
    pub time_us: u64,
}

impl Node {
    /// Founded, with the naming context's entry.
    pub fn new() -> Node {
        let mut node = Node::founded();
        node.add("dc=example,dc=com", &[("objectClass", &["domain"])]).unwrap();
        node
    }

    pub fn blank() -> Node {
        let folder = tempfile::tempdir().unwrap();
        let directory = open(folder.path());
        Node { folder, directory, log: Vec::new(), time_us: 1_735_689_599_000_000 }
    }

    pub fn founded() -> Node {
        let mut node = Node::blank();
        let request = BootstrapRequest {
            naming_contexts: vec!["dc=example,dc=com".into()],
            admin_dn: Some("cn=admin,dc=example,dc=com".into()),
            admin_password: b"{ARGON2}x".to_vec(),
            indexes: vec![
                ("objectClass".into(), IndexTypes::EQUALITY),
                ("cn".into(), IndexTypes::EQUALITY.or(IndexTypes::SUBSTRING)),
                ("ou".into(), IndexTypes::EQUALITY),
                ("mail".into(), IndexTypes::EQUALITY.or(IndexTypes::PRESENCE)),
                ("description".into(), IndexTypes::EQUALITY.or(IndexTypes::SUBSTRING)),
            ],
            settings: vec![("b".into(), "2".into()), ("a".into(), "1".into())],
        };
        let command = op::bootstrap::prepare(&Schema::shipped(), request).unwrap();
        node.run(command).unwrap();
        node
    }

    pub fn entry(&mut self, payload: Bytes) -> LogEntry {
        let index = self.log.last().map_or(1, |entry| entry.position.index + 1);
        self.time_us += 1_000;
        let mut random = [0; 16];
        random[..8].copy_from_slice(&index.to_be_bytes());
        let stamp = Stamp { time_us: self.time_us, random };
        LogEntry { position: LogPosition { term: 1, leader: 1, index }, body: Body::Command { stamp, payload } }
    }

    pub fn apply_payload(&mut self, payload: Bytes) -> Reply {
        let entry = self.entry(payload);
        self.log.push(entry.clone());
        let replies = self.directory.apply(std::slice::from_ref(&entry)).unwrap();
        assert_eq!(replies.len(), 1);
        Reply::from_bytes(&replies[0])
    }

    pub fn run(&mut self, command: Command) -> Result<Done, OpError> {
        self.apply_payload(command.to_payload().unwrap()).into_result()
    }

    pub fn view(&self) -> ReadView {
        self.directory.view()
    }

    pub fn add_as(&mut self, identity: &Identity, dn: &str, attributes: &[(&str, &[&str])]) -> Result<Done, OpError> {
        let request = AddRequest { dn: dn.into(), attributes: attribute_list(attributes) };
        self.run(op::add::prepare(&self.view(), identity, request)?)
    }

    pub fn add(&mut self, dn: &str, attributes: &[(&str, &[&str])]) -> Result<Done, OpError> {
        self.add_as(&ADMIN, dn, attributes)
    }

    pub fn add_ou(&mut self, dn: &str) -> Result<Done, OpError> {
        self.add(dn, &[("objectClass", &["organizationalUnit"])])
    }

    pub fn add_person(&mut self, dn: &str) -> Result<Done, OpError> {
        self.add(dn, &[("objectClass", &["inetOrgPerson"]), ("cn", &["Some One"]), ("sn", &["One"])])
    }

    pub fn delete(&mut self, dn: &str) -> Result<Done, OpError> {
        let request = DeleteRequest { dn: dn.into(), subtree: false };
        self.run(op::delete::prepare(&self.view(), &ADMIN, request)?)
    }

    pub fn modify_as(
        &mut self,
        identity: &Identity,
        dn: &str,
        changes: &[(ChangeKind, &str, &[&str])],
    ) -> Result<Done, OpError> {
        let changes = changes.iter().map(|(kind, name, values)| (*kind, (*name).to_owned(), bytes(values))).collect();
        self.run(op::modify::prepare(&self.view(), identity, ModifyRequest { dn: dn.into(), changes })?)
    }

    pub fn modify(&mut self, dn: &str, changes: &[(ChangeKind, &str, &[&str])]) -> Result<Done, OpError> {
        self.modify_as(&ADMIN, dn, changes)
    }

    pub fn rename(
        &mut self,
        dn: &str,
        new_rdn: &str,
        delete_old_rdn: bool,
        new_superior: Option<&str>,
    ) -> Result<Done, OpError> {
        let request = ModifyDnRequest {
            dn: dn.into(),
            new_rdn: new_rdn.into(),
            delete_old_rdn,
            new_superior: new_superior.map(str::to_owned),
        };
        self.run(op::modify_dn::prepare(&self.view(), &ADMIN, request)?)
    }

    pub fn block(&mut self, mode: ExistingMode, entries: &[Given]) -> Reply {
        let entries = entries.iter().map(|(dn, attributes)| block_entry(dn, attributes)).collect();
        let command = op::add_block::prepare(&ADMIN, entries, mode).unwrap();
        self.apply_payload(command.to_payload().unwrap())
    }

    pub fn id(&self, dn: &str) -> Option<u64> {
        let view = self.view();
        let name = Dn::parse(dn).unwrap().normalize(view.schema()).unwrap();
        match dit::resolve(view.store(), view.settings(), &name).unwrap() {
            Resolved::Found { id } => Some(id),
            _ => None,
        }
    }

    pub fn load(&self, dn: &str) -> Loaded {
        op::load(self.view().store(), self.id(dn).unwrap()).unwrap()
    }

    /// Values of an attribute, sorted.
    pub fn values(&self, dn: &str, attribute: &str) -> Vec<String> {
        let id = self.view().schema().attribute(attribute).unwrap().id;
        let entry = self.load(dn).entry;
        let mut values: Vec<String> =
            entry.values_of(id).map(|value| String::from_utf8_lossy(value).into_owned()).collect();
        values.sort();
        values
    }

    pub fn children(&self, dn: &str) -> u64 {
        let id = self.id(dn).unwrap();
        dit::parent_record(self.view().store(), id).unwrap().unwrap().children
    }

    /// How many ids the equality index of `attribute` has for `value`.
    pub fn indexed(&self, attribute: &str, value: &str) -> u64 {
        let view = self.view();
        let attribute = view.schema().attribute(attribute).unwrap();
        let index = view.indexes().find(attribute.id).unwrap();
        let normal = attribute.equality.unwrap().normalize(value.as_bytes(), view.schema()).unwrap();
        let key = posting::record_key(posting::Kind::Equality, &normal);
        posting::count(view.store(), index.tree, &key).unwrap()
    }

    /// Everything below the level of log position and time must agree with itself.
    pub fn check(&self) {
        check_consistent(&self.view());
    }
}

pub fn bytes(values: &[&str]) -> Vec<Vec<u8>> {
    values.iter().map(|value| value.as_bytes().to_vec()).collect()
}

pub fn attribute_list(attributes: &[(&str, &[&str])]) -> Vec<(String, Vec<Vec<u8>>)> {
    attributes.iter().map(|(name, values)| ((*name).to_owned(), bytes(values))).collect()
}

pub fn block_entry(dn: &str, attributes: &[(&str, &[&str])]) -> crate::command::Add {
    let attributes = attribute_list(attributes)
        .into_iter()
        .map(|(description, values)| AttributeValues { description, values })
        .collect();
    crate::command::Add { dn: dn.to_owned(), attributes }
}

pub fn kind(result: Result<Done, OpError>) -> OpErrorKind {
    result.unwrap_err().kind
}

/// Every record of every tree.
pub fn dump(view: &ReadView) -> BTreeMap<(u32, Vec<u8>), Vec<u8>> {
    let mut all = BTreeMap::new();
    for tree in view.store().trees().unwrap() {
        let mut cursor = view.store().cursor(tree);
        let mut found = cursor.seek_first().unwrap();
        while found {
            all.insert((tree.0, cursor.key().to_vec()), cursor.value().to_vec());
            found = cursor.next().unwrap();
        }
    }
    all
}

/// All entries by id.
pub fn entries(view: &ReadView) -> BTreeMap<u64, (u64, String, Entry)> {
    let mut all = BTreeMap::new();
    let mut cursor = view.store().cursor(ID2ENTRY);
    let mut found = cursor.seek_first().unwrap();
    while found {
        let id = tables::parse_u64(cursor.key()).unwrap();
        let stored = StoredEntry::parse(cursor.value()).unwrap();
        all.insert(id, (stored.parent(), stored.rdn().to_owned(), stored.to_entry()));
        found = cursor.next().unwrap();
    }
    all
}

/// The trees agree: names, parents, child counts, and the indexes with what the entries say.
pub fn check_consistent(view: &ReadView) {
    let all = entries(view);
    let mut children: BTreeMap<u64, u64> = BTreeMap::new();
    let mut names = 0;
    for (id, (parent, rdn, entry)) in &all {
        *children.entry(*parent).or_default() += 1;
        names += 1;
        let record = dit::parent_record(view.store(), *id).unwrap().unwrap();
        assert_eq!(record.parent, *parent, "parent of {rdn}");
        let dn = Dn::parse(rdn).unwrap();
        let norm = dn.normalize(view.schema()).unwrap();
        let key =
            if *parent == 0 { crate::settings::suffix_rdn_key(&norm) } else { norm.rdns()[0].as_bytes().to_vec() };
        assert_eq!(dit::child(view.store(), *parent, &key).unwrap(), Some(*id), "name of {rdn}");
        view.schema().check_entry(entry).unwrap();
    }
    for id in all.keys().copied().chain([0]) {
        let stored = dit::parent_record(view.store(), id).unwrap().map_or(0, |record| record.children);
        assert_eq!(stored, children.get(&id).copied().unwrap_or(0), "children of {id}");
    }
    let dump = dump(view);
    assert_eq!(dump.keys().filter(|(tree, _)| *tree == tables::DN.0).count(), names);

    let mut expected = BTreeSet::new();
    for index in view.indexes().iter().filter(|index| index.building.is_empty()) {
        for (id, (_, _, entry)) in &all {
            for key in keys::entry_keys(index, index.ready, entry, view.schema()) {
                expected.insert((index.tree.0, key, *id));
            }
        }
    }
    let complete: BTreeSet<u32> =
        view.indexes().iter().filter(|index| index.building.is_empty()).map(|index| index.tree.0).collect();
    let mut found = BTreeSet::new();
    for ((tree, key), value) in &dump {
        if *tree >= FIRST_INDEX_TREE {
            assert!(view.indexes().iter().any(|index| index.tree.0 == *tree), "tree {tree} belongs to no index");
        }
        if complete.contains(tree) {
            posting::visit_record(bindery_store::TreeId(*tree), key, value, |key, id| {
                found.insert((*tree, key.to_vec(), id));
            })
            .unwrap();
        }
    }
    assert_eq!(found, expected);
}
