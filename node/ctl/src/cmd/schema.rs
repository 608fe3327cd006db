//! `bindery schema`: add definitions.

use std::io::Read;
use std::path::{Path, PathBuf};

use bindery_proto::admin::{AddSchemaRequest, add_schema_request::File};
use clap::{Args, Subcommand};

use crate::connect::ConnectArgs;
use crate::error::CtlError;
use crate::output::{self, Format, FormatArgs};

/// All files of one call together. The largest published schema is far below a MiB.
const FILES_MAX_BYTES: u64 = 4 << 20;

/// Add definitions to the schema
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  bindery schema add /etc/ldap/schema/dnsdomain2.schema")]
pub struct SchemaArgs {
    #[command(flatten)]
    connect: ConnectArgs,
    #[command(flatten)]
    format: FormatArgs,
    #[command(subcommand)]
    action: SchemaAction,
}

#[derive(Debug, Subcommand)]
enum SchemaAction {
    /// Add schema files: OpenLDAP's .schema form, cn=config LDIF, or subschema LDIF
    #[command(after_help = "Examples:\n  bindery schema add openssh-lpk.schema\n  \
                            bindery schema add base.schema needs-base.schema    (all of them, or none)")]
    Add {
        /// Schema files, in the order in which they depend on each other
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
}

pub(crate) async fn run(args: SchemaArgs) -> Result<(), CtlError> {
    let SchemaAction::Add { files } = args.action;
    let files = read(&files)?;
    let mut connection = args.connect.connect().await?;
    let request = connection.request(AddSchemaRequest { files });
    let reply = connection.client.add_schema(request).await.map_err(|status| CtlError::of_change(&status))?;
    let reply = reply.into_inner();
    match args.format.output {
        Format::Json => output::json(&serde_json::json!({
            "attribute_types": reply.attribute_types,
            "object_classes": reply.object_classes,
            "present": reply.present,
        })),
        Format::Table => output::line(&format!(
            "{} and {} added, {} there already",
            output::counted(reply.attribute_types.into(), "attribute type", "attribute types"),
            output::counted(reply.object_classes.into(), "object class", "object classes"),
            reply.present
        )),
    }
}

/// Reads schema files whole.
///
/// # Errors
/// Names the file that cannot be read, is not UTF-8, or makes them too large together.
pub fn read(paths: &[PathBuf]) -> Result<Vec<File>, CtlError> {
    let mut left = FILES_MAX_BYTES;
    let mut files = Vec::with_capacity(paths.len());
    for path in paths {
        files.push(read_one(path, &mut left)?);
    }
    Ok(files)
}

fn read_one(path: &Path, left: &mut u64) -> Result<File, CtlError> {
    let mut text = String::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(*left + 1).read_to_string(&mut text));
    let read = read.map_err(|error| CtlError::file(path, &error))? as u64;
    *left = left.checked_sub(read).ok_or_else(|| {
        CtlError::Local(format!("{}: more than {FILES_MAX_BYTES} bytes of schema at once", path.display()))
    })?;
    let name = path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
    Ok(File { name, text })
}
