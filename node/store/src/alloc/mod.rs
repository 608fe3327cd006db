//! Allocators of frames. Pure: frame numbers in and out, all links in side arrays, no address anywhere.

mod buddy;
mod first_fit;

pub use buddy::Buddy;
pub use first_fit::FirstFit;

use crate::layout::ORDERS;

/// Which allocator carves the frame arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AllocatorKind {
    /// Power-of-two buddies, O(1).
    #[default]
    Buddy,
    /// One address-ordered list of free runs, searched from its start: the classic, kept for comparison.
    FirstFit,
}

impl AllocatorKind {
    /// An allocator over `frames` free frames.
    pub fn build(self, frames: u32) -> Box<dyn Allocator> {
        match self {
            AllocatorKind::Buddy => Box::new(Buddy::new(frames)),
            AllocatorKind::FirstFit => Box::new(FirstFit::new(frames)),
        }
    }
}

/// Hands out runs of 2^order frames. A run costs exactly 2^order frames.
pub trait Allocator: Send {
    /// Takes 2^order consecutive frames; answers the first.
    fn allocate(&mut self, order: u8) -> Option<u32>;
    /// Gives back what `allocate` (or, with order 0, `claim`) gave. Panics on anything else: a double free would
    /// put two pages into one frame.
    fn free(&mut self, frame: u32, order: u8);
    /// Takes this one frame if it is free.
    fn claim(&mut self, frame: u32) -> bool;
    /// Free frames in all.
    fn free_frames(&self) -> u32;
    /// Free runs by the largest order that fits each.
    fn free_runs_per_order(&self) -> [u32; ORDERS];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::MAX_ORDER;
    use proptest::prelude::*;

    const KINDS: [AllocatorKind; 2] = [AllocatorKind::Buddy, AllocatorKind::FirstFit];

    #[derive(Debug, Clone)]
    enum Step {
        Allocate(u8),
        Free(usize),
        Claim(u32),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            4 => (0..=MAX_ORDER).prop_map(Step::Allocate),
            4 => (0..=2u8).prop_map(Step::Allocate),
            6 => any::<usize>().prop_map(Step::Free),
            1 => (0..1500u32).prop_map(Step::Claim),
        ];
        proptest::collection::vec(step, 1..400)
    }

    /// The model: who owns each frame.
    fn run_against_model(kind: AllocatorKind, frames: u32, steps: &[Step]) {
        let mut allocator = kind.build(frames);
        let mut owned = vec![false; frames as usize];
        let mut live: Vec<(u32, u8)> = Vec::new();
        for step in steps {
            match *step {
                Step::Allocate(order) => match allocator.allocate(order) {
                    Some(frame) => {
                        let size = 1u32 << order;
                        assert!(frame + size <= frames);
                        if kind == AllocatorKind::Buddy {
                            assert_eq!(frame % size, 0, "buddies are aligned");
                        }
                        for f in frame..frame + size {
                            assert!(!std::mem::replace(&mut owned[f as usize], true), "overlap at {f}");
                        }
                        live.push((frame, order));
                    }
                    None => {
                        let free_run = (0..frames)
                            .step_by(1 << order)
                            .any(|s| s + (1 << order) <= frames && (s..s + (1 << order)).all(|f| !owned[f as usize]));
                        assert!(!free_run, "refused order {order} though an aligned run is free");
                    }
                },
                Step::Free(pick) if !live.is_empty() => {
                    let (frame, order) = live.swap_remove(pick % live.len());
                    allocator.free(frame, order);
                    owned[frame as usize..(frame + (1 << order)) as usize].fill(false);
                }
                Step::Free(_) => {}
                Step::Claim(frame) if frame < frames => {
                    assert_eq!(allocator.claim(frame), !owned[frame as usize]);
                    if !std::mem::replace(&mut owned[frame as usize], true) {
                        live.push((frame, 0));
                    }
                }
                Step::Claim(_) => {}
            }
            assert_eq!(allocator.free_frames() as usize, owned.iter().filter(|o| !**o).count());
        }
        for (frame, order) in live {
            allocator.free(frame, order);
        }
        assert_eq!(allocator.free_frames(), frames);
        // Everything has coalesced again: as many largest runs as fit.
        for _ in 0..frames >> MAX_ORDER {
            assert!(allocator.allocate(MAX_ORDER).is_some());
        }
    }

    proptest! {
        #[test]
        fn allocators_match_the_model(frames in 256u32..1500, steps in steps()) {
            for kind in KINDS {
                run_against_model(kind, frames, &steps);
            }
        }
    }

    #[test]
    fn n_pages_cost_exactly_n_times_two_to_the_order() {
        for kind in KINDS {
            for order in 0..=MAX_ORDER {
                let mut allocator = kind.build(4096);
                let mut pages = 0;
                while allocator.allocate(order).is_some() {
                    pages += 1;
                    assert_eq!(allocator.free_frames(), 4096 - (pages << order));
                }
                assert_eq!(pages, 4096 >> order);
            }
        }
    }

    #[test]
    #[should_panic(expected = "not allocated")]
    fn a_double_free_is_caught_by_buddy() {
        let mut buddy = Buddy::new(64);
        let frame = buddy.allocate(1).unwrap();
        buddy.free(frame, 1);
        buddy.free(frame, 1);
    }

    #[test]
    #[should_panic(expected = "not allocated")]
    fn a_double_free_is_caught_by_first_fit() {
        let mut list = FirstFit::new(64);
        let frame = list.allocate(1).unwrap();
        list.free(frame, 1);
        list.free(frame, 1);
    }
}
