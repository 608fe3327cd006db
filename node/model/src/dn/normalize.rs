//! The normal form of names: byte keys that are equal exactly when the names are (RFC 4517, 4.2.15).

use super::{Ava, Dn, Rdn};
use crate::error::DnError;
use crate::schema::Schema;

/// The key of one RDN: for each AVA, sorted, the attribute type's number, the length of the normalised value and
/// the value; then a zero. Self-delimiting, so keys can be strung together without ambiguity.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NormRdn(Vec<u8>);

impl NormRdn {
    /// The key.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The key, taken.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// The keys of a DN's RDNs, leaf first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct NormDn(Vec<NormRdn>);

impl NormDn {
    /// The name that a key of [`Self::key`] stands for; `None` if it is not one.
    pub fn from_key(key: &[u8]) -> Option<Self> {
        let mut rdns = Vec::new();
        let mut rest = key;
        while !rest.is_empty() {
            let length = rdn_key_length(rest)?;
            let (rdn, after) = rest.split_at(length);
            rdns.push(NormRdn(rdn.to_vec()));
            rest = after;
        }
        rdns.reverse();
        Some(Self(rdns))
    }

    /// The keys, leaf first.
    pub fn rdns(&self) -> &[NormRdn] {
        &self.0
    }

    /// True for the root.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The name without its leaf; `None` for the root.
    pub fn parent(&self) -> Option<Self> {
        let (_, above) = self.0.split_first()?;
        Some(Self(above.to_vec()))
    }

    /// True when this name is `base` or below it.
    pub fn is_under(&self, base: &Self) -> bool {
        self.0.ends_with(&base.0)
    }

    /// One key for the whole name, root first, so that a subtree's keys share a prefix. The root's is empty.
    pub fn key(&self) -> Vec<u8> {
        let mut key = Vec::with_capacity(self.0.iter().map(|rdn| rdn.0.len()).sum());
        self.key_into(&mut key);
        key
    }

    /// [`Self::key`], appended.
    pub fn key_into(&self, out: &mut Vec<u8>) {
        for rdn in self.0.iter().rev() {
            out.extend_from_slice(&rdn.0);
        }
    }
}

impl Dn {
    /// The normal form, by each attribute type's equality rule. Fails when a type is unknown or cannot be
    /// compared, or a value does not belong to it.
    pub fn normalize(&self, schema: &Schema) -> Result<NormDn, DnError> {
        self.rdns.iter().map(|rdn| rdn.normalize(schema)).collect::<Result<_, _>>().map(NormDn)
    }
}

impl Rdn {
    /// The normal form; see [`Dn::normalize`].
    pub fn normalize(&self, schema: &Schema) -> Result<NormRdn, DnError> {
        let mut key = Vec::with_capacity(24);
        if let [ava] = self.avas.as_slice() {
            ava.normalize_into(schema, &mut key)?;
        } else {
            // Sorted by type number, which is unique in an RDN, whichever name the type was given by.
            let mut parts = Vec::with_capacity(self.avas.len());
            for ava in &self.avas {
                let mut part = Vec::new();
                let id = ava.normalize_into(schema, &mut part)?;
                parts.push((id, part));
            }
            parts.sort_unstable();
            if let Some(at) = (1..parts.len()).find(|&at| parts[at - 1].0 == parts[at].0) {
                let name = schema.attribute_by_id(parts[at].0).map_or_else(String::new, |at| at.name().to_owned());
                return Err(DnError::DuplicateType(name));
            }
            for (_, part) in &parts {
                key.extend_from_slice(part);
            }
        }
        key.push(0);
        Ok(NormRdn(key))
    }
}

impl Ava {
    /// Appends number, length and normalised value.
    fn normalize_into(&self, schema: &Schema, key: &mut Vec<u8>) -> Result<crate::schema::AttrId, DnError> {
        let Some(attribute) = schema.attribute(&self.attribute) else {
            return Err(DnError::UnknownType(self.attribute.clone()));
        };
        let Some(rule) = attribute.equality else {
            return Err(DnError::NoEqualityRule(attribute.name().to_owned()));
        };
        put_varint(key, attribute.id.0 as usize);
        // The length is known only afterwards: one octet is kept for it, which is enough for nearly every value.
        let length_at = key.len();
        key.push(0);
        let refused = |source| DnError::Value { attribute: self.attribute.clone(), source };
        attribute.syntax.validate(&self.value).map_err(refused)?;
        rule.normalize_into(&self.value, schema, key).map_err(refused)?;
        match key.len() - length_at - 1 {
            short @ 0..=0x7f => key[length_at] = short as u8,
            long => {
                let mut length = Vec::with_capacity(4);
                put_varint(&mut length, long);
                key.splice(length_at..=length_at, length);
            }
        }
        Ok(attribute.id)
    }
}

/// The length of the RDN key at the head of `key`.
fn rdn_key_length(key: &[u8]) -> Option<usize> {
    let mut rest = key;
    loop {
        let (attribute, after) = take_varint(rest)?;
        if attribute == 0 {
            return Some(key.len() - after.len()).filter(|length| *length > 1);
        }
        let (length, value) = take_varint(after)?;
        rest = value.get(length..)?;
    }
}

fn take_varint(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut value = 0_usize;
    // Five octets hold every attribute number and every length of a DN's part.
    for (at, &byte) in bytes.iter().enumerate().take(5) {
        value |= usize::from(byte & 0x7f) << (7 * at);
        if byte < 0x80 {
            return Some((value, &bytes[at + 1..]));
        }
    }
    None
}

/// LEB128: seven bits an octet, the low ones first.
fn put_varint(out: &mut Vec<u8>, mut value: usize) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push((value & 0x7f) as u8);
}
