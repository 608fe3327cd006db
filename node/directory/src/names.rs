//! DNs from ids. An entry stores its RDN and its parent, so that renaming a subtree writes one entry; a DN is
//! put together from the chain of parents, and the DNs of parents are kept, since most entries have few.
//!
//! A kept DN is valid for one *naming generation*: every rename starts a new one, and the generation is part of
//! the version that a reader has. A reader of an older version never sees a newer name, nor the reverse.

use crate::error::DirectoryError;
use crate::tables::{self, ID2ENTRY, ROOT_ID};
use bindery_model::entry_codec::StoredEntry;
use bindery_store::View;
use parking_lot::RwLock;
use std::collections::HashMap;
use std::sync::Arc;

use crate::dit::DEPTH_MAX;

const SHARDS: usize = 16;
/// Names kept in one shard. At some 200 bytes each the whole cache stays near 3 MiB; a directory with more
/// parents than that reads the chain again for some.
const SHARD_NAMES: usize = 1024;

/// Where an entry stands: its DN, and its ancestors.
#[derive(Debug, PartialEq, Eq)]
pub struct Place {
    /// The DN as stored.
    pub dn: String,
    /// The entry itself first, then its parent and so on; the naming context's entry last.
    pub chain: Vec<u64>,
}

impl Place {
    /// Whether the entry is `ancestor` or below it.
    pub fn is_within(&self, ancestor: u64) -> bool {
        ancestor == ROOT_ID || self.chain.contains(&ancestor)
    }
}

/// Places of entries that are parents; shared by all versions of a directory.
#[derive(Debug, Default)]
pub struct NameCache {
    shards: [RwLock<Shard>; SHARDS],
}

/// Places with the generation that they are valid for, by entry id.
type Shard = HashMap<u64, (u64, Arc<Place>)>;

impl NameCache {
    fn shard(&self, id: u64) -> &RwLock<Shard> {
        &self.shards[(id % SHARDS as u64) as usize]
    }

    fn kept(&self, generation: u64, id: u64) -> Option<Arc<Place>> {
        let shard = self.shard(id).read();
        let (own, place) = shard.get(&id)?;
        (*own == generation).then(|| Arc::clone(place))
    }

    fn keep(&self, generation: u64, id: u64, place: &Arc<Place>) {
        let mut shard = self.shard(id).write();
        if shard.get(&id).is_some_and(|(own, _)| *own > generation) {
            return;
        }
        if shard.len() >= SHARD_NAMES {
            // Rare, and refilled by the next few searches: not worth an order of use.
            shard.clear();
        }
        shard.insert(id, (generation, Arc::clone(place)));
    }

    /// The place of entry `id` in the version `records`, whose naming generation is `generation`. `None` when
    /// there is no such entry.
    pub fn place(&self, records: &View, generation: u64, id: u64) -> Result<Option<Arc<Place>>, DirectoryError> {
        // Up to an ancestor whose place is known, then down again.
        let mut steps: Vec<(u64, String)> = Vec::new();
        let mut at = id;
        let mut above: Option<Arc<Place>> = None;
        while at != ROOT_ID {
            if let Some(place) = self.kept(generation, at) {
                above = Some(place);
                break;
            }
            if steps.len() > DEPTH_MAX {
                let what = format!("entry {id} is deeper than {DEPTH_MAX} levels");
                return Err(DirectoryError::inconsistent(what));
            }
            let step = records.get(ID2ENTRY, &tables::id_key(at), |bytes| {
                let entry = StoredEntry::parse(bytes).map_err(|error| error.to_string())?;
                Ok::<_, String>((entry.parent(), entry.rdn().to_owned()))
            })?;
            let Some(step) = step else { return Ok(None) };
            let (parent, rdn) = step.map_err(|error| DirectoryError::inconsistent(format!("entry {at}: {error}")))?;
            steps.push((at, rdn));
            at = parent;
        }
        for (id, rdn) in steps.into_iter().rev() {
            let place = Arc::new(match &above {
                None => Place { dn: rdn, chain: vec![id] },
                Some(above) => {
                    let mut chain = Vec::with_capacity(above.chain.len() + 1);
                    chain.push(id);
                    chain.extend_from_slice(&above.chain);
                    Place { dn: format!("{rdn},{}", above.dn), chain }
                }
            });
            self.keep(generation, id, &place);
            above = Some(place);
        }
        Ok(above)
    }
}
