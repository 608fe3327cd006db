//! Validation by syntax.
#![allow(clippy::unimplemented)]

use super::Syntax;
use crate::error::InvalidValue;

pub(super) fn validate(_syntax: Syntax, _value: &[u8]) -> Result<(), InvalidValue> {
    unimplemented!()
}
