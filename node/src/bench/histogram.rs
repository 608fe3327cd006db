//! Latencies in buckets of about 3 % width: bounded whatever is measured, and mergeable.

/// Buckets for each power of two.
const STEPS: u64 = 32;
const STEP_BITS: u32 = STEPS.trailing_zeros();
/// Up to 2^40 us, twelve days.
const BUCKETS: usize = 41 * STEPS as usize;

/// Counts of latencies in microseconds.
#[derive(Debug, Clone)]
pub struct Histogram {
    counts: Vec<u64>,
    max_us: u64,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram { counts: vec![0; BUCKETS], max_us: 0 }
    }
}

fn bucket(us: u64) -> usize {
    if us < STEPS {
        return us as usize;
    }
    let power = us.ilog2();
    let step = (us >> (power - STEP_BITS)) - STEPS;
    let index = u64::from(power - STEP_BITS + 1) * STEPS + step;
    (index as usize).min(BUCKETS - 1)
}

/// The largest latency of a bucket.
fn upper_us(bucket: usize) -> u64 {
    let (power, step) = (bucket as u64 / STEPS, bucket as u64 % STEPS);
    if power == 0 { step } else { ((STEPS + step + 1) << (power - 1)) - 1 }
}

impl Histogram {
    /// Counts one latency.
    pub fn record(&mut self, us: u64) {
        self.counts[bucket(us)] += 1;
        self.max_us = self.max_us.max(us);
    }

    /// Adds the counts of another.
    pub fn merge(&mut self, other: &Histogram) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(mine, theirs)| *mine += theirs);
        self.max_us = self.max_us.max(other.max_us);
    }

    /// The latency that a share `q` (0 to 1) of all did not exceed.
    pub fn quantile_us(&self, q: f64) -> u64 {
        let total: u64 = self.counts.iter().sum();
        let wanted = (total as f64 * q).ceil() as u64;
        let mut seen = 0;
        for (at, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted && *count > 0 {
                return upper_us(at).min(self.max_us);
            }
        }
        self.max_us
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_latency_is_in_a_bucket_whose_upper_end_is_near() {
        for us in (0..10_000).chain([1 << 20, (1 << 30) + 12345, 1 << 39]) {
            let upper = upper_us(bucket(us));
            assert!(upper >= us && upper - us <= us / 30 + 1, "{us} {upper}");
        }
    }

    #[test]
    fn quantiles() {
        let mut histogram = Histogram::default();
        (1..=100).for_each(|us| histogram.record(us));
        assert!((50..=52).contains(&histogram.quantile_us(0.5)));
        assert_eq!(histogram.quantile_us(1.0), 100);
    }
}
