//! `bindery leader`: who leads, and handing leadership over.

use bindery_proto::admin::{StatusRequest, TransferLeaderRequest};
use clap::{Args, Subcommand};
use serde::Serialize;

use crate::connect::ConnectArgs;
use crate::error::CtlError;
use crate::output::{self, Format, FormatArgs};

/// Show the leader, or hand leadership over
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  bindery leader show\n  bindery leader transfer --to node2")]
pub struct LeaderArgs {
    #[command(flatten)]
    connect: ConnectArgs,
    #[command(flatten)]
    format: FormatArgs,
    #[command(subcommand)]
    action: LeaderAction,
}

#[derive(Debug, Subcommand)]
enum LeaderAction {
    /// Print the leader's name; exit status 3 if there is none
    #[command(after_help = "Example:\n  bindery leader show -o json")]
    Show,
    /// Hand leadership over, to the node that is furthest or to the one named
    #[command(after_help = "Examples:\n  bindery leader transfer\n  bindery leader transfer --to node2")]
    Transfer {
        /// Name of the node that shall lead
        #[arg(long, value_name = "NAME")]
        to: Option<String>,
    },
}

#[derive(Debug, Serialize)]
struct Leader<'a> {
    leader: Option<&'a str>,
    term: Option<u64>,
}

pub(crate) async fn run(args: LeaderArgs) -> Result<(), CtlError> {
    let mut connection = args.connect.connect().await?;
    match args.action {
        LeaderAction::Show => {
            let request = connection.request(StatusRequest { local: true });
            let reply = connection.client.get_status(request).await.map_err(|status| CtlError::of_read(&status))?;
            let reply = reply.into_inner();
            let leader = (!reply.leader.is_empty()).then_some(reply.leader.as_str());
            match (args.format.output, leader) {
                (Format::Json, _) => output::json(&Leader { leader, term: Some(reply.term) })?,
                (Format::Table, Some(name)) => output::line(name)?,
                (Format::Table, None) => {}
            }
            match leader {
                Some(_) => Ok(()),
                None => Err(CtlError::Unreachable(format!(
                    "{} knows no leader; \"bindery status\" shows which nodes answer",
                    reply.answered_by
                ))),
            }
        }
        LeaderAction::Transfer { to } => {
            let request = connection.request(TransferLeaderRequest { to: to.unwrap_or_default() });
            let reply =
                connection.client.transfer_leader(request).await.map_err(|status| CtlError::of_change(&status))?;
            let reply = reply.into_inner();
            match args.format.output {
                Format::Json => output::json(&Leader { leader: Some(&reply.leader), term: None }),
                Format::Table => output::line(&format!("{} leads", reply.leader)),
            }
        }
    }
}
