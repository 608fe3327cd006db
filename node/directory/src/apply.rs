//! Applies a batch of log entries in one transaction.
//!
//! Each command sees the effects of those before it. A command decides everything before its first write,
//! so that a refused one leaves nothing behind; an error of the store ends the whole batch, and dropping
//! the transaction undoes it.

use crate::access::{AccessRules, default_rules};
use crate::command::{Body, Command, Done, LogEntry, LogPosition, Operation, Reply, Stamp};
use crate::error::{DirectoryError, OpError, OpErrorKind, Stop};
use crate::identity::Identity;
use crate::index::Indexes;
use crate::index::maintain::Deltas;
use crate::op;
use crate::settings::Settings;
use crate::stamp::TIME_MAX_US;
use crate::state::State;
use crate::tables::{self, META};
use bindery_model::schema::Schema;
use bindery_store::WriteTxn;
use bytes::Bytes;
use std::sync::Arc;

/// Membership records kept: enough to know the one of each of the two durable checkpoints, since
/// checkpoints are far more frequent than changes of membership.
const MEMBERSHIPS_KEPT: usize = 64;

/// A batch in progress.
pub(crate) struct Batch {
    pub(crate) txn: WriteTxn,
    pub(crate) schema: Arc<Schema>,
    pub(crate) settings: Arc<Settings>,
    pub(crate) indexes: Arc<Indexes>,
    pub(crate) access: Arc<AccessRules>,
    pub(crate) state: State,
    pub(crate) deltas: Deltas,
}

/// What an operation knows of the command beside its own fields.
pub(crate) struct Context {
    pub(crate) identity: Identity,
    pub(crate) position: LogPosition,
    /// Never earlier than that of any command before.
    pub(crate) time_us: u64,
    pub(crate) random: [u8; 16],
}

impl Context {
    /// The name for `creatorsName` and `modifiersName`.
    pub(crate) fn requester_dn(&self, settings: &Settings) -> String {
        match &self.identity {
            Identity::Anonymous => String::new(),
            Identity::Admin => settings.admin_dn().map(ToString::to_string).unwrap_or_default(),
            Identity::User { dn, .. } => dn.clone(),
        }
    }

    /// Refuses what only the administrator may do.
    pub(crate) fn require_admin(&self, what: &str) -> Result<(), OpError> {
        match self.identity {
            Identity::Admin => Ok(()),
            _ => Err(OpError::new(OpErrorKind::InsufficientAccess, format!("only the administrator may {what}"))),
        }
    }
}

impl Batch {
    /// Applies `entries` in order and answers each with an encoded [`Reply`] (blank entries and memberships with
    /// nothing).
    pub(crate) fn run(&mut self, entries: &[LogEntry]) -> Result<Vec<Bytes>, DirectoryError> {
        let mut replies = Vec::with_capacity(entries.len());
        for entry in entries {
            if let Some(applied) = self.state.applied
                && entry.position.index <= applied.index
            {
                return Err(DirectoryError::OutOfOrder { offered: entry.position.index, applied: applied.index });
            }
            replies.push(match &entry.body {
                Body::Blank => Bytes::new(),
                Body::Membership(membership) => {
                    self.put_membership(entry.position, membership)?;
                    Bytes::new()
                }
                Body::Command { stamp, payload } => self.command(entry.position, stamp, payload)?.to_bytes(),
            });
            self.state.applied = Some(entry.position);
            if self.deltas.is_large() {
                self.deltas.write(&mut self.txn)?;
            }
        }
        self.deltas.write(&mut self.txn)?;
        self.state.save(&mut self.txn)?;
        Ok(replies)
    }

    fn command(&mut self, position: LogPosition, stamp: &Stamp, payload: &Bytes) -> Result<Reply, DirectoryError> {
        match self.decide(position, stamp, payload) {
            Ok(done) => Ok(Reply::Done(done)),
            Err(Stop::Refused { error, entry }) => Ok(Reply::Refused { error, entry }),
            Err(Stop::Failed(error)) => Err(error),
        }
    }

    fn decide(&mut self, position: LogPosition, stamp: &Stamp, payload: &Bytes) -> Result<Done, Stop> {
        if stamp.time_us > TIME_MAX_US {
            return Err(OpError::new(OpErrorKind::Protocol, "the command's time is after the year 9999").into());
        }
        self.state.time_us = self.state.time_us.max(stamp.time_us);
        let command = Command::from_payload(payload)?;
        if command.level == 0 || command.level > self.state.feature_level {
            return Err(OpError::new(
                OpErrorKind::UnwillingToPerform,
                format!(
                    "the command needs feature level {}, the cluster has {}",
                    command.level, self.state.feature_level
                ),
            )
            .into());
        }
        let (Some(requester), Some(operation)) = (command.requester, command.operation) else {
            return Err(OpError::new(OpErrorKind::Protocol, "the command is not whole").into());
        };
        let context =
            Context { identity: requester.identity(), position, time_us: self.state.time_us, random: stamp.random };
        match operation {
            Operation::Add(add) => op::add::apply(self, &context, add),
            Operation::Delete(delete) => op::delete::apply(self, &context, delete),
            Operation::Modify(modify) => op::modify::apply(self, &context, modify),
            Operation::ModifyDn(modify_dn) => op::modify_dn::apply(self, &context, modify_dn),
            Operation::AddBlock(block) => op::add_block::apply(self, &context, block),
            Operation::Bootstrap(bootstrap) => op::bootstrap::apply(self, &context, bootstrap),
            Operation::SchemaAdd(add) => op::schema_add::apply(self, &context, add),
            Operation::IndexAdd(change) => op::index_change::add(self, &context, change),
            Operation::IndexDrop(change) => op::index_change::drop(self, &context, change),
            Operation::IndexBuild(_) => op::index_build::apply(self, &context),
            Operation::SuffixAdd(suffix) => op::configure::suffix_add(self, &context, suffix),
            Operation::SuffixDrop(suffix) => op::configure::suffix_drop(self, &context, suffix),
            Operation::SetAdmin(admin) => op::configure::set_admin(self, &context, admin),
            Operation::SetSetting(setting) => op::configure::set_setting(self, &context, setting),
            Operation::FeatureRaise(raise) => op::configure::feature_raise(self, &context, raise),
        }
    }

    /// Takes over a changed schema, settings or indexes for the commands that follow.
    pub(crate) fn set_configuration(&mut self, schema: Arc<Schema>, settings: Arc<Settings>, indexes: Arc<Indexes>) {
        self.access = Arc::new(AccessRules::new(&default_rules(), &schema));
        self.schema = schema;
        self.settings = settings;
        self.indexes = indexes;
    }

    fn put_membership(&mut self, position: LogPosition, membership: &Bytes) -> Result<(), DirectoryError> {
        let mut value = position.encode().to_vec();
        value.extend_from_slice(membership);
        self.txn.put(META, &tables::membership_key(position.index), &value)?;
        let mut keys = tables::keys_with_prefix(&self.txn, META, tables::membership_prefix())?;
        while keys.len() > MEMBERSHIPS_KEPT {
            self.txn.delete(META, &keys.remove(0))?;
        }
        Ok(())
    }
}
