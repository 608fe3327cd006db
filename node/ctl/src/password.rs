//! Reading a password: from a file, from a pipe, or from the terminal without showing it.

use std::io::{BufRead, IsTerminal, Read, Write};
use std::path::Path;

use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

use crate::error::CtlError;

/// Longer than any password that a person or a generator makes.
const MAX_BYTES: u64 = 4096;

/// `content` without one line end.
pub fn without_line_end(content: &[u8]) -> &[u8] {
    let content = content.strip_suffix(b"\n").unwrap_or(content);
    content.strip_suffix(b"\r").unwrap_or(content)
}

/// The password in a file; "-" is standard input.
pub fn from_file(path: &Path) -> Result<Vec<u8>, CtlError> {
    if path.as_os_str() == "-" {
        return bounded(std::io::stdin().lock(), "standard input");
    }
    let file = std::fs::File::open(path).map_err(|error| CtlError::file(path, &error))?;
    bounded(file, &path.display().to_string())
}

fn bounded(input: impl Read, what: &str) -> Result<Vec<u8>, CtlError> {
    let mut content = Vec::new();
    let read = input.take(MAX_BYTES + 1).read_to_end(&mut content);
    read.map_err(|error| CtlError::Local(format!("{what}: {error}")))?;
    if content.len() as u64 > MAX_BYTES {
        return Err(CtlError::Local(format!("{what}: longer than {MAX_BYTES} bytes, which is no password")));
    }
    let password = without_line_end(&content);
    if password.is_empty() {
        return Err(CtlError::Local(format!("{what}: the password is empty")));
    }
    Ok(password.to_vec())
}

/// A new password: typed twice at the terminal, or from standard input when that is none.
pub fn new_password(prompt: &str) -> Result<Vec<u8>, CtlError> {
    if !std::io::stdin().is_terminal() {
        return bounded(std::io::stdin().lock(), "standard input");
    }
    let first = typed(&format!("{prompt}: "))?;
    let second = typed(&format!("{prompt}, again: "))?;
    if first != second {
        return Err(CtlError::Local("the two passwords differ; nothing was changed".into()));
    }
    Ok(first)
}

/// Restores the terminal on every way out.
struct EchoOff {
    before: rustix::termios::Termios,
}

impl EchoOff {
    fn new() -> Result<EchoOff, rustix::io::Errno> {
        let before = tcgetattr(std::io::stdin())?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        tcsetattr(std::io::stdin(), OptionalActions::Flush, &silent)?;
        Ok(EchoOff { before })
    }
}

impl Drop for EchoOff {
    fn drop(&mut self) {
        // Nothing more can be done if the terminal is gone.
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.before);
    }
}

fn typed(prompt: &str) -> Result<Vec<u8>, CtlError> {
    let failed = |error: std::io::Error| CtlError::Local(format!("terminal: {error}"));
    let mut err = std::io::stderr();
    write!(err, "{prompt}").and_then(|()| err.flush()).map_err(failed)?;
    let mut line = Vec::new();
    {
        let _silent = EchoOff::new().map_err(|errno| failed(errno.into()))?;
        std::io::stdin().lock().take(MAX_BYTES).read_until(b'\n', &mut line).map_err(failed)?;
    }
    // The typed line end was not shown either.
    writeln!(err).map_err(failed)?;
    let password = without_line_end(&line);
    if password.is_empty() {
        return Err(CtlError::Local("the password is empty; nothing was changed".into()));
    }
    Ok(password.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_end_is_not_part_of_the_password() {
        for (content, password) in
            [(&b"secret\n"[..], &b"secret"[..]), (b"secret\r\n", b"secret"), (b"a\n\n", b"a\n"), (b" a ", b" a ")]
        {
            assert_eq!(without_line_end(content), password);
        }
    }

    #[test]
    fn empty_and_huge_files_are_refused() {
        assert!(bounded(&b"\n"[..], "f").unwrap_err().to_string().contains("empty"));
        assert!(bounded(&vec![b'a'; 5000][..], "f").unwrap_err().to_string().contains("no password"));
    }
}
