//! A node's own settings: as written ([`file`], [`env`]), then resolved and cross-checked ([`check`]).

pub mod check;
pub mod env;
pub mod file;
pub mod machine;

pub use check::Config;

use std::path::{Path, PathBuf};

use file::RawConfig;

/// Why there is no usable configuration. Every message names the key and says what would be right.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("{path}: {source}", path = path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("{path}: {message}", path = path.display())]
    Parse { path: PathBuf, message: String },
    #[error("{key}: {reason}")]
    Invalid { key: &'static str, reason: String },
    #[error("{key} contradicts {other}: {reason}")]
    Contradiction { key: &'static str, other: &'static str, reason: String },
    #[error("{variable}: {reason}")]
    Variable { variable: String, reason: String },
}

/// A checked configuration, and what the operator should be told about it.
#[derive(Debug)]
pub struct Loaded {
    pub config: Config,
    /// Variables that mean nothing and settings that are allowed but unwise.
    pub warnings: Vec<String>,
}

/// Reads file, environment and flags (each overriding the one before) and checks the result.
pub fn load(
    file: Option<&Path>,
    flags: RawConfig,
    variables: impl Iterator<Item = (String, String)>,
) -> Result<Loaded, ConfigError> {
    let from_file = match file {
        Some(path) => file::read(path)?,
        None => RawConfig::default(),
    };
    let environment = env::read(variables)?;
    let raw = from_file.overlaid_with(environment.raw).overlaid_with(flags);
    let mut warnings = environment.warnings;
    let config = check::check(raw, &machine::detect(), &mut warnings)?;
    Ok(Loaded { config, warnings })
}
