//! Who asks.

/// The authorization identity of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identity {
    /// Nobody: not bound, or bound without a name.
    Anonymous,
    /// The administrator, a replicated setting and not an entry: may do everything.
    Admin,
    /// A bound entry.
    User {
        /// The entry's DN as stored, for `creatorsName` and `modifiersName`.
        dn: String,
        /// The entry's id: what rules about "self" compare.
        id: u64,
    },
}
