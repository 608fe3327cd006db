//! How the one memory number is divided.
//!
//! `memory` is the size of the whole process. Every part below is a bound that its owner keeps; their sum
//! never exceeds the number, and what the system allocator and the kernel add to it has to fit into the 10 %
//! by which the resident size may exceed it.

use crate::units::{KIB, MIB};

/// The smallest accepted `memory`.
pub const MEMORY_MIN_BYTES: u64 = 128 * MIB;

/// The program's pages, 16 MiB: the resident size counts them.
const PROGRAM_BYTES: u64 = 16 * MIB;

/// Tables of openraft's histograms, 26.7 MiB, built for every width although one is used.
const HISTOGRAM_TABLES_BYTES: u64 = 27 * MIB;

/// Runtime, thread stacks, gRPC, schema, the metadata's sled: what else a node needs before it holds any data.
const REST_BYTES: u64 = 5 * MIB;

/// What does not depend on `memory`.
const FIXED_BYTES: u64 = PROGRAM_BYTES + HISTOGRAM_TABLES_BYTES + REST_BYTES;

/// One running argon2id at its default cost (m = 19 MiB) and its bookkeeping.
const PASSWORD_HASH_BYTES: u64 = 19 * MIB + 64 * KIB;

/// Memory that justifies one more concurrent password hash.
const PASSWORD_HASH_STEP_BYTES: u64 = 256 * MIB;

/// More concurrent hashes than this only wait for processors.
const PASSWORD_HASH_SLOTS_MAX: u64 = 16;

/// Beyond these sizes more memory for a part brings nothing; the arena takes it.
const CONNECTIONS_MAX_BYTES: u64 = 1024 * MIB;
const COMMANDS_MAX_BYTES: u64 = 256 * MIB;

/// Parts of the commands; beyond these sizes they bring nothing.
const LOG_TAIL_MAX_BYTES: u64 = 16 * MIB;
const INDEX_CHANGES_MAX_BYTES: u64 = 32 * MIB;
const INSTALL_ARENA_MAX_BYTES: u64 = 64 * MIB;

/// Descriptors and page table cost one part in this many of the arena.
const TABLES_DIVISOR: u64 = 32;

/// What each part of the process may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Page frames of the store.
    pub arena_bytes: u64,
    /// The store's frame descriptors and page table, which grow with the arena.
    pub tables_bytes: u64,
    /// Passwords hashed or verified at once.
    pub password_hash_slots: u64,
    /// Read and write buffers of LDAP connections, all together.
    pub connections_bytes: u64,
    /// Commands on their way: proposals, recent log entries kept decoded, blocks of a load, work of apply.
    pub commands_bytes: u64,
    /// Everything that does not depend on `memory`.
    pub fixed_bytes: u64,
}

impl Budget {
    /// Divides `memory_bytes`, which is at least [`MEMORY_MIN_BYTES`]: a third goes to the arena at the
    /// minimum, a growing share above.
    pub fn divide(memory_bytes: u64) -> Budget {
        assert!(memory_bytes >= MEMORY_MIN_BYTES, "checked with the configuration");
        let extra = memory_bytes - MEMORY_MIN_BYTES;
        let password_hash_slots = (1 + extra / PASSWORD_HASH_STEP_BYTES).min(PASSWORD_HASH_SLOTS_MAX);
        let connections_bytes = (6 * MIB + extra / 24).min(CONNECTIONS_MAX_BYTES);
        let commands_bytes = (12 * MIB + extra / 24).min(COMMANDS_MAX_BYTES);
        let taken = FIXED_BYTES + password_hash_slots * PASSWORD_HASH_BYTES + connections_bytes + commands_bytes;
        let store = memory_bytes.checked_sub(taken).expect("the parts grow slower than the whole");
        let arena_bytes = (store / (TABLES_DIVISOR + 1) * TABLES_DIVISOR) / MIB * MIB;
        let budget = Budget {
            arena_bytes,
            tables_bytes: arena_bytes / TABLES_DIVISOR,
            password_hash_slots,
            connections_bytes,
            commands_bytes,
            fixed_bytes: FIXED_BYTES,
        };
        assert!(budget.total_bytes() <= memory_bytes, "{budget:?} is more than {memory_bytes} bytes");
        budget
    }

    /// Recent log entries kept for replication: an eighth of the commands.
    pub fn log_tail_bytes(&self) -> u64 {
        (self.commands_bytes / 8).min(LOG_TAIL_MAX_BYTES)
    }

    /// Index changes that apply gathers: a quarter of the commands.
    pub fn index_changes_bytes(&self) -> u64 {
        (self.commands_bytes / 4).min(INDEX_CHANGES_MAX_BYTES)
    }

    /// Arena of a store that a snapshot is installed into: half of the commands, of which there are none
    /// meanwhile.
    pub fn install_arena_bytes(&self) -> u64 {
        (self.commands_bytes / 2).min(INSTALL_ARENA_MAX_BYTES)
    }

    /// The sum of all parts.
    pub fn total_bytes(&self) -> u64 {
        self.arena_bytes
            + self.tables_bytes
            + self.password_hash_slots * PASSWORD_HASH_BYTES
            + self.connections_bytes
            + self.commands_bytes
            + self.fixed_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::GIB;

    #[test]
    fn the_parts_never_exceed_the_whole() {
        for memory in [128 * MIB, 129 * MIB, 200 * MIB, 256 * MIB, 512 * MIB, GIB, 4 * GIB, 64 * GIB, 1024 * GIB] {
            let budget = Budget::divide(memory);
            assert!(budget.total_bytes() <= memory, "{memory}: {budget:?}");
            // Nothing is left lying about but what rounding the arena to whole MiB costs.
            assert!(memory - budget.total_bytes() < 3 * MIB, "{memory}: {budget:?}");
        }
    }

    #[test]
    fn a_third_is_arena_at_the_minimum_and_the_share_grows() {
        let share = |memory: u64| Budget::divide(memory).arena_bytes * 100 / memory;
        assert!(Budget::divide(128 * MIB).arena_bytes >= 40 * MIB, "{}", share(128 * MIB));
        let shares: Vec<u64> = [128, 256, 512, 1024, 4096, 16384].map(|mib| share(mib * MIB)).to_vec();
        assert!(shares.is_sorted(), "{shares:?}");
        assert!(share(512 * MIB) >= 68, "{shares:?}");
        assert!(share(16 * GIB) >= 88, "{shares:?}");
    }

    #[test]
    fn more_memory_never_makes_a_part_smaller() {
        let mut before = Budget::divide(128 * MIB);
        for mib in 129..2048 {
            let budget = Budget::divide(mib * MIB);
            assert!(budget.password_hash_slots >= before.password_hash_slots);
            assert!(budget.connections_bytes >= before.connections_bytes);
            assert!(budget.commands_bytes >= before.commands_bytes);
            before = budget;
        }
    }
}
