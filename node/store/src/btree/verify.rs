//! The structural check of a whole store.

use crate::cache::{Cache, Loaded};
use crate::error::StoreError;
use crate::layout::{FIXED_BLOCKS, PagePtr, REGION_BLOCKS};
use crate::page;
use crate::store::Shared;
use crate::version::{TreeRoot, Version};

use super::node::{self, ValueKind, decode_reference};
use super::search::{MAX_DEPTH, node_of};
use super::value;

/// What one tree takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeSize {
    /// The tree.
    pub tree: u32,
    /// Its records.
    pub records: u64,
    /// Its pages, those of values included.
    pub pages: u64,
    /// Their blocks.
    pub blocks: u64,
    /// Bytes of its nodes that hold something: the rest is room for growth, garbage and rounding.
    pub node_bytes_used: u64,
}

/// What was walked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VerifyReport {
    /// Trees.
    pub trees: u64,
    /// Records.
    pub records: u64,
    /// Pages, those of values included.
    pub pages: u64,
    /// Blocks that the version reaches, with the fixed ones.
    pub reachable_blocks: u64,
    /// Blocks freed and waiting for a holder.
    pub deferred_blocks: u64,
    /// Free blocks.
    pub free_blocks: u64,
    /// By tree, in order.
    pub sizes: Vec<TreeSize>,
}

/// Blocks accounted for so far.
struct Account {
    words: Vec<u64>,
}

impl Account {
    fn add(&mut self, block: u64, order: u8) -> Result<(), StoreError> {
        for b in block..block + (1 << order) {
            let Some(word) = self.words.get_mut((b / 64) as usize) else {
                return Err(StoreError::Corrupt { block, what: "outside the file" });
            };
            if *word & 1 << (b % 64) != 0 {
                return Err(StoreError::Corrupt { block: b, what: "a block with two owners" });
            }
            *word |= 1 << (b % 64);
        }
        Ok(())
    }

    fn count(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }
}

/// The key range and place a node must have.
struct Expected<'k> {
    low: Option<&'k [u8]>,
    high: Option<&'k [u8]>,
    level: Option<u8>,
    tree: u32,
    depth: usize,
}

struct Walk<'a> {
    cache: &'a Cache,
    account: Account,
    report: VerifyReport,
    /// Of the tree being walked.
    size: TreeSize,
}

/// Checks the newest version and accounts for all blocks.
pub fn verify(shared: &Shared) -> Result<VerifyReport, StoreError> {
    shared.file.usable()?;
    let (version, snapshot) = {
        let mut space = shared.space.lock();
        (shared.current.load_full(), space.snapshot())
    };
    let account = Account { words: vec![0; snapshot.used.len()] };
    let size = TreeSize { tree: 0, records: 0, pages: 0, blocks: 0, node_bytes_used: 0 };
    let mut walk = Walk { cache: &shared.cache, account, report: VerifyReport::default(), size };
    let blocks = snapshot.used.len() as u64 * 64;
    for region in 0..blocks.div_ceil(REGION_BLOCKS) {
        for fixed in 0..FIXED_BLOCKS {
            walk.account.add(region * REGION_BLOCKS + fixed, 0)?;
        }
    }
    walk.version(&version)?;
    walk.report.reachable_blocks = walk.account.count();
    for (block, order) in snapshot.deferred.iter().chain(&snapshot.uncommitted) {
        walk.account.add(*block, *order)?;
        walk.report.deferred_blocks += 1 << order;
    }
    for pointer in &snapshot.staged {
        walk.account.add(pointer.block, pointer.order)?;
    }
    for (at, (used, owned)) in snapshot.used.iter().zip(&walk.account.words).enumerate() {
        if used != owned {
            let block = at as u64 * 64 + u64::from((used ^ owned).trailing_zeros());
            let what = if used & !owned != 0 { "used but owned by nobody" } else { "owned but marked free" };
            return Err(StoreError::Corrupt { block, what });
        }
        walk.report.free_blocks += u64::from(used.count_zeros());
    }
    Ok(walk.report)
}

impl Walk<'_> {
    fn version(&mut self, version: &Version) -> Result<(), StoreError> {
        for root in &version.roots {
            self.tree(root)?;
        }
        Ok(())
    }

    fn tree(&mut self, root: &TreeRoot) -> Result<(), StoreError> {
        let corrupt = |what| StoreError::Corrupt { block: root.pointer.block, what };
        self.report.trees += 1;
        self.size = TreeSize { tree: root.tree, records: root.records, pages: 0, blocks: 0, node_bytes_used: 0 };
        let expected = Expected { low: None, high: None, level: None, tree: root.tree, depth: MAX_DEPTH };
        let (records, outside) = self.node(root.pointer, &expected)?;
        if records != root.records {
            return Err(corrupt("record count of the tree"));
        }
        if outside != root.outside {
            return Err(corrupt("outside value count of the tree"));
        }
        self.report.records += records;
        self.report.pages += self.size.pages;
        self.report.sizes.push(self.size);
        Ok(())
    }

    /// The page from memory if it is newer there, else from the file again.
    fn page(&mut self, pointer: PagePtr) -> Result<Vec<u8>, StoreError> {
        self.account.add(pointer.block, pointer.order)?;
        self.size.pages += 1;
        self.size.blocks += 1 << pointer.order;
        if let Some(bytes) = self.cache.copy_if_dirty(pointer)? {
            return Ok(bytes);
        }
        match self.cache.read_private(pointer)? {
            Loaded::Private(bytes) => Ok(bytes),
            Loaded::Cached => Err(StoreError::Corrupt { block: pointer.block, what: "unreadable" }),
        }
    }

    /// Checks a subtree; answers its records and its values outside leaves.
    fn node(&mut self, pointer: PagePtr, expected: &Expected<'_>) -> Result<(u64, u64), StoreError> {
        let corrupt = |what| StoreError::Corrupt { block: pointer.block, what };
        let bytes = self.page(pointer)?;
        let node = node_of(&bytes, pointer)?;
        node::check(&bytes).map_err(corrupt)?;
        node::check_order(&bytes).map_err(corrupt)?;
        if expected.depth == 0 || expected.level.is_some_and(|level| level != node.level()) {
            return Err(corrupt("level"));
        }
        self.size.node_bytes_used += node.used_bytes() as u64;
        if page::tree(&bytes) != expected.tree {
            return Err(corrupt("page of another tree"));
        }
        let count = node.count();
        let mut keys: Vec<Vec<u8>> = Vec::with_capacity(count);
        for index in 0..count {
            let mut key = Vec::new();
            node.append_key(index, &mut key);
            let bounded = index > 0 || node.is_leaf();
            if bounded
                && (expected.low.is_some_and(|low| &key[..] < low) || expected.high.is_some_and(|h| &key[..] >= h))
            {
                return Err(corrupt("key outside the range of its node"));
            }
            keys.push(key);
        }
        let (mut records, mut outside) = (0, 0);
        for index in 0..count {
            if !node.is_leaf() {
                let within = Expected {
                    low: if index > 0 { Some(&keys[index]) } else { expected.low },
                    high: if index + 1 < count { Some(&keys[index + 1]) } else { expected.high },
                    level: node.level().checked_sub(1),
                    tree: expected.tree,
                    depth: expected.depth - 1,
                };
                let (r, o) = self.node(node.child(index)?, &within)?;
                records += r;
                outside += o;
                continue;
            }
            records += 1;
            let value = node.value(index);
            if value.kind != ValueKind::Inline {
                outside += 1;
                self.outside(value.kind, value.bytes, pointer)?;
            }
        }
        if node.is_leaf() && count == 0 {
            return Err(corrupt("empty leaf"));
        }
        Ok((records, outside))
    }

    fn outside(&mut self, kind: ValueKind, reference: &[u8], at: PagePtr) -> Result<(), StoreError> {
        let (length, pointer) = decode_reference(reference, at.block)?;
        self.page(pointer)?;
        if kind == ValueKind::Chain {
            for part in value::chain_pages(self.cache, pointer, length)? {
                self.page(part)?;
            }
        }
        Ok(())
    }
}
