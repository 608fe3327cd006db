//! The directory as one object: opened on a folder, read through views, changed by log entries.

use crate::access::{AccessRules, default_rules};
use crate::apply::Batch;
use crate::command::{LogEntry, LogPosition};
use crate::error::DirectoryError;
use crate::index::maintain::Deltas;
use crate::names::NameCache;
use crate::referral::ReferralsOnce;
use crate::snapshot::{self, SnapshotReader, SnapshotWriter};
use crate::state::{self, State};
use crate::view::ReadView;
use arc_swap::ArcSwap;
use bindery_store::{CheckpointInfo, FileSystem, Store, StoreError, StoreOptions, StoreStats, VerifyReport};
use bytes::Bytes;
use parking_lot::Mutex;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How a directory is opened.
#[derive(Debug, Clone)]
pub struct DirectoryOptions {
    /// The store's options.
    pub store: StoreOptions,
    /// Memory for the store that a snapshot is installed into, in bytes; it stands beside the present store until
    /// the switch.
    pub install_arena_bytes: usize,
    /// Changes of indexes that are gathered before they are written, in bytes; those of one command may exceed it.
    pub index_changes_bytes: usize,
}

impl Default for DirectoryOptions {
    fn default() -> DirectoryOptions {
        DirectoryOptions { store: StoreOptions::default(), install_arena_bytes: 8 << 20, index_changes_bytes: 32 << 20 }
    }
}

/// How far the log has been applied.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Applied {
    /// Position of the last entry; `None` before the first.
    pub position: Option<LogPosition>,
    /// The membership in force there, with the position of the entry that set it.
    pub membership: Option<(LogPosition, Bytes)>,
}

/// A directory; clones share it.
#[derive(Clone)]
pub struct Directory(Arc<Shared>);

struct Shared {
    files: Arc<dyn FileSystem>,
    folder: PathBuf,
    options: DirectoryOptions,
    /// Held by apply and by the switch of an install. False once a switch failed half way: the open store is then
    /// no longer the one in the folder.
    usable: Mutex<bool>,
    current: ArcSwap<Version>,
}

/// The newest version and the store that holds it.
pub(crate) struct Version {
    store: Store,
    view: ReadView,
    state: State,
}

impl Version {
    /// Opens the store in `path` and reads its configuration.
    pub(crate) fn open(
        files: Arc<dyn FileSystem>,
        path: &Path,
        options: StoreOptions,
    ) -> Result<Version, DirectoryError> {
        let store = Store::open(files, path, options)?;
        let view = store.view();
        let state = State::load(&view)?;
        let schema = state::load_schema(&view)?;
        let settings = state::load_settings(&view, &schema)?;
        let indexes = state::load_indexes(&view)?;
        let access = AccessRules::new(&default_rules(), &schema);
        let view = ReadView {
            store: view,
            schema: Arc::new(schema),
            settings: Arc::new(settings),
            indexes: Arc::new(indexes),
            access: Arc::new(access),
            names: Arc::new(NameCache::default()),
            naming_generation: state.renames,
            schema_time_us: state.schema_time_us,
            referrals: ReferralsOnce::default(),
            applied_index: state.applied.map_or(0, |position| position.index),
        };
        Ok(Version { store, view, state })
    }
}

impl Directory {
    /// Opens the directory in `folder`, which is made if it does not exist; finishes or undoes a snapshot install that a
    /// crash interrupted.
    ///
    /// # Errors
    /// The store's, files' errors, or a store of an unknown layout.
    pub fn open(
        files: Arc<dyn FileSystem>,
        folder: &Path,
        options: DirectoryOptions,
    ) -> Result<Directory, DirectoryError> {
        let failed = |source| DirectoryError::File { what: format!("creating {}", folder.display()), source };
        files.create_dir_all(folder).map_err(failed)?;
        snapshot::recover(&*files, folder)?;
        let version = Version::open(files.clone(), &snapshot::store_path(folder), options.store.clone())?;
        Ok(Directory(Arc::new(Shared {
            files,
            folder: folder.to_owned(),
            options,
            usable: Mutex::new(true),
            current: ArcSwap::from_pointee(version),
        })))
    }

    /// The newest version.
    pub fn view(&self) -> ReadView {
        self.0.current.load().view.clone()
    }

    /// Applies log entries in order and returns their encoded replies (`command::Reply`; empty for blank entries and
    /// memberships). All of them become visible at once.
    ///
    /// # Errors
    /// The store's: then nothing of the batch has happened. A command that cannot be done is a reply, not an error.
    pub fn apply(&self, entries: &[LogEntry]) -> Result<Vec<Bytes>, DirectoryError> {
        let usable = self.0.usable.lock();
        if !*usable {
            return Err(StoreError::Poisoned.into());
        }
        let version = self.0.current.load_full();
        let mut batch = Batch {
            txn: version.store.begin(),
            schema: version.view.schema.clone(),
            settings: version.view.settings.clone(),
            indexes: version.view.indexes.clone(),
            access: version.view.access.clone(),
            state: version.state.clone(),
            deltas: Deltas::new(self.0.options.index_changes_bytes),
        };
        let replies = batch.run(entries)?;
        let Batch { txn, schema, settings, indexes, access, state, .. } = batch;
        let store = txn.commit(&label(state.applied))?;
        let applied_index = state.applied.map_or(0, |position| position.index);
        let view = ReadView {
            store,
            schema,
            settings,
            indexes,
            access,
            names: version.view.names.clone(),
            naming_generation: state.renames,
            schema_time_us: state.schema_time_us,
            referrals: ReferralsOnce::default(),
            applied_index,
        };
        self.0.current.store(Arc::new(Version { store: version.store.clone(), view, state }));
        Ok(replies)
    }

    /// How far the log has been applied in memory.
    ///
    /// # Errors
    /// The store's.
    pub fn applied(&self) -> Result<Applied, DirectoryError> {
        let version = self.0.current.load_full();
        applied_at(&version.view, version.state.applied)
    }

    /// How far the log has been applied in the *older* of the two durable checkpoints: the log may be purged up to
    /// there. When a crash tore the newest checkpoint only one is left, and it is the one to replay from: the log was
    /// never purged behind it. `None` while nothing that was applied is durable twice.
    ///
    /// # Errors
    /// The store's.
    pub fn durable(&self) -> Result<Option<Applied>, DirectoryError> {
        let version = self.0.current.load_full();
        let (older, newer) = version.store.checkpoint_labels();
        match older.or(newer).as_deref().and_then(LogPosition::parse) {
            None => Ok(None),
            Some(position) => applied_at(&version.view, Some(position)).map(Some),
        }
    }

    /// Makes the newest version durable. May run beside readers and apply.
    ///
    /// # Errors
    /// The store's; after one, nothing more can be written.
    pub fn checkpoint(&self) -> Result<CheckpointInfo, DirectoryError> {
        let store = self.0.current.load().store.clone();
        Ok(store.checkpoint()?)
    }

    /// Whether so much is not durable that a checkpoint should be made now.
    pub fn needs_checkpoint(&self) -> bool {
        self.0.current.load().store.needs_checkpoint()
    }

    /// Counters of the store.
    pub fn store_stats(&self) -> StoreStats {
        self.0.current.load().store.stats()
    }

    /// Walks and checks the whole store.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn verify_store(&self) -> Result<VerifyReport, DirectoryError> {
        let store = self.0.current.load().store.clone();
        Ok(store.verify()?)
    }

    /// A stream of the newest version.
    ///
    /// # Errors
    /// The store's.
    pub fn snapshot(&self) -> Result<SnapshotReader, DirectoryError> {
        let version = self.0.current.load_full();
        let applied = applied_at(&version.view, version.state.applied)?;
        SnapshotReader::new(version.view.store.clone(), applied)
    }

    /// Begins to install a snapshot beside the present directory, which goes on serving until
    /// [`SnapshotWriter::finish`].
    ///
    /// # Errors
    /// The store's, or files' errors.
    pub fn begin_install(&self) -> Result<SnapshotWriter, DirectoryError> {
        let options = StoreOptions { arena_bytes: self.0.options.install_arena_bytes, ..self.0.options.store.clone() };
        SnapshotWriter::new(self.clone(), self.0.files.clone(), &self.0.folder, options)
    }

    /// Puts the finished store of an install in place of the present one.
    pub(crate) fn switch(&self) -> Result<(), DirectoryError> {
        let mut usable = self.0.usable.lock();
        *usable = false;
        snapshot::commit_install(&*self.0.files, &self.0.folder)?;
        let path = snapshot::store_path(&self.0.folder);
        let version = Version::open(self.0.files.clone(), &path, self.0.options.store.clone())?;
        self.0.current.store(Arc::new(version));
        *usable = true;
        Ok(())
    }
}

/// The label of a version: its applied position.
pub(crate) fn label(applied: Option<LogPosition>) -> Vec<u8> {
    applied.map(|position| position.encode().to_vec()).unwrap_or_default()
}

fn applied_at(view: &ReadView, position: Option<LogPosition>) -> Result<Applied, DirectoryError> {
    let membership = match position {
        Some(position) => state::membership_at(&view.store, position.index)?,
        None => None,
    };
    Ok(Applied { position, membership })
}
