//! A whole cluster in one thread, on simulated disks, network and time: everything follows from one seed.

pub mod network;
pub mod node;
pub mod oracle;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use bindery_directory::{Identity, TreeDigest};
use parking_lot::Mutex;
use turmoil::Sim;

use self::node::SimNode;
use self::oracle::Oracle;
use crate::faulty_file::{FaultyFiles, Rng};

/// Calls to the disk within which an injected failure comes.
const FAILURE_WITHIN_CALLS: u64 = 400;
/// A cluster without faults must answer and agree within this.
const LIVENESS: Duration = Duration::from_secs(30);

/// What a simulation is made of.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Everything random follows from it.
    pub seed: u64,
    /// Nodes.
    pub nodes: usize,
    /// Faults, one after the other.
    pub faults: usize,
}

/// What a simulation came to.
#[derive(Debug)]
pub struct Outcome {
    /// All positions applied, replies and events in order.
    pub trace: Vec<String>,
    /// Writes acknowledged.
    pub acknowledged: u64,
    /// Writes whose outcome is not known.
    pub unknown: u64,
    /// Crashes.
    pub crashes: u64,
}

struct Driver<'a> {
    sim: Sim<'a>,
    rng: Rng,
    nodes: Vec<Arc<SimNode>>,
    oracle: Arc<Oracle>,
    /// When a node that is down starts again.
    restart_at: Vec<Option<Duration>>,
    crashes: u64,
}

/// Runs one simulation; the error says which promise was broken.
pub fn simulate(plan: Plan) -> Result<Outcome, String> {
    let mut builder = turmoil::Builder::new();
    builder
        .rng_seed(plan.seed)
        .epoch(SystemTime::UNIX_EPOCH + Duration::from_secs(1_750_000_000))
        .simulation_duration(Duration::from_secs(3600))
        .tick_duration(Duration::from_millis(1))
        .min_message_latency(Duration::from_micros(100))
        .max_message_latency(Duration::from_millis(4))
        .tcp_capacity(65_536);
    let oracle = Arc::new(Oracle::default());
    let names: Vec<String> = (1..=plan.nodes).map(|n| format!("n{n}")).collect();
    let mut rng = Rng::new(plan.seed);
    let nodes: Vec<Arc<SimNode>> = names
        .iter()
        .map(|name| {
            Arc::new(SimNode {
                name: name.clone(),
                names: names.clone(),
                seed: rng.next(),
                disk: Mutex::new(FaultyFiles::default()),
                data: tempfile::tempdir().expect("a temporary directory"),
                boots: AtomicU64::new(0),
                doomed: Arc::new(AtomicBool::new(false)),
                writing: Arc::new(AtomicBool::new(true)),
                directory: Mutex::new(None),
                oracle: oracle.clone(),
            })
        })
        .collect();
    let mut sim = builder.build();
    for node in &nodes {
        let shared = node.clone();
        sim.host(node.name.as_str(), move || node::run(shared.clone()));
    }
    let restart_at = vec![None; plan.nodes];
    Driver { sim, rng, nodes, oracle, restart_at, crashes: 0 }.run(plan)
}

impl Driver<'_> {
    fn run(mut self, plan: Plan) -> Result<Outcome, String> {
        self.wait("the cluster serves", |d| d.oracle.counts().0 >= 10)?;
        for number in 0..plan.faults {
            // The first few are the same for every seed: each kind of fault is seen.
            let kind = if number < 3 { number as u64 } else { self.rng.below(7) };
            self.fault(kind)?;
            let pause = 300 + self.rng.below(1200);
            self.steps(Duration::from_millis(pause))?;
        }
        self.heal()?;
        // The disks must hold it, not the memories.
        for n in 0..self.nodes.len() {
            self.crash(n, Duration::from_millis(100));
        }
        self.heal()?;
        self.check_contents()?;
        let (acknowledged, unknown, _) = self.oracle.counts();
        Ok(Outcome { trace: self.oracle.trace(), acknowledged, unknown, crashes: self.crashes })
    }

    fn step(&mut self) -> Result<(), String> {
        self.sim.step().map_err(|e| e.to_string())?;
        for n in 0..self.nodes.len() {
            let down = self.restart_at[n];
            if down.is_none() && (self.nodes[n].doomed.load(Ordering::Relaxed) || self.has_failed(n)) {
                let down_for = Duration::from_millis(100 + self.rng.below(1500));
                self.crash(n, down_for);
            }
            if let Some(at) = down
                && self.sim.elapsed() >= at
            {
                self.restart_at[n] = None;
                self.sim.bounce(self.nodes[n].name.as_str());
            }
        }
        let problems = self.oracle.problems();
        if problems.is_empty() { Ok(()) } else { Err(self.report(&problems.join("\n"))) }
    }

    fn report(&self, what: &str) -> String {
        let trace = self.oracle.trace();
        let tail = trace[trace.len().saturating_sub(60)..].join("\n");
        format!("{what}\n--- the end of the trace:\n{tail}")
    }

    fn steps(&mut self, time: Duration) -> Result<(), String> {
        let end = self.sim.elapsed() + time;
        while self.sim.elapsed() < end {
            self.step()?;
        }
        Ok(())
    }

    fn wait(&mut self, what: &str, condition: impl Fn(&Self) -> bool) -> Result<(), String> {
        let end = self.sim.elapsed() + LIVENESS;
        while !condition(self) {
            self.step()?;
            if self.sim.elapsed() > end {
                return Err(self.report(&format!("never: {what}")));
            }
        }
        Ok(())
    }

    fn has_failed(&self, n: usize) -> bool {
        self.nodes[n].disk.lock().has_failed()
    }

    /// Ends a node at once; what its disk had not synced is lost, torn or kept.
    fn crash(&mut self, n: usize, down_for: Duration) {
        if self.restart_at[n].is_some() {
            return;
        }
        let node = self.nodes[n].clone();
        self.crashes += 1;
        self.oracle.note(&node.name, format_args!("crashes"));
        self.sim.crash(node.name.as_str());
        *node.directory.lock() = None;
        let mut disk = node.disk.lock();
        *disk = disk.crash(self.rng.next());
        drop(disk);
        node.doomed.store(false, Ordering::Relaxed);
        self.restart_at[n] = Some(self.sim.elapsed() + down_for);
    }

    /// The node that last became leader, if it runs.
    fn leader(&self) -> Option<usize> {
        let name = self.oracle.newest_leader()?;
        let n = self.nodes.iter().position(|node| node.name == name)?;
        self.restart_at[n].is_none().then_some(n)
    }

    fn some_node(&mut self) -> usize {
        self.rng.below(self.nodes.len() as u64) as usize
    }

    fn fault(&mut self, kind: u64) -> Result<(), String> {
        let length = Duration::from_millis(400 + self.rng.below(1600));
        match kind {
            // The leader is cut off.
            0 => {
                let n = self.leader().unwrap_or(0);
                self.isolate(n, length)
            }
            // The leader crashes.
            1 => {
                let n = self.leader().unwrap_or(0);
                self.crash(n, length);
                Ok(())
            }
            // Some node's disk fails in the middle of something, and the node with it.
            2 | 3 => {
                let n = self.some_node();
                let calls = 1 + self.rng.below(FAILURE_WITHIN_CALLS);
                let name = self.nodes[n].name.clone();
                self.oracle.note(&name, format_args!("will fail within {calls} calls"));
                self.nodes[n].disk.lock().fail_at(calls, true);
                Ok(())
            }
            4 => {
                let n = self.some_node();
                self.isolate(n, length)
            }
            // All crash at once.
            5 => {
                for n in 0..self.nodes.len() {
                    let down_for = Duration::from_millis(50 + self.rng.below(500));
                    self.crash(n, down_for);
                }
                Ok(())
            }
            // One direction is cut.
            _ => {
                let (a, b) = (self.some_node(), self.some_node());
                if a == b {
                    return Ok(());
                }
                let (a, b) = (self.nodes[a].name.clone(), self.nodes[b].name.clone());
                self.oracle.note(&a, format_args!("does not reach {b}"));
                self.sim.partition_oneway(a.as_str(), b.as_str());
                self.steps(length)?;
                self.sim.repair_oneway(a.as_str(), b.as_str());
                Ok(())
            }
        }
    }

    fn isolate(&mut self, n: usize, length: Duration) -> Result<(), String> {
        let name = self.nodes[n].name.clone();
        let others: Vec<String> = self.nodes.iter().map(|o| o.name.clone()).filter(|o| *o != name).collect();
        self.oracle.note(&name, format_args!("is cut off"));
        for other in &others {
            self.sim.partition(name.as_str(), other.as_str());
        }
        self.steps(length)?;
        for other in &others {
            self.sim.repair(name.as_str(), other.as_str());
        }
        self.oracle.note(&name, format_args!("is back"));
        Ok(())
    }

    /// No more faults: all run, serve, and come to the same state.
    fn heal(&mut self) -> Result<(), String> {
        for node in &self.nodes {
            node.disk.lock().never_fail();
        }
        self.wait("all nodes run", |d| d.restart_at.iter().all(Option::is_none))?;
        let (before, _, _) = self.oracle.counts();
        self.wait("writes are acknowledged again", |d| d.oracle.counts().0 >= before + 10)?;
        for node in &self.nodes {
            node.writing.store(false, Ordering::Relaxed);
        }
        let longest = node::DEADLINE + Duration::from_secs(1);
        self.steps(longest)?;
        self.wait("all nodes have applied the same", |d| {
            let (_, _, highest) = d.oracle.counts();
            let applied: Vec<Option<u64>> =
                d.nodes.iter().map(|n| n.directory.lock().as_ref().map(|dir| dir.view().applied_index())).collect();
            applied.iter().all(|a| *a == applied[0] && *a >= Some(highest))
        })?;
        self.check_contents()?;
        for node in &self.nodes {
            node.writing.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Nothing acknowledged is lost, and all nodes hold the same.
    fn check_contents(&self) -> Result<(), String> {
        let (present, absent) = self.oracle.expected();
        let mut first: Option<Vec<TreeDigest>> = None;
        for node in &self.nodes {
            let directory = node.directory.lock().clone().ok_or("a node does not run")?;
            let view = directory.view();
            for dn in &present {
                if let Err(error) = view.locate(dn, &Identity::Admin) {
                    return Err(self.report(&format!("{dn} was acknowledged; {}: {error}", node.name)));
                }
            }
            if let Some(dn) = absent.iter().find(|dn| view.locate(dn, &Identity::Admin).is_ok()) {
                return Err(self.report(&format!("the delete of {dn} was acknowledged; {} has it", node.name)));
            }
            directory.verify_store().map_err(|e| self.report(&format!("{}: the store: {e}", node.name)))?;
            let digest = view.digest().map_err(|e| e.to_string())?;
            self.oracle.note(&node.name, format_args!("holds {digest:?}"));
            if first.as_ref().is_some_and(|f| *f != digest) {
                return Err(self.report(&format!("{} and {} differ", self.nodes[0].name, node.name)));
            }
            first = Some(digest);
        }
        Ok(())
    }
}
