//! `DATA/identity`: who this directory is.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use bindery_proto::raft as wire;
use bytes::Bytes;
use prost::Message;
use xxhash_rust::xxh3::xxh3_64;

use super::plan::Plan;
use crate::clock::{Randomness, random_16};
use crate::codec::{CodecError, sixteen};
use crate::error::StartError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Membership {
    pub cluster_id: [u8; 16],
    pub node_id: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub name: String,
    /// Chosen when the directory was first used.
    pub incarnation: [u8; 16],
    /// Prepared with, or founded by.
    pub plan: Option<Plan>,
    pub member: Option<Membership>,
    /// The log exists; should it be absent, it is lost.
    pub log_in_use: bool,
}

/// The file and its content.
pub(crate) struct IdentityStore {
    directory: PathBuf,
    current: Identity,
}

impl IdentityStore {
    /// Reads or creates the identity of `name`.
    pub fn open(directory: &Path, name: &str, randomness: &dyn Randomness) -> Result<IdentityStore, StartError> {
        let io_error = |source| StartError::Io { path: directory.to_owned(), source };
        std::fs::create_dir_all(directory).map_err(io_error)?;
        let current = match std::fs::read(directory.join("identity")) {
            Ok(bytes) => {
                let identity = decode(&bytes).map_err(|e| StartError::Damaged {
                    dir: directory.to_owned(),
                    why: format!("the identity file is damaged ({e})"),
                })?;
                if identity.name != name {
                    return Err(StartError::OtherNode {
                        dir: directory.to_owned(),
                        found: identity.name,
                        configured: name.to_owned(),
                    });
                }
                IdentityStore { directory: directory.to_owned(), current: identity }
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                if directory.join("log").exists() {
                    return Err(StartError::Damaged {
                        dir: directory.to_owned(),
                        why: "there is a log, but the identity file is lost".into(),
                    });
                }
                let current = Identity {
                    name: name.to_owned(),
                    incarnation: random_16(randomness),
                    plan: None,
                    member: None,
                    log_in_use: false,
                };
                let store = IdentityStore { directory: directory.to_owned(), current };
                store.write().map_err(io_error)?;
                store
            }
            Err(e) => return Err(io_error(e)),
        };
        Ok(current)
    }

    pub fn get(&self) -> &Identity {
        &self.current
    }

    /// Changes the identity; durable on return.
    pub fn update(&mut self, change: impl FnOnce(&mut Identity)) -> io::Result<()> {
        let before = self.current.clone();
        change(&mut self.current);
        if self.current == before {
            return Ok(());
        }
        let result = self.write();
        if result.is_err() {
            self.current = before;
        }
        result
    }

    fn write(&self) -> io::Result<()> {
        let new = self.directory.join("identity.new");
        let mut file = File::create(&new)?;
        file.write_all(&encode(&self.current))?;
        file.sync_all()?;
        std::fs::rename(&new, self.directory.join("identity"))?;
        File::open(&self.directory)?.sync_all()
    }
}

fn encode(identity: &Identity) -> Vec<u8> {
    let mut bytes = wire::IdentityFile {
        name: identity.name.clone(),
        incarnation: Bytes::copy_from_slice(&identity.incarnation),
        plan: identity.plan.as_ref().map(Plan::to_wire),
        cluster_id: identity.member.map(|m| Bytes::copy_from_slice(&m.cluster_id)).unwrap_or_default(),
        node_id: identity.member.map_or(0, |m| m.node_id),
        log_in_use: identity.log_in_use,
    }
    .encode_to_vec();
    let sum = xxh3_64(&bytes);
    bytes.extend_from_slice(&sum.to_be_bytes());
    bytes
}

fn decode(bytes: &[u8]) -> Result<Identity, CodecError> {
    let body = bytes.len().checked_sub(8).map(|at| bytes.split_at(at));
    let Some((body, sum)) = body else { return Err(CodecError::Invalid("too short".into())) };
    if xxh3_64(body).to_be_bytes() != *sum {
        return Err(CodecError::Invalid("bad checksum".into()));
    }
    let file = wire::IdentityFile::decode(body)?;
    let member = if file.cluster_id.is_empty() {
        None
    } else {
        Some(Membership { cluster_id: sixteen(&file.cluster_id, "cluster_id")?, node_id: file.node_id })
    };
    Ok(Identity {
        incarnation: sixteen(&file.incarnation, "incarnation")?,
        plan: file.plan.map(Plan::from_wire).transpose()?,
        name: file.name,
        member,
        log_in_use: file.log_in_use,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemRandomness;

    #[test]
    fn an_identity_survives_and_belongs_to_one_name() {
        let dir = tempfile::tempdir().unwrap();
        let mut store = IdentityStore::open(dir.path(), "a", &SystemRandomness).unwrap();
        let incarnation = store.get().incarnation;
        store.update(|i| i.member = Some(Membership { cluster_id: [7; 16], node_id: 3 })).unwrap();
        let store = IdentityStore::open(dir.path(), "a", &SystemRandomness).unwrap();
        assert_eq!(store.get().incarnation, incarnation);
        assert_eq!(store.get().member.unwrap().node_id, 3);
        assert!(matches!(
            IdentityStore::open(dir.path(), "b", &SystemRandomness),
            Err(StartError::OtherNode { found, .. }) if found == "a"
        ));
        let path = dir.path().join("identity");
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[3] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        assert!(matches!(IdentityStore::open(dir.path(), "a", &SystemRandomness), Err(StartError::Damaged { .. })));
    }

    #[test]
    fn a_log_without_identity_is_not_taken_for_a_blank_directory() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("log")).unwrap();
        assert!(matches!(IdentityStore::open(dir.path(), "a", &SystemRandomness), Err(StartError::Damaged { .. })));
    }
}
