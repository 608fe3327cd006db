//! One version of the directory, for reading.

use crate::access::AccessRules;
use crate::index::Indexes;
use crate::names::NameCache;
use crate::referral::ReferralsOnce;
use crate::settings::Settings;
use bindery_model::schema::Schema;
use bindery_store::View;
use std::sync::Arc;

/// One version of the directory: its records together with the schema, settings and indexes that belong to
/// them. Cheap to clone; holding it keeps replaced disk blocks from being reused.
#[derive(Clone)]
pub struct ReadView {
    pub(crate) store: View,
    pub(crate) schema: Arc<Schema>,
    pub(crate) settings: Arc<Settings>,
    pub(crate) indexes: Arc<Indexes>,
    pub(crate) access: Arc<AccessRules>,
    /// Names of parents, shared by all versions.
    pub(crate) names: Arc<NameCache>,
    /// Renames so far: a name kept for another number may be out of date.
    pub(crate) naming_generation: u64,
    /// Time of the last change of the schema; 0 before bootstrap.
    pub(crate) schema_time_us: u64,
    /// Filled by the first search that needs it.
    pub(crate) referrals: ReferralsOnce,
    /// Index of the last log entry in this version, 0 before the first.
    pub(crate) applied_index: u64,
}

impl ReadView {
    /// The records.
    pub fn store(&self) -> &View {
        &self.store
    }

    /// The schema of this version.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// The settings of this version.
    pub fn settings(&self) -> &Arc<Settings> {
        &self.settings
    }

    /// The indexes of this version and their states.
    pub fn indexes(&self) -> &Arc<Indexes> {
        &self.indexes
    }

    /// The access rules of this version.
    pub fn access(&self) -> &Arc<AccessRules> {
        &self.access
    }

    /// Index of the last log entry that this version contains, 0 before the first.
    pub fn applied_index(&self) -> u64 {
        self.applied_index
    }
}
