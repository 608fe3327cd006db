//! Times and counts the frame allocators: `cargo bench -p bindery-store --bench allocator [-- --pages 1000,100000]`.
//!
//! An arena is filled with pages of mixed orders and holed at random; then a page is freed and another allocated, over and
//! over. *Hot*: always among the same few pages. *Cold*: anywhere, so that side arrays come from memory. The header-inside
//! buddy is the fault this store was built to avoid: a header in front of the page doubles what each page takes.

use std::hint::black_box;
use std::time::Instant;

use bindery_store::{Allocator, AllocatorStats, Buddy, FirstFit};

/// Pages touched when hot: their side arrays fit in a processor's cache.
const HOT_PAGES: usize = 64;
/// Tenths of frames that a page of `Random::order` takes on average.
const MEAN_PAGE_FRAMES_TENTHS: usize = 28;
/// First fit walks a list as long as the holes are many: beyond this it would take hours.
const MOST_FIRST_FIT_PAGES: usize = 100_000;

/// Xorshift: the same pages on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Mostly leaves and inner nodes, now and then a value page.
    fn order(&mut self) -> u8 {
        let r = self.next();
        [0, 0, 1, 1, 1, 2, 2, 3][(r % 8) as usize] + u8::from(r % 1000 == 1) * 5
    }
}

/// A buddy allocator whose pages carry a header inside: 2^k frames and a few bytes are rounded up to 2^(k+1).
struct HeaderInside(Buddy);

impl HeaderInside {
    fn new(frames: u32) -> HeaderInside {
        HeaderInside(Buddy::new(frames))
    }

    fn allocate(&mut self, order: u8) -> Option<u32> {
        self.0.allocate(order + 1)
    }
}

struct Row {
    name: &'static str,
    pages: usize,
    hot_ns: f64,
    cold_ns: f64,
    mean_steps: f64,
    most_steps: u64,
    fragmentation: f64,
}

fn fill(allocator: &mut dyn Allocator, random: &mut Random) -> Vec<(u32, u8)> {
    let mut live = Vec::new();
    loop {
        let order = random.order();
        let Some(frame) = allocator.allocate(order) else { break };
        live.push((frame, order));
    }
    for _ in 0..live.len() / 10 {
        let at = random.next() as usize % live.len();
        let (frame, order) = live.swap_remove(at);
        allocator.free(frame, order);
    }
    live
}

/// Frees and allocates `pairs` times; answers nanoseconds a pair and the most steps one pair took.
fn pairs(
    allocator: &mut dyn Allocator,
    live: &mut [(u32, u8)],
    among: usize,
    pairs: usize,
    random: &mut Random,
) -> (f64, u64) {
    // Drawn before the clock starts: which page goes, and the order of the one that comes.
    let picks: Vec<(usize, u8)> =
        (0..pairs).map(|_| (random.next() as usize % among.min(live.len()), random.order())).collect();
    let mut most = 0;
    let started = Instant::now();
    for (at, order) in picks {
        let (frame, old) = live[at];
        let before = allocator.steps();
        allocator.free(frame, old);
        let (frame, order) = match allocator.allocate(order) {
            Some(frame) => (frame, order),
            None => (allocator.allocate(old).expect("what was just freed can be had again"), old),
        };
        most = most.max(allocator.steps() - before);
        live[at] = (black_box(frame), order);
    }
    (started.elapsed().as_nanos() as f64 / pairs as f64, most)
}

fn measure(name: &'static str, allocator: &mut dyn Allocator, pages: usize, count: usize) -> Row {
    let mut random = Random(0x1234_5678_9abc_def1);
    let mut live = fill(allocator, &mut random);
    let before = allocator.steps();
    let (cold_ns, most_cold) = pairs(allocator, &mut live, usize::MAX, count, &mut random);
    let (hot_ns, most_hot) = pairs(allocator, &mut live, HOT_PAGES, count, &mut random);
    let mean_steps = (allocator.steps() - before) as f64 / (2 * count) as f64;
    let fragmentation = AllocatorStats::of(allocator).external_fragmentation(4);
    Row { name, pages, hot_ns, cold_ns, mean_steps, most_steps: most_cold.max(most_hot), fragmentation }
}

fn pages_asked_for() -> Vec<usize> {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.iter().position(|argument| argument == "--pages").and_then(|at| arguments.get(at + 1)) {
        Some(list) => list.split(',').map(|n| n.parse().expect("--pages takes numbers, by commas")).collect(),
        None => vec![1_000, 10_000, 100_000, 1_000_000, 10_000_000],
    }
}

fn main() {
    println!("free + allocate, mixed orders, arena filled to the brim and a tenth of its pages freed at random");
    println!("allocator   pages      hot ns  cold ns  mean steps  most steps  free frames in runs below 64 KiB");
    for pages in pages_asked_for() {
        let frames = u32::try_from(pages * MEAN_PAGE_FRAMES_TENTHS / 10 + 512).expect("fewer than 2^30 pages");
        let mut rows = vec![measure("buddy", &mut Buddy::new(frames), pages, 1_000_000)];
        if pages <= MOST_FIRST_FIT_PAGES {
            rows.push(measure("first-fit", &mut FirstFit::new(frames), pages, 20_000_000 / pages.max(1_000)));
        }
        for row in rows {
            println!(
                "{:<10} {:>9} {:>8.0} {:>8.0} {:>11.2} {:>11} {:>8.1} %",
                row.name,
                row.pages,
                row.hot_ns,
                row.cold_ns,
                row.mean_steps,
                row.most_steps,
                row.fragmentation * 100.0
            );
        }
    }
    let frames = 65_536;
    println!("\npages that fit in {frames} frames   order 0   order 1   order 2   order 4");
    let count = |mut allocate: Box<dyn FnMut(u8) -> Option<u32>>, order| {
        (0..).take_while(|_: &u32| allocate(order).is_some()).count()
    };
    let line = |name: &str, make: &dyn Fn() -> Box<dyn FnMut(u8) -> Option<u32>>| {
        let counts: Vec<String> = [0, 1, 2, 4].iter().map(|order| format!("{:>9}", count(make(), *order))).collect();
        println!("{name:<30} {}", counts.join(" "));
    };
    line("buddy, headers beside", &|| {
        let mut buddy = Buddy::new(frames);
        Box::new(move |order| buddy.allocate(order))
    });
    line("buddy, header inside", &|| {
        let mut buddy = HeaderInside::new(frames);
        Box::new(move |order| buddy.allocate(order))
    });
}
