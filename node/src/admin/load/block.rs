//! Blocks of entries: what one command adds.

use bindery_directory::command::{Add, ENTRIES_MAX};

/// The most that one block holds, bytes, unless a single entry is larger.
const BYTES_MAX: usize = 4 << 20;
/// The least: below this the cost of a log entry shows.
const BYTES_MIN: usize = 256 << 10;
/// A block exists as entries, as a command and in the log's buffers, and a few blocks are under way at once.
const SHARE_OF_COMMANDS: u64 = 32;

/// The size of a block when commands may take `commands_bytes` in all.
pub fn size(commands_bytes: u64) -> usize {
    usize::try_from(commands_bytes / SHARE_OF_COMMANDS).unwrap_or(BYTES_MAX).clamp(BYTES_MIN, BYTES_MAX)
}

/// Where a clear password stands in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClearValue {
    pub entry: usize,
    pub attribute: usize,
    pub value: usize,
}

/// Entries in the order of the input, with the line of each.
#[derive(Debug, Default)]
pub struct Block {
    pub entries: Vec<Add>,
    pub lines: Vec<u64>,
    pub clear: Vec<ClearValue>,
    bytes: usize,
}

impl Block {
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether an entry of `bytes` has to go into the next block.
    pub fn is_full_for(&self, bytes: usize, limit: usize) -> bool {
        !self.is_empty() && (self.len() >= ENTRIES_MAX || self.bytes + bytes > limit)
    }

    /// Adds an entry, with those of its values that are clear passwords: (attribute, value).
    pub fn push(&mut self, line: u64, add: Add, clear: &[(usize, usize)]) {
        let entry = self.entries.len();
        self.bytes += bytes_of(&add);
        self.clear.extend(clear.iter().map(|(attribute, value)| ClearValue {
            entry,
            attribute: *attribute,
            value: *value,
        }));
        self.entries.push(add);
        self.lines.push(line);
    }

    /// Takes the entry at `at` out, and gives the entries before it and those after it. Passwords are hashed by then.
    pub fn split_around(mut self, at: usize) -> (Block, Block) {
        let mut rest =
            Block { entries: self.entries.split_off(at), lines: self.lines.split_off(at), ..Block::default() };
        rest.entries.remove(0);
        rest.lines.remove(0);
        self.clear.clear();
        (self, rest)
    }
}

/// About what an entry takes in a command.
pub fn bytes_of(add: &Add) -> usize {
    let attributes = add.attributes.iter().map(|attribute| {
        let values: usize = attribute.values.iter().map(|value| value.len() + 4).sum();
        attribute.description.len() + values + 8
    });
    add.dn.len() + 8 + attributes.sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bindery_directory::command::AttributeValues;

    fn add(name: &str, bytes: usize) -> Add {
        let attributes = vec![AttributeValues { description: "cn".into(), values: vec![vec![b'x'; bytes]] }];
        Add { dn: name.into(), attributes }
    }

    #[test]
    fn a_block_is_bounded_by_entries_and_bytes() {
        let mut block = Block::default();
        assert!(!block.is_full_for(usize::MAX / 2, 100), "a single large entry is a block of its own");
        for at in 0..ENTRIES_MAX {
            assert!(!block.is_full_for(10, 1 << 20));
            block.push(at as u64, add("dc=x", 10), &[]);
        }
        assert!(block.is_full_for(10, 1 << 20));
        let mut block = Block::default();
        block.push(1, add("dc=x", 600), &[]);
        assert!(block.is_full_for(600, 1000));
    }

    #[test]
    fn splitting_leaves_one_out_and_keeps_lines() {
        let mut block = Block::default();
        for at in 0..5 {
            block.push(at * 10, add(&format!("dc={at}"), 1), &[]);
        }
        let (before, after) = block.split_around(2);
        assert_eq!(before.lines, [0, 10]);
        assert_eq!(after.lines, [30, 40]);
        assert_eq!(after.entries[0].dn, "dc=3");
    }

    #[test]
    fn sizes() {
        assert_eq!(size(0), BYTES_MIN);
        assert_eq!(size(12 << 20), 384 << 10);
        assert_eq!(size(u64::MAX), BYTES_MAX);
    }
}
