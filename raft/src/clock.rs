//! Time and randomness as seams, so that a simulated cluster repeats itself for one seed.

use std::time::{SystemTime, UNIX_EPOCH};

/// Wall-clock and monotonic time. Timers do not come from here but from tokio, which can be paused.
pub trait Clock: Send + Sync + 'static {
    /// Microseconds since 1970-01-01T00:00:00Z; may jump.
    fn now_us(&self) -> u64;
    /// Microseconds since some fixed moment; never goes back.
    fn monotonic_us(&self) -> u64;
}

/// The clock of the operating system.
#[derive(Debug)]
pub struct SystemClock {
    start: std::time::Instant,
}

impl Default for SystemClock {
    fn default() -> Self {
        SystemClock { start: std::time::Instant::now() }
    }
}

impl Clock for SystemClock {
    fn now_us(&self) -> u64 {
        // A clock set before 1970 reads as 0; apply never lets time go back anyway.
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| u64::try_from(d.as_micros()).unwrap_or(u64::MAX))
    }

    fn monotonic_us(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

/// Random bytes: for stamps, nonces, cluster ids and the seed of election timers.
pub trait Randomness: Send + Sync + 'static {
    /// Fills the buffer.
    fn fill(&self, buffer: &mut [u8]);
}

/// The randomness of the operating system.
#[derive(Debug, Default)]
pub struct SystemRandomness;

impl Randomness for SystemRandomness {
    fn fill(&self, buffer: &mut [u8]) {
        getrandom::fill(buffer).expect("the operating system always has randomness once it has booted");
    }
}

/// Sixteen random bytes.
pub(crate) fn random_16(source: &dyn Randomness) -> [u8; 16] {
    let mut bytes = [0; 16];
    source.fill(&mut bytes);
    bytes
}
