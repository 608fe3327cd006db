//! Distinguished names: reading and printing (RFC 4514), normal form (RFC 4517, 4.2.15).

mod normalize;
mod parse;
mod print;
#[cfg(test)]
mod tests;

pub use normalize::{NormDn, NormRdn};

use crate::error::DnError;

/// RDNs in one DN at most: far beyond any real tree, and a bound for everything that walks one.
pub const MAX_RDNS: usize = 1_000;

/// Octets of a DN's text at most. OpenLDAP's is 8,192; escapes triple a value's length.
pub const MAX_DN_BYTES: usize = 64 * 1024;

/// AVAs in one RDN at most.
pub const MAX_AVAS: usize = 64;

/// An attribute value assertion of an RDN: a type as spelled and a value as decoded.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Ava {
    attribute: String,
    value: Vec<u8>,
}

impl Ava {
    /// An AVA of a type (name or OID, without options) and a value.
    pub fn new(attribute: impl Into<String>, value: impl Into<Vec<u8>>) -> Self {
        Self { attribute: attribute.into(), value: value.into() }
    }

    /// The attribute type as spelled: a name, or an OID without the prefix `OID.`.
    pub fn attribute(&self) -> &str {
        &self.attribute
    }

    /// The value with escapes undone.
    pub fn value(&self) -> &[u8] {
        &self.value
    }
}

/// A relative distinguished name: one or more AVAs of distinct types, in the order given.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Rdn {
    avas: Vec<Ava>,
}

impl Rdn {
    /// An RDN of these AVAs: at least one, at most [`MAX_AVAS`], no type twice (RFC 4512, 2.3.1).
    pub fn new(avas: Vec<Ava>) -> Result<Self, DnError> {
        if avas.is_empty() {
            return Err(DnError::Syntax { at: 0, reason: "an RDN needs at least one attribute value" });
        }
        if avas.len() > MAX_AVAS {
            return Err(DnError::TooLarge { limit: MAX_AVAS, unit: "values in one RDN" });
        }
        for (at, ava) in avas.iter().enumerate() {
            if avas[..at].iter().any(|earlier| earlier.attribute.eq_ignore_ascii_case(&ava.attribute)) {
                return Err(DnError::DuplicateType(ava.attribute.clone()));
            }
        }
        Ok(Self { avas })
    }

    /// Reads exactly one RDN.
    pub fn parse(text: impl AsRef<[u8]>) -> Result<Self, DnError> {
        let mut dn = Dn::parse(text)?;
        match dn.rdns.pop() {
            Some(rdn) if dn.rdns.is_empty() => Ok(rdn),
            _ => Err(DnError::Syntax { at: 0, reason: "expected exactly one RDN" }),
        }
    }

    /// The AVAs in the order given.
    pub fn avas(&self) -> &[Ava] {
        &self.avas
    }
}

/// A distinguished name: RDNs, leaf first. No RDN at all is the root (the empty DN).
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Dn {
    rdns: Vec<Rdn>,
}

impl Dn {
    /// The empty DN.
    pub const fn root() -> Self {
        Self { rdns: Vec::new() }
    }

    /// A DN of these RDNs, leaf first.
    pub fn new(rdns: Vec<Rdn>) -> Result<Self, DnError> {
        if rdns.len() > MAX_RDNS {
            return Err(DnError::TooLarge { limit: MAX_RDNS, unit: "RDNs" });
        }
        Ok(Self { rdns })
    }

    /// Reads RFC 4514's string form, and RFC 2253's and 1779's leniencies: quoted values, `;` between RDNs,
    /// spaces round separators, the prefix `OID.`.
    pub fn parse(text: impl AsRef<[u8]>) -> Result<Self, DnError> {
        parse::dn(text.as_ref())
    }

    /// The RDNs, leaf first.
    pub fn rdns(&self) -> &[Rdn] {
        &self.rdns
    }

    /// The leaf's RDN; `None` for the root.
    pub fn rdn(&self) -> Option<&Rdn> {
        self.rdns.first()
    }

    /// True for the empty DN.
    pub fn is_root(&self) -> bool {
        self.rdns.is_empty()
    }

    /// The DN without its leaf's RDN; `None` for the root.
    pub fn parent(&self) -> Option<Self> {
        let (_, above) = self.rdns.split_first()?;
        Some(Self { rdns: above.to_vec() })
    }

    /// The DN of a child of this one.
    pub fn child(&self, rdn: Rdn) -> Result<Self, DnError> {
        let mut rdns = Vec::with_capacity(self.rdns.len() + 1);
        rdns.push(rdn);
        rdns.extend_from_slice(&self.rdns);
        Self::new(rdns)
    }

    /// The last `count` RDNs: an ancestor of this DN, or itself.
    pub fn ancestor(&self, count: usize) -> Self {
        Self { rdns: self.rdns[self.rdns.len() - count.min(self.rdns.len())..].to_vec() }
    }
}

impl std::str::FromStr for Dn {
    type Err = DnError;

    fn from_str(text: &str) -> Result<Self, DnError> {
        Self::parse(text)
    }
}
