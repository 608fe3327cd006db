//! Simulated clusters: the same seed gives the same trace, and nothing acknowledged is ever lost.

use std::process::Command;

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

/// The plan of [`simulate_one`]: seed, nodes, faults.
const PLAN: &str = "BINDERY_SIMULATION";
/// Where [`simulate_one`] writes what it came to.
const OUTCOME: &str = "BINDERY_SIMULATION_OUTCOME";

/// Runs a simulation in a process of its own: the `select!` of the futures crate draws from a generator of the
/// thread, which nothing can seed but which is the same in every new process.
fn run(test: &str, plan: Plan) -> Outcome {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let output = Command::new(std::env::current_exe().expect("a test runs from a file"))
        .args(["--exact", "simulate_one", "--ignored", "--nocapture", "--test-threads=1"])
        .env(PLAN, format!("{} {} {}", plan.seed, plan.nodes, plan.faults))
        .env(OUTCOME, file.path())
        .output()
        .expect("this program runs");
    assert!(
        output.status.success(),
        "{}\n--- repeat it with: BINDERY_SEED={} BINDERY_SEEDS=1 cargo test -p bindery-tests --test sim {test}",
        String::from_utf8_lossy(&output.stderr),
        plan.seed
    );
    let text = std::fs::read_to_string(file.path()).expect("the outcome");
    let mut lines = text.lines();
    let counts: Vec<u64> = lines.next().expect("counts").split(' ').map(|n| n.parse().expect("a count")).collect();
    Outcome {
        trace: lines.map(str::to_owned).collect(),
        acknowledged: counts[0],
        unknown: counts[1],
        crashes: counts[2],
    }
}

#[test]
#[ignore = "run by the other tests, in a process of its own"]
fn simulate_one() {
    // Asked for by hand together with all ignored tests, there is no plan.
    let Ok(plan) = std::env::var(PLAN) else { return };
    let numbers: Vec<u64> = plan.split(' ').map(|n| n.parse().expect("a number")).collect();
    let plan = Plan { seed: numbers[0], nodes: numbers[1] as usize, faults: numbers[2] as usize };
    let outcome = simulate(plan).unwrap_or_else(|why| panic!("{why}"));
    let counts = format!("{} {} {}\n", outcome.acknowledged, outcome.unknown, outcome.crashes);
    let file = std::env::var(OUTCOME).expect("a file for the outcome");
    std::fs::write(file, counts + &outcome.trace.join("\n")).expect("the outcome's file");
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
