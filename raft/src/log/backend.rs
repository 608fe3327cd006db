//! What a log on disk must do. All calls block; one writer at a time, readers beside it.

use std::io;
use std::path::PathBuf;

use bindery_proto::raft as wire;
use bytes::Bytes;
use prost::Message;

use crate::codec::{CodecError, log_id_option, log_id_to_wire, need, sixteen, vote_from_wire, vote_to_wire};
use crate::core::types::{LogId, Vote};

/// Why a log cannot be opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LogError {
    #[error("{path}: {why}", path = path.display())]
    Damaged { path: PathBuf, why: String },
    #[error("{path}: {source}", path = path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl LogError {
    pub fn damaged(path: impl Into<PathBuf>, why: impl Into<String>) -> Self {
        LogError::Damaged { path: path.into(), why: why.into() }
    }

    pub fn io(path: impl Into<PathBuf>, source: io::Error) -> Self {
        LogError::Io { path: path.into(), source }
    }
}

/// One entry, encoded.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub log_id: LogId,
    pub bytes: Bytes,
}

/// Whose log this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogIdentity {
    pub cluster_id: [u8; 16],
    pub node_id: u64,
}

/// All that is stored beside the entries, always written as one record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LogMeta {
    pub vote: Option<Vote>,
    pub committed: Option<LogId>,
    pub purged: Option<LogId>,
    pub identity: Option<LogIdentity>,
}

impl LogMeta {
    pub fn encode(&self) -> Vec<u8> {
        wire::LogMeta {
            vote: self.vote.as_ref().map(vote_to_wire),
            committed: self.committed.as_ref().map(log_id_to_wire),
            purged: self.purged.as_ref().map(log_id_to_wire),
            identity: self
                .identity
                .map(|i| wire::LogIdentity { cluster_id: Bytes::copy_from_slice(&i.cluster_id), node_id: i.node_id }),
        }
        .encode_to_vec()
    }

    pub fn decode(bytes: &[u8]) -> Result<LogMeta, CodecError> {
        let meta = wire::LogMeta::decode(bytes)?;
        let identity = need(meta.identity, "identity")?;
        Ok(LogMeta {
            vote: meta.vote.map(vote_from_wire),
            committed: log_id_option(meta.committed)?,
            purged: log_id_option(meta.purged)?,
            identity: Some(LogIdentity {
                cluster_id: sixteen(&identity.cluster_id, "cluster_id")?,
                node_id: identity.node_id,
            }),
        })
    }
}

/// What was found at open.
pub(crate) struct Opened {
    pub backend: Box<dyn Backend>,
    /// `None` = the log was just created.
    pub meta: Option<LogMeta>,
    /// The last entry, or the purge point.
    pub last: Option<LogId>,
}

/// What a sync is for. The committed position changes with every batch, and being a lower bound need not
/// be durable: syncing entries alone saves half the syncs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SyncScope {
    pub entries: bool,
    pub meta: bool,
}

/// A log on disk.
pub(crate) trait Backend: Send + Sync {
    /// Writes entries that follow the last; durable after the next [`Backend::sync`].
    fn append(&self, records: &[Record]) -> io::Result<()>;

    /// Writes the metadata; durable after the next [`Backend::sync`]. Until then either the new or the last
    /// synced one is found after a crash.
    fn set_meta(&self, meta: &LogMeta) -> io::Result<()>;

    /// Makes what was written so far durable.
    fn sync(&self, scope: SyncScope) -> io::Result<()>;

    /// Removes the entries from `index` on; durable on return.
    fn truncate_from(&self, index: u64) -> io::Result<()>;

    /// Deletes whole segments that end at or before `upto`. The purge point in the metadata is already
    /// durable.
    fn delete_purged(&self, upto: u64) -> io::Result<()>;

    /// Encoded entries from `from` up to and excluding `to`, in order, stopping after `max_bytes` (never
    /// before the first). Empty if `from` is not there.
    fn read(&self, from: u64, to: u64, max_bytes: usize) -> io::Result<Vec<Bytes>>;

    /// The last index of the newest segment that ends at or before `upto` and has at least `retain_bytes`
    /// in the segments behind it: purging up to there frees space.
    fn purge_boundary(&self, upto: u64, retain_bytes: u64) -> Option<u64>;
}

/// Checks entry after entry that a log is contiguous and in order.
pub(crate) struct OrderCheck {
    last: Option<LogId>,
}

impl OrderCheck {
    /// `before` is the entry before the first to be given, if it is known.
    pub fn new(before: Option<LogId>) -> Self {
        OrderCheck { last: before }
    }

    pub fn push(&mut self, id: LogId) -> Result<(), String> {
        if let Some(last) = self.last {
            if last.index.checked_add(1) != Some(id.index) {
                return Err(format!("entry {} follows entry {}", id.index, last.index));
            }
            if id.leader_id < last.leader_id {
                return Err(format!("entry {id} has an older leader than its predecessor {last}"));
            }
        }
        self.last = Some(id);
        Ok(())
    }

    pub fn last(&self) -> Option<LogId> {
        self.last
    }
}

/// See [`Backend::purge_boundary`]. The newest segment is never offered: it is being written.
pub(crate) fn boundary(
    segments: impl DoubleEndedIterator<Item = (Option<u64>, u64)>,
    upto: u64,
    retain_bytes: u64,
) -> Option<u64> {
    let mut behind: Option<u64> = None;
    for (last, bytes) in segments.rev() {
        if let (Some(behind), Some(last)) = (behind, last)
            && last <= upto
            && behind >= retain_bytes
        {
            return Some(last);
        }
        behind = Some(behind.unwrap_or(0) + bytes);
    }
    None
}
