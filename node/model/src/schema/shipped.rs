//! The definitions that come with the server.
#![allow(clippy::unimplemented)]

use super::Schema;

impl Schema {
    /// The shipped schema.
    pub fn shipped() -> Self {
        unimplemented!()
    }
}
