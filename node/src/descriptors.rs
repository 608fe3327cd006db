//! File descriptors: a node that runs out of them cannot write its log, so clients must never take them all.

use rustix::process::{Resource, getrlimit, setrlimit};

use crate::limits;

/// Kept for the log, the store, the other nodes and the administration.
const RESERVE: u64 = 256;
/// Clients that are served even where the limit is absurdly low.
const CONNECTIONS_MIN: u64 = 16;

/// Raises the soft limit to the hard one and returns how many descriptors the process may open.
pub fn raise() -> u64 {
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        let wanted = rustix::process::Rlimit { current: limit.maximum, maximum: limit.maximum };
        if setrlimit(Resource::Nofile, wanted).is_ok() {
            limit = wanted;
        }
    }
    // No limit is no number.
    limit.current.unwrap_or(u64::MAX)
}

/// How many LDAP connections leave enough descriptors for the node itself.
pub fn connections(descriptors: u64) -> usize {
    let wanted = limits::CONNECTIONS as u64;
    let possible = descriptors.saturating_sub(RESERVE).max(CONNECTIONS_MIN);
    if possible < wanted {
        tracing::warn!(
            descriptors,
            connections = possible,
            "fewer LDAP connections are served than could be: raise the limit of open files (ulimit -n) to {}",
            wanted + RESERVE
        );
    }
    possible.min(wanted) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_never_take_the_descriptors_of_the_log() {
        assert_eq!(connections(1024), 768);
        assert_eq!(connections(100), 16);
        assert_eq!(connections(u64::MAX), limits::CONNECTIONS);
    }
}
