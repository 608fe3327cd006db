//! How nodes become and stay members: identity, forming, joining, upkeep.

pub(crate) mod admit;
pub(crate) mod change;
pub(crate) mod form;
pub(crate) mod identity;
pub(crate) mod meeting;
pub(crate) mod plan;
pub(crate) mod upkeep;
