//! Approximate matching.
#![allow(clippy::unimplemented)]

/// Words as they sound.
pub fn approx_key(_value: &[u8]) -> Vec<Vec<u8>> {
    unimplemented!()
}
