//! Every tree of the store: its number, its key layout and its value layout. No other file builds or
//! takes apart key bytes (index trees: their keys are built in `index`, their numbers are given here).
//!
//! All integers are big-endian, so that byte order is number order.

use crate::index::posting::Records;
use bindery_store::{StoreError, TreeId};

/// Directory-wide records: see the `META_*` keys.
pub const META: TreeId = TreeId(0);
/// Entry id -> encoded entry (`bindery_model::entry_codec`).
pub const ID2ENTRY: TreeId = TreeId(1);
/// (parent id, normalised RDN) -> entry id.
pub const DN: TreeId = TreeId(2);
/// Entry id -> (parent id, number of children). Id [`ROOT_ID`] has a record too, with itself as parent.
pub const PARENT: TreeId = TreeId(3);
/// Index trees are numbered from here; a number is never used twice.
pub const FIRST_INDEX_TREE: u32 = 1000;

/// The root DSE: parent of the naming contexts, never an entry of its own.
pub const ROOT_ID: u64 = 0;
/// The id of the first entry.
pub const FIRST_ENTRY_ID: u64 = 1;

/// Log position of the last applied entry: [`LogPosition`](crate::command::LogPosition) as 24 bytes.
pub const META_APPLIED: &[u8] = b"applied";
/// The replicated feature level, u32.
pub const META_FEATURE: &[u8] = b"feature-level";
/// Version of the layout of this file, u32.
pub const META_FORMAT: &[u8] = b"format";
/// The id that the next added entry gets, u64.
pub const META_NEXT_ID: &[u8] = b"next-id";
/// The number that the next index tree gets, u32.
pub const META_NEXT_TREE: &[u8] = b"next-tree";
/// Number of entries renamed or moved so far, u64.
pub const META_RENAMES: &[u8] = b"renames";
/// Time of the last change of the schema in microseconds since 1970, u64.
pub const META_SCHEMA_TIME: &[u8] = b"time-schema";
/// Time of the last applied command in microseconds since 1970, u64. Never goes back.
pub const META_TIME: &[u8] = b"time";
/// The replicated settings, one record: `settings::SettingsRecord`.
pub const META_SETTINGS: &[u8] = b"settings";
const META_MEMBERSHIP_PREFIX: &[u8] = b"membership/";
const META_SCHEMA_PREFIX: &[u8] = b"schema/";
const META_INDEX_PREFIX: &[u8] = b"index/";

/// The only layout that this version reads and writes.
pub const FORMAT: u32 = 1;

/// Longest normalised RDN that stands in a key of [`DN`] as it is. A longer one is cut and completed
/// by its hash: keys stay below the store's 1,024 bytes and above all short.
pub const RDN_KEY_BYTES: usize = 256;
const RDN_HASH_BYTES: usize = 32;

/// Key of an entry in [`ID2ENTRY`] and [`PARENT`].
pub fn id_key(id: u64) -> [u8; 8] {
    id.to_be_bytes()
}

/// Reads a `u64` key or value; `None` when the length is wrong.
pub fn parse_u64(bytes: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(bytes.try_into().ok()?))
}

/// Reads a `u32` value; `None` when the length is wrong.
pub fn parse_u32(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}

/// Key in [`DN`] of the child of `parent` whose RDN normalises to `rdn`.
pub fn dn_key(parent: u64, rdn: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(8 + rdn.len().min(RDN_KEY_BYTES));
    key.extend_from_slice(&parent.to_be_bytes());
    // Below the limit: as it is. At the limit: always hashed, so that no short name can be
    // spelled like the shortened form of a long one.
    if rdn.len() < RDN_KEY_BYTES {
        key.extend_from_slice(rdn);
    } else {
        key.extend_from_slice(&rdn[..RDN_KEY_BYTES - RDN_HASH_BYTES]);
        key.extend_from_slice(blake3::hash(rdn).as_bytes());
    }
    key
}

/// The first bytes of the key in [`DN`] of every child of `parent`.
pub fn dn_prefix(parent: u64) -> [u8; 8] {
    parent.to_be_bytes()
}

/// The RDN part of a naming context's key in [`DN`]: the normalised RDNs of the whole suffix, leaf
/// first, each preceded by its length.
pub fn suffix_key<'a>(rdns: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut key = Vec::new();
    for rdn in rdns {
        key.extend_from_slice(&(rdn.len() as u32).to_be_bytes());
        key.extend_from_slice(rdn);
    }
    key
}

/// The value in [`PARENT`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParentRecord {
    /// Id of the parent, [`ROOT_ID`] for a naming context.
    pub parent: u64,
    /// Number of immediate children.
    pub children: u64,
}

impl ParentRecord {
    /// The stored form.
    pub fn encode(self) -> [u8; 16] {
        let mut out = [0; 16];
        out[..8].copy_from_slice(&self.parent.to_be_bytes());
        out[8..].copy_from_slice(&self.children.to_be_bytes());
        out
    }

    /// Reads the stored form; `None` when the length is wrong.
    pub fn parse(bytes: &[u8]) -> Option<ParentRecord> {
        if bytes.len() != 16 {
            return None;
        }
        Some(ParentRecord { parent: parse_u64(&bytes[..8])?, children: parse_u64(&bytes[8..])? })
    }
}

/// Key in [`META`] of the membership set by the log entry at `index`.
pub fn membership_key(index: u64) -> Vec<u8> {
    with_suffix(META_MEMBERSHIP_PREFIX, &index.to_be_bytes())
}

/// The first bytes of every membership key.
pub fn membership_prefix() -> &'static [u8] {
    META_MEMBERSHIP_PREFIX
}

/// Key in [`META`] of the schema definition of this kind with this number.
pub fn schema_key(kind: u32, number: u32) -> Vec<u8> {
    let mut suffix = [0; 8];
    suffix[..4].copy_from_slice(&kind.to_be_bytes());
    suffix[4..].copy_from_slice(&number.to_be_bytes());
    with_suffix(META_SCHEMA_PREFIX, &suffix)
}

/// The first bytes of every schema key.
pub fn schema_prefix() -> &'static [u8] {
    META_SCHEMA_PREFIX
}

/// Key in [`META`] of the definition of the index that lives in tree `tree`.
pub fn index_key(tree: TreeId) -> Vec<u8> {
    with_suffix(META_INDEX_PREFIX, &tree.0.to_be_bytes())
}

/// The first bytes of every index definition key.
pub fn index_prefix() -> &'static [u8] {
    META_INDEX_PREFIX
}

/// The keys of `tree` that begin with `prefix`, in order. For [`META`] only: its groups are small.
pub fn keys_with_prefix(records: &impl Records, tree: TreeId, prefix: &[u8]) -> Result<Vec<Vec<u8>>, StoreError> {
    let mut keys = Vec::new();
    let mut cursor = records.records(tree);
    let mut found = cursor.seek(prefix)?;
    while found && cursor.key().starts_with(prefix) {
        keys.push(cursor.key().to_vec());
        found = cursor.next()?;
    }
    Ok(keys)
}

fn with_suffix(prefix: &[u8], suffix: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(prefix.len() + suffix.len());
    key.extend_from_slice(prefix);
    key.extend_from_slice(suffix);
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_rdn_never_meets_a_short_one() {
        let long = vec![b'a'; RDN_KEY_BYTES];
        let shortened = dn_key(7, &long);
        assert_eq!(shortened.len(), 8 + RDN_KEY_BYTES);
        assert_ne!(shortened, dn_key(7, &shortened[8..]));
        assert_ne!(shortened, dn_key(7, &[b'a'; RDN_KEY_BYTES + 1]));
        assert_eq!(dn_key(7, b"x").len(), 9);
    }

    #[test]
    fn parent_record_round_trip() {
        let record = ParentRecord { parent: 3, children: u64::MAX };
        assert_eq!(ParentRecord::parse(&record.encode()), Some(record));
        assert_eq!(ParentRecord::parse(&[0; 15]), None);
    }
}
