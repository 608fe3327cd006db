//! Delete (RFC 4511 4.8).

use bindery_directory::op::delete;
use bindery_wire::request::DeleteRequest;

use super::super::connection::Connection;
use super::super::respond::Answer;
use super::{answer_write, dn_text};

/// Deletes a leaf entry.
pub async fn delete(connection: &mut Connection, request: &DeleteRequest<'_>) -> Answer {
    let dn = match dn_text(request.dn) {
        Ok(dn) => dn,
        Err(answer) => return answer,
    };
    let view = connection.server.reads.latest();
    let command = delete::prepare(&view, &connection.identity, delete::DeleteRequest { dn, subtree: false });
    answer_write(connection, command).await
}
