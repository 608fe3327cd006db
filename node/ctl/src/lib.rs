//! The administration commands of `bindery`: command line, connection, and one file for each command.
//!
//! Everything here is a client of the gRPC service `bindery.admin.v1.Admin`; nothing here knows what a
//! directory is.

mod cmd;
pub mod connect;
mod error;
pub mod index_lines;
mod output;
pub mod password;

use clap::Subcommand;

pub use cmd::index::definitions as index_definitions;
pub use cmd::{dump, index, leader, load, member, passwd, schema, status};
pub use error::{CtlError, EXIT_DONE, EXIT_REFUSED, EXIT_UNREACHABLE, EXIT_USAGE};

/// The commands that talk to a running node.
#[derive(Debug, Subcommand)]
pub enum AdminCommand {
    Load(load::LoadArgs),
    Dump(dump::DumpArgs),
    Status(status::StatusArgs),
    Member(member::MemberArgs),
    Leader(leader::LeaderArgs),
    Index(index::IndexArgs),
    Schema(schema::SchemaArgs),
    Passwd(passwd::PasswdArgs),
}

/// Runs one command to its end.
///
/// # Errors
/// Says what failed and what to do next; [`CtlError::exit_status`] is the process's.
pub async fn run(command: AdminCommand) -> Result<(), CtlError> {
    match command {
        AdminCommand::Load(args) => load::run(args).await,
        AdminCommand::Dump(args) => dump::run(args).await,
        AdminCommand::Status(args) => status::run(args).await,
        AdminCommand::Member(args) => member::run(args).await,
        AdminCommand::Leader(args) => leader::run(args).await,
        AdminCommand::Index(args) => index::run(args).await,
        AdminCommand::Schema(args) => schema::run(args).await,
        AdminCommand::Passwd(args) => passwd::run(args).await,
    }
}

/// Writes the completion script of `command` for `shell` to standard output.
pub fn completions(shell: clap_complete::Shell, command: &mut clap::Command) {
    let name = command.get_name().to_owned();
    clap_complete::generate(shell, command, name, &mut std::io::stdout());
}

pub use clap_complete::Shell;
