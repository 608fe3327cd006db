//! Compare (RFC 4511 4.10).

use bindery_wire::request::CompareRequest;

use super::super::connection::Connection;
use super::super::controls::RequestControls;
use super::super::respond::Answer;
use super::{description_text, dn_text};

/// Whether an entry holds a value.
pub async fn compare(connection: &mut Connection, request: &CompareRequest<'_>, controls: &RequestControls) -> Answer {
    match run(connection, request, controls).await {
        Ok(equal) => Answer::compared(equal),
        Err(answer) => answer,
    }
}

async fn run(
    connection: &mut Connection,
    request: &CompareRequest<'_>,
    controls: &RequestControls,
) -> Result<bool, Answer> {
    let dn = dn_text(request.dn)?;
    let view = connection.view(controls).await?;
    let assertion = &request.assertion;
    let description = description_text(assertion.attribute);
    Ok(view.compare(&dn, &description, assertion.value, &connection.identity)?)
}
