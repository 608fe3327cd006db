//! `bindery status`: the cluster at a glance.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use bindery_proto::admin::{NodeStatus, Role, StatusReply, StatusRequest};
use clap::Args;
use serde::Serialize;

use crate::connect::ConnectArgs;
use crate::error::CtlError;
use crate::output::{self, Format, FormatArgs, NOTHING};

const WATCH_INTERVAL: Duration = Duration::from_secs(1);

/// Show every node: role, term, how far it is, size and memory
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  bindery status\n  bindery status --watch\n  bindery status -o json | jq '.nodes[].lag'"
)]
pub struct StatusArgs {
    #[command(flatten)]
    connect: ConnectArgs,
    #[command(flatten)]
    format: FormatArgs,
    /// Show it again every second, until interrupted
    #[arg(long)]
    watch: bool,
    /// Only what the asked node knows, without asking the others
    #[arg(long)]
    local: bool,
}

/// The whole status, as printed in JSON. Field names are stable.
#[derive(Debug, Serialize)]
struct Printed<'a> {
    cluster_id: Option<&'a str>,
    answered_by: &'a str,
    leader: Option<&'a str>,
    term: u64,
    commit: Option<u64>,
    changing: bool,
    nodes: Vec<PrintedNode<'a>>,
}

#[derive(Debug, Serialize)]
struct PrintedNode<'a> {
    name: &'a str,
    id: Option<u64>,
    address: &'a str,
    reachable: bool,
    role: &'static str,
    voter: bool,
    term: Option<u64>,
    commit: Option<u64>,
    applied: Option<u64>,
    /// Log entries that this node has not applied yet.
    lag: Option<u64>,
    last_log: Option<u64>,
    purged: Option<u64>,
    checkpoint: Option<u64>,
    store_bytes: Option<u64>,
    resident_bytes: Option<u64>,
    memory_bytes: Option<u64>,
    version: Option<&'a str>,
    uptime_s: Option<u64>,
    pid: Option<u32>,
    ldap: &'a [String],
    unconfirmed_reads: Option<u64>,
    trouble: Option<&'a str>,
}

pub(crate) async fn run(args: StatusArgs) -> Result<(), CtlError> {
    if !args.watch {
        let reply = fetch(&args).await?;
        return print(&reply, args.format.output, false);
    }
    let screen = std::io::stdout().is_terminal() && args.format.output == Format::Table;
    loop {
        // A fresh connection each time: it moves to the next endpoint when a node has gone.
        match fetch(&args).await {
            Ok(reply) => print(&reply, args.format.output, screen)?,
            Err(error) => {
                clear(screen)?;
                output::line(&error.to_string())?;
            }
        }
        tokio::time::sleep(WATCH_INTERVAL).await;
    }
}

async fn fetch(args: &StatusArgs) -> Result<StatusReply, CtlError> {
    let mut connection = args.connect.connect().await?;
    let request = connection.request(StatusRequest { local: args.local });
    let reply = connection.client.get_status(request).await.map_err(|status| CtlError::of_read(&status))?;
    Ok(reply.into_inner())
}

fn clear(screen: bool) -> Result<(), CtlError> {
    if screen {
        // Home, and erase to the end: without the flicker of erasing first.
        let mut out = std::io::stdout();
        out.write_all(b"\x1b[H\x1b[J").map_err(|error| CtlError::stdout(&error))?;
    }
    Ok(())
}

fn print(reply: &StatusReply, format: Format, screen: bool) -> Result<(), CtlError> {
    let printed = printed(reply);
    clear(screen)?;
    match format {
        Format::Json => output::json(&printed),
        Format::Table => {
            output::line(&headline(&printed))?;
            let mut table =
                output::table(&["NODE", "ID", "ROLE", "TERM", "APPLIED", "LAG", "STORE", "MEMORY", "VERSION"]);
            for node in &printed.nodes {
                table.add_row(row(node));
            }
            output::print_table(&table)?;
            for node in printed.nodes.iter() {
                if let Some(trouble) = node.trouble {
                    output::line(&format!("{}: {trouble}", node.name))?;
                }
            }
            Ok(())
        }
    }
}

fn headline(printed: &Printed<'_>) -> String {
    let answering = printed.nodes.iter().filter(|node| node.reachable).count();
    let nodes = printed.nodes.len();
    let leader = match printed.leader {
        Some(leader) => format!("{leader} leads in term {}", printed.term),
        None => "no leader: writes wait".to_owned(),
    };
    let changing = if printed.changing { ", membership is changing" } else { "" };
    match printed.cluster_id {
        None => format!("{} is looking for its cluster", printed.answered_by),
        Some(_) => format!("{answering} of {nodes} nodes answer, {leader}{changing}"),
    }
}

fn row(node: &PrintedNode<'_>) -> Vec<String> {
    let size = |bytes: Option<u64>| bytes.map_or_else(|| NOTHING.to_owned(), output::bytes);
    let memory = match (node.resident_bytes, node.memory_bytes) {
        (Some(resident), Some(memory)) => format!("{} of {}", output::bytes(resident), output::bytes(memory)),
        (resident, _) => size(resident),
    };
    vec![
        node.name.to_owned(),
        output::known(node.id),
        node.role.to_owned(),
        output::known(node.term),
        output::known(node.applied),
        output::known(node.lag),
        size(node.store_bytes),
        memory,
        node.version.unwrap_or(NOTHING).to_owned(),
    ]
}

fn printed(reply: &StatusReply) -> Printed<'_> {
    fn some(text: &str) -> Option<&str> {
        (!text.is_empty()).then_some(text)
    }
    let node = |node: &'_ NodeStatus| -> Option<u64> {
        // What counts as known to the cluster is what any node knows to be committed.
        let commit = reply.commit?;
        node.applied.map(|applied| commit.saturating_sub(applied))
    };
    Printed {
        cluster_id: some(&reply.cluster_id),
        answered_by: &reply.answered_by,
        leader: some(&reply.leader),
        term: reply.term,
        commit: reply.commit,
        changing: reply.changing,
        nodes: reply
            .nodes
            .iter()
            .map(|status| PrintedNode {
                name: &status.name,
                id: status.id,
                address: &status.address,
                reachable: status.reachable,
                role: if status.reachable { role(status.role()) } else { "unreachable" },
                voter: status.voter,
                term: status.reachable.then_some(status.term),
                commit: status.commit,
                applied: status.applied,
                lag: node(status),
                last_log: status.last_log,
                purged: status.purged,
                checkpoint: status.checkpoint,
                store_bytes: status.store_bytes,
                resident_bytes: status.resident_bytes,
                memory_bytes: status.memory_bytes,
                version: some(&status.version),
                uptime_s: status.reachable.then_some(status.uptime_s),
                pid: status.reachable.then_some(status.pid),
                ldap: &status.ldap,
                unconfirmed_reads: status.reachable.then_some(status.unconfirmed_reads),
                trouble: some(&status.trouble),
            })
            .collect(),
    }
}

fn role(role: Role) -> &'static str {
    match role {
        Role::Unspecified => "unknown",
        Role::Joining => "joining",
        Role::Learner => "learner",
        Role::Follower => "follower",
        Role::Candidate => "candidate",
        Role::Leader => "leader",
        Role::Stopped => "stopped",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply() -> StatusReply {
        StatusReply {
            cluster_id: "c0ffee".into(),
            answered_by: "node1".into(),
            leader: "node1".into(),
            term: 3,
            commit: Some(100),
            changing: false,
            nodes: vec![
                NodeStatus {
                    name: "node1".into(),
                    id: Some(1),
                    reachable: true,
                    role: Role::Leader.into(),
                    applied: Some(97),
                    ..NodeStatus::default()
                },
                NodeStatus { name: "node2".into(), trouble: "nobody listens there".into(), ..NodeStatus::default() },
            ],
        }
    }

    #[test]
    fn lag_is_counted_from_what_is_committed() {
        let reply = reply();
        let printed = printed(&reply);
        assert_eq!(printed.nodes[0].lag, Some(3));
        assert_eq!(printed.nodes[1].lag, None);
        assert_eq!(printed.nodes[1].role, "unreachable");
        assert_eq!(headline(&printed), "1 of 2 nodes answer, node1 leads in term 3");
    }

    #[test]
    fn json_field_names_are_stable() {
        let reply = reply();
        let json = serde_json::to_value(printed(&reply)).unwrap();
        let keys = |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
        assert_eq!(keys(&json), "answered_by changing cluster_id commit leader nodes term");
        assert_eq!(
            keys(&json["nodes"][0]),
            "address applied checkpoint commit id lag last_log ldap memory_bytes name pid purged reachable \
             resident_bytes role store_bytes term trouble unconfirmed_reads uptime_s version voter"
        );
    }
}
