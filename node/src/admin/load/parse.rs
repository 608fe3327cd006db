//! The second stage, on a thread of its own: LDIF to blocks of entries.

use std::io::BufRead;

use bindery_directory::command::{Add, AttributeValues, ExistingMode};
use bindery_directory::op::add_block;
use bindery_directory::{Directory, Identity, ReadView};
use bindery_model::ldif::{AttributeLine, Content, LdifError, RawRecord, Reader, Record};
use bindery_model::password;
use tokio::sync::mpsc;

use super::block::{Block, bytes_of};
use super::{ClearPolicy, Counters, Options, Problem};

/// What the parser gives to the next stage.
#[derive(Debug)]
pub enum Piece {
    Block(Block),
    Problem(Problem),
    /// The load cannot go on.
    Stop(String),
    /// Everything has been read.
    End,
}

/// A dry run looks at a new version now and then, so that none is held for long.
const VIEW_ENTRIES: u64 = 1_000;

/// Reads everything, or up to the first error unless errors are to be passed over. Ends early when nobody takes
/// the pieces.
pub fn run(
    input: impl BufRead,
    directory: &Directory,
    options: Options,
    counters: &Counters,
    pieces: &mpsc::Sender<Piece>,
) {
    let mut parser = Parser { directory, view: directory.view(), options, counters, pieces, clear_seen: 0 };
    // A closed channel means that the load has ended already.
    let _ = parser.run(input);
}

struct Parser<'a> {
    directory: &'a Directory,
    /// For a dry run.
    view: ReadView,
    options: Options,
    counters: &'a Counters,
    pieces: &'a mpsc::Sender<Piece>,
    clear_seen: u64,
}

/// Nobody takes the pieces any more.
struct Closed;

impl Parser<'_> {
    fn give(&self, piece: Piece) -> Result<(), Closed> {
        self.pieces.blocking_send(piece).map_err(|_| Closed)
    }

    fn run(&mut self, input: impl BufRead) -> Result<(), Closed> {
        let mut reader = Reader::new(input);
        let mut raw = RawRecord::default();
        let mut block = Block::default();
        loop {
            let read = match reader.read_raw(&mut raw) {
                Ok(false) => break,
                Ok(true) => raw.parse().map_err(Fault::from).and_then(|record| self.entry(record)),
                Err(error) => Err(Fault::from(error)),
            };
            let Parsed { line, add, clear } = match read {
                Ok(entry) => entry,
                Err(Fault::Stop(why)) => {
                    self.give_block(&mut block)?;
                    return self.give(Piece::Stop(why));
                }
                Err(Fault::Entry(problem)) => {
                    // What came before the fault is loaded, so that the problem is reported in its place.
                    self.give_block(&mut block)?;
                    self.give(Piece::Problem(problem))?;
                    if self.passes_over_faults() {
                        continue;
                    }
                    return self.give(Piece::Stop("the input has an error".to_owned()));
                }
            };
            Counters::add(&self.counters.entries_read, 1);
            if self.options.dry_run {
                continue;
            }
            if block.is_full_for(bytes_of(&add), self.options.block_bytes) {
                self.give_block(&mut block)?;
            }
            block.push(line, add, &clear);
        }
        self.give_block(&mut block)?;
        self.give(Piece::End)
    }

    fn passes_over_faults(&self) -> bool {
        self.options.dry_run || self.options.continue_on_error
    }

    fn give_block(&self, block: &mut Block) -> Result<(), Closed> {
        if block.is_empty() { Ok(()) } else { self.give(Piece::Block(std::mem::take(block))) }
    }

    /// The entry of a record, with the places of its clear passwords.
    fn entry(&mut self, record: Record<'_>) -> Result<Parsed, Fault> {
        let line = record.line;
        let dn = record.dn.into_owned();
        let lines = match record.content {
            Content::Entry(lines) => lines,
            Content::Change { line, .. } => {
                let what = "\"changetype:\" describes a change, and a load only adds entries; use ldapmodify -f";
                return Err(Fault::Entry(Problem { line, dn, what: what.to_owned() }));
            }
        };
        let mut attributes = Vec::new();
        let mut clear = Vec::new();
        for group in AttributeLine::groups(&lines) {
            let Some(first) = group.first() else { continue };
            let at = attributes.len();
            if is_user_password(first.description) {
                for (value, line) in group.iter().enumerate().filter(|(_, line)| password::is_clear(&line.value)) {
                    self.allow_clear(line.line, &dn)?;
                    clear.push((at, value));
                }
            }
            let values = group.iter().map(|line| line.value.to_vec()).collect();
            attributes.push(AttributeValues { description: first.description.to_owned(), values });
        }
        let add = Add { dn, attributes };
        if self.options.dry_run {
            return self.try_entry(line, add).map(|add| Parsed { line, add, clear });
        }
        Ok(Parsed { line, add, clear })
    }

    /// Everything that can be said of an entry without adding it. Whether its parent will be there is not known.
    fn try_entry(&mut self, line: u64, add: Add) -> Result<Add, Fault> {
        if Counters::get(&self.counters.entries_read).is_multiple_of(VIEW_ENTRIES) {
            self.view = self.directory.view();
        }
        let fault = |what: String| Fault::Entry(Problem { line, dn: add.dn.clone(), what });
        add_block::check(&self.view, add.clone()).map_err(|error| fault(error.diagnostic))?;
        if self.options.existing == ExistingMode::Error && self.view.locate(&add.dn, &Identity::Admin).is_ok() {
            return Err(fault("the entry exists already".to_owned()));
        }
        Ok(add)
    }

    fn allow_clear(&mut self, line: u64, dn: &str) -> Result<(), Fault> {
        self.clear_seen += 1;
        match self.options.clear {
            ClearPolicy::Refuse => Err(Fault::Entry(Problem {
                line,
                dn: dn.to_owned(),
                what: "a clear password, which --clear-passwords refuse forbids".to_owned(),
            })),
            ClearPolicy::Hash(most) if self.clear_seen > most => Err(Fault::Stop(format!(
                "line {line}: more than {most} clear passwords{}; load with --clear-passwords hash if that is meant",
                self.cost()
            ))),
            ClearPolicy::Hash(_) => Ok(()),
        }
    }

    /// What hashing has cost so far, in words.
    fn cost(&self) -> String {
        let hashed = Counters::get(&self.counters.passwords_hashed);
        if hashed == 0 {
            return String::new();
        }
        let each_ms = (Counters::get(&self.counters.hashing_us) / hashed / 1_000).max(1);
        format!(", and hashing takes about {each_ms} ms for each, {each_ms} s for every 1,000")
    }
}

/// One entry of the input.
struct Parsed {
    line: u64,
    add: Add,
    /// Attribute and value of each clear password.
    clear: Vec<(usize, usize)>,
}

enum Fault {
    Entry(Problem),
    Stop(String),
}

impl From<LdifError> for Fault {
    fn from(error: LdifError) -> Fault {
        if error.is_fatal() {
            return Fault::Stop(format!("the input ended early: {}", error.kind));
        }
        Fault::Entry(Problem { line: error.line, dn: error.dn.unwrap_or_default(), what: error.kind.to_string() })
    }
}

/// `userPassword`, by name or OID, with whatever options.
fn is_user_password(description: &str) -> bool {
    let name = description.split(';').next().unwrap_or_default();
    name.eq_ignore_ascii_case("userPassword") || name == "2.5.4.35"
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
