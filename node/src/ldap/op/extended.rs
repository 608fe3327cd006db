//! Extended operations (RFC 4511 4.12): Who am I? (RFC 4532) and password modify (RFC 3062).

use bindery_directory::command::ChangeKind;
use bindery_directory::op::modify;
use bindery_directory::{Identity, ReadView};
use bindery_model::dn::Dn;
use bindery_wire::extended::{PasswordModifyRequest, write_password_modify_response};
use bindery_wire::oid::extended as oid;
use bindery_wire::request::ExtendedRequest;

use super::super::connection::Connection;
use super::super::controls::RequestControls;
use super::super::respond::Answer;
use super::{bind, check_password_length, replicate};

/// Extended operations that this server carries out, for the root DSE.
pub const SUPPORTED: &[&str] = &[oid::WHO_AM_I, oid::PASSWORD_MODIFY];

/// Carries out an extended operation; the value goes into the response.
pub async fn extended(
    connection: &mut Connection,
    request: &ExtendedRequest<'_>,
    controls: &RequestControls,
) -> (Answer, Option<Vec<u8>>) {
    let name = String::from_utf8_lossy(request.name);
    match name.as_ref() {
        oid::WHO_AM_I if request.value.is_some() => (Answer::protocol("Who am I? takes no value"), None),
        oid::WHO_AM_I => who_am_i(connection),
        oid::PASSWORD_MODIFY => match password_modify(connection, request.value, controls).await {
            Ok(value) => (Answer::success(), value),
            Err(answer) => (answer, None),
        },
        _ => (Answer::unknown_extended_operation(&name), None),
    }
}

/// The authorization identity (RFC 4513 5.2.1.8), empty for anonymous.
fn who_am_i(connection: &Connection) -> (Answer, Option<Vec<u8>>) {
    let identity = match &connection.identity {
        Identity::Anonymous => String::new(),
        Identity::User { dn, .. } => format!("dn:{dn}"),
        Identity::Admin => {
            let view = connection.server.reads.latest();
            view.settings().admin_dn().map(|dn| format!("dn:{dn}")).unwrap_or_default()
        }
    };
    (Answer::success(), Some(identity.into_bytes()))
}

/// Sets a password (RFC 3062 2): the user's own, or another's if the access rules allow it.
async fn password_modify(
    connection: &mut Connection,
    value: Option<&[u8]>,
    controls: &RequestControls,
) -> Result<Option<Vec<u8>>, Answer> {
    let request =
        PasswordModifyRequest::decode(value).map_err(|error| Answer::protocol(format!("password modify: {error}")))?;
    let view = connection.view(controls).await?;
    let target = target(connection, &view, request.user)?;
    if let Some(old) = request.old_password {
        check_password_length(old)?;
        if bind::verify(connection, &view, &target.to_string(), old).await?.is_none() {
            return Err(Answer::unwilling("the old password is not right"));
        }
    }
    let (clear, generated) = match request.new_password {
        Some([]) => return Err(Answer::unwilling("the new password is empty")),
        Some(new) => (new.to_vec(), None),
        None => {
            let made = connection.server.passwords.generate();
            (made.clone().into_bytes(), Some(made))
        }
    };
    check_password_length(&clear)?;
    // Whether it is allowed is asked before the work of hashing is done for it.
    let norm = target.normalize(view.schema()).map_err(Answer::invalid_dn)?;
    let is_admin = view.settings().is_admin(&norm);
    if is_admin && connection.identity != Identity::Admin {
        return Err(Answer::insufficient_access("only the administrator may set this password"));
    }
    if !is_admin {
        let placeholder = b"{SSHA}placeholder".to_vec();
        modify::prepare(&view, &connection.identity, set_password(&target, placeholder))?;
    }
    let hashed = connection.server.passwords.hash(connection.server.password_scheme(), clear).await?;
    if is_admin {
        return set_admin_password(connection, hashed, generated).await;
    }
    let command = modify::prepare(&view, &connection.identity, set_password(&target, hashed));
    replicate(connection, command).await?;
    Ok(response(generated))
}

fn set_password(target: &Dn, value: Vec<u8>) -> modify::ModifyRequest {
    modify::ModifyRequest {
        dn: target.to_string(),
        changes: vec![(ChangeKind::Replace, "userPassword".to_owned(), vec![value])],
    }
}

/// The administrator is a setting and not an entry.
async fn set_admin_password(
    connection: &mut Connection,
    hashed: Vec<u8>,
    generated: Option<String>,
) -> Result<Option<Vec<u8>>, Answer> {
    use bindery_directory::command::{Operation, SetAdmin};
    let change = Operation::SetAdmin(SetAdmin { dn: None, password: Some(hashed) });
    let command = bindery_directory::op::configure::prepare(&connection.identity, change);
    replicate(connection, command).await?;
    Ok(response(generated))
}

fn response(generated: Option<String>) -> Option<Vec<u8>> {
    let generated = generated?;
    let mut value = Vec::new();
    write_password_modify_response(&mut value, Some(generated.as_bytes()));
    Some(value)
}

/// Whose password it is: userIdentity is a DN, by itself or as an authzId `dn:...` (RFC 3062 2.1).
fn target(connection: &Connection, view: &ReadView, user: Option<&[u8]>) -> Result<Dn, Answer> {
    if let Some(user) = user {
        let dn = user.strip_prefix(b"dn:").unwrap_or(user);
        return Dn::parse(dn).map_err(Answer::invalid_dn);
    }
    match &connection.identity {
        Identity::Anonymous => Err(Answer::unwilling("bind first, or name the user whose password it is")),
        Identity::User { dn, .. } => Dn::parse(dn).map_err(Answer::invalid_dn),
        Identity::Admin => {
            view.settings().admin_dn().cloned().ok_or_else(|| Answer::unwilling("no administrator is set"))
        }
    }
}
