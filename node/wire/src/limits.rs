//! How much one message may ask for, whatever its size in bytes.

/// Filters nest by recursion here and in every later stage; beyond this no configured limit is honoured,
/// so that the stack stays bounded (a level takes a few hundred bytes).
pub const MAX_FILTER_DEPTH: usize = 512;

/// Counts that the decoder refuses to exceed. All of them are checked before anything is allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Levels of and, or, not; at most [`MAX_FILTER_DEPTH`]. Real filters have fewer than 10.
    pub filter_depth: usize,
    /// Nodes of one filter in all, substring pieces included. SSSD and mail gateways send up to about
    /// 1,000.
    pub filter_terms: usize,
    /// Controls of one message; there are about 30 in all, none of which may come twice.
    pub controls: usize,
    /// Attribute selectors of one search or read-entry control.
    pub selectors: usize,
    /// Attributes of one add, or of one entry received.
    pub attributes: usize,
    /// Changes of one modify; some clients send one change per value.
    pub changes: usize,
    /// Sort keys, dereference specifications and the like, in one control.
    pub control_elements: usize,
}

impl Limits {
    /// The defaults.
    pub const DEFAULT: Limits = Limits {
        filter_depth: 64,
        filter_terms: 10_000,
        controls: 64,
        selectors: 10_000,
        attributes: 10_000,
        changes: 100_000,
        control_elements: 64,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
