//! `bindery passwd`: set a password.

use std::path::PathBuf;

use bindery_proto::admin::SetPasswordRequest;
use clap::Args;

use crate::connect::ConnectArgs;
use crate::error::CtlError;
use crate::output;
use crate::password;

/// Set the password of an entry
///
/// The new password is asked for at the terminal, or read from standard input when that is a pipe. The node
/// hashes it (argon2id); it is never stored or logged in the clear.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  bindery passwd uid=ada,ou=people,dc=example,dc=com\n  \
                        pwgen 20 1 | bindery passwd uid=ada,ou=people,dc=example,dc=com")]
pub struct PasswdArgs {
    #[command(flatten)]
    connect: ConnectArgs,
    /// The entry, or the administrator
    #[arg(value_name = "DN")]
    dn: String,
    /// Read the new password from a file
    #[arg(long, value_name = "FILE")]
    new_password_file: Option<PathBuf>,
}

pub(crate) async fn run(args: PasswdArgs) -> Result<(), CtlError> {
    let password = match &args.new_password_file {
        Some(path) => password::from_file(path)?,
        None => password::new_password(&format!("New password of {}", args.dn))?,
    };
    let mut connection = args.connect.connect().await?;
    let request = connection.request(SetPasswordRequest { dn: args.dn.clone(), password: password.into() });
    connection.client.set_password(request).await.map_err(|status| CtlError::of_change(&status))?;
    output::line(&format!("password of {} changed", args.dn))
}
