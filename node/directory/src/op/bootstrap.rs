//! The first command of a cluster: schema, naming contexts, administrator, indexes and settings.

use crate::apply::{Batch, Context};
use crate::command::{Bootstrap, Command, Done, IndexChange, Operation, SetSetting};
use crate::error::{OpError, OpErrorKind, Stop};
use crate::identity::Identity;
use crate::index::config::IndexTypes;
use crate::index::{Index, Indexes, keys};
use crate::settings::{SettingValue, Settings, SettingsRecord};
use crate::state;
use crate::tables::{META, META_SETTINGS};
use bindery_model::schema::Schema;
use bindery_store::TreeId;
use prost::Message;
use std::sync::Arc;

/// What the node that forms the cluster was configured with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BootstrapRequest {
    /// DNs of the naming contexts.
    pub naming_contexts: Vec<String>,
    /// DN of the administrator.
    pub admin_dn: Option<String>,
    /// Hashed password of the administrator; empty for none.
    pub admin_password: Vec<u8>,
    /// Indexes; an attribute that the schema does not define is left out.
    pub indexes: Vec<(String, IndexTypes)>,
    /// Named settings.
    pub settings: Vec<(String, String)>,
}

/// Makes the founding command, which carries the whole of `schema`.
///
/// # Errors
/// What apply would refuse: names, or settings out of bounds.
pub fn prepare(schema: &Schema, request: BootstrapRequest) -> Result<Command, OpError> {
    let indexes = request
        .indexes
        .into_iter()
        .filter(|(attribute, _)| schema.attribute(attribute).is_some())
        .map(|(attribute, types)| IndexChange { attribute, types: u32::from(types.bits()) })
        .collect();
    let bootstrap = Bootstrap {
        naming_contexts: request.naming_contexts,
        admin_dn: request.admin_dn,
        admin_password: request.admin_password,
        schema: state::schema_definitions(schema),
        indexes,
        settings: request.settings.into_iter().map(|(name, value)| SetSetting { name, value: Some(value) }).collect(),
    };
    Settings::from_record(record(&bootstrap), schema)?;
    Ok(Command::new(&Identity::Admin, Operation::Bootstrap(bootstrap)))
}

fn record(bootstrap: &Bootstrap) -> SettingsRecord {
    let mut values: Vec<SettingValue> = bootstrap
        .settings
        .iter()
        .filter_map(|setting| {
            let value = setting.value.clone()?;
            Some(SettingValue { name: setting.name.clone(), value })
        })
        .collect();
    values.sort_by(|a, b| a.name.cmp(&b.name));
    values.dedup_by(|a, b| a.name == b.name);
    SettingsRecord {
        naming_contexts: bootstrap.naming_contexts.clone(),
        admin_dn: bootstrap.admin_dn.clone(),
        admin_password: bootstrap.admin_password.clone(),
        values,
    }
}

pub(crate) fn apply(batch: &mut Batch, context: &Context, bootstrap: Bootstrap) -> Result<Done, Stop> {
    context.require_admin("found the directory")?;
    if batch.state.founded {
        return Err(OpError::new(OpErrorKind::UnwillingToPerform, "the directory is founded already").into());
    }
    let schema = state::schema_from(&bootstrap.schema)?;
    let settings = Settings::from_record(record(&bootstrap), &schema)?;
    let mut next_tree = batch.state.next_tree;
    let mut indexes: Vec<Index> = Vec::new();
    for change in &bootstrap.indexes {
        let (attribute, types) = super::index_change::wanted(&schema, change)?;
        match indexes.iter_mut().find(|index| index.attribute == attribute.id) {
            Some(index) => index.ready = index.ready.or(types),
            None => {
                indexes.push(Index {
                    attribute: attribute.id,
                    tree: TreeId(next_tree),
                    ready: types,
                    building: IndexTypes::default(),
                    next_id: 0,
                });
                next_tree += 1;
            }
        }
    }
    for index in &mut indexes {
        if let Some(attribute) = schema.attribute_by_id(index.attribute) {
            index.ready = keys::supported(attribute, index.ready);
        }
    }

    state::save_schema(&mut batch.txn, None, &schema)?;
    batch.txn.put(META, META_SETTINGS, &settings.record().encode_to_vec())?;
    for index in &indexes {
        state::save_index(&mut batch.txn, index)?;
    }
    batch.state.next_tree = next_tree;
    batch.state.founded = true;
    batch.state.schema_time_us = context.time_us;
    batch.set_configuration(Arc::new(schema), Arc::new(settings), Arc::new(Indexes::new(indexes)));
    Ok(Done::default())
}
