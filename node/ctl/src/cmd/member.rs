//! `bindery member`: who belongs to the cluster.

use bindery_proto::admin::{StatusReply, StatusRequest};
use clap::{Args, Subcommand};
use serde::Serialize;

use crate::connect::ConnectArgs;
use crate::error::CtlError;
use crate::output::{self, Format, FormatArgs};

/// The members of the cluster
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  bindery member list")]
pub struct MemberArgs {
    #[command(flatten)]
    connect: ConnectArgs,
    #[command(flatten)]
    format: FormatArgs,
    #[command(subcommand)]
    action: MemberAction,
}

#[derive(Debug, Subcommand)]
enum MemberAction {
    /// List the members with their ids and addresses
    #[command(after_help = "Examples:\n  bindery member list\n  bindery member list -o json --endpoint node2:17389")]
    List,
}

/// One member, as printed.
#[derive(Debug, Serialize)]
struct Member<'a> {
    name: &'a str,
    id: Option<u64>,
    address: &'a str,
    voter: bool,
    leader: bool,
}

pub(crate) async fn run(args: MemberArgs) -> Result<(), CtlError> {
    let MemberAction::List = args.action;
    let mut connection = args.connect.connect().await?;
    let request = connection.request(StatusRequest { local: true });
    let reply = connection.client.get_status(request).await.map_err(|status| CtlError::of_read(&status))?;
    let reply = reply.into_inner();
    let members = members(&reply);
    match args.format.output {
        Format::Json => output::json(&members),
        Format::Table => {
            let mut table = output::table(&["NAME", "ID", "ADDRESS", "VOTES", "LEADER"]);
            for member in &members {
                table.add_row(vec![
                    member.name.to_owned(),
                    output::known(member.id),
                    member.address.to_owned(),
                    if member.voter { "yes" } else { "no" }.to_owned(),
                    if member.leader { "*" } else { "" }.to_owned(),
                ]);
            }
            output::print_table(&table)
        }
    }
}

fn members(reply: &StatusReply) -> Vec<Member<'_>> {
    let mut members: Vec<Member> = reply
        .nodes
        .iter()
        .map(|node| Member {
            name: &node.name,
            id: node.id,
            address: &node.address,
            voter: node.voter,
            leader: !reply.leader.is_empty() && node.name == reply.leader,
        })
        .collect();
    members.sort_by(|a, b| a.name.cmp(b.name));
    members
}
