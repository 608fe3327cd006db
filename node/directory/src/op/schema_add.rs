//! Adding schema definitions while the directory runs.

use crate::apply::{Batch, Context};
use crate::command::{Command, Done, Operation, SchemaAdd};
use crate::error::{OpError, OpErrorKind, Stop};
use crate::identity::Identity;
use crate::op::configure::require_founded;
use crate::state;
use crate::view::ReadView;
use std::sync::Arc;

/// Checks the text against the present schema and makes the command.
///
/// # Errors
/// Access, or what is wrong with the text.
pub fn prepare(view: &ReadView, identity: &Identity, text: String) -> Result<Command, OpError> {
    if *identity != Identity::Admin {
        return Err(OpError::new(OpErrorKind::InsufficientAccess, "only the administrator may change the schema"));
    }
    let mut schema = view.schema().as_ref().clone();
    schema.add_text(&text).map_err(|error| OpError::new(OpErrorKind::ConstraintViolation, error.to_string()))?;
    Ok(Command::new(identity, Operation::SchemaAdd(SchemaAdd { text })))
}

pub(crate) fn apply(batch: &mut Batch, context: &Context, add: SchemaAdd) -> Result<Done, Stop> {
    context.require_admin("change the schema")?;
    require_founded(batch)?;
    let mut schema = batch.schema.as_ref().clone();
    let before = schema.definitions().count();
    schema.add_text(&add.text).map_err(|error| OpError::new(OpErrorKind::ConstraintViolation, error.to_string()))?;
    let added = schema.definitions().count().saturating_sub(before);

    state::save_schema(&mut batch.txn, Some(&batch.schema), &schema)?;
    batch.state.schema_time_us = context.time_us;
    let (settings, indexes) = (batch.settings.clone(), batch.indexes.clone());
    batch.set_configuration(Arc::new(schema), settings, indexes);
    Ok(Done { definitions: added as u32, ..Done::default() })
}
