//! Simulated clusters: the same seed gives the same trace, and nothing acknowledged is ever lost.

use bindery_tests::count::scaled;
use bindery_tests::sim::{Outcome, Plan, simulate};

/// The first seed; `BINDERY_SEED` starts elsewhere, to repeat a failure.
fn first_seed() -> u64 {
    std::env::var("BINDERY_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(1)
}

/// How many seeds; `BINDERY_SEEDS` overrules the scaled count.
fn seeds(scaled_count: usize, full_count: usize) -> u64 {
    let asked = std::env::var("BINDERY_SEEDS").ok().and_then(|n| n.parse().ok());
    asked.unwrap_or(scaled(scaled_count, full_count) as u64)
}

fn run(test: &str, plan: Plan) -> Outcome {
    simulate(plan).unwrap_or_else(|why| {
        panic!(
            "{why}\n--- repeat it with: BINDERY_SEED={} BINDERY_SEEDS=1 cargo test -p bindery-tests --test sim {test}",
            plan.seed
        )
    })
}

fn assert_same(a: &Outcome, b: &Outcome, seed: u64) {
    if let Some(at) = a.trace.iter().zip(&b.trace).position(|(a, b)| a != b) {
        let from = at.saturating_sub(10);
        panic!(
            "seed {seed}: line {at} of the traces differs\nboth:\n{}\nfirst:  {}\nsecond: {}",
            a.trace[from..at].join("\n"),
            a.trace[at],
            b.trace[at]
        );
    }
    assert_eq!(a.trace.len(), b.trace.len(), "seed {seed}: one trace is longer");
}

#[test]
fn one_seed_gives_one_trace() {
    let test = "one_seed_gives_one_trace";
    let seed = first_seed();
    let plan = Plan { seed, nodes: 3, faults: 4 };
    let first = run(test, plan);
    let second = run(test, plan);
    assert_same(&first, &second, seed);
    let other = run(test, Plan { seed: seed + 1, ..plan });
    assert_ne!(first.trace, other.trace, "the seed makes no difference");
    assert!(first.acknowledged > 100, "hardly anything was written: {}", first.acknowledged);
    println!("{} lines, {} acknowledged, {} unknown", first.trace.len(), first.acknowledged, first.unknown);
}

#[test]
fn three_nodes_lose_nothing_acknowledged() {
    let first = first_seed();
    for seed in first..first + seeds(6, 500) {
        let outcome = run("three_nodes_lose_nothing_acknowledged", Plan { seed, nodes: 3, faults: 8 });
        println!(
            "seed {seed}: {} acknowledged, {} unknown, {} crashes",
            outcome.acknowledged, outcome.unknown, outcome.crashes
        );
    }
}

#[test]
fn one_node_loses_nothing_acknowledged_at_any_crash() {
    let first = first_seed();
    for seed in first..first + seeds(6, 500) {
        let outcome = run("one_node_loses_nothing_acknowledged_at_any_crash", Plan { seed, nodes: 1, faults: 25 });
        println!("seed {seed}: {} acknowledged, {} crashes", outcome.acknowledged, outcome.crashes);
        assert!(outcome.crashes > 5, "seed {seed}: only {} crashes", outcome.crashes);
    }
}
