//! Compare (RFC 4511 4.10).

use bindery_model::dn::Dn;
use bindery_wire::request::CompareRequest;

use super::super::connection::Connection;
use super::super::controls::RequestControls;
use super::super::respond::Answer;

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
    let dn = Dn::parse(request.dn).map_err(Answer::invalid_dn)?;
    let view = connection.view(controls).await?;
    let assertion = &request.assertion;
    Ok(view.compare(&connection.identity, &dn, assertion.attribute, assertion.value)?)
}
