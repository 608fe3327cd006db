//! What the simulation knows from outside: what was acknowledged, what was committed where, who led when.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};

use bindery_raft::{Body, Committed, LogPosition, Role};
use bytes::Bytes;
use parking_lot::Mutex;

/// A number that stands for some bytes in the trace.
pub fn short(bytes: &[u8]) -> u64 {
    // A new hasher always has the same keys.
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

/// One committed entry, and the machine's reply.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    position: LogPosition,
    body: u64,
    reply: u64,
}

#[derive(Default)]
struct State {
    trace: Vec<String>,
    problems: Vec<String>,
    committed: BTreeMap<u64, Entry>,
    leaders: BTreeMap<u64, String>,
    roles: BTreeMap<String, (Role, u64)>,
    /// Acknowledged adds in order, with the log index; deleted ones are gone again.
    added: Vec<String>,
    present: BTreeSet<String>,
    absent: BTreeSet<String>,
    acknowledged: u64,
    unknown: u64,
    highest: u64,
}

/// Shared by all nodes and the driver of one simulation.
#[derive(Default)]
pub struct Oracle {
    state: Mutex<State>,
}

fn at() -> u128 {
    turmoil::sim_elapsed().unwrap_or_default().as_micros()
}

impl Oracle {
    /// Adds a line to the trace.
    pub fn note(&self, who: &str, what: std::fmt::Arguments<'_>) {
        let mut line = String::new();
        let _ = write!(line, "{:>9} {who} {what}", at());
        self.state.lock().trace.push(line);
    }

    /// A promise is broken; the driver ends the simulation.
    pub fn problem(&self, what: String) {
        self.state.lock().problems.push(format!("at {} us: {what}", at()));
    }

    /// The promises broken so far.
    pub fn problems(&self) -> Vec<String> {
        self.state.lock().problems.clone()
    }

    /// The trace so far.
    pub fn trace(&self) -> Vec<String> {
        self.state.lock().trace.clone()
    }

    /// A node has applied an entry: every node that ever applies this index must apply the same, with the same
    /// reply (log matching, leader completeness, determinism of apply).
    pub fn applied(&self, who: &str, entry: &Committed, reply: &Bytes) {
        let body = match &entry.body {
            Body::Blank => 0,
            Body::Membership(bytes) => short(bytes),
            Body::Command { stamp, payload } => {
                short(&[&stamp.time_us.to_be_bytes()[..], &stamp.random, payload].concat())
            }
        };
        let new = Entry { position: entry.position, body, reply: short(reply) };
        let LogPosition { term, leader, index } = entry.position;
        self.note(who, format_args!("applied {term}-{leader}-{index} {body:016x} {:016x}", new.reply));
        let mut state = self.state.lock();
        let known = state.committed.entry(index).or_insert_with(|| new.clone()).clone();
        drop(state);
        if known != new {
            self.problem(format!("{who} applied {new:?}, elsewhere {known:?} was applied"));
        }
    }

    /// What a node sees of itself: terms never go back within one life.
    pub fn role(&self, who: &str, role: Role, term: u64) {
        let before = self.state.lock().roles.insert(who.to_owned(), (role, term));
        if before == Some((role, term)) {
            return;
        }
        self.note(who, format_args!("{role:?} in term {term}"));
        if role == Role::Leader {
            // openraft orders leaders by term and node, so that one term may have several; what may not differ is
            // what they commit.
            self.state.lock().leaders.insert(term, who.to_owned());
        }
        // A stopped or joining core reports term 0.
        if let Some((_, old)) = before
            && term != 0
            && term < old
        {
            self.problem(format!("{who} went back from term {old} to {term}"));
        }
    }

    /// Who led the newest term that had a leader.
    pub fn newest_leader(&self) -> Option<String> {
        self.state.lock().leaders.last_key_value().map(|(_, name)| name.clone())
    }

    /// An add was acknowledged at this log index.
    pub fn added(&self, dn: &str, index: u64) {
        let mut state = self.state.lock();
        state.added.push(dn.to_owned());
        state.present.insert(dn.to_owned());
        state.acknowledged += 1;
        state.highest = state.highest.max(index);
    }

    /// A delete is being tried: from now on nothing can be said about the entry until it is acknowledged.
    pub fn deleting(&self, dn: &str) {
        self.state.lock().present.remove(dn);
    }

    /// A delete was acknowledged.
    pub fn deleted(&self, dn: &str, index: u64) {
        let mut state = self.state.lock();
        state.absent.insert(dn.to_owned());
        state.acknowledged += 1;
        state.highest = state.highest.max(index);
    }

    /// A write's outcome is not known.
    pub fn unknown(&self) {
        self.state.lock().unknown += 1;
    }

    /// The last few acknowledged adds that must be there.
    pub fn newest_present(&self, count: usize) -> Vec<String> {
        let state = self.state.lock();
        state.added.iter().rev().filter(|dn| state.present.contains(*dn)).take(count).cloned().collect()
    }

    /// Whether an acknowledged add must still be there.
    pub fn is_present(&self, dn: &str) -> bool {
        self.state.lock().present.contains(dn)
    }

    /// All that must be there, and all that must not.
    pub fn expected(&self) -> (Vec<String>, Vec<String>) {
        let state = self.state.lock();
        (state.present.iter().cloned().collect(), state.absent.iter().cloned().collect())
    }

    /// Acknowledged writes, writes of unknown outcome, and the highest index acknowledged.
    pub fn counts(&self) -> (u64, u64, u64) {
        let state = self.state.lock();
        (state.acknowledged, state.unknown, state.highest)
    }
}
