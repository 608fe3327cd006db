//! `bindery dump`: the directory as LDIF.

use std::io::Write;
use std::path::{Path, PathBuf};

use bindery_proto::admin::{DumpRequest, DumpSummary, dump_reply};
use clap::Args;

use crate::connect::ConnectArgs;
use crate::error::CtlError;
use crate::output::grouped;

/// Write the directory as LDIF
///
/// Parents come before their children, operational attributes are included, and the order is the same on every
/// node, so that dumps can be compared. "bindery load" reads it again. It holds password hashes: keep it safe.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  bindery dump -o backup.ldif\n  bindery dump --base ou=people,dc=example,dc=com\n  \
                        bindery dump --filter '(objectClass=posixAccount)' | gzip > accounts.ldif.gz"
)]
pub struct DumpArgs {
    #[command(flatten)]
    connect: ConnectArgs,
    /// Only this entry and those below it
    #[arg(long, value_name = "DN", default_value = "", hide_default_value = true)]
    base: String,
    /// Only entries that match (RFC 4515)
    #[arg(long, value_name = "FILTER", default_value = "", hide_default_value = true)]
    filter: String,
    /// Write to a file, which appears only when it is complete
    #[arg(short = 'o', long = "out", value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(crate) async fn run(args: DumpArgs) -> Result<(), CtlError> {
    let mut connection = args.connect.connect().await?;
    let request = DumpRequest { base: args.base, filter: args.filter };
    // No deadline over all, but on each message.
    let call = tokio::time::timeout(connection.timeout, connection.client.dump(request));
    let mut replies = match call.await {
        Ok(Ok(replies)) => replies.into_inner(),
        Ok(Err(status)) => return Err(CtlError::of_read(&status)),
        Err(_) => return Err(silent(&connection.target)),
    };
    let mut sink = Sink::open(args.out.as_deref())?;
    let summary: DumpSummary = loop {
        let message = match tokio::time::timeout(connection.timeout, replies.message()).await {
            Err(_) => return Err(silent(&connection.target)),
            Ok(Err(status)) => return Err(CtlError::of_read(&status)),
            Ok(Ok(None)) => {
                return Err(CtlError::Unreachable("the node ended the dump early; it is incomplete".into()));
            }
            Ok(Ok(Some(reply))) => reply.message,
        };
        match message {
            Some(dump_reply::Message::Data(data)) => sink.write(&data)?,
            Some(dump_reply::Message::Summary(summary)) => break summary,
            None => {}
        }
    };
    sink.finish()?;
    if let Some(out) = &args.out {
        eprintln!("{} entries written to {}", grouped(summary.entries), out.display());
    }
    Ok(())
}

fn silent(target: &str) -> CtlError {
    CtlError::Unreachable(format!("{target} was silent for too long; the dump is incomplete (see --timeout)"))
}

/// Where the bytes go. A file is written beside its final name, readable by its owner only.
enum Sink {
    Stdout,
    File { file: std::fs::File, partial: PathBuf, path: PathBuf },
}

impl Sink {
    fn open(path: Option<&Path>) -> Result<Sink, CtlError> {
        use std::os::unix::fs::OpenOptionsExt;
        let Some(path) = path.filter(|path| path.as_os_str() != "-") else { return Ok(Sink::Stdout) };
        let mut partial = path.as_os_str().to_owned();
        partial.push(format!(".partial.{}", std::process::id()));
        let partial = PathBuf::from(partial);
        let file = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&partial);
        let file = file.map_err(|error| CtlError::file(&partial, &error))?;
        Ok(Sink::File { file, partial, path: path.to_owned() })
    }

    fn write(&mut self, data: &[u8]) -> Result<(), CtlError> {
        match self {
            Sink::Stdout => std::io::stdout().write_all(data).map_err(|error| CtlError::stdout(&error)),
            Sink::File { file, partial, .. } => file.write_all(data).map_err(|error| CtlError::file(partial, &error)),
        }
    }

    fn finish(mut self) -> Result<(), CtlError> {
        match &mut self {
            Sink::Stdout => std::io::stdout().flush().map_err(|error| CtlError::stdout(&error)),
            Sink::File { file, partial, path } => {
                file.sync_all().map_err(|error| CtlError::file(partial, &error))?;
                std::fs::rename(&*partial, &*path).map_err(|error| CtlError::file(path, &error))
            }
        }
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        if let Sink::File { partial, .. } = self {
            // After `finish` it has its final name, and there is nothing to remove.
            let _ = std::fs::remove_file(partial);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_appears_only_when_it_is_complete() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out.ldif");
        let mut sink = Sink::open(Some(&path)).unwrap();
        sink.write(b"dn: dc=x\n").unwrap();
        drop(sink);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        let mut sink = Sink::open(Some(&path)).unwrap();
        sink.write(b"dn: dc=x\n").unwrap();
        sink.finish().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"dn: dc=x\n");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
