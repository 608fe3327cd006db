//! Modify (RFC 4511 4.6, RFC 4525).

use bindery_directory::command::{ChangeKind, Command};
use bindery_directory::op::modify;
use bindery_directory::{OpError, ReadView};
use bindery_wire::request::{ChangeOperation, ModifyRequest};

use super::super::connection::Connection;
use super::super::respond::Answer;
use super::{answer_write, description_text, dn_text, has_clear_values, hash_clear_values};

/// Changes an entry's attributes.
pub async fn modify(connection: &mut Connection, request: &ModifyRequest<'_>) -> Answer {
    let view = connection.server.reads.latest();
    match prepare(connection, &view, request).await {
        Ok(command) => answer_write(connection, command).await,
        Err(answer) => answer,
    }
}

async fn prepare(
    connection: &Connection,
    view: &ReadView,
    request: &ModifyRequest<'_>,
) -> Result<Result<Command, OpError>, Answer> {
    let mut changes = Vec::with_capacity(request.changes.len());
    for change in request.changes.iter() {
        let description = description_text(change.modification.description);
        let values: Vec<Vec<u8>> = change.modification.values.iter().map(<[u8]>::to_vec).collect();
        let kind = match change.operation {
            ChangeOperation::Add => ChangeKind::Add,
            ChangeOperation::Delete => ChangeKind::Delete,
            ChangeOperation::Replace => ChangeKind::Replace,
            ChangeOperation::Increment => ChangeKind::Increment,
        };
        changes.push((kind, description, values));
    }
    let mut request = modify::ModifyRequest { dn: dn_text(request.dn)?, changes };
    let sets = |kind: &ChangeKind| matches!(kind, ChangeKind::Add | ChangeKind::Replace);
    let set = request.changes.iter().filter(|(kind, ..)| sets(kind));
    if has_clear_values(view, set.map(|(_, name, values)| (name.as_str(), values.as_slice())))? {
        modify::prepare(view, &connection.identity, request.clone())?;
        for (_, description, values) in request.changes.iter_mut().filter(|(kind, ..)| sets(kind)) {
            hash_clear_values(connection, view, description, values).await?;
        }
    }
    Ok(modify::prepare(view, &connection.identity, request))
}
