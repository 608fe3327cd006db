//! Operational attributes that are computed and not stored: `entryDN` (RFC 5020), `hasSubordinates` and
//! `numSubordinates` (X.501 and draft-boreham-numsubordinates), `subschemaSubentry` (RFC 4512 4.2). They can be
//! asked for, compared and used in filters like any other.

use crate::dit;
use crate::error::DirectoryError;
use crate::selection::Selection;
use bindery_model::schema::{AttrId, Schema};
use bindery_store::View;

/// DN of the subschema subentry.
pub const SUBSCHEMA_DN: &str = "cn=Subschema";

/// The computed attributes as a schema names them; one that the schema lacks is never computed.
#[derive(Debug, Clone, Copy)]
pub struct Virtuals {
    list: [(Virtual, Option<AttrId>); 4],
}

/// A computed attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Virtual {
    /// The entry's name.
    EntryDn,
    /// Whether it has children.
    HasSubordinates,
    /// How many.
    NumSubordinates,
    /// The name of the subschema subentry.
    SubschemaSubentry,
}

impl Virtual {
    /// The attribute's name, as answers spell it.
    pub fn name(self) -> &'static str {
        match self {
            Virtual::EntryDn => "entryDN",
            Virtual::HasSubordinates => "hasSubordinates",
            Virtual::NumSubordinates => "numSubordinates",
            Virtual::SubschemaSubentry => "subschemaSubentry",
        }
    }

    /// Its value for the entry `id`, named `dn`.
    pub fn value(self, view: &View, id: u64, dn: &str) -> Result<Vec<u8>, DirectoryError> {
        Ok(match self {
            Virtual::EntryDn => dn.as_bytes().to_vec(),
            Virtual::SubschemaSubentry => SUBSCHEMA_DN.as_bytes().to_vec(),
            Virtual::HasSubordinates => {
                if children(view, id)? > 0 {
                    b"TRUE".to_vec()
                } else {
                    b"FALSE".to_vec()
                }
            }
            Virtual::NumSubordinates => children(view, id)?.to_string().into_bytes(),
        })
    }
}

fn children(view: &View, id: u64) -> Result<u64, DirectoryError> {
    Ok(dit::parent_record(view, id)?.map_or(0, |record| record.children))
}

impl Virtuals {
    /// Looks the attributes up.
    pub fn of(schema: &Schema) -> Virtuals {
        let find = |kind: Virtual| (kind, schema.attribute_id(kind.name().as_bytes()));
        Virtuals {
            list: [
                find(Virtual::EntryDn),
                find(Virtual::HasSubordinates),
                find(Virtual::NumSubordinates),
                find(Virtual::SubschemaSubentry),
            ],
        }
    }

    /// The computed attribute with this id.
    pub fn get(&self, id: AttrId) -> Option<Virtual> {
        self.list.iter().find(|(_, own)| *own == Some(id)).map(|(kind, _)| *kind)
    }

    /// The computed attributes that a selection asks for.
    pub fn selected(self, selection: &Selection) -> impl Iterator<Item = (Virtual, AttrId)> {
        self.list.into_iter().filter_map(|(kind, id)| {
            let id = id?;
            let wanted = selection.all_operational_attributes() || selection.names(id, |options| options.is_empty());
            wanted.then_some((kind, id))
        })
    }
}
