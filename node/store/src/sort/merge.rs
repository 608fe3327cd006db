//! Merging runs: a heap of readers by their present keys.

use super::run::{Run, RunReader};
use super::{Record, head_of};
use crate::error::StoreError;

/// Many runs read as one.
pub struct Merge {
    /// A binary heap, the least record on top; exhausted readers have left it.
    heap: Vec<Entry>,
    /// The top has been given out and must go on before the next look.
    given: bool,
}

struct Entry {
    head: u64,
    /// Place among the runs: of equal keys the earlier run's comes first.
    place: usize,
    reader: RunReader,
}

impl Entry {
    fn before(&self, other: &Entry) -> bool {
        let order = self.head.cmp(&other.head).then_with(|| self.reader.record().0.cmp(other.reader.record().0));
        order.then(self.place.cmp(&other.place)).is_lt()
    }
}

impl Merge {
    /// Runs in the order in which they were made.
    pub fn new(runs: Vec<Run>) -> Result<Merge, StoreError> {
        let mut heap = Vec::with_capacity(runs.len());
        for (place, run) in runs.into_iter().enumerate() {
            let mut reader = RunReader::new(run);
            if reader.advance()? {
                heap.push(Entry { head: head_of(reader.record().0), place, reader });
            }
        }
        let mut merge = Merge { heap, given: false };
        for at in (0..merge.heap.len() / 2).rev() {
            merge.sift_down(at);
        }
        Ok(merge)
    }

    fn sift_down(&mut self, mut at: usize) {
        loop {
            let mut least = at;
            for child in [2 * at + 1, 2 * at + 2] {
                if child < self.heap.len() && self.heap[child].before(&self.heap[least]) {
                    least = child;
                }
            }
            if least == at {
                return;
            }
            self.heap.swap(at, least);
            at = least;
        }
    }

    /// The next record; None after the last one.
    pub fn next(&mut self) -> Result<Option<Record<'_>>, StoreError> {
        if self.given {
            let top = &mut self.heap[0];
            if top.reader.advance()? {
                top.head = head_of(top.reader.record().0);
            } else {
                self.heap.swap_remove(0);
            }
            self.given = false;
            self.sift_down(0);
        }
        if self.heap.is_empty() {
            return Ok(None);
        }
        self.given = true;
        Ok(Some(self.heap[0].reader.record()))
    }
}
