//! The cells of a node taken apart, to be laid out again: compaction, splits and merges.

use std::ops::Range;

use super::node::{self, CELL_HEADER_BYTES, CellValue, Node, SLOT_BYTES, ValueKind};
use crate::error::StoreError;
use crate::layout::{BLOCK_BYTES, INNER_ORDER, MAX_LEAF_ORDER, PAGE_HEADER_BYTES, PagePtr, order_for};

/// A leaf is made so large that about this many cells of the mean size fit.
const CELLS_PER_LEAF: usize = 16;

/// With fewer keys the next insertion would break the prefix, and there is nothing to save.
const PREFIX_KEYS: usize = 4;

struct Cell {
    key: Range<usize>,
    value: Range<usize>,
    kind: ValueKind,
}

/// Whole keys and values in order, in memory of their own.
pub struct Cells {
    data: Vec<u8>,
    list: Vec<Cell>,
    leaf: bool,
    /// Bytes of all cells and slots with whole keys.
    raw: usize,
}

/// Order that the mean size of a leaf's cells asks for.
fn liked_order(bytes: usize, cells: usize) -> u8 {
    order_for(bytes / cells.max(1) * CELLS_PER_LEAF).min(MAX_LEAF_ORDER)
}

/// Length of what two keys begin with in common.
pub fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(x, y)| x == y).count()
}

impl Cells {
    /// No cells.
    pub fn new(leaf: bool) -> Cells {
        Cells { data: Vec::new(), list: Vec::new(), leaf, raw: 0 }
    }

    /// Forgets all cells and keeps the memory.
    pub fn clear(&mut self) {
        self.data.clear();
        self.list.clear();
        self.raw = 0;
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Appends the cells of a node. `first_key` replaces the key of cell 0 (inner nodes do not keep it).
    pub fn append_node(&mut self, node: Node<'_>, first_key: Option<&[u8]>) {
        for index in 0..node.count() {
            let start = self.data.len();
            match first_key {
                Some(key) if index == 0 => self.data.extend_from_slice(key),
                // The key of cell 0 of an inner node means "lowest"; keep it empty.
                _ if index == 0 && !self.leaf => {}
                _ => node.append_key(index, &mut self.data),
            }
            let middle = self.data.len();
            let value = node.value(index);
            self.data.extend_from_slice(value.bytes);
            self.raw += SLOT_BYTES + CELL_HEADER_BYTES + self.data.len() - start;
            self.list.push(Cell { key: start..middle, value: middle..self.data.len(), kind: value.kind });
        }
    }

    /// Inserts a cell.
    pub fn insert(&mut self, index: usize, key: &[u8], value: CellValue<'_>) {
        let start = self.data.len();
        self.data.extend_from_slice(key);
        let middle = self.data.len();
        self.data.extend_from_slice(value.bytes);
        self.raw += SLOT_BYTES + CELL_HEADER_BYTES + self.data.len() - start;
        self.list.insert(index, Cell { key: start..middle, value: middle..self.data.len(), kind: value.kind });
    }

    /// Key of a cell.
    pub fn key(&self, index: usize) -> &[u8] {
        &self.data[self.list[index].key.clone()]
    }

    /// The child that a cell of an inner node names.
    pub fn pointer(&self, index: usize) -> Result<PagePtr, StoreError> {
        PagePtr::decode(&self.data[self.list[index].value.clone()], 0)
    }

    /// Whether one page still holds all cells when this one is appended, by the same rule as [`Cells::single_order`].
    /// True of the first cell.
    pub fn takes(&self, key: &[u8], value: CellValue<'_>) -> bool {
        let count = self.len() + 1;
        let first = usize::from(!self.leaf);
        let keyless = if self.leaf { 0 } else { self.list.first().map_or(key.len(), |cell| cell.key.len()) };
        let prefix = if count < first + PREFIX_KEYS { 0 } else { common_prefix(self.key(first), key) };
        let raw = self.raw + SLOT_BYTES + CELL_HEADER_BYTES + key.len() + value.bytes.len() - keyless;
        let bytes = PAGE_HEADER_BYTES + raw - (count - first) * prefix + prefix;
        if !self.leaf {
            return bytes <= BLOCK_BYTES << INNER_ORDER;
        }
        count == 1 || bytes <= BLOCK_BYTES << liked_order(bytes, count)
    }

    /// Prefix length that cells `range` share (cell 0 of an inner node has no say).
    fn prefix(&self, range: &Range<usize>) -> usize {
        let first = range.start + usize::from(!self.leaf);
        if range.end < first + PREFIX_KEYS {
            return 0;
        }
        common_prefix(self.key(first), self.key(range.end - 1))
    }

    fn raw_bytes(&self, range: &Range<usize>) -> usize {
        let keyless = if self.leaf { None } else { Some(range.start) };
        if *range == (0..self.len()) {
            return self.raw - if self.leaf { 0 } else { self.list.first().map_or(0, |cell| cell.key.len()) };
        }
        range
            .clone()
            .map(|i| {
                let cell = &self.list[i];
                let key = if keyless == Some(i) { 0 } else { cell.key.len() };
                SLOT_BYTES + CELL_HEADER_BYTES + key + cell.value.len()
            })
            .sum()
    }

    /// Bytes of a node with cells `range`.
    pub fn node_bytes(&self, range: &Range<usize>) -> usize {
        let prefix = self.prefix(range);
        let keys = range.len() - usize::from(!self.leaf && !range.is_empty());
        PAGE_HEADER_BYTES + self.raw_bytes(range) - keys * prefix + prefix
    }

    /// Order of the page for cells `range`; None when no allowed page holds them.
    pub fn order(&self, range: &Range<usize>) -> Option<u8> {
        let bytes = self.node_bytes(range);
        if !self.leaf {
            return (bytes <= BLOCK_BYTES << INNER_ORDER).then_some(INNER_ORDER);
        }
        // Never more than twice what is needed now: a leaf grows with its content.
        let liked = liked_order(bytes, range.len()).min(order_for(bytes * 2));
        let least = order_for(bytes);
        (least <= MAX_LEAF_ORDER).then_some(liked.max(least))
    }

    /// Order when all cells go into one page without growing it beyond what their size asks for; None = split.
    pub fn single_order(&self) -> Option<u8> {
        let all = 0..self.len();
        let order = self.order(&all)?;
        if !self.leaf || self.len() < 2 {
            return Some(order);
        }
        let bytes = self.node_bytes(&all);
        (bytes <= BLOCK_BYTES << liked_order(bytes, self.len())).then_some(order)
    }

    /// Where to split: cells 0..at and at..len both fit. `inserted` is the cell that made it necessary; `appending`
    /// says that it is the highest of its tree, so that nothing will come into the left part.
    pub fn split_at(&self, inserted: usize, appending: bool) -> usize {
        let count = self.len();
        let fits = |at: usize| self.order(&(0..at)).is_some() && self.order(&(at..count)).is_some();
        if appending && inserted + 1 == count && fits(count - 1) {
            return count - 1;
        }
        let total = self.raw_bytes(&(0..count));
        let mut left = 0;
        let mut middle = 1;
        for (index, cell) in self.list.iter().enumerate() {
            left += SLOT_BYTES + CELL_HEADER_BYTES + cell.key.len() + cell.value.len();
            if left * 2 >= total {
                middle = (index + 1).clamp(1, count - 1);
                break;
            }
        }
        // The shortest separator near the middle; then outwards until both parts fit.
        let reach = count / 10;
        let low = middle.saturating_sub(reach).max(1);
        let high = (middle + reach).min(count - 1);
        let best = (low..=high)
            .filter(|at| fits(*at))
            .min_by_key(|at| (common_prefix(self.key(at - 1), self.key(*at)), at.abs_diff(middle)));
        if let Some(at) = best {
            return at;
        }
        (1..count)
            .flat_map(|distance| [middle.checked_sub(distance), middle.checked_add(distance)])
            .flatten()
            .filter(|at| (1..count).contains(at))
            .find(|at| fits(*at))
            .expect("cells are at most a third of a page, so one of the splits fits")
    }

    /// The shortest key that is above cell `at - 1` and not above cell `at`; in inner nodes the key of cell `at` itself.
    pub fn separator(&self, at: usize) -> Vec<u8> {
        let key = self.key(at);
        if !self.leaf {
            return key.to_vec();
        }
        let shared = common_prefix(self.key(at - 1), key);
        key[..(shared + 1).min(key.len())].to_vec()
    }

    /// Lays cells `range` out in a page that has been stamped.
    pub fn build(&self, bytes: &mut [u8], level: u8, range: Range<usize>) {
        node::format(bytes, level);
        let prefix = self.prefix(&range);
        let first = range.start + usize::from(!self.leaf);
        if prefix > 0 {
            node::set_prefix(bytes, &self.key(first)[..prefix]);
        }
        for (slot, index) in range.enumerate() {
            let cell = &self.list[index];
            let suffix = if slot == 0 && !self.leaf { &[][..] } else { &self.data[cell.key.clone()][prefix..] };
            let value = CellValue { kind: cell.kind, bytes: &self.data[cell.value.clone()] };
            assert!(node::insert(bytes, slot, suffix, value), "the order was chosen so that all cells fit");
        }
    }
}
