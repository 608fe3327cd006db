//! How a command can end, and with which exit status.

use tonic::{Code, Status};

/// Done.
pub const EXIT_DONE: u8 = 0;
/// Refused, or failed here.
pub const EXIT_REFUSED: u8 = 1;
/// The command line is wrong.
pub const EXIT_USAGE: u8 = 2;
/// No node was reached, or it is unknown whether the change was made.
pub const EXIT_UNREACHABLE: u8 = 3;

/// Why a command did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum CtlError {
    /// The command line makes no sense, in a way that the parser cannot see.
    #[error("{0}")]
    Usage(String),
    /// Something on this side: a file, the terminal.
    #[error("{0}")]
    Local(String),
    /// The node refused; nothing was changed, unless the text says otherwise.
    #[error("{0}")]
    Refused(String),
    /// No node answered.
    #[error("{0}")]
    Unreachable(String),
    /// The connection or the cluster failed before the outcome was known.
    #[error("{0}")]
    Unknown(String),
}

impl CtlError {
    /// The exit status that this error means.
    pub fn exit_status(&self) -> u8 {
        match self {
            CtlError::Usage(_) => EXIT_USAGE,
            CtlError::Local(_) | CtlError::Refused(_) => EXIT_REFUSED,
            CtlError::Unreachable(_) | CtlError::Unknown(_) => EXIT_UNREACHABLE,
        }
    }

    /// An error of the file at `path`.
    pub fn file(path: &std::path::Path, error: &std::io::Error) -> CtlError {
        CtlError::Local(format!("{}: {error}", path.display()))
    }

    /// Standard output is gone or full.
    pub fn stdout(error: &std::io::Error) -> CtlError {
        CtlError::Local(format!("standard output: {error}"))
    }

    /// A read failed: nothing can have changed.
    pub fn of_read(status: &Status) -> CtlError {
        match status.code() {
            Code::Unknown | Code::DeadlineExceeded | Code::Cancelled | Code::Unavailable => {
                CtlError::Unreachable(format!("the node did not answer: {}", message(status)))
            }
            _ => CtlError::Refused(refusal(status)),
        }
    }

    /// A change failed.
    pub fn of_change(status: &Status) -> CtlError {
        match status.code() {
            Code::Unavailable => CtlError::Unreachable(message(status)),
            Code::Unknown | Code::DeadlineExceeded | Code::Cancelled | Code::Internal | Code::DataLoss => {
                let text = message(status);
                let prefix = if text.starts_with("outcome unknown") { "" } else { "outcome unknown: " };
                CtlError::Unknown(format!("{prefix}{text}"))
            }
            _ => CtlError::Refused(refusal(status)),
        }
    }
}

fn message(status: &Status) -> String {
    match (status.message(), status.code()) {
        ("", Code::DeadlineExceeded) => "the time given with --timeout is over".to_owned(),
        ("", code) => code.description().to_owned(),
        // What the transport says when its deadline passes.
        ("Timeout expired", _) => "the time given with --timeout is over".to_owned(),
        (text, _) => text.to_owned(),
    }
}

fn refusal(status: &Status) -> String {
    match status.code() {
        Code::Unauthenticated | Code::PermissionDenied => {
            format!(
                "{}\ngive the administrator with --user DN --password-file FILE, or use the node's admin.sock (--data DIR)",
                message(status)
            )
        }
        Code::Unimplemented => {
            format!("the node does not know this command; is it an older version? ({})", message(status))
        }
        _ => message(status),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_statuses() {
        let change = |code| CtlError::of_change(&Status::new(code, "x")).exit_status();
        let read = |code| CtlError::of_read(&Status::new(code, "x")).exit_status();
        let table = [
            (Code::InvalidArgument, 1, 1),
            (Code::NotFound, 1, 1),
            (Code::AlreadyExists, 1, 1),
            (Code::FailedPrecondition, 1, 1),
            (Code::PermissionDenied, 1, 1),
            (Code::Unauthenticated, 1, 1),
            (Code::ResourceExhausted, 1, 1),
            (Code::Unimplemented, 1, 1),
            (Code::Unavailable, 3, 3),
            (Code::Unknown, 3, 3),
            (Code::DeadlineExceeded, 3, 3),
            (Code::Cancelled, 3, 3),
            (Code::Internal, 3, 1),
        ];
        for (code, of_change, of_read) in table {
            assert_eq!((change(code), read(code)), (of_change, of_read), "{code:?}");
        }
        assert_eq!(CtlError::Usage(String::new()).exit_status(), 2);
        assert_eq!(CtlError::Local(String::new()).exit_status(), 1);
    }

    #[test]
    fn an_unknown_outcome_says_so_once() {
        let text = CtlError::of_change(&Status::unknown("outcome unknown: leader lost")).to_string();
        assert_eq!(text, "outcome unknown: leader lost");
        let text = CtlError::of_change(&Status::deadline_exceeded("")).to_string();
        assert_eq!(text, "outcome unknown: the time given with --timeout is over");
    }
}
