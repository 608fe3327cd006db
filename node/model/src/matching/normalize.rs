//! Keys of values.
#![allow(clippy::unimplemented)]
use super::MatchingRule;
use crate::error::InvalidValue;
use crate::schema::Schema;

pub(super) fn value(_r: MatchingRule, _v: &[u8], _s: &Schema, _o: &mut Vec<u8>) -> Result<(), InvalidValue> {
    unimplemented!()
}
pub(super) fn assertion(_r: MatchingRule, _v: &[u8], _s: &Schema, _o: &mut Vec<u8>) -> Result<(), InvalidValue> {
    unimplemented!()
}
pub(super) fn extensible(_r: MatchingRule, _v: &[u8], _a: &[u8], _s: &Schema) -> Result<bool, InvalidValue> {
    unimplemented!()
}
