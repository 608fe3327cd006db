//! Bind (RFC 4511 4.2, RFC 4513 5.1).

use bindery_directory::{Identity, ReadView};
use bindery_wire::request::{Authentication, BindRequest};

use super::super::connection::Connection;
use super::super::controls::RequestControls;
use super::super::respond::Answer;
use super::dn_text;
use crate::limits;

/// LDAPv3 (RFC 4511 4.2).
const VERSION: u8 = 3;

/// Verified in place of a password when there is no such entry or it has none, so that the time of the
/// answer says less about which names exist. It is the hash of nothing that can be typed.
const NO_PASSWORD: &[u8] = b"{SSHA}AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==";

/// Authenticates the connection, which is anonymous since the request arrived (RFC 4513 4).
pub async fn bind(connection: &mut Connection, request: &BindRequest<'_>, controls: &RequestControls) -> Answer {
    match authenticate(connection, request, controls).await {
        Ok(identity) => {
            connection.identity = identity;
            Answer::success()
        }
        Err(answer) => answer,
    }
}

async fn authenticate(
    connection: &mut Connection,
    request: &BindRequest<'_>,
    controls: &RequestControls,
) -> Result<Identity, Answer> {
    if request.version != VERSION {
        return Err(Answer::protocol(format!("LDAP version {} is not supported; use version 3", request.version)));
    }
    let password = match request.authentication {
        Authentication::Simple(password) => password,
        Authentication::Sasl { mechanism, .. } => {
            return Err(Answer::auth_method_not_supported(&format!("SASL {}", mechanism.escape_ascii())));
        }
        Authentication::Unknown { .. } => return Err(Answer::auth_method_not_supported("this method")),
    };
    match (request.name.is_empty(), password.is_empty()) {
        (true, true) => return Ok(Identity::Anonymous),
        (true, false) => return Err(Answer::invalid_credentials()),
        (false, true) => return Err(Answer::unauthenticated_bind()),
        (false, false) => {}
    }
    if password.len() > limits::PASSWORD_BYTES {
        return Err(Answer::invalid_credentials());
    }
    let name = dn_text(request.name)?;
    let view = connection.view(controls).await?;
    verify(connection, &view, &name, password).await?.ok_or_else(Answer::invalid_credentials)
}

/// The identity that this name and password prove.
pub(super) async fn verify(
    connection: &Connection,
    view: &ReadView,
    name: &str,
    password: &[u8],
) -> Result<Option<Identity>, Answer> {
    let (identity, stored) = match view.bind_target(name)? {
        Some(target) => (Some(target.identity), target.passwords),
        None => (None, Vec::new()),
    };
    let stored = if stored.is_empty() { vec![NO_PASSWORD.to_vec()] } else { stored };
    let matches = connection.server.passwords.verify(stored, password).await?;
    Ok(identity.filter(|_| matches))
}
