//! The plan by which a cluster is formed once.

use std::collections::BTreeMap;

use bindery_proto::raft as wire;
use bytes::Bytes;

use crate::codec::{CodecError, sixteen};
use crate::core::types::Member;

/// Founders have ids 1 to this; joined members' ids lie above.
pub(crate) const MAX_FOUNDERS: usize = 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Founder {
    pub id: u64,
    pub name: String,
    pub address: String,
    pub incarnation: [u8; 16],
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub cluster_id: [u8; 16],
    /// In order of their names; the first leads the forming.
    pub founders: Vec<Founder>,
}

impl Plan {
    /// The founder that is this directory of this node.
    pub fn founder(&self, name: &str, incarnation: &[u8; 16]) -> Option<&Founder> {
        self.founders.iter().find(|f| f.name == name && f.incarnation == *incarnation)
    }

    pub fn names(&self) -> Vec<String> {
        self.founders.iter().map(|f| f.name.clone()).collect()
    }

    /// The first membership.
    pub fn members(&self) -> BTreeMap<u64, Member> {
        let member = |f: &Founder| Member {
            name: f.name.clone(),
            address: f.address.clone(),
            incarnation: f.incarnation,
            replica: false,
        };
        self.founders.iter().map(|f| (f.id, member(f))).collect()
    }

    pub fn to_wire(&self) -> wire::Plan {
        wire::Plan {
            cluster_id: Bytes::copy_from_slice(&self.cluster_id),
            founders: self
                .founders
                .iter()
                .map(|f| wire::Founder {
                    name: f.name.clone(),
                    address: f.address.clone(),
                    incarnation: Bytes::copy_from_slice(&f.incarnation),
                    id: f.id,
                })
                .collect(),
        }
    }

    pub fn from_wire(plan: wire::Plan) -> Result<Plan, CodecError> {
        if plan.founders.is_empty() || plan.founders.len() > MAX_FOUNDERS {
            return Err(CodecError::Invalid("a plan has 1 to 1024 founders".into()));
        }
        let mut founders = Vec::new();
        for (n, founder) in plan.founders.into_iter().enumerate() {
            // Ids count from 1 in order: so they are unique without a check.
            if founder.id != n as u64 + 1 || founder.name.is_empty() {
                return Err(CodecError::Invalid("founders are not numbered in order".into()));
            }
            founders.push(Founder {
                id: founder.id,
                incarnation: sixteen(&founder.incarnation, "incarnation")?,
                name: founder.name,
                address: founder.address,
            });
        }
        Ok(Plan { cluster_id: sixteen(&plan.cluster_id, "cluster_id")?, founders })
    }
}
