//! Allocators of frames. Pure: frame numbers in and out, all links in side arrays, no address anywhere.

mod buddy;
mod first_fit;
#[cfg(test)]
mod tests;

pub use buddy::Buddy;
pub use first_fit::FirstFit;

use crate::layout::ORDERS;

/// Which allocator carves the frame arena.
#[derive(Debug, Clone, Copy, Default)]
pub enum AllocatorKind {
    /// Power-of-two buddies, O(1).
    #[default]
    Buddy,
    /// One address-ordered list of free runs, searched from its start: the classic, kept for comparison.
    FirstFit,
    /// One of the caller's own, made for this many frames: how benchmarks compare others.
    Custom(fn(u32) -> Box<dyn Allocator>),
}

impl AllocatorKind {
    /// An allocator over `frames` free frames.
    pub fn build(self, frames: u32) -> Box<dyn Allocator> {
        match self {
            AllocatorKind::Buddy => Box::new(Buddy::new(frames)),
            AllocatorKind::FirstFit => Box::new(FirstFit::new(frames)),
            AllocatorKind::Custom(build) => build(frames),
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
    /// Work done since it was made: runs split, merged or passed by.
    fn steps(&self) -> u64;
    /// Frame numbers are below this. At least the frames it was made for; more when the numbers are only names, as
    /// for an allocator that places every order in a range of its own.
    fn span(&self) -> u32;
}

/// How free memory is cut up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AllocatorStats {
    /// Free frames.
    pub free_frames: u32,
    /// Free runs by the largest order that fits each.
    pub free_runs_per_order: [u32; ORDERS],
    /// Runs split, merged or passed by since the store was opened.
    pub steps: u64,
}

impl AllocatorStats {
    /// Asks an allocator.
    pub fn of(allocator: &dyn Allocator) -> AllocatorStats {
        AllocatorStats {
            free_frames: allocator.free_frames(),
            free_runs_per_order: allocator.free_runs_per_order(),
            steps: allocator.steps(),
        }
    }

    /// The largest order that can be had without making room.
    pub fn largest_free_order(&self) -> Option<u8> {
        (0..ORDERS).rev().find(|order| self.free_runs_per_order[*order] > 0).map(|order| order as u8)
    }

    /// External fragmentation: the share of the free frames, 0 to 1, that lies in runs too small for `order`. There
    /// is no internal one: a run costs exactly what was asked for.
    pub fn external_fragmentation(&self, order: u8) -> f64 {
        if self.free_frames == 0 {
            return 0.0;
        }
        let small: u64 =
            self.free_runs_per_order.iter().take(usize::from(order)).zip(0..).map(|(n, k)| u64::from(*n) << k).sum();
        small as f64 / f64::from(self.free_frames)
    }
}
