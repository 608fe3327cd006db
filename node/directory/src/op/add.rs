//! Add (RFC 4511 4.7).

use crate::apply::{Batch, Context};
use crate::command::{Add, AttributeValues, Command, Done, ExistingMode, Operation};
use crate::error::{OpError, Stop};
use crate::identity::Identity;
use crate::op;
use crate::op::add_block::{Origin, Plan};
use crate::view::ReadView;

/// What a client asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddRequest {
    /// DN of the new entry.
    pub dn: String,
    /// Attribute descriptions with their values; passwords hashed.
    pub attributes: Vec<(String, Vec<Vec<u8>>)>,
}

/// Refuses early what would be refused in any case, and makes the command.
///
/// # Errors
/// Access, the name, or the attribute descriptions. Whether parent and name fit is decided by apply.
pub fn prepare(view: &ReadView, identity: &Identity, request: AddRequest) -> Result<Command, OpError> {
    op::require_tree_access(identity, "add entries")?;
    op::Name::parse(&request.dn, view.schema())?;
    let mut attributes = Vec::with_capacity(request.attributes.len());
    for (description, values) in request.attributes {
        let known = op::parse_description(&description, view.schema())?;
        op::refuse_unmodifiable(op::attribute_type(&known, view.schema())?)?;
        attributes.push(AttributeValues { description, values });
    }
    Ok(Command::new(identity, Operation::Add(Add { dn: request.dn, attributes })))
}

pub(crate) fn apply(batch: &mut Batch, context: &Context, add: Add) -> Result<Done, Stop> {
    op::require_known(&batch.txn, &context.identity)?;
    op::require_tree_access(&context.identity, "add entries")?;
    let mut plan = Plan::new(batch, context, ExistingMode::Error, Origin::Client);
    plan.decide(batch, add)?;
    plan.write(batch).map_err(Stop::Failed)
}
