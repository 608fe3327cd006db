//! All allocators against one model, and the counts that are promised.

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
                    if matches!(kind, AllocatorKind::Buddy) {
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

/// Counts the most steps that one free and one allocate take together in an arena kept about 90 % full of mixed orders.
fn most_steps_of_a_pair(allocator: &mut dyn Allocator, pairs: usize) -> u64 {
    let mut random = 0x9e37_79b9_u64;
    let mut next = move || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    // Orders as a directory has them: mostly leaves and inner nodes, now and then a large value.
    let order_of = |r: u64| [0, 0, 1, 1, 1, 2, 2, 3][(r % 8) as usize] + u8::from(r % 1000 == 1) * 5;
    let mut live = Vec::new();
    loop {
        let order = order_of(next());
        let Some(frame) = allocator.allocate(order) else { break };
        live.push((frame, order));
    }
    // Holes everywhere.
    for _ in 0..live.len() / 10 {
        let (frame, order) = live.swap_remove(next() as usize % live.len());
        allocator.free(frame, order);
    }
    let mut most = 0;
    for _ in 0..pairs {
        let at = next() as usize % live.len();
        let (frame, order) = live[at];
        let before = allocator.steps();
        allocator.free(frame, order);
        let wanted = order_of(next());
        let got = allocator.allocate(wanted);
        most = most.max(allocator.steps() - before);
        match got {
            Some(frame) => live[at] = (frame, wanted),
            None => drop(live.swap_remove(at)),
        }
    }
    most
}

#[test]
fn a_pair_of_calls_takes_a_bounded_number_of_steps_whatever_the_number_of_pages() {
    // Miri interprets: a hundredth there, the same paths.
    let (most_pages, pairs) = match std::env::var("BINDERY_TESTS") {
        _ if cfg!(miri) => (3_000, 1_000),
        Ok(v) if v == "full" => (10_000_000, 200_000),
        _ => (300_000, 200_000),
    };
    for pages in [1_000, most_pages] {
        // A page of these orders takes 2.8 frames on average.
        let most = most_steps_of_a_pair(&mut Buddy::new(pages * 28 / 10 + 512), pairs);
        assert!(most <= 2 * u64::from(MAX_ORDER), "{most} steps with {pages} pages");
    }
    // The yardstick does grow: or this test would show nothing.
    if cfg!(miri) {
        return;
    }
    let few = most_steps_of_a_pair(&mut FirstFit::new(2_800), 500);
    let many = most_steps_of_a_pair(&mut FirstFit::new(33_600), 500);
    assert!(many > 4 * few, "first fit: {few} steps with 1,000 pages, {many} with 12,000");
}

#[test]
fn fragmentation_is_the_share_of_free_frames_in_runs_too_small() {
    let mut buddy = Buddy::new(512);
    assert_eq!(AllocatorStats::of(&buddy).largest_free_order(), Some(MAX_ORDER));
    assert_eq!(AllocatorStats::of(&buddy).external_fragmentation(MAX_ORDER), 0.0);
    let frames: Vec<u32> = (0..512).map_while(|_| buddy.allocate(0)).collect();
    assert_eq!(AllocatorStats::of(&buddy).largest_free_order(), None);
    for frame in frames.iter().filter(|frame| **frame % 2 == 0 || **frame >= 256) {
        buddy.free(*frame, 0);
    }
    let stats = AllocatorStats::of(&buddy);
    assert_eq!((stats.free_frames, stats.largest_free_order()), (384, Some(8)));
    assert_eq!(stats.external_fragmentation(1), 128.0 / 384.0);
    assert_eq!(stats.external_fragmentation(0), 0.0);
}
