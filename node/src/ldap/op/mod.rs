//! One file per LDAP operation: from the wire's words to the directory's, and an answer back.

pub mod add;
pub mod bind;
pub mod compare;
pub mod delete;
pub mod extended;
pub mod modify;
pub mod modify_dn;
pub mod search;

use bindery_directory::command::Command;
use bindery_directory::{OpError, ReadView};
use bindery_model::password;
use bindery_model::schema::AttrId;

use super::connection::Connection;
use super::respond::Answer;
use crate::limits;
use crate::write::{self, Written};

/// What the session does after a message.
pub enum Step {
    /// The answer, if the request has one, is in the output.
    Answered,
    /// The search runs; its answers are yet to come.
    Search(Box<search::RunningSearch>),
    /// The client has said good-bye.
    Unbind,
    /// The connection ends after the output is written.
    Disconnect,
}

/// A DN as sent: RFC 4511 4.1.3 makes it UTF-8.
fn dn_text(bytes: &[u8]) -> Result<String, Answer> {
    std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| Answer::invalid_dn("the DN is not UTF-8"))
}

/// An attribute description as sent. What is not UTF-8 names no attribute; the schema refuses it by the
/// replacement character.
fn description_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Replicates a prepared command and remembers its index for this connection's later reads.
async fn replicate(connection: &mut Connection, command: Result<Command, OpError>) -> Result<Written, Answer> {
    let command = command?;
    let written = write::write(&connection.server.cluster, &command).await?;
    connection.wrote(written.index);
    Ok(written)
}

/// The answer to a write.
async fn answer_write(connection: &mut Connection, command: Result<Command, OpError>) -> Answer {
    match replicate(connection, command).await {
        Ok(_) => Answer::success(),
        Err(answer) => answer,
    }
}

/// Whether the description names userPassword or a subtype of it.
fn is_password(view: &ReadView, description: &str) -> bool {
    let name = description.split(';').next().unwrap_or_default();
    let schema = view.schema();
    let Some(password) = schema.attribute("userPassword") else { return false };
    let password: AttrId = password.id;
    schema.attribute(name).is_some_and(|given| schema.subtypes(password).contains(&given.id))
}

/// Clear password values that one request may bring: each takes tens of milliseconds to hash.
const CLEAR_VALUES_MAX: usize = 16;

/// Whether any value must be hashed. More than a person has passwords is refused before any work is done.
fn has_clear_values<'a>(
    view: &ReadView,
    attributes: impl IntoIterator<Item = (&'a str, &'a [Vec<u8>])>,
) -> Result<bool, Answer> {
    let mut count = 0;
    for (description, values) in attributes {
        if is_password(view, description) {
            for clear in values.iter().filter_map(|value| password::clear_of(value)) {
                check_password_length(clear)?;
                count += 1;
            }
        }
    }
    if count > CLEAR_VALUES_MAX {
        return Err(Answer::unwilling(format!("at most {CLEAR_VALUES_MAX} clear passwords in one request")));
    }
    Ok(count > 0)
}

/// Hashes clear values of password attributes, so that no clear password enters the log. Only for a request that
/// has been found allowed: hashing is work that nobody may order for nothing.
async fn hash_clear_values(
    connection: &Connection,
    view: &ReadView,
    description: &str,
    values: &mut [Vec<u8>],
) -> Result<(), Answer> {
    if !is_password(view, description) {
        return Ok(());
    }
    for value in values.iter_mut() {
        let Some(clear) = password::clear_of(value) else { continue };
        let scheme = connection.server.password_scheme();
        *value = connection.server.passwords.hash(scheme, clear.to_vec()).await?;
    }
    Ok(())
}

/// Hashing time grows with length, so a password has a bound.
fn check_password_length(clear: &[u8]) -> Result<(), Answer> {
    if clear.len() > limits::PASSWORD_BYTES {
        return Err(Answer::unwilling(format!("a password has at most {} bytes", limits::PASSWORD_BYTES)));
    }
    Ok(())
}
