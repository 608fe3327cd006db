//! Ordered keys.
#![allow(clippy::unimplemented)]
use super::MatchingRule;
use crate::error::InvalidValue;
use crate::schema::Schema;

pub(super) fn key(_r: MatchingRule, _v: &[u8], _s: &Schema, _o: &mut Vec<u8>) -> Result<(), InvalidValue> {
    unimplemented!()
}
