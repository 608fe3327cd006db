//! Writing LDIF: one spelling for each record.

use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// RFC 2849 leaves the width open; 76 is what the field's tools write.
const LINE_COLUMNS: usize = 76;

/// Base64 is made in pieces of this many input bytes (a multiple of 3, so that pieces join).
const ENCODE_PIECE_BYTES: usize = 3 << 10;

/// Writes records. The same calls give the same bytes.
pub struct Writer<W> {
    output: W,
    /// One logical line, or a piece of one.
    line: Vec<u8>,
}

impl<W: Write> Writer<W> {
    pub fn new(output: W) -> Self {
        Self { output, line: Vec::new() }
    }

    /// `version: 1`, which belongs before the first record.
    ///
    /// # Errors
    /// Those of the output.
    pub fn version(&mut self) -> io::Result<()> {
        self.output.write_all(b"version: 1\n\n")
    }

    /// A comment, a line of it for each line of `text`.
    ///
    /// # Errors
    /// Those of the output.
    pub fn comment(&mut self, text: &str) -> io::Result<()> {
        for line in text.lines() {
            writeln!(self.output, "# {line}")?;
        }
        Ok(())
    }

    /// Begins a record.
    ///
    /// # Errors
    /// Those of the output.
    pub fn dn(&mut self, dn: &str) -> io::Result<()> {
        self.attribute("dn", dn.as_bytes())
    }

    /// One value. `description` is taken as it is: type and options.
    ///
    /// # Errors
    /// Those of the output.
    pub fn attribute(&mut self, description: &str, value: &[u8]) -> io::Result<()> {
        self.line.clear();
        self.line.extend_from_slice(description.as_bytes());
        if value.is_empty() {
            self.line.push(b':');
            return self.fold();
        }
        if is_safe_string(value) {
            self.line.extend_from_slice(b": ");
            self.line.extend_from_slice(value);
        } else {
            self.line.extend_from_slice(b":: ");
            let mut encoded = [0u8; ENCODE_PIECE_BYTES / 3 * 4];
            for piece in value.chunks(ENCODE_PIECE_BYTES) {
                // The buffer holds any piece, so that this cannot fail; an error would be one of size.
                let length = STANDARD.encode_slice(piece, &mut encoded).map_err(io::Error::other)?;
                self.line.extend_from_slice(&encoded[..length]);
            }
        }
        self.fold()
    }

    /// The "-" that ends one modification of a change record.
    ///
    /// # Errors
    /// Those of the output.
    pub fn end_modification(&mut self) -> io::Result<()> {
        self.output.write_all(b"-\n")
    }

    /// Ends the record.
    ///
    /// # Errors
    /// Those of the output.
    pub fn end_record(&mut self) -> io::Result<()> {
        self.output.write_all(b"\n")
    }

    /// A whole entry.
    ///
    /// # Errors
    /// Those of the output.
    pub fn entry<'v>(&mut self, dn: &str, values: impl IntoIterator<Item = (&'v str, &'v [u8])>) -> io::Result<()> {
        self.dn(dn)?;
        for (description, value) in values {
            self.attribute(description, value)?;
        }
        self.end_record()
    }

    /// The output, which is not flushed.
    pub fn into_inner(self) -> W {
        self.output
    }

    pub fn get_mut(&mut self) -> &mut W {
        &mut self.output
    }

    fn fold(&mut self) -> io::Result<()> {
        if self.line.len() <= LINE_COLUMNS {
            self.line.push(b'\n');
            return self.output.write_all(&self.line);
        }
        let (first, rest) = self.line.split_at(LINE_COLUMNS);
        self.output.write_all(first)?;
        for piece in rest.chunks(LINE_COLUMNS - 1) {
            self.output.write_all(b"\n ")?;
            self.output.write_all(piece)?;
        }
        self.output.write_all(b"\n")
    }
}

/// RFC 2849 "SAFE-STRING", and no SPACE at the end (its note 8).
fn is_safe_string(value: &[u8]) -> bool {
    let safe_start = value.first().is_none_or(|byte| !matches!(byte, b' ' | b':' | b'<'));
    let safe_end = value.last() != Some(&b' ');
    safe_start && safe_end && value.iter().all(|byte| !matches!(byte, 0 | b'\n' | b'\r' | 0x80..))
}
