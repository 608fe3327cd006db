//! The configuration as written: every key optional, nothing resolved. Unknown keys are refused, so that a
//! misspelt setting is found at start and not after an accident.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::ConfigError;

/// A size in bytes as a number, or as text with a unit.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum RawSize {
    Bytes(u64),
    Text(String),
}

/// Declares a section whose keys are all optional, and how one section overrides another.
macro_rules! section {
    ($(#[$meta:meta])* $name:ident { $($(#[$key_meta:meta])* $key:ident: $type:ty,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct $name { $($(#[$key_meta])* pub $key: Option<$type>,)* }

        impl $name {
            /// `over`'s keys where it has them, else one's own.
            fn overlaid_with(self, over: Self) -> Self {
                Self { $($key: over.$key.or(self.$key),)* }
            }
        }
    };
}

section!(
    /// `[ldap]`
    RawLdap {
        /// URLs: `ldap://127.0.0.1:1389`.
        listen: Vec<String>,
    }
);

section!(
    /// `[grpc]`
    RawGrpc {
        /// `address:port` for the other nodes and for administration.
        listen: String,
        /// `host:port` at which the other nodes reach it.
        advertise: String,
        /// Allow listening beyond loopback without TLS.
        insecure: bool,
        /// Administration from loopback needs no password. For demonstrations.
        trust_loopback: bool,
    }
);

section!(
    /// `[http]`
    RawHttp {
        /// `address:port` for metrics and health.
        listen: String,
    }
);

section!(
    /// `[cluster]`
    RawCluster {
        /// `name=host:port` of every node, the same list on all of them.
        peers: Vec<String>,
        /// How many nodes form the cluster at its first start.
        expect: u64,
    }
);

section!(
    /// `[raft]`
    RawRaft {
        heartbeat_ms: u64,
        /// Shortest and longest election timeout.
        election_ms: Vec<u64>,
        /// `split`, `sled` or `segmented`.
        log: String,
        /// Log kept behind the older checkpoint, so that a short absence needs no snapshot.
        retain_log: RawSize,
        /// Seconds between checkpoints.
        checkpoint_s: u64,
    }
);

section!(
    /// `[store]`
    RawStore {
        /// `buddy` or `first-fit`.
        allocator: String,
    }
);

section!(
    /// `[bootstrap]`: read once, by the node that forms the cluster.
    RawBootstrap {
        suffix: String,
        admin_dn: String,
        admin_password: String,
        admin_password_file: PathBuf,
        schema_dir: PathBuf,
    }
);

section!(
    /// `[log]`
    RawLog {
        /// `text` or `json`.
        format: String,
        /// A level, or directives as of `RUST_LOG`.
        level: String,
    }
);

/// The whole file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RawConfig {
    /// This node's name.
    pub id: Option<String>,
    pub data: Option<PathBuf>,
    pub memory: Option<RawSize>,
    pub ldap: RawLdap,
    pub grpc: RawGrpc,
    pub http: RawHttp,
    pub cluster: RawCluster,
    pub raft: RawRaft,
    pub store: RawStore,
    pub bootstrap: RawBootstrap,
    pub log: RawLog,
}

impl RawConfig {
    /// `over`'s keys where it has them, else one's own.
    pub fn overlaid_with(self, over: RawConfig) -> RawConfig {
        RawConfig {
            id: over.id.or(self.id),
            data: over.data.or(self.data),
            memory: over.memory.or(self.memory),
            ldap: self.ldap.overlaid_with(over.ldap),
            grpc: self.grpc.overlaid_with(over.grpc),
            http: self.http.overlaid_with(over.http),
            cluster: self.cluster.overlaid_with(over.cluster),
            raft: self.raft.overlaid_with(over.raft),
            store: self.store.overlaid_with(over.store),
            bootstrap: self.bootstrap.overlaid_with(over.bootstrap),
            log: self.log.overlaid_with(over.log),
        }
    }
}

/// Reads a TOML file.
pub fn read(path: &Path) -> Result<RawConfig, ConfigError> {
    let text = std::fs::read_to_string(path).map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
    // toml's message carries line, column and the offending line, and lists the known keys.
    toml::from_str(&text)
        .map_err(|error| ConfigError::Parse { path: path.to_owned(), message: error.to_string().trim_end().to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_keys_are_refused_by_name() {
        for text in ["idd = 'x'", "[ldap]\nlisten_on = []", "[bootstrap]\nsufix = 'dc=x'"] {
            let error = toml::from_str::<RawConfig>(text).unwrap_err().to_string();
            assert!(error.contains("unknown field"), "{error}");
        }
    }

    #[test]
    fn memory_is_a_number_or_text() {
        let number: RawConfig = toml::from_str("memory = 134217728").unwrap();
        assert_eq!(number.memory, Some(RawSize::Bytes(134_217_728)));
        let text: RawConfig = toml::from_str("memory = '128MiB'").unwrap();
        assert_eq!(text.memory, Some(RawSize::Text("128MiB".into())));
    }

    #[test]
    fn the_later_layer_wins_key_by_key() {
        let file: RawConfig = toml::from_str("id = 'a'\n[log]\nlevel = 'info'\nformat = 'json'").unwrap();
        let over: RawConfig = toml::from_str("[log]\nlevel = 'debug'").unwrap();
        let both = file.overlaid_with(over);
        assert_eq!(both.id.as_deref(), Some("a"));
        assert_eq!(both.log.level.as_deref(), Some("debug"));
        assert_eq!(both.log.format.as_deref(), Some("json"));
    }
}
