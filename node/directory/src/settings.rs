//! The replicated settings: naming contexts, the administrator, and named values. One record, changed by
//! log entries only.

use crate::error::{DirectoryError, OpError, OpErrorKind};
use crate::tables;
use bindery_model::dn::{Dn, NormDn};
use bindery_model::schema::Schema;
use prost::Message;
use std::collections::BTreeMap;

/// Naming contexts of one directory: each is looked at for every name that is resolved.
pub const NAMING_CONTEXTS_MAX: usize = 64;
/// Named settings: a list that people read.
pub const SETTINGS_MAX: usize = 1024;
/// Length of a setting's name in bytes.
pub const SETTING_NAME_BYTES: usize = 128;
/// Length of a setting's value in bytes; access rules are the longest.
pub const SETTING_VALUE_BYTES: usize = 1 << 20;

/// The stored form of [`Settings`].
#[derive(Clone, PartialEq, Eq, Message)]
pub struct SettingsRecord {
    /// DNs of the naming contexts, in the order of their configuration.
    #[prost(string, repeated, tag = "1")]
    pub naming_contexts: Vec<String>,
    /// DN of the administrator.
    #[prost(string, optional, tag = "2")]
    pub admin_dn: Option<String>,
    /// Password of the administrator, hashed, as a `userPassword` value.
    #[prost(bytes = "vec", tag = "3")]
    pub admin_password: Vec<u8>,
    /// Named settings, ordered by name.
    #[prost(message, repeated, tag = "4")]
    pub values: Vec<SettingValue>,
}

/// One named setting.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct SettingValue {
    /// Name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Value, as text.
    #[prost(string, tag = "2")]
    pub value: String,
}

/// A subtree that this directory holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamingContext {
    /// The suffix as configured.
    pub dn: Dn,
    /// Its normal form, by which names are compared.
    pub norm: NormDn,
}

/// The settings of one version of the directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    record: SettingsRecord,
    naming_contexts: Vec<NamingContext>,
    admin: Option<NamingContext>,
    values: BTreeMap<String, String>,
}

impl Settings {
    /// Whether the founding command has been applied: before it there is nothing to serve.
    pub fn is_founded(&self) -> bool {
        self.admin.is_some() || !self.naming_contexts.is_empty()
    }

    /// The naming contexts, none of which is inside another.
    pub fn naming_contexts(&self) -> &[NamingContext] {
        &self.naming_contexts
    }

    /// DN of the administrator, if one is set.
    pub fn admin_dn(&self) -> Option<&Dn> {
        self.admin.as_ref().map(|admin| &admin.dn)
    }

    /// Whether `name` is the administrator's.
    pub fn is_admin(&self, name: &NormDn) -> bool {
        self.admin.as_ref().is_some_and(|admin| admin.norm == *name)
    }

    /// The administrator's password as a `userPassword` value; empty when none is set.
    pub fn admin_password(&self) -> &[u8] {
        &self.record.admin_password
    }

    /// The value of a named setting.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// Named settings in order of their names.
    pub fn values(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The naming context that holds `name`.
    pub fn naming_context_of(&self, name: &NormDn) -> Option<&NamingContext> {
        self.naming_contexts.iter().find(|context| *name == context.norm || name.is_under(&context.norm))
    }

    pub(crate) fn record(&self) -> &SettingsRecord {
        &self.record
    }

    /// Checks a record and makes it usable. The error says what is wrong with it.
    pub(crate) fn from_record(record: SettingsRecord, schema: &Schema) -> Result<Settings, OpError> {
        let refuse = |what: String| Err(OpError::new(OpErrorKind::ConstraintViolation, what));
        if record.naming_contexts.len() > NAMING_CONTEXTS_MAX {
            return refuse(format!("more than {NAMING_CONTEXTS_MAX} naming contexts"));
        }
        let mut contexts: Vec<NamingContext> = Vec::new();
        for text in &record.naming_contexts {
            let context = named(text, schema)?;
            if context.dn.is_root() {
                return refuse("the empty DN cannot be a naming context".to_owned());
            }
            for other in &contexts {
                if context.norm == other.norm
                    || context.norm.is_under(&other.norm)
                    || other.norm.is_under(&context.norm)
                {
                    return refuse(format!("naming contexts {} and {text} overlap", other.dn));
                }
            }
            contexts.push(context);
        }
        let admin = match &record.admin_dn {
            Some(text) => Some(named(text, schema)?),
            None => None,
        };
        if record.values.len() > SETTINGS_MAX {
            return refuse(format!("more than {SETTINGS_MAX} settings"));
        }
        let mut values = BTreeMap::new();
        for SettingValue { name, value } in &record.values {
            if name.is_empty() || name.len() > SETTING_NAME_BYTES {
                return refuse(format!("a setting's name has 1 to {SETTING_NAME_BYTES} bytes"));
            }
            if value.len() > SETTING_VALUE_BYTES {
                return refuse(format!("setting {name} is longer than {SETTING_VALUE_BYTES} bytes"));
            }
            values.insert(name.clone(), value.clone());
        }
        Ok(Settings { record, naming_contexts: contexts, admin, values })
    }

    /// Reads the stored record.
    pub(crate) fn parse(bytes: &[u8], schema: &Schema) -> Result<Settings, DirectoryError> {
        let record = SettingsRecord::decode(bytes)
            .map_err(|error| DirectoryError::inconsistent(format!("settings: {error}")))?;
        Settings::from_record(record, schema)
            .map_err(|error| DirectoryError::inconsistent(format!("settings: {error}")))
    }
}

fn named(text: &str, schema: &Schema) -> Result<NamingContext, OpError> {
    let refuse = |error: String| OpError::new(OpErrorKind::InvalidDnSyntax, format!("{text:?}: {error}"));
    let dn = Dn::parse(text).map_err(|error| refuse(error.to_string()))?;
    let norm = dn.normalize(schema).map_err(|error| refuse(error.to_string()))?;
    Ok(NamingContext { dn, norm })
}

/// The RDN part of the key of a naming context's entry in the tree of names.
pub(crate) fn suffix_rdn_key(norm: &NormDn) -> Vec<u8> {
    tables::suffix_key(norm.rdns().iter().map(|rdn| rdn.as_bytes()))
}
