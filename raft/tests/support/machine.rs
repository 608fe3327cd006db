//! A machine in memory: a list of commands, with checkpoints and snapshots that behave as a store's do.

use std::collections::BTreeMap;
use std::sync::Arc;

use bindery_raft::{Applied, Body, Committed, Machine, MachineError, MembershipRecord, SnapshotSink, SnapshotSource};
use bytes::Bytes;
use parking_lot::Mutex;

/// One state: `key=value` commands applied.
#[derive(Clone, Default)]
pub struct Content {
    pub applied: Applied,
    pub values: BTreeMap<String, Bytes>,
    pub commands: u64,
    pub newest_time_us: u64,
}

#[derive(Default)]
struct State {
    newest: Content,
    /// Older and newer checkpoint.
    checkpoints: [Content; 2],
    installs: u64,
    batches: u64,
}

/// Survives a "restart" of the node by being reopened with [`MemoryMachine::crash`].
#[derive(Clone, Default)]
pub struct MemoryMachine {
    state: Arc<Mutex<State>>,
    every: bool,
    sparse: bool,
}

impl MemoryMachine {
    /// As [`Self::always_durable`], and takes entries with gaps, as the storage suite gives them.
    pub fn sparse() -> Self {
        MemoryMachine { every: true, sparse: true, ..Self::default() }
    }

    /// A machine that checkpoints twice after every batch, so that all is always durable.
    pub fn always_durable() -> Self {
        MemoryMachine { every: true, ..Self::default() }
    }

    /// What is left after a crash: the newer checkpoint.
    pub fn crash(&self) -> Self {
        let state = self.state.lock();
        let newest = state.checkpoints[1].clone();
        let state =
            State { newest, checkpoints: state.checkpoints.clone(), installs: state.installs, batches: state.batches };
        MemoryMachine { state: Arc::new(Mutex::new(state)), every: self.every, sparse: self.sparse }
    }

    pub fn content(&self) -> Content {
        self.state.lock().newest.clone()
    }

    pub fn get(&self, key: &str) -> Option<Bytes> {
        self.state.lock().newest.values.get(key).cloned()
    }

    pub fn installs(&self) -> u64 {
        self.state.lock().installs
    }

    pub fn batches(&self) -> u64 {
        self.state.lock().batches
    }
}

impl Machine for MemoryMachine {
    fn applied(&self) -> Applied {
        self.state.lock().newest.applied.clone()
    }

    fn apply(&self, entries: Vec<Committed>) -> Result<Vec<Bytes>, MachineError> {
        let mut state = self.state.lock();
        state.batches += 1;
        let mut replies = Vec::new();
        for entry in entries {
            let newest = &mut state.newest;
            let next = newest.applied.position.map_or(0, |p| p.index + 1);
            assert!(self.sparse || entry.position.index == next, "entries come in order, each once");
            newest.applied.position = Some(entry.position);
            replies.push(match entry.body {
                Body::Blank => Bytes::new(),
                Body::Membership(bytes) => {
                    newest.applied.membership = Some(MembershipRecord { position: Some(entry.position), bytes });
                    Bytes::new()
                }
                Body::Command { stamp, payload } => {
                    assert!(stamp.time_us >= newest.newest_time_us, "time never goes back");
                    newest.newest_time_us = stamp.time_us;
                    newest.commands += 1;
                    let text = String::from_utf8_lossy(&payload).into_owned();
                    let (key, value) = text.split_once('=').unwrap_or((&text, ""));
                    newest.values.insert(key.to_owned(), Bytes::copy_from_slice(value.as_bytes()));
                    Bytes::from(format!("{}", entry.position.index))
                }
            });
        }
        if self.every {
            let newest = state.newest.clone();
            state.checkpoints = [newest.clone(), newest];
        }
        Ok(replies)
    }

    fn durable(&self) -> Applied {
        self.state.lock().checkpoints[0].applied.clone()
    }

    fn checkpoint(&self) -> Result<(), MachineError> {
        let mut state = self.state.lock();
        let newest = state.newest.clone();
        state.checkpoints.swap(0, 1);
        state.checkpoints[1] = newest;
        Ok(())
    }

    fn needs_checkpoint(&self) -> bool {
        false
    }

    fn snapshot(&self) -> Result<Box<dyn SnapshotSource>, MachineError> {
        let content = self.content();
        let mut chunks: Vec<Bytes> =
            content.values.iter().map(|(k, v)| Bytes::from([k.as_bytes(), b"=", v].concat())).collect();
        chunks.push(Bytes::from(format!("#{} {}", content.commands, content.newest_time_us)));
        chunks.reverse();
        Ok(Box::new(Source { applied: content.applied, chunks }))
    }

    fn begin_install(&self) -> Result<Box<dyn SnapshotSink>, MachineError> {
        Ok(Box::new(Sink { machine: self.clone(), content: Content::default(), header: None }))
    }
}

struct Source {
    applied: Applied,
    chunks: Vec<Bytes>,
}

impl SnapshotSource for Source {
    fn applied(&self) -> Applied {
        self.applied.clone()
    }

    fn next_chunk(&mut self, max_bytes: usize) -> Result<Option<Bytes>, MachineError> {
        // The position travels in the stream, as a store's would.
        if let Some(position) = self.applied.position.take() {
            let membership = self.applied.membership.clone();
            let mut head = format!("@{} {} {}", position.term, position.leader, position.index).into_bytes();
            if let Some(record) = membership {
                let at = record.position.unwrap();
                head.extend_from_slice(format!(" {} {} {} ", at.term, at.leader, at.index).as_bytes());
                head.extend_from_slice(&record.bytes);
            }
            return Ok(Some(head.into()));
        }
        let chunk = self.chunks.pop();
        assert!(chunk.as_ref().is_none_or(|c| c.len() <= max_bytes));
        Ok(chunk)
    }
}

struct Sink {
    machine: MemoryMachine,
    content: Content,
    header: Option<()>,
}

impl SnapshotSink for Sink {
    fn chunk(&mut self, bytes: &[u8]) -> Result<(), MachineError> {
        let position = |parts: &[&str]| bindery_raft::LogPosition {
            term: parts[0].parse().unwrap(),
            leader: parts[1].parse().unwrap(),
            index: parts[2].parse().unwrap(),
        };
        if self.header.is_none() {
            self.header = Some(());
            let fields: Vec<&[u8]> = bytes[1..].splitn(7, |b| *b == b' ').collect();
            let text: Vec<&str> = fields.iter().take(6).map(|f| std::str::from_utf8(f).unwrap()).collect();
            self.content.applied.position = Some(position(&text[..3]));
            if fields.len() == 7 {
                self.content.applied.membership = Some(MembershipRecord {
                    position: Some(position(&text[3..6])),
                    bytes: Bytes::copy_from_slice(fields[6]),
                });
            }
            return Ok(());
        }
        let text = std::str::from_utf8(bytes).map_err(|e| MachineError::caused("bad chunk", e))?;
        if let Some(counts) = text.strip_prefix('#') {
            let (commands, time) = counts.split_once(' ').unwrap();
            self.content.commands = commands.parse().unwrap();
            self.content.newest_time_us = time.parse().unwrap();
        } else {
            let (key, value) = text.split_once('=').ok_or_else(|| MachineError::new("bad chunk"))?;
            self.content.values.insert(key.to_owned(), Bytes::copy_from_slice(value.as_bytes()));
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), MachineError> {
        let mut state = self.machine.state.lock();
        state.installs += 1;
        state.newest = self.content.clone();
        state.checkpoints = [self.content.clone(), self.content];
        Ok(())
    }
}
