//! `bindery index`: define indexes and see how far they are built.

use std::io::Read;
use std::path::{Path, PathBuf};

use bindery_proto::admin::{
    AddIndexesRequest, IndexDefinition, IndexKind, IndexState, IndexStatus, ListIndexesRequest,
};
use clap::{Args, Subcommand};
use serde::Serialize;

use crate::connect::{ConnectArgs, Connection};
use crate::error::CtlError;
use crate::index_lines;
use crate::output::{self, Format, FormatArgs};

/// A file of index lines; the longest sensible one is a few KiB.
const FILE_MAX_BYTES: u64 = 1 << 20;

/// Define indexes and see their state
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  bindery index add mail eq,sub\n  bindery index list")]
pub struct IndexArgs {
    #[command(flatten)]
    connect: ConnectArgs,
    #[command(flatten)]
    format: FormatArgs,
    #[command(subcommand)]
    action: IndexAction,
}

#[derive(Debug, Subcommand)]
enum IndexAction {
    /// Define indexes: pres, eq, sub, approx, ordering
    #[command(after_help = "Examples:\n  bindery index add mail eq,sub\n  bindery index add cn,sn eq,sub,approx\n  \
                            bindery index add --file indexes.conf    (lines \"index ATTR TYPES\", as in slapd.conf)")]
    Add {
        /// Attribute types, separated by commas
        #[arg(value_name = "ATTR", required_unless_present = "file", requires = "types")]
        attributes: Option<String>,
        /// Index types, separated by commas
        #[arg(value_name = "TYPES")]
        types: Option<String>,
        /// Read definitions from a file; "-" is standard input
        #[arg(long, value_name = "FILE", conflicts_with = "attributes")]
        file: Option<PathBuf>,
    },
    /// List the indexes, one line for each attribute
    #[command(after_help = "Example:\n  bindery index list -o json")]
    List,
    /// The state of every index, with the progress of those being built
    #[command(after_help = "Example:\n  bindery index status")]
    Status,
}

/// One attribute's indexes, as printed.
#[derive(Debug, Serialize)]
struct Listed {
    attribute: String,
    types: Vec<&'static str>,
    ready: bool,
}

/// One index, as printed.
#[derive(Debug, Serialize)]
struct State<'a> {
    attribute: &'a str,
    r#type: &'static str,
    state: &'static str,
    entries_done: Option<u64>,
    entries_total: Option<u64>,
}

pub(crate) async fn run(args: IndexArgs) -> Result<(), CtlError> {
    match args.action {
        IndexAction::Add { attributes, types, file } => {
            let indexes = match file {
                Some(path) => definitions(&path)?,
                None => index_lines::definitions(&attributes.unwrap_or_default(), &types.unwrap_or_default())
                    .map_err(|error| CtlError::Usage(error.to_string()))?,
            };
            let mut connection = args.connect.connect().await?;
            let request = connection.request(AddIndexesRequest { indexes });
            let reply = connection.client.add_indexes(request).await.map_err(|status| CtlError::of_change(&status))?;
            let added = reply.into_inner().added;
            match args.format.output {
                Format::Json => output::json(&serde_json::json!({ "added": added })),
                Format::Table if added == 0 => output::line("nothing to do: these indexes exist already"),
                Format::Table => output::line(&format!(
                    "{added} {} added; \"bindery index status\" shows when they are built",
                    if added == 1 { "index" } else { "indexes" }
                )),
            }
        }
        IndexAction::List => {
            let indexes = fetch(&mut args.connect.connect().await?).await?;
            let listed = listed(&indexes);
            match args.format.output {
                Format::Json => output::json(&listed),
                Format::Table => {
                    let mut table = output::table(&["ATTRIBUTE", "TYPES", "STATE"]);
                    for index in &listed {
                        let state = if index.ready { "ready" } else { "building" };
                        table.add_row(vec![index.attribute.clone(), index.types.join(","), state.to_owned()]);
                    }
                    output::print_table(&table)
                }
            }
        }
        IndexAction::Status => {
            let indexes = fetch(&mut args.connect.connect().await?).await?;
            let states: Vec<State> = indexes.iter().map(state).collect();
            match args.format.output {
                Format::Json => output::json(&states),
                Format::Table => {
                    let mut table = output::table(&["ATTRIBUTE", "TYPE", "STATE", "DONE", "OF"]);
                    for state in &states {
                        table.add_row(vec![
                            state.attribute.to_owned(),
                            state.r#type.to_owned(),
                            state.state.to_owned(),
                            output::known(state.entries_done),
                            output::known(state.entries_total),
                        ]);
                    }
                    output::print_table(&table)
                }
            }
        }
    }
}

async fn fetch(connection: &mut Connection) -> Result<Vec<IndexStatus>, CtlError> {
    let request = connection.request(ListIndexesRequest {});
    let reply = connection.client.list_indexes(request).await.map_err(|status| CtlError::of_read(&status))?;
    Ok(reply.into_inner().indexes)
}

fn state(index: &IndexStatus) -> State<'_> {
    State {
        attribute: &index.attribute,
        r#type: index_lines::name(IndexKind::try_from(index.kind).unwrap_or_default()),
        state: match index.state() {
            IndexState::Ready => "ready",
            IndexState::Building => "building",
            IndexState::Unspecified => "unknown",
        },
        entries_done: index.entries_done,
        entries_total: index.entries_total,
    }
}

/// Brings the kinds of one attribute together; the node sends them in order.
fn listed(indexes: &[IndexStatus]) -> Vec<Listed> {
    let mut listed: Vec<Listed> = Vec::new();
    for index in indexes {
        let State { r#type, state, .. } = state(index);
        let ready = state == "ready";
        match listed.last_mut().filter(|last| last.attribute == index.attribute) {
            Some(last) => {
                last.types.push(r#type);
                last.ready &= ready;
            }
            None => listed.push(Listed { attribute: index.attribute.clone(), types: vec![r#type], ready }),
        }
    }
    listed
}

/// The definitions in a file; "-" is standard input.
///
/// # Errors
/// Names the file and the line.
pub fn definitions(path: &Path) -> Result<Vec<IndexDefinition>, CtlError> {
    let mut text = String::new();
    let read = if path.as_os_str() == "-" {
        std::io::stdin().lock().take(FILE_MAX_BYTES).read_to_string(&mut text)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(FILE_MAX_BYTES).read_to_string(&mut text))
    };
    read.map_err(|error| CtlError::file(path, &error))?;
    let indexes = index_lines::file(&text).map_err(|error| CtlError::Local(format!("{}: {error}", path.display())))?;
    if indexes.is_empty() {
        return Err(CtlError::Local(format!("{}: no line \"index ATTR TYPES\" in it", path.display())));
    }
    Ok(indexes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_one_attribute_stand_on_one_line() {
        let index = |attribute: &str, kind: IndexKind, state: IndexState| IndexStatus {
            attribute: attribute.into(),
            kind: kind.into(),
            state: state.into(),
            ..IndexStatus::default()
        };
        let listed = listed(&[
            index("cn", IndexKind::Equality, IndexState::Ready),
            index("cn", IndexKind::Substring, IndexState::Building),
            index("uid", IndexKind::Equality, IndexState::Ready),
        ]);
        assert_eq!(listed.len(), 2);
        assert_eq!((listed[0].types.join(","), listed[0].ready), ("eq,sub".to_owned(), false));
        assert!(listed[1].ready);
    }
}
