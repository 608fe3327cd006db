//! Add (RFC 4511 4.7).

use bindery_directory::op::add;
use bindery_wire::request::AddRequest;

use super::super::connection::Connection;
use super::super::respond::Answer;
use super::{answer_write, description_text, dn_text, has_clear_values, hash_clear_values};

/// Adds an entry.
pub async fn add(connection: &mut Connection, request: &AddRequest<'_>) -> Answer {
    match prepare(connection, request).await {
        Ok(command) => answer_write(connection, command).await,
        Err(answer) => answer,
    }
}

async fn prepare(
    connection: &Connection,
    request: &AddRequest<'_>,
) -> Result<Result<bindery_directory::command::Command, bindery_directory::OpError>, Answer> {
    let view = connection.server.reads.latest();
    let mut attributes = Vec::with_capacity(request.attributes.len());
    for attribute in request.attributes.iter() {
        let description = description_text(attribute.description);
        let values: Vec<Vec<u8>> = attribute.values.iter().map(<[u8]>::to_vec).collect();
        attributes.push((description, values));
    }
    let mut request = add::AddRequest { dn: dn_text(request.dn)?, attributes };
    if has_clear_values(&view, request.attributes.iter().map(|(name, values)| (name.as_str(), values.as_slice())))? {
        add::prepare(&view, &connection.identity, request.clone())?;
        for (description, values) in &mut request.attributes {
            hash_clear_values(connection, &view, description, values).await?;
        }
    }
    Ok(add::prepare(&view, &connection.identity, request))
}
