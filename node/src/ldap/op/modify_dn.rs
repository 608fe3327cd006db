//! Modify DN (RFC 4511 4.9).

use bindery_directory::op::modify_dn;
use bindery_wire::request::ModifyDnRequest;

use super::super::connection::Connection;
use super::super::respond::Answer;
use super::{answer_write, dn_text};

/// Renames an entry, or moves a subtree.
pub async fn modify_dn(connection: &mut Connection, request: &ModifyDnRequest<'_>) -> Answer {
    let request = match convert(request) {
        Ok(request) => request,
        Err(answer) => return answer,
    };
    let view = connection.server.reads.latest();
    let command = modify_dn::prepare(&view, &connection.identity, request);
    answer_write(connection, command).await
}

fn convert(request: &ModifyDnRequest<'_>) -> Result<modify_dn::ModifyDnRequest, Answer> {
    Ok(modify_dn::ModifyDnRequest {
        dn: dn_text(request.dn)?,
        new_rdn: dn_text(request.new_rdn)?,
        delete_old_rdn: request.delete_old_rdn,
        new_superior: request.new_superior.map(dn_text).transpose()?,
    })
}
