//! Configuration from environment variables: each key of the file as `BINDERY_` and its path in capitals,
//! with `__` between section and key.

use serde::Deserialize;
use toml::Value;

use super::ConfigError;
use super::file::RawConfig;

/// How a variable's text becomes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Number,
    Flag,
    /// Separated by commas.
    TextList,
    NumberList,
}

/// Every key, with the kind of its value.
const KEYS: &[(&str, Kind)] = &[
    ("id", Kind::Text),
    ("data", Kind::Text),
    ("memory", Kind::Text),
    ("ldap.listen", Kind::TextList),
    ("grpc.listen", Kind::Text),
    ("grpc.advertise", Kind::Text),
    ("grpc.insecure", Kind::Flag),
    ("grpc.trust_loopback", Kind::Flag),
    ("http.listen", Kind::Text),
    ("cluster.peers", Kind::TextList),
    ("cluster.expect", Kind::Number),
    ("raft.heartbeat_ms", Kind::Number),
    ("raft.election_ms", Kind::NumberList),
    ("raft.log", Kind::Text),
    ("raft.retain_log", Kind::Text),
    ("raft.checkpoint_s", Kind::Number),
    ("store.allocator", Kind::Text),
    ("bootstrap.suffix", Kind::Text),
    ("bootstrap.admin_dn", Kind::Text),
    ("bootstrap.admin_password", Kind::Text),
    ("bootstrap.admin_password_file", Kind::Text),
    ("bootstrap.schema_dir", Kind::Text),
    ("log.format", Kind::Text),
    ("log.level", Kind::Text),
];

/// Variables that the commands read for themselves.
const OTHER_VARIABLES: &[&str] =
    &["BINDERY_CONFIG", "BINDERY_ENDPOINTS", "BINDERY_USER", "BINDERY_PASSWORD_FILE", "BINDERY_TIMEOUT"];

const PREFIX: &str = "BINDERY_";

/// What the environment says.
#[derive(Debug, Default)]
pub struct Environment {
    pub raw: RawConfig,
    pub warnings: Vec<String>,
}

/// Reads the variables that begin with `BINDERY_`. An empty variable counts as absent, since Compose files
/// cannot unset one.
pub fn read(variables: impl Iterator<Item = (String, String)>) -> Result<Environment, ConfigError> {
    let mut root = toml::Table::new();
    let mut warnings = Vec::new();
    for (variable, text) in variables {
        let Some(rest) = variable.strip_prefix(PREFIX) else { continue };
        if text.is_empty() || OTHER_VARIABLES.contains(&variable.as_str()) {
            continue;
        }
        let path = rest.to_ascii_lowercase().replace("__", ".");
        let Some((key, kind)) = KEYS.iter().find(|(key, _)| *key == path) else {
            warnings.push(unknown(&variable));
            continue;
        };
        let value =
            value(*kind, &text).map_err(|reason| ConfigError::Variable { variable: variable.clone(), reason })?;
        match key.split_once('.') {
            None => {
                root.insert((*key).to_owned(), value);
            }
            Some((section, key)) => {
                let section = root.entry(section).or_insert_with(|| Value::Table(toml::Table::new())).as_table_mut();
                section.expect("sections and plain keys have different names").insert(key.to_owned(), value);
            }
        }
    }
    let raw = RawConfig::deserialize(Value::Table(root)).map_err(|error| ConfigError::Variable {
        variable: format!("{PREFIX}*"),
        reason: error.to_string().trim_end().to_owned(),
    })?;
    warnings.sort();
    Ok(Environment { raw, warnings })
}

fn value(kind: Kind, text: &str) -> Result<Value, String> {
    let number = |text: &str| {
        text.trim().parse::<i64>().map(Value::Integer).map_err(|_| format!("{text:?} is not a whole number"))
    };
    Ok(match kind {
        Kind::Text => Value::String(text.to_owned()),
        Kind::Number => number(text)?,
        Kind::Flag => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => Value::Boolean(true),
            "false" | "0" | "no" | "off" => Value::Boolean(false),
            _ => return Err(format!("{text:?} is neither true nor false")),
        },
        Kind::TextList => Value::Array(items(text).map(|item| Value::String(item.to_owned())).collect()),
        Kind::NumberList => Value::Array(items(text).map(number).collect::<Result<_, _>>()?),
    })
}

fn items(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty())
}

fn unknown(variable: &str) -> String {
    let path = variable[PREFIX.len()..].to_ascii_lowercase();
    // The usual mistake is one underscore between section and key.
    let meant = KEYS.iter().find(|(key, _)| key.replace('.', "_") == path.replace("__", "_"));
    match meant {
        Some((key, _)) => format!(
            "{variable} is not a setting and is ignored; {PREFIX}{} is meant?",
            key.to_ascii_uppercase().replace('.', "__")
        ),
        None => format!("{variable} is not a setting and is ignored"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Result<Environment, ConfigError> {
        read(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
    }

    #[test]
    fn every_key_of_the_table_is_a_key_of_the_file() {
        for (key, kind) in KEYS {
            let text = match kind {
                Kind::Text | Kind::TextList => "a",
                Kind::Number | Kind::NumberList => "7",
                Kind::Flag => "true",
            };
            let variable = format!("{PREFIX}{}", key.to_ascii_uppercase().replace('.', "__"));
            let environment = environment(&[(&variable, text)]).unwrap();
            assert!(environment.warnings.is_empty(), "{variable}");
            assert_ne!(environment.raw, RawConfig::default(), "{variable}");
        }
    }

    #[test]
    fn every_key_of_the_file_is_in_the_table() {
        // serde lists the known keys of each section in its refusal.
        for section in ["", "ldap", "grpc", "http", "cluster", "raft", "store", "bootstrap", "log"] {
            let text = if section.is_empty() { "zzz = 1".to_owned() } else { format!("[{section}]\nzzz = 1") };
            let error = toml::from_str::<RawConfig>(&text).unwrap_err().to_string();
            let listed = error.split("expected").nth(1).unwrap();
            for key in listed.split('`').skip(1).step_by(2) {
                let path = if section.is_empty() { key.to_owned() } else { format!("{section}.{key}") };
                let known = KEYS.iter().any(|(known, _)| *known == path || known.starts_with(&format!("{path}.")));
                assert!(known, "{path}");
            }
        }
    }

    #[test]
    fn lists_numbers_and_flags() {
        let environment = environment(&[
            ("BINDERY_CLUSTER__PEERS", "a=h:1, b=h:2,"),
            ("BINDERY_CLUSTER__EXPECT", "2"),
            ("BINDERY_RAFT__ELECTION_MS", "250,500"),
            ("BINDERY_GRPC__INSECURE", "yes"),
            ("BINDERY_LOG__LEVEL", ""),
            ("HOME", "/root"),
        ])
        .unwrap();
        assert_eq!(environment.raw.cluster.peers, Some(vec!["a=h:1".to_owned(), "b=h:2".to_owned()]));
        assert_eq!(environment.raw.cluster.expect, Some(2));
        assert_eq!(environment.raw.raft.election_ms, Some(vec![250, 500]));
        assert_eq!(environment.raw.grpc.insecure, Some(true));
        assert_eq!(environment.raw.log.level, None);
    }

    #[test]
    fn an_unknown_variable_warns_and_a_wrong_value_is_refused() {
        let warned = environment(&[("BINDERY_LDAP_LISTEN", "x"), ("BINDERY_COLOUR", "x")]).unwrap();
        assert_eq!(warned.warnings[0], "BINDERY_COLOUR is not a setting and is ignored");
        assert!(warned.warnings[1].ends_with("BINDERY_LDAP__LISTEN is meant?"), "{:?}", warned.warnings);
        let refused = environment(&[("BINDERY_CLUSTER__EXPECT", "three")]).unwrap_err().to_string();
        assert_eq!(refused, "BINDERY_CLUSTER__EXPECT: \"three\" is not a whole number");
    }
}
