//! Changing what must agree cluster-wide: naming contexts, the administrator, named settings, the feature level.

use crate::apply::{Batch, Context};
use crate::command::{Command, Done, FEATURE_LEVEL, FeatureRaise, Operation, SetAdmin, SetSetting, Suffix};
use crate::dit;
use crate::error::{DirectoryError, OpError, OpErrorKind, Stop};
use crate::identity::Identity;
use crate::settings::{SettingValue, Settings, SettingsRecord, suffix_rdn_key};
use crate::tables::{META, META_SETTINGS, ROOT_ID};
use prost::Message;
use std::sync::Arc;

/// Makes the command of one of these operations.
///
/// # Errors
/// Access: only the administrator may.
pub fn prepare(identity: &Identity, operation: Operation) -> Result<Command, OpError> {
    if let Operation::FeatureRaise(raise) = &operation
        && raise.level > FEATURE_LEVEL
    {
        return Err(OpError::new(
            OpErrorKind::UnwillingToPerform,
            format!("this version knows feature levels up to {FEATURE_LEVEL}"),
        ));
    }
    match identity {
        Identity::Admin => Ok(Command::new(identity, operation)),
        _ => Err(OpError::new(OpErrorKind::InsufficientAccess, "only the administrator may change settings")),
    }
}

/// Refuses while there is no bootstrap to change.
pub(crate) fn require_founded(batch: &Batch) -> Result<(), OpError> {
    if batch.state.founded {
        Ok(())
    } else {
        Err(OpError::new(OpErrorKind::UnwillingToPerform, "the directory is not founded yet"))
    }
}

pub(crate) fn suffix_add(batch: &mut Batch, context: &Context, suffix: Suffix) -> Result<Done, Stop> {
    change(batch, context, |record| {
        record.naming_contexts.push(suffix.dn);
        Ok(())
    })
}

pub(crate) fn suffix_drop(batch: &mut Batch, context: &Context, suffix: Suffix) -> Result<Done, Stop> {
    let name = super::Name::parse(&suffix.dn, &batch.schema)?;
    if dit::child(&batch.txn, ROOT_ID, &suffix_rdn_key(&name.norm))?.is_some() {
        return Err(OpError::new(
            OpErrorKind::NotAllowedOnNonLeaf,
            format!("naming context {} still holds entries", name.dn),
        )
        .into());
    }
    let at = batch.settings.naming_contexts().iter().position(|context| context.norm == name.norm);
    let at =
        at.ok_or_else(|| OpError::new(OpErrorKind::NoSuchAttribute, format!("{} is not a naming context", name.dn)))?;
    change(batch, context, |record| {
        record.naming_contexts.remove(at);
        Ok(())
    })
}

pub(crate) fn set_admin(batch: &mut Batch, context: &Context, admin: SetAdmin) -> Result<Done, Stop> {
    change(batch, context, |record| {
        if let Some(dn) = admin.dn {
            record.admin_dn = Some(dn);
        }
        if let Some(password) = admin.password {
            record.admin_password = password;
        }
        Ok(())
    })
}

pub(crate) fn set_setting(batch: &mut Batch, context: &Context, setting: SetSetting) -> Result<Done, Stop> {
    change(batch, context, |record| {
        let at = record.values.binary_search_by(|known| known.name.cmp(&setting.name));
        match (at, setting.value) {
            (Ok(at), Some(value)) => record.values[at].value = value,
            (Ok(at), None) => {
                record.values.remove(at);
            }
            (Err(at), Some(value)) => record.values.insert(at, SettingValue { name: setting.name, value }),
            (Err(_), None) => {
                return Err(OpError::new(OpErrorKind::NoSuchAttribute, format!("setting {} is not set", setting.name)));
            }
        }
        Ok(())
    })
}

fn change(
    batch: &mut Batch,
    context: &Context,
    edit: impl FnOnce(&mut SettingsRecord) -> Result<(), OpError>,
) -> Result<Done, Stop> {
    context.require_admin("change settings")?;
    require_founded(batch)?;
    let mut record = batch.settings.record().clone();
    edit(&mut record)?;
    let settings = Settings::from_record(record, &batch.schema)?;

    batch.txn.put(META, META_SETTINGS, &settings.record().encode_to_vec())?;
    let (schema, indexes) = (batch.schema.clone(), batch.indexes.clone());
    batch.set_configuration(schema, Arc::new(settings), indexes);
    Ok(Done::default())
}

/// Raises the level by one step, so that an absurd level in the log is refused on every node alike. A node that does
/// not know the next level stops before applying anything that depends on it.
pub(crate) fn feature_raise(batch: &mut Batch, context: &Context, raise: FeatureRaise) -> Result<Done, Stop> {
    context.require_admin("raise the feature level")?;
    if batch.state.feature_level.checked_add(1) != Some(raise.level) {
        return Err(OpError::new(
            OpErrorKind::UnwillingToPerform,
            format!("the feature level is {} and rises by one", batch.state.feature_level),
        )
        .into());
    }
    if raise.level > FEATURE_LEVEL {
        return Err(DirectoryError::FeatureLevel { needed: raise.level, known: FEATURE_LEVEL }.into());
    }
    batch.state.feature_level = raise.level;
    Ok(Done::default())
}
