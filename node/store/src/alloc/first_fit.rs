//! First fit on one address-ordered list of free runs: what page caches did before, and what Bindery is
//! measured against. Every call walks the list.

use super::Allocator;
use crate::layout::{MAX_ORDER, ORDERS};

const NONE: u32 = u32::MAX;
/// State byte of frames that are not the start of an allocated run.
const NOT_A_START: u8 = 0xff;

/// Free runs linked in address order; `length` and `next` are valid at the first frame of a free run.
pub struct FirstFit {
    order_of: Box<[u8]>,
    next: Box<[u32]>,
    length: Box<[u32]>,
    head: u32,
    free: u32,
    steps: u64,
}

impl FirstFit {
    /// An allocator over frames 0..frames, all free.
    pub fn new(frames: u32) -> FirstFit {
        let size = frames as usize;
        let mut list = FirstFit {
            order_of: vec![NOT_A_START; size].into_boxed_slice(),
            next: vec![NONE; size].into_boxed_slice(),
            length: vec![0; size].into_boxed_slice(),
            head: NONE,
            free: frames,
            steps: 0,
        };
        if frames > 0 {
            list.length[0] = frames;
            list.head = 0;
        }
        list
    }

    fn set_next(&mut self, previous: u32, next: u32) {
        if previous == NONE {
            self.head = next;
        } else {
            self.next[previous as usize] = next;
        }
    }

    /// Takes `size` frames at `frame` out of the free run `run`, whose predecessor is `previous`.
    fn carve(&mut self, previous: u32, run: u32, frame: u32, size: u32) {
        let (length, after) = (self.length[run as usize], self.next[run as usize]);
        let mut link = after;
        let end = frame + size;
        if end < run + length {
            self.length[end as usize] = run + length - end;
            self.next[end as usize] = after;
            link = end;
        }
        if frame > run {
            self.length[run as usize] = frame - run;
            self.next[run as usize] = link;
        } else {
            self.set_next(previous, link);
        }
        self.free -= size;
    }
}

impl Allocator for FirstFit {
    fn allocate(&mut self, order: u8) -> Option<u32> {
        let size = 1u32 << order;
        let (mut previous, mut run) = (NONE, self.head);
        while run != NONE {
            if self.length[run as usize] >= size {
                self.carve(previous, run, run, size);
                self.order_of[run as usize] = order;
                return Some(run);
            }
            self.steps += 1;
            previous = run;
            run = self.next[run as usize];
        }
        None
    }

    fn free(&mut self, frame: u32, order: u8) {
        assert!(self.order_of[frame as usize] == order, "frame {frame} is not allocated with order {order}");
        self.order_of[frame as usize] = NOT_A_START;
        let size = 1u32 << order;
        let (mut previous, mut after) = (NONE, self.head);
        while after != NONE && after < frame {
            self.steps += 1;
            previous = after;
            after = self.next[after as usize];
        }
        let mut length = size;
        let mut link = after;
        if after == frame + size {
            length += self.length[after as usize];
            link = self.next[after as usize];
        }
        if previous != NONE && previous + self.length[previous as usize] == frame {
            self.length[previous as usize] += length;
            self.next[previous as usize] = link;
        } else {
            self.length[frame as usize] = length;
            self.next[frame as usize] = link;
            self.set_next(previous, frame);
        }
        self.free += size;
    }

    fn claim(&mut self, frame: u32) -> bool {
        let (mut previous, mut run) = (NONE, self.head);
        while run != NONE && run <= frame {
            if frame < run + self.length[run as usize] {
                self.carve(previous, run, frame, 1);
                self.order_of[frame as usize] = 0;
                return true;
            }
            self.steps += 1;
            previous = run;
            run = self.next[run as usize];
        }
        false
    }

    fn free_frames(&self) -> u32 {
        self.free
    }

    fn free_runs_per_order(&self) -> [u32; ORDERS] {
        let mut counts = [0; ORDERS];
        let mut run = self.head;
        while run != NONE {
            let order = self.length[run as usize].ilog2().min(u32::from(MAX_ORDER));
            counts[order as usize] += 1;
            run = self.next[run as usize];
        }
        counts
    }

    fn steps(&self) -> u64 {
        self.steps
    }

    fn span(&self) -> u32 {
        self.order_of.len() as u32
    }
}
