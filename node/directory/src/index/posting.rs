//! Posting lists as store records: which entries have a key.
//!
//! A list is exact at every size. Its form follows its length:
//!
//! * one id: inline in the header record (`ONE`);
//! * up to [`LIST_MAX`] ids: one header record of delta varints (`LIST`);
//! * more: the header record holds the count (`CHUNKED`), and one record for each 65,536 ids holds a
//!   [`Container`]. Adding an id rewrites one container; an intersection seeks past absent chunks.
//!
//! Record keys inside an index tree:
//!
//! ```text
//! header   kind, value with 00 written as 00 ff
//! chunk    header key, 00 01, chunk number as 6 bytes big-endian
//! ```
//!
//! Headers therefore sort as their values do, a header is followed by its own chunks, and neither can be
//! taken for the other. Values above [`VALUE_MAX`] bytes keep a prefix and a BLAKE3 digest: still exact for
//! equality, but ordered only by their first [`ORDERED_MAX`] bytes.

use super::container::{Container, ContainerError};
use super::idset::{IdSet, Union, chunk_of, join, low_of};
use crate::error::DirectoryError;
use bindery_store::{Cursor, StoreError, TreeId, View, WriteTxn};
use std::ops::Bound;

/// Lists up to this length are one record: it stays far below a leaf page.
pub const LIST_MAX: usize = 64;

/// A chunked list that shrinks to this length becomes one record again. Half of [`LIST_MAX`], so that a
/// list that goes to and fro over the limit does not change its form each time.
const LIST_AGAIN: u64 = 32;

/// Longest value kept whole in a record key. Escaping may double it, which stays below the store's limit
/// of 1,024 bytes for a key together with the chunk suffix.
pub const VALUE_MAX: usize = 240;

const DIGEST: usize = 32;
/// One byte longer than any whole value, so that a shortened value equals no whole one.
const SHORTENED: usize = VALUE_MAX + 1;

const TAG_ONE: u8 = 1;
const TAG_LIST: u8 = 2;
const TAG_CHUNKED: u8 = 3;

const CHUNK_MARK: [u8; 2] = [0, 1];
/// Sorts after every chunk of a header and before the next header.
const CHUNKS_END: [u8; 2] = [0, 2];
const CHUNK_SUFFIX: usize = 8;

/// Ids have 48 + 16 bits; the chunk number is stored in 6 bytes.
const CHUNK_NUMBER: usize = 6;

/// A posting list could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum PostingError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A record does not have the form that this module writes.
    #[error("index tree {tree}: {what}")]
    Corrupt {
        /// The tree that holds the record.
        tree: u32,
        /// What is wrong with it.
        what: &'static str,
    },
}

impl From<PostingError> for DirectoryError {
    fn from(error: PostingError) -> DirectoryError {
        match error {
            PostingError::Store(error) => DirectoryError::Store(error),
            corrupt @ PostingError::Corrupt { .. } => DirectoryError::inconsistent(corrupt.to_string()),
        }
    }
}

fn corrupt(tree: TreeId, what: &'static str) -> PostingError {
    PostingError::Corrupt { tree: tree.0, what }
}

fn bad_container(tree: TreeId, error: ContainerError) -> PostingError {
    corrupt(
        tree,
        match error {
            ContainerError::Form => "unknown container form",
            ContainerError::Length => "container length does not fit its form",
            ContainerError::Order => "container ids are not ascending",
        },
    )
}

/// What posting lists need of a version of the store: a published view, or a transaction in progress.
pub trait Records {
    /// Calls `read` with the value of `key`.
    fn record<R>(&self, tree: TreeId, key: &[u8], read: impl FnMut(&[u8]) -> R) -> Result<Option<R>, StoreError>;
    /// A cursor over `tree`, not yet placed.
    fn records(&self, tree: TreeId) -> Cursor<'_>;
}

impl Records for View {
    fn record<R>(&self, tree: TreeId, key: &[u8], read: impl FnMut(&[u8]) -> R) -> Result<Option<R>, StoreError> {
        self.get(tree, key, read)
    }

    fn records(&self, tree: TreeId) -> Cursor<'_> {
        self.cursor(tree)
    }
}

impl Records for WriteTxn {
    fn record<R>(&self, tree: TreeId, key: &[u8], read: impl FnMut(&[u8]) -> R) -> Result<Option<R>, StoreError> {
        self.get(tree, key, read)
    }

    fn records(&self, tree: TreeId) -> Cursor<'_> {
        self.cursor(tree)
    }
}

/// Which index of an attribute a key belongs to; the first byte of a record key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Words by sound.
    Approx = b'a',
    /// Whole values, as the equality rule compares them.
    Equality = b'e',
    /// Whole values, as the ordering rule sorts them.
    Ordering = b'o',
    /// One key: the attribute is there.
    Presence = b'p',
    /// Pieces of values.
    Substring = b's',
}

/// Bytes of a value that keep their order in a record key, whatever the length of the value. Prefixes and
/// bounds of ranges are cut to this length, which makes the range a superset of what was asked for.
pub const ORDERED_MAX: usize = SHORTENED - DIGEST;

fn cut(value: &[u8]) -> &[u8] {
    &value[..value.len().min(ORDERED_MAX)]
}

fn escape(value: &[u8], out: &mut Vec<u8>) {
    for byte in value {
        out.push(*byte);
        if *byte == 0 {
            out.push(0xff);
        }
    }
}

/// Writes the header key of `value` to `out`, replacing what it held.
pub fn write_record_key(kind: Kind, value: &[u8], out: &mut Vec<u8>) {
    out.clear();
    out.push(kind as u8);
    if value.len() > VALUE_MAX {
        escape(cut(value), out);
        escape(blake3::hash(value).as_bytes(), out);
    } else {
        escape(value, out);
    }
}

/// The header key of `value`.
pub fn record_key(kind: Kind, value: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len().min(SHORTENED) + 1);
    write_record_key(kind, value, &mut out);
    out
}

fn chunk_key(key: &[u8], chunk: u64) -> Vec<u8> {
    let mut out = Vec::with_capacity(key.len() + CHUNK_SUFFIX);
    out.extend_from_slice(key);
    out.extend_from_slice(&CHUNK_MARK);
    out.extend_from_slice(&chunk.to_be_bytes()[8 - CHUNK_NUMBER..]);
    out
}

/// The chunk number of a chunk record, `None` for a header: a header has no 00 that is not followed by ff.
fn chunk_number(key: &[u8]) -> Option<u64> {
    let at = key.len().checked_sub(CHUNK_SUFFIX)?;
    let (head, number) = key[at..].split_at(CHUNK_MARK.len());
    if head != CHUNK_MARK {
        return None;
    }
    Some(number.iter().fold(0, |chunk, byte| chunk << 8 | u64::from(*byte)))
}

fn push_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn take_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u64::from(byte & 0x7f);
        if shift == 63 && bits > 1 {
            return None;
        }
        value |= bits << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// A header record as read.
enum Header {
    One(u64),
    List(Vec<u64>),
    Chunked(u64),
}

impl Header {
    fn decode(mut bytes: &[u8]) -> Option<Header> {
        let (tag, rest) = bytes.split_first()?;
        bytes = rest;
        match *tag {
            TAG_ONE => {
                let id = take_varint(&mut bytes)?;
                bytes.is_empty().then_some(Header::One(id))
            }
            TAG_LIST => {
                let mut ids: Vec<u64> = Vec::with_capacity(LIST_MAX);
                while !bytes.is_empty() {
                    let delta = take_varint(&mut bytes)?;
                    let id = match ids.last() {
                        None => delta,
                        Some(_) if delta == 0 => return None,
                        Some(last) => last.checked_add(delta)?,
                    };
                    if ids.len() == LIST_MAX {
                        return None;
                    }
                    ids.push(id);
                }
                (!ids.is_empty()).then_some(Header::List(ids))
            }
            TAG_CHUNKED => {
                let count = take_varint(&mut bytes)?;
                bytes.is_empty().then_some(Header::Chunked(count))
            }
            _ => None,
        }
    }

    /// The number of ids, without gathering them.
    fn count(bytes: &[u8]) -> Option<u64> {
        let (tag, mut rest) = bytes.split_first()?;
        match *tag {
            TAG_ONE => Some(1),
            // Each varint ends with the one byte that has no continuation bit.
            TAG_LIST => Some(rest.iter().filter(|byte| **byte & 0x80 == 0).count() as u64),
            TAG_CHUNKED => take_varint(&mut rest),
            _ => None,
        }
    }
}

fn encode_list(ids: &[u64], out: &mut Vec<u8>) {
    out.clear();
    if let [id] = ids {
        out.push(TAG_ONE);
        push_varint(*id, out);
        return;
    }
    out.push(TAG_LIST);
    let mut before = 0;
    for id in ids {
        push_varint(id - before, out);
        before = *id;
    }
}

fn encode_chunked(count: u64, out: &mut Vec<u8>) {
    out.clear();
    out.push(TAG_CHUNKED);
    push_varint(count, out);
}

fn header(records: &impl Records, tree: TreeId, key: &[u8]) -> Result<Option<Header>, PostingError> {
    match records.record(tree, key, Header::decode)? {
        None => Ok(None),
        Some(Some(header)) => Ok(Some(header)),
        Some(None) => Err(corrupt(tree, "malformed posting header")),
    }
}

fn container(records: &impl Records, tree: TreeId, key: &[u8]) -> Result<Option<Container>, PostingError> {
    records.record(tree, key, Container::decode)?.transpose().map_err(|error| bad_container(tree, error))
}

fn by_chunk(ids: &[u64]) -> impl Iterator<Item = (u64, Vec<u16>)> {
    ids.chunk_by(|a, b| chunk_of(*a) == chunk_of(*b))
        .map(|group| (chunk_of(group[0]), group.iter().map(|id| low_of(*id)).collect()))
}

fn union_sorted(a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut out = [a, b].concat();
    out.sort_unstable();
    out.dedup();
    out
}

/// Adds `ids` (ascending, no repetition) to the list of `key`. Returns how many were not there before.
pub fn add(txn: &mut WriteTxn, tree: TreeId, key: &[u8], ids: &[u64]) -> Result<u64, PostingError> {
    debug_assert!(ids.windows(2).all(|pair| pair[0] < pair[1]));
    if ids.is_empty() {
        return Ok(0);
    }
    let mut value = Vec::new();
    let own = match header(txn, tree, key)? {
        None => Vec::new(),
        Some(Header::One(id)) => vec![id],
        Some(Header::List(ids)) => ids,
        Some(Header::Chunked(count)) => {
            let mut added = 0;
            for (chunk, lows) in by_chunk(ids) {
                let chunk_key = chunk_key(key, chunk);
                let mut set = container(txn, tree, &chunk_key)?.unwrap_or_else(|| Container::Array(Vec::new()));
                let new = set.insert(&lows);
                if new > 0 {
                    value.clear();
                    set.encode(&mut value);
                    txn.put(tree, &chunk_key, &value)?;
                    added += new as u64;
                }
            }
            if added > 0 {
                let count = count.checked_add(added).ok_or(corrupt(tree, "posting count"))?;
                encode_chunked(count, &mut value);
                txn.put(tree, key, &value)?;
            }
            return Ok(added);
        }
    };
    let all = union_sorted(&own, ids);
    let added = (all.len() - own.len()) as u64;
    if added > 0 {
        write_fresh(txn, tree, key, &all)?;
    }
    Ok(added)
}

/// Writes a list of which no chunk record exists.
fn write_fresh(txn: &mut WriteTxn, tree: TreeId, key: &[u8], ids: &[u64]) -> Result<(), PostingError> {
    encode_each(key, ids, |key, value| txn.put(tree, key, value))?;
    Ok(())
}

/// Calls `emit` with each record of the list of `key`, in key order; `ids` ascend and are not empty. This is
/// also the form in which a bulk load builds index trees.
pub fn encode_each<E>(key: &[u8], ids: &[u64], mut emit: impl FnMut(&[u8], &[u8]) -> Result<(), E>) -> Result<(), E> {
    let mut value = Vec::new();
    if ids.len() <= LIST_MAX {
        encode_list(ids, &mut value);
        return emit(key, &value);
    }
    encode_chunked(ids.len() as u64, &mut value);
    emit(key, &value)?;
    for (chunk, lows) in by_chunk(ids) {
        value.clear();
        Container::from_sorted(&lows).encode(&mut value);
        emit(&chunk_key(key, chunk), &value)?;
    }
    Ok(())
}

/// Removes `ids` (ascending, no repetition) from the list of `key`. Returns how many were there.
pub fn remove(txn: &mut WriteTxn, tree: TreeId, key: &[u8], ids: &[u64]) -> Result<u64, PostingError> {
    debug_assert!(ids.windows(2).all(|pair| pair[0] < pair[1]));
    let mut value = Vec::new();
    let mut own = match header(txn, tree, key)? {
        None => return Ok(0),
        Some(Header::One(id)) => vec![id],
        Some(Header::List(ids)) => ids,
        Some(Header::Chunked(count)) => return remove_chunked(txn, tree, key, ids, count),
    };
    let before = own.len();
    own.retain(|id| ids.binary_search(id).is_err());
    if own.len() == before {
        return Ok(0);
    }
    if own.is_empty() {
        txn.delete(tree, key)?;
    } else {
        encode_list(&own, &mut value);
        txn.put(tree, key, &value)?;
    }
    Ok((before - own.len()) as u64)
}

fn remove_chunked(txn: &mut WriteTxn, tree: TreeId, key: &[u8], ids: &[u64], count: u64) -> Result<u64, PostingError> {
    let mut value = Vec::new();
    let mut removed = 0;
    for (chunk, lows) in by_chunk(ids) {
        let chunk_key = chunk_key(key, chunk);
        let Some(mut set) = container(txn, tree, &chunk_key)? else { continue };
        let gone = set.remove(&lows);
        if gone == 0 {
            continue;
        }
        removed += gone as u64;
        if set.is_empty() {
            txn.delete(tree, &chunk_key)?;
        } else {
            value.clear();
            set.encode(&mut value);
            txn.put(tree, &chunk_key, &value)?;
        }
    }
    if removed == 0 {
        return Ok(0);
    }
    let left = count.checked_sub(removed).ok_or(corrupt(tree, "posting count"))?;
    if left > LIST_AGAIN {
        encode_chunked(left, &mut value);
        txn.put(tree, key, &value)?;
        return Ok(removed);
    }
    let rest = read_chunks(txn, tree, key, 0)?;
    if rest.len() != left {
        return Err(corrupt(tree, "posting count"));
    }
    for chunk in rest.chunks() {
        txn.delete(tree, &chunk_key(key, chunk))?;
    }
    if rest.is_empty() {
        txn.delete(tree, key)?;
    } else {
        encode_list(&rest.iter_from(0).collect::<Vec<_>>(), &mut value);
        txn.put(tree, key, &value)?;
    }
    Ok(removed)
}

/// The head of a posting list: one record read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peek {
    /// No id.
    Empty,
    /// This one.
    One(u64),
    /// This many.
    Many(u64),
}

/// What the header of `key` says: the id when there is but one, else the count.
pub fn peek(records: &impl Records, tree: TreeId, key: &[u8]) -> Result<Peek, PostingError> {
    let read = |bytes: &[u8]| match bytes.first() {
        Some(&TAG_ONE) => match Header::decode(bytes) {
            Some(Header::One(id)) => Some(Peek::One(id)),
            _ => None,
        },
        _ => Header::count(bytes).map(Peek::Many),
    };
    match records.record(tree, key, read)? {
        None => Ok(Peek::Empty),
        Some(Some(peek)) => Ok(peek),
        Some(None) => Err(corrupt(tree, "malformed posting header")),
    }
}

/// How many ids `key` has: one record read, whatever the number.
pub fn count(records: &impl Records, tree: TreeId, key: &[u8]) -> Result<u64, PostingError> {
    match records.record(tree, key, Header::count)? {
        None => Ok(0),
        Some(Some(count)) => Ok(count),
        Some(None) => Err(corrupt(tree, "malformed posting header")),
    }
}

fn read_chunks(records: &impl Records, tree: TreeId, key: &[u8], from: u64) -> Result<IdSet, PostingError> {
    let mut chunks = Vec::new();
    let mut cursor = records.records(tree);
    let mut valid = cursor.seek(&chunk_key(key, chunk_of(from)))?;
    while valid {
        let Some(suffix) = cursor.key().strip_prefix(key) else { break };
        if suffix.len() != CHUNK_SUFFIX || !suffix.starts_with(&CHUNK_MARK) {
            break;
        }
        let Some(chunk) = chunk_number(cursor.key()) else { break };
        let set = Container::decode(cursor.value()).map_err(|error| bad_container(tree, error))?;
        chunks.push((chunk, set));
        valid = cursor.next()?;
    }
    Ok(IdSet::from_chunks(chunks))
}

/// The ids of `key`, leaving out chunks that end below `from`.
pub fn read(records: &impl Records, tree: TreeId, key: &[u8], from: u64) -> Result<IdSet, PostingError> {
    match header(records, tree, key)? {
        None => Ok(IdSet::Empty),
        Some(Header::One(id)) => Ok(IdSet::One(id)),
        Some(Header::List(ids)) => Ok(IdSet::from_sorted(ids)),
        Some(Header::Chunked(_)) => read_chunks(records, tree, key, from),
    }
}

/// The ids of `key` that are also in `within`; reads only the chunks that `within` has.
pub fn read_within(records: &impl Records, tree: TreeId, key: &[u8], within: &IdSet) -> Result<IdSet, PostingError> {
    match header(records, tree, key)? {
        None => Ok(IdSet::Empty),
        Some(Header::One(id)) => Ok(within.and(&IdSet::One(id))),
        Some(Header::List(ids)) => Ok(within.and(&IdSet::from_sorted(ids))),
        Some(Header::Chunked(_)) => {
            let mut chunks = Vec::new();
            for chunk in within.chunks() {
                if let Some(set) = container(records, tree, &chunk_key(key, chunk))? {
                    chunks.push((chunk, set));
                }
            }
            Ok(within.and(&IdSet::from_chunks(chunks)))
        }
    }
}

/// Whether `id` is in the list of `key`.
pub fn contains(records: &impl Records, tree: TreeId, key: &[u8], id: u64) -> Result<bool, PostingError> {
    Ok(match header(records, tree, key)? {
        None => false,
        Some(Header::One(own)) => own == id,
        Some(Header::List(ids)) => ids.binary_search(&id).is_ok(),
        Some(Header::Chunked(_)) => {
            container(records, tree, &chunk_key(key, chunk_of(id)))?.is_some_and(|set| set.contains(low_of(id)))
        }
    })
}

/// The smallest key above every key that starts with `key`.
fn after_prefix(mut key: Vec<u8>) -> Vec<u8> {
    while key.last() == Some(&0xff) {
        key.pop();
    }
    // The kind byte is below ff, so a byte is left.
    if let Some(last) = key.last_mut() {
        *last += 1;
    }
    key
}

/// A span of header keys within one tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRange {
    /// First header key of the span.
    pub lower: Bound<Vec<u8>>,
    /// Last header key of the span.
    pub upper: Bound<Vec<u8>>,
}

impl KeyRange {
    /// All headers whose value starts with `prefix`; a superset when it is longer than [`ORDERED_MAX`].
    pub fn prefix(kind: Kind, prefix: &[u8]) -> KeyRange {
        let lower = record_key(kind, cut(prefix));
        let upper = Bound::Excluded(after_prefix(lower.clone()));
        KeyRange { lower: Bound::Included(lower), upper }
    }

    /// Headers of `kind` at or above `value`; a superset when it is longer than [`ORDERED_MAX`].
    pub fn at_least(kind: Kind, value: &[u8]) -> KeyRange {
        KeyRange { lower: Bound::Included(record_key(kind, cut(value))), upper: Bound::Excluded(vec![kind as u8 + 1]) }
    }

    /// Headers of `kind` at or below `value`; a superset when it is longer than [`ORDERED_MAX`].
    pub fn at_most(kind: Kind, value: &[u8]) -> KeyRange {
        let upper = record_key(kind, cut(value));
        KeyRange {
            lower: Bound::Included(vec![kind as u8]),
            upper: if value.len() > ORDERED_MAX {
                Bound::Excluded(after_prefix(upper))
            } else {
                Bound::Included(upper)
            },
        }
    }

    fn start(&self) -> &[u8] {
        match &self.lower {
            Bound::Included(key) | Bound::Excluded(key) => key,
            Bound::Unbounded => &[],
        }
    }

    fn holds(&self, header: &[u8]) -> bool {
        let above = match &self.lower {
            Bound::Included(key) => header >= key.as_slice(),
            Bound::Excluded(key) => header > key.as_slice(),
            Bound::Unbounded => true,
        };
        above && !self.is_past(header)
    }

    fn is_past(&self, header: &[u8]) -> bool {
        match &self.upper {
            Bound::Included(key) => header > key.as_slice(),
            Bound::Excluded(key) => header >= key.as_slice(),
            Bound::Unbounded => false,
        }
    }
}

/// The union of the lists of every key in `range`, leaving out chunks that end below `from`.
pub fn read_range(records: &impl Records, tree: TreeId, range: &KeyRange, from: u64) -> Result<IdSet, PostingError> {
    let mut union = Union::default();
    let mut cursor = records.records(tree);
    let mut valid = cursor.seek(range.start())?;
    while valid {
        let key = cursor.key();
        let chunk = chunk_number(key);
        let header = &key[..key.len() - if chunk.is_some() { CHUNK_SUFFIX } else { 0 }];
        if range.is_past(header) {
            break;
        }
        if range.holds(header) {
            match chunk {
                Some(chunk) if chunk >= chunk_of(from) => union
                    .add_chunk(chunk, Container::decode(cursor.value()).map_err(|error| bad_container(tree, error))?),
                Some(_) => {}
                None => match Header::decode(cursor.value()) {
                    Some(Header::One(id)) => union.add_id(id),
                    Some(Header::List(ids)) => ids.iter().for_each(|id| union.add_id(*id)),
                    Some(Header::Chunked(_)) => {}
                    None => return Err(corrupt(tree, "malformed posting header")),
                },
            }
        }
        valid = cursor.next()?;
    }
    Ok(union.finish())
}

/// How many ids a range has, by walking a bounded number of its keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RangeCount {
    /// Ids of the keys walked; an id with several keys counts once for each.
    pub count: u64,
    /// Whether the walk saw the whole range; otherwise `count` is a lower bound.
    pub complete: bool,
}

/// Counts the ids of `range`, looking at no more than `keys_max` keys.
pub fn count_range(
    records: &impl Records,
    tree: TreeId,
    range: &KeyRange,
    keys_max: usize,
) -> Result<RangeCount, PostingError> {
    let mut count = 0u64;
    let mut keys = 0;
    let mut cursor = records.records(tree);
    let mut valid = cursor.seek(range.start())?;
    let mut past_chunks = Vec::new();
    while valid {
        let key = cursor.key();
        if let Some(at) = key.len().checked_sub(CHUNK_SUFFIX)
            && chunk_number(key).is_some()
        {
            past_chunks.clear();
            past_chunks.extend_from_slice(&key[..at]);
            past_chunks.extend_from_slice(&CHUNKS_END);
            valid = cursor.seek(&past_chunks)?;
            continue;
        }
        if range.is_past(key) {
            break;
        }
        if range.holds(key) {
            if keys == keys_max {
                return Ok(RangeCount { count, complete: false });
            }
            keys += 1;
            let own = Header::count(cursor.value()).ok_or(corrupt(tree, "malformed posting header"))?;
            count = count.saturating_add(own);
        }
        valid = cursor.next()?;
    }
    Ok(RangeCount { count, complete: true })
}

/// Calls `visit` with each (id) of one record of an index tree, for the digest of the logical content: the
/// header key and every id that this record holds.
pub fn visit_record(
    tree: TreeId,
    key: &[u8],
    value: &[u8],
    mut visit: impl FnMut(&[u8], u64),
) -> Result<(), PostingError> {
    if let Some(chunk) = chunk_number(key) {
        let header = &key[..key.len() - CHUNK_SUFFIX];
        let set = Container::decode(value).map_err(|error| bad_container(tree, error))?;
        set.for_each(|low| visit(header, join(chunk, low)));
        return Ok(());
    }
    match Header::decode(value) {
        Some(Header::One(id)) => visit(key, id),
        Some(Header::List(ids)) => ids.iter().for_each(|id| visit(key, *id)),
        Some(Header::Chunked(_)) => {}
        None => return Err(corrupt(tree, "malformed posting header")),
    }
    Ok(())
}
