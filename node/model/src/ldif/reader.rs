//! Cutting input into records: physical lines to logical lines, within a bounded buffer.

use std::io::{BufRead, Read};

use super::error::{LdifError, LdifErrorKind};
use super::parse::Record;

/// The largest record accepted unless told otherwise: the largest command that the log carries.
pub const DEFAULT_MAX_RECORD_BYTES: usize = 20 << 20;

/// One logical line: its place in the text of its record, and the physical line on which it began.
#[derive(Debug, Clone, Copy)]
pub(super) struct LogicalLine {
    pub start: usize,
    pub line: u64,
}

/// One record as lines, unfolded and without comments. Reusable: reading into it again keeps its buffers.
#[derive(Debug, Default, Clone)]
pub struct RawRecord {
    text: Vec<u8>,
    lines: Vec<LogicalLine>,
    stray_continuation: Option<u64>,
}

impl RawRecord {
    /// The physical line, counted from 1, on which the record begins; 0 while it is empty.
    pub fn line(&self) -> u64 {
        self.lines.first().map_or(0, |line| line.line)
    }

    /// Bytes of text held.
    pub fn len(&self) -> usize {
        self.text.len()
    }

    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The logical lines with the numbers of their first physical lines.
    pub(super) fn lines(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.lines.iter().enumerate().map(|(index, line)| {
            let end = self.lines.get(index + 1).map_or(self.text.len(), |next| next.start);
            (line.line, &self.text[line.start..end])
        })
    }

    /// Interprets the lines. The record borrows from `self`.
    ///
    /// # Errors
    /// Any [`LdifErrorKind`] but `Io` and `RecordTooLarge`.
    pub fn parse(&self) -> Result<Record<'_>, LdifError> {
        if let Some(line) = self.stray_continuation {
            return Err(LdifError::new(line, LdifErrorKind::StrayContinuation));
        }
        super::parse::record(self)
    }

    fn clear(&mut self) {
        self.text.clear();
        self.lines.clear();
        self.stray_continuation = None;
    }
}

/// Streams records from `input`. Memory is bounded by the largest record.
pub struct Reader<R> {
    input: R,
    max_record_bytes: usize,
    /// Physical lines read so far.
    line: u64,
    record: RawRecord,
    at_start: bool,
}

impl<R: BufRead> Reader<R> {
    /// A reader with the default limit on the size of a record.
    pub fn new(input: R) -> Self {
        Self::with_max_record_bytes(input, DEFAULT_MAX_RECORD_BYTES)
    }

    /// `max_record_bytes` bounds one record's text, comments and line ends included.
    pub fn with_max_record_bytes(input: R, max_record_bytes: usize) -> Self {
        Self { input, max_record_bytes, line: 0, record: RawRecord::default(), at_start: true }
    }

    /// Physical lines read so far.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// The next record, or None at the end of the input. After an error that is not fatal the next call
    /// goes on with the next record.
    ///
    /// # Errors
    /// See [`LdifErrorKind`].
    pub fn next_record(&mut self) -> Result<Option<Record<'_>>, LdifError> {
        let mut record = std::mem::take(&mut self.record);
        let read = self.read_raw(&mut record);
        self.record = record;
        if read? { self.record.parse().map(Some) } else { Ok(None) }
    }

    /// Reads the lines of the next record into `record`; false at the end of the input. A record of
    /// nothing but comments or a version line is passed over.
    ///
    /// # Errors
    /// `Io`, `RecordTooLarge`, `UnknownVersion`.
    pub fn read_raw(&mut self, record: &mut RawRecord) -> Result<bool, LdifError> {
        if self.at_start {
            self.at_start = false;
            self.skip_byte_order_mark()?;
        }
        loop {
            record.clear();
            let more = self.read_lines(record)?;
            self.take_version(record)?;
            if !record.lines.is_empty() || record.stray_continuation.is_some() {
                return Ok(true);
            }
            if !more {
                return Ok(false);
            }
        }
    }

    /// Reads up to and including a blank line. False when the input ended.
    fn read_lines(&mut self, record: &mut RawRecord) -> Result<bool, LdifError> {
        // What a line that begins with a space continues.
        enum Previous {
            Nothing,
            Comment,
            Line,
        }
        let mut previous = Previous::Nothing;
        let mut budget = self.max_record_bytes;
        loop {
            let Some(first) = self.peek()? else { return Ok(false) };
            let start = record.text.len();
            let continues = first == b' ';
            if continues {
                // RFC 2849 note 2: the line end and exactly one SPACE are removed.
                self.input.consume(1);
                budget = budget.saturating_sub(1);
            }
            self.read_line(&mut record.text, &mut budget)?;
            if continues {
                match previous {
                    Previous::Line => {}
                    Previous::Comment => record.text.truncate(start),
                    Previous::Nothing => {
                        // Spaces alone between records hurt nobody.
                        if record.text[start..].iter().any(|byte| *byte != b' ') {
                            record.stray_continuation.get_or_insert(self.line);
                        }
                        record.text.truncate(start);
                    }
                }
            } else if record.text.len() == start {
                return Ok(true);
            } else if first == b'#' {
                record.text.truncate(start);
                previous = Previous::Comment;
            } else {
                record.lines.push(LogicalLine { start, line: self.line });
                previous = Previous::Line;
            }
        }
    }

    /// Appends one physical line without its line end (LF or CR LF) and counts it.
    fn read_line(&mut self, text: &mut Vec<u8>, budget: &mut usize) -> Result<(), LdifError> {
        let limit = u64::try_from(*budget).unwrap_or(u64::MAX).saturating_add(1);
        let start = text.len();
        let read = self.input.by_ref().take(limit).read_until(b'\n', text).map_err(|error| self.io(error))?;
        self.line += 1;
        if read > *budget {
            let ended = text.last() == Some(&b'\n');
            let line = self.line;
            text.truncate(start);
            self.skip_record(ended)?;
            return Err(LdifError::new(line, LdifErrorKind::RecordTooLarge { limit: self.max_record_bytes }));
        }
        *budget -= read;
        if text[start..].last() == Some(&b'\n') {
            text.pop();
        }
        // A CR at the very end of the input is a line end cut short.
        if text[start..].last() == Some(&b'\r') {
            text.pop();
        }
        Ok(())
    }

    /// Drops the rest of the record after an error, up to and including a blank line.
    fn skip_record(&mut self, mut at_line_start: bool) -> Result<(), LdifError> {
        // Enough to see whether a line is blank, and to go through long ones at speed.
        const PIECE_BYTES: u64 = 64 << 10;
        let mut piece = Vec::new();
        loop {
            piece.clear();
            let read = self.input.by_ref().take(PIECE_BYTES).read_until(b'\n', &mut piece);
            if read.map_err(|error| self.io(error))? == 0 {
                return Ok(());
            }
            let ends = piece.last() == Some(&b'\n');
            if at_line_start {
                self.line += 1;
                if piece == b"\n" || piece == b"\r\n" {
                    return Ok(());
                }
            }
            at_line_start = ends;
        }
    }

    fn peek(&mut self) -> Result<Option<u8>, LdifError> {
        loop {
            match self.input.fill_buf() {
                Ok(buffer) => return Ok(buffer.first().copied()),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(LdifError::new(self.line + 1, error.into())),
            }
        }
    }

    /// Editors on Windows put U+FEFF before the text.
    fn skip_byte_order_mark(&mut self) -> Result<(), LdifError> {
        const MARK: &[u8] = "\u{FEFF}".as_bytes();
        if self.peek()? != Some(MARK[0]) {
            return Ok(());
        }
        // No LDIF line can begin with this byte, so that dropping the mark byte by byte loses nothing.
        for expected in MARK {
            if self.peek()? == Some(*expected) {
                self.input.consume(1);
            }
        }
        Ok(())
    }

    /// RFC 2849 "version-spec". Accepted at the head of any record, for files put together from several.
    fn take_version(&self, record: &mut RawRecord) -> Result<(), LdifError> {
        let Some((line, text)) = record.lines().next() else { return Ok(()) };
        let Some(version) = text.strip_prefix(b"version:") else { return Ok(()) };
        if version.trim_ascii() != b"1" {
            let version = String::from_utf8_lossy(&version[..version.len().min(40)]).trim().to_owned();
            return Err(LdifError::new(line, LdifErrorKind::UnknownVersion(version)));
        }
        record.lines.remove(0);
        Ok(())
    }

    fn io(&self, error: std::io::Error) -> LdifError {
        LdifError::new(self.line, error.into())
    }
}
