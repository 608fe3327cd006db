//! The buddy allocator: constant work per call, whatever the number of pages.

use super::Allocator;
use crate::layout::{MAX_ORDER, ORDERS};

/// End of a list.
const NONE: u32 = u32::MAX;
/// State byte of a frame inside a run.
const INTERIOR: u8 = 0xff;
/// Set in the state byte of the first frame of a free run; the low bits are its order.
const FREE: u8 = 0x80;

/// Power-of-two runs; a freed run merges with its buddy (the run whose number differs in one bit) while that is free.
pub struct Buddy {
    state: Box<[u8]>,
    next: Box<[u32]>,
    previous: Box<[u32]>,
    heads: [u32; ORDERS],
    /// Bit k is set when the list of order k is not empty.
    nonempty: u32,
    counts: [u32; ORDERS],
    free: u32,
    steps: u64,
}

impl Buddy {
    /// An allocator over frames 0..frames, all free.
    pub fn new(frames: u32) -> Buddy {
        let size = frames as usize;
        let mut buddy = Buddy {
            state: vec![INTERIOR; size].into_boxed_slice(),
            next: vec![NONE; size].into_boxed_slice(),
            previous: vec![NONE; size].into_boxed_slice(),
            heads: [NONE; ORDERS],
            nonempty: 0,
            counts: [0; ORDERS],
            free: frames,
            steps: 0,
        };
        // Highest first, so that the lists hand out low frames first.
        let mut runs = Vec::new();
        let mut at = 0;
        while at < frames {
            let mut order = MAX_ORDER.min(if at == 0 { MAX_ORDER } else { at.trailing_zeros() as u8 });
            while at + (1 << order) > frames {
                order -= 1;
            }
            runs.push((at, order));
            at += 1 << order;
        }
        for (frame, order) in runs.into_iter().rev() {
            buddy.push(frame, order);
        }
        buddy
    }

    fn push(&mut self, frame: u32, order: u8) {
        let head = self.heads[order as usize];
        self.state[frame as usize] = FREE | order;
        self.next[frame as usize] = head;
        self.previous[frame as usize] = NONE;
        if head != NONE {
            self.previous[head as usize] = frame;
        }
        self.heads[order as usize] = frame;
        self.nonempty |= 1 << order;
        self.counts[order as usize] += 1;
    }

    fn unlink(&mut self, frame: u32, order: u8) {
        let (next, previous) = (self.next[frame as usize], self.previous[frame as usize]);
        if next != NONE {
            self.previous[next as usize] = previous;
        }
        if previous != NONE {
            self.next[previous as usize] = next;
        } else {
            self.heads[order as usize] = next;
            if next == NONE {
                self.nonempty &= !(1 << order);
            }
        }
        self.state[frame as usize] = INTERIOR;
        self.counts[order as usize] -= 1;
    }
}

impl Allocator for Buddy {
    fn allocate(&mut self, order: u8) -> Option<u32> {
        let at_least = self.nonempty >> order;
        if at_least == 0 {
            return None;
        }
        let mut from = order + at_least.trailing_zeros() as u8;
        let frame = self.heads[from as usize];
        self.unlink(frame, from);
        self.steps += u64::from(from - order);
        while from > order {
            from -= 1;
            self.push(frame + (1 << from), from);
        }
        self.state[frame as usize] = order;
        self.free -= 1 << order;
        Some(frame)
    }

    fn free(&mut self, frame: u32, order: u8) {
        assert!(self.state[frame as usize] == order, "frame {frame} is not allocated with order {order}");
        self.free += 1 << order;
        self.state[frame as usize] = INTERIOR;
        let (mut frame, mut order) = (frame, order);
        while order < MAX_ORDER {
            let buddy = frame ^ (1 << order);
            if self.state.get(buddy as usize) != Some(&(FREE | order)) {
                break;
            }
            self.steps += 1;
            self.unlink(buddy, order);
            frame &= !(1 << order);
            order += 1;
        }
        self.push(frame, order);
    }

    fn claim(&mut self, frame: u32) -> bool {
        for order in 0..=MAX_ORDER {
            let mut head = frame & !((1 << order) - 1);
            if self.state[head as usize] != FREE | order {
                continue;
            }
            self.steps += u64::from(order);
            self.unlink(head, order);
            for half in (0..order).rev() {
                let middle = head + (1 << half);
                if frame >= middle {
                    self.push(head, half);
                    head = middle;
                } else {
                    self.push(middle, half);
                }
            }
            self.state[frame as usize] = 0;
            self.free -= 1;
            return true;
        }
        false
    }

    fn free_frames(&self) -> u32 {
        self.free
    }

    fn free_runs_per_order(&self) -> [u32; ORDERS] {
        self.counts
    }

    fn steps(&self) -> u64 {
        self.steps
    }

    fn span(&self) -> u32 {
        self.state.len() as u32
    }
}
