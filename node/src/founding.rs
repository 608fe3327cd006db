//! The first command of a cluster, from `[bootstrap]`: written once, by the node that leads the new cluster.
//! Whether the directory is founded already is decided by the log, not by this node.

use std::path::PathBuf;
use std::time::Duration;

use bindery_directory::index::config::DEFAULT_INDEXES;
use bindery_directory::op::bootstrap::{self, BootstrapRequest};
use bindery_directory::{Directory, OpError};
use bindery_model::password::{self, Scheme};
use bindery_model::schema::Schema;
use bindery_raft::{Cluster, Role};
use tokio::sync::watch;

use crate::config::{Config, ConfigError};
use crate::passwords::Passwords;
use crate::write;

/// How often a node looks whether it is its turn to found.
const LOOK: Duration = Duration::from_millis(50);
/// Wait after a failed try.
const RETRY: Duration = Duration::from_secs(1);
/// A schema file larger than this is no schema file.
const SCHEMA_FILE_BYTES: u64 = 4 << 20;

/// `[bootstrap]` cannot be used as it stands.
#[derive(Debug, thiserror::Error)]
pub enum FoundingError {
    /// The password file.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A schema file cannot be read.
    #[error("bootstrap.schema_dir: {path}: {source}", path = path.display())]
    Read {
        /// The file or directory.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: std::io::Error,
    },
    /// A schema file is far too large.
    #[error("bootstrap.schema_dir: {path} has more than {SCHEMA_FILE_BYTES} bytes: it is no schema file", path = .0.display())]
    TooLarge(PathBuf),
    /// A schema file does not fit.
    #[error("bootstrap.schema_dir: {path}: {message}", path = path.display())]
    Schema {
        /// The file.
        path: PathBuf,
        /// What is wrong, with the line.
        message: String,
    },
    /// The suffix or the administrator's name.
    #[error("bootstrap: {0}")]
    Refused(OpError),
}

/// What this node would found, checked at start so that a mistake is seen before anything is written.
pub struct Plan {
    request: Option<(Schema, BootstrapRequest, Vec<u8>)>,
    /// The directory is founded: `[bootstrap]` was used before, and only differences are told.
    founded: bool,
}

impl Plan {
    /// Reads and checks `[bootstrap]`. Of a directory that is founded neither schema nor password is read again.
    pub fn read(config: &Config, founded: bool) -> Result<Plan, FoundingError> {
        let Some(wanted) = &config.bootstrap else { return Ok(Plan { request: None, founded }) };
        let mut schema = Schema::shipped();
        if let Some(folder) = wanted.schema_dir.as_ref().filter(|_| !founded) {
            for path in files_in(folder)? {
                let text = read_schema_file(&path)?;
                schema.add_text(&text).map_err(|error| FoundingError::Schema { path, message: error.to_string() })?;
            }
        }
        let request = BootstrapRequest {
            naming_contexts: vec![wanted.suffix.clone()],
            admin_dn: Some(wanted.admin_dn.clone()),
            admin_password: Vec::new(),
            indexes: DEFAULT_INDEXES.iter().map(|(name, types)| ((*name).to_owned(), *types)).collect(),
            settings: Vec::new(),
        };
        bootstrap::prepare(&schema, request.clone()).map_err(FoundingError::Refused)?;
        let clear = if founded { Vec::new() } else { wanted.admin_password.read()? };
        Ok(Plan { request: Some((schema, request, clear)), founded })
    }
}

/// The files of a folder in the order of their names.
fn files_in(folder: &std::path::Path) -> Result<Vec<PathBuf>, FoundingError> {
    let failed = |source| FoundingError::Read { path: folder.to_owned(), source };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn read_schema_file(path: &std::path::Path) -> Result<String, FoundingError> {
    let failed = |source| FoundingError::Read { path: path.to_owned(), source };
    if std::fs::metadata(path).map_err(failed)?.len() > SCHEMA_FILE_BYTES {
        return Err(FoundingError::TooLarge(path.to_owned()));
    }
    std::fs::read_to_string(path).map_err(failed)
}

/// Waits until the directory is founded, founding it if this node leads a cluster that has none.
pub async fn run(
    plan: Plan,
    cluster: Cluster,
    directory: Directory,
    passwords: Passwords,
    mut stop: watch::Receiver<bool>,
) {
    let Some((schema, mut request, clear)) = plan.request else { return };
    if plan.founded {
        return warn_about_differences(&request, &directory);
    }
    loop {
        if directory.view().settings().is_founded() {
            warn_about_differences(&request, &directory);
            return;
        }
        let pause = if cluster.status().role == Role::Leader {
            match found(&schema, &mut request, &clear, &cluster, &passwords).await {
                Ok(()) => tracing::info!(suffix = ?request.naming_contexts, "directory founded"),
                Err(error) => tracing::warn!("the directory is not founded yet: {error}"),
            }
            RETRY
        } else {
            LOOK
        };
        if directory.view().settings().is_founded() {
            continue;
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            _ = stop.wait_for(|stop| *stop) => return,
        }
    }
}

async fn found(
    schema: &Schema,
    request: &mut BootstrapRequest,
    clear: &[u8],
    cluster: &Cluster,
    passwords: &Passwords,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    if request.admin_password.is_empty() {
        request.admin_password = match password::clear_of(clear) {
            Some(clear) => passwords.hash(Scheme::default(), clear.to_vec()).await?,
            None => clear.to_vec(),
        };
    }
    let command = bootstrap::prepare(schema, request.clone())?;
    write::write(cluster, &command).await?;
    Ok(())
}

/// `[bootstrap]` is read once; a later difference changes nothing, and is said.
fn warn_about_differences(request: &BootstrapRequest, directory: &Directory) {
    let view = directory.view();
    let same = |text: &str, dn: &bindery_model::dn::Dn| {
        bindery_model::dn::Dn::parse(text).ok().and_then(|d| d.normalize(view.schema()).ok())
            == dn.normalize(view.schema()).ok()
    };
    for suffix in &request.naming_contexts {
        if !view.settings().naming_contexts().iter().any(|context| same(suffix, &context.dn)) {
            tracing::warn!(
                "bootstrap.suffix is {suffix}, which this directory does not hold; it was used only to found it"
            );
        }
    }
    if let (Some(wanted), Some(present)) = (&request.admin_dn, view.settings().admin_dn())
        && !same(wanted, present)
    {
        tracing::warn!(
            "bootstrap.admin_dn is {wanted}, but the administrator is {present}; it was used only to found the directory"
        );
    }
}
