//! Names and the tree: from a DN to an entry id and back, children, and ancestors.

use crate::error::DirectoryError;
use crate::index::posting::Records;
use crate::settings::{Settings, suffix_rdn_key};
use crate::tables::{self, DN, ID2ENTRY, PARENT, ParentRecord, ROOT_ID};
use bindery_model::dn::NormDn;
use bindery_model::entry_codec::StoredEntry;

/// Levels of a DIT: a bound for every walk towards the root, so that a damaged store cannot loop. Far above the
/// depth at which moving a subtree is refused.
pub const DEPTH_MAX: usize = 100_000;

/// Where a name leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resolved {
    /// The entry.
    Found {
        /// Its id.
        id: u64,
    },
    /// No such entry.
    Missing {
        /// The nearest entry above that exists; `None` when even the naming context's entry is missing or
        /// no naming context holds the name.
        nearest: Option<u64>,
        /// RDNs of the name that lead nowhere: 1 when only the leaf is missing.
        missing: usize,
    },
    /// The empty name: the root DSE.
    Root,
}

/// Follows `name` down from its naming context.
pub fn resolve(records: &impl Records, settings: &Settings, name: &NormDn) -> Result<Resolved, DirectoryError> {
    let rdns = name.rdns();
    if rdns.is_empty() {
        return Ok(Resolved::Root);
    }
    let Some(context) = settings.naming_context_of(name) else {
        return Ok(Resolved::Missing { nearest: None, missing: rdns.len() });
    };
    let below = rdns.len() - context.norm.rdns().len();
    let Some(mut id) = child(records, ROOT_ID, &suffix_rdn_key(&context.norm))? else {
        return Ok(Resolved::Missing { nearest: None, missing: below + 1 });
    };
    for at in (0..below).rev() {
        match child(records, id, rdns[at].as_bytes())? {
            Some(next) => id = next,
            None => return Ok(Resolved::Missing { nearest: Some(id), missing: at + 1 }),
        }
    }
    Ok(Resolved::Found { id })
}

/// The child of `parent` with this normalised RDN.
pub fn child(records: &impl Records, parent: u64, rdn: &[u8]) -> Result<Option<u64>, DirectoryError> {
    id_at(records, &tables::dn_key(parent, rdn))
}

/// The id behind a key of the tree of names.
pub fn id_at(records: &impl Records, key: &[u8]) -> Result<Option<u64>, DirectoryError> {
    match records.record(DN, key, tables::parse_u64)? {
        None => Ok(None),
        Some(Some(id)) => Ok(Some(id)),
        Some(None) => Err(DirectoryError::inconsistent("a value of the name tree is no id")),
    }
}

/// The first child of `parent` in the order of the tree of names, with its key there.
pub fn first_child(records: &impl Records, parent: u64) -> Result<Option<(Vec<u8>, u64)>, DirectoryError> {
    let prefix = tables::dn_prefix(parent);
    let mut cursor = records.records(DN);
    if !cursor.seek(&prefix)? || !cursor.key().starts_with(&prefix) {
        return Ok(None);
    }
    let id = tables::parse_u64(cursor.value())
        .ok_or_else(|| DirectoryError::inconsistent("a value of the name tree is no id"))?;
    Ok(Some((cursor.key().to_vec(), id)))
}

/// Levels above `id`, 1 for a naming context; `None` when there are more than `limit`.
pub fn depth(records: &impl Records, id: u64, limit: usize) -> Result<Option<usize>, DirectoryError> {
    let mut at = id;
    for depth in 0..=limit {
        if at == ROOT_ID {
            return Ok(Some(depth));
        }
        at = match parent_record(records, at)? {
            Some(record) => record.parent,
            None => return Err(DirectoryError::inconsistent(format!("entry {at} has no parent record"))),
        };
    }
    Ok(None)
}

/// Parent and number of children of `id`; `None` when there is no such entry.
pub fn parent_record(records: &impl Records, id: u64) -> Result<Option<ParentRecord>, DirectoryError> {
    match records.record(PARENT, &tables::id_key(id), ParentRecord::parse)? {
        None => Ok(None),
        Some(Some(record)) => Ok(Some(record)),
        Some(None) => Err(DirectoryError::inconsistent(format!("parent record of entry {id}"))),
    }
}

/// Whether `id` is `ancestor` or below it.
pub fn is_within(records: &impl Records, id: u64, ancestor: u64) -> Result<bool, DirectoryError> {
    let mut at = id;
    for _ in 0..=DEPTH_MAX {
        if at == ancestor {
            return Ok(true);
        }
        if at == ROOT_ID {
            return Ok(false);
        }
        match parent_record(records, at)? {
            Some(record) => at = record.parent,
            None => return Ok(false),
        }
    }
    Err(DirectoryError::inconsistent(format!("entry {id} is deeper than {DEPTH_MAX} levels")))
}

/// The DN of entry `id` as stored, `None` when there is no such entry. Each level is one read of an entry.
pub fn dn_text(records: &impl Records, id: u64) -> Result<Option<String>, DirectoryError> {
    let mut text = String::new();
    let mut at = id;
    for _ in 0..=DEPTH_MAX {
        if at == ROOT_ID {
            return Ok(Some(text));
        }
        let step = records.record(ID2ENTRY, &tables::id_key(at), |bytes| {
            let entry = StoredEntry::parse(bytes).map_err(|error| error.to_string())?;
            Ok::<_, String>((entry.parent(), entry.rdn().to_owned()))
        })?;
        let Some(step) = step else {
            return Ok(None);
        };
        let (parent, rdn) = step.map_err(|error| DirectoryError::inconsistent(format!("entry {at}: {error}")))?;
        if !text.is_empty() {
            text.push(',');
        }
        text.push_str(&rdn);
        at = parent;
    }
    Err(DirectoryError::inconsistent(format!("entry {id} is deeper than {DEPTH_MAX} levels")))
}
