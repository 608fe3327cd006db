//! The one place where LDAP result codes are chosen. Every refusal of any layer ends here as an
//! [`Answer`]; every answer leaves through a writer here.

use bindery_directory::{OpError, OpErrorKind};
use bindery_raft::{BarrierError, ProposeError};
use bindery_wire::Control;
use bindery_wire::error::{ErrorReply, MessageError};
use bindery_wire::frame::FrameError;
use bindery_wire::response::{self, ExtendedResponse, LdapResult};
use bindery_wire::result_code::ResultCode;
use bindery_wire::tag::ResponseTag;

use crate::passwords::PasswordsStopped;
use crate::write::WriteError;

/// An LDAPResult to be written: code, matched DN and diagnostic (RFC 4511 4.1.9).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    code: ResultCode,
    matched_dn: String,
    diagnostic: String,
    referrals: Vec<Vec<u8>>,
}

impl Answer {
    fn new(code: ResultCode, diagnostic: impl Into<String>) -> Answer {
        Answer { code, matched_dn: String::new(), diagnostic: diagnostic.into(), referrals: Vec::new() }
    }

    /// Done.
    pub fn success() -> Answer {
        Answer::new(ResultCode::SUCCESS, "")
    }

    /// The outcome of a compare (RFC 4511 4.10).
    pub fn compared(equal: bool) -> Answer {
        Answer::new(if equal { ResultCode::COMPARE_TRUE } else { ResultCode::COMPARE_FALSE }, "")
    }

    /// Wrong name or wrong password: the two are not told apart (RFC 4513 6.3.1 asks for no more).
    pub fn invalid_credentials() -> Answer {
        Answer::new(ResultCode::INVALID_CREDENTIALS, "")
    }

    /// A name without a password (RFC 4513 5.1.2): clients that ask so mistake it for a login.
    pub fn unauthenticated_bind() -> Answer {
        Answer::new(ResultCode::UNWILLING_TO_PERFORM, "a bind with a name needs a password")
    }

    /// An authentication method that is not offered (RFC 4511 4.2).
    pub fn auth_method_not_supported(method: &str) -> Answer {
        Answer::new(ResultCode::AUTH_METHOD_NOT_SUPPORTED, format!("{method} is not supported; use a simple bind"))
    }

    /// A request that is well-formed but not what its definition allows.
    pub fn protocol(diagnostic: impl Into<String>) -> Answer {
        Answer::new(ResultCode::PROTOCOL_ERROR, diagnostic)
    }

    /// A critical control that is unknown or does not fit the operation (RFC 4511 4.1.11).
    pub fn unavailable_critical_extension(oid: &str) -> Answer {
        Answer::new(
            ResultCode::UNAVAILABLE_CRITICAL_EXTENSION,
            format!("critical control {oid} is not supported for this operation"),
        )
    }

    /// An extended operation that is not known (RFC 4511 4.12).
    pub fn unknown_extended_operation(oid: &str) -> Answer {
        Answer::new(ResultCode::PROTOCOL_ERROR, format!("extended operation {oid} is not supported"))
    }

    /// A bad paged-results cookie, or another client's (RFC 2696 3).
    pub fn bad_cookie() -> Answer {
        Answer::new(
            ResultCode::UNWILLING_TO_PERFORM,
            "the paged-results cookie does not belong to this search: start the search again without one",
        )
    }

    /// A name that is no distinguished name.
    pub fn invalid_dn(error: impl std::fmt::Display) -> Answer {
        Answer::new(ResultCode::INVALID_DN_SYNTAX, error.to_string())
    }

    /// The access rules do not allow it.
    pub fn insufficient_access(diagnostic: impl Into<String>) -> Answer {
        Answer::new(ResultCode::INSUFFICIENT_ACCESS_RIGHTS, diagnostic)
    }

    /// Understood, and not done here.
    pub fn unwilling(diagnostic: impl Into<String>) -> Answer {
        Answer::new(ResultCode::UNWILLING_TO_PERFORM, diagnostic)
    }

    /// The node cannot serve at this moment.
    pub fn unavailable(diagnostic: impl Into<String>) -> Answer {
        Answer::new(ResultCode::UNAVAILABLE, diagnostic)
    }

    /// The search ended at a limit, with what was found before it.
    pub fn size_limit() -> Answer {
        Answer::new(ResultCode::SIZE_LIMIT_EXCEEDED, "")
    }

    /// The search ended at its time limit.
    pub fn time_limit() -> Answer {
        Answer::new(ResultCode::TIME_LIMIT_EXCEEDED, "")
    }

    /// The name lies elsewhere (RFC 4511 4.1.10).
    pub fn referral(uris: Vec<Vec<u8>>) -> Answer {
        Answer { referrals: uris, ..Answer::new(ResultCode::REFERRAL, "") }
    }
}

/// The table of the directory's refusals.
fn code_of(kind: OpErrorKind) -> ResultCode {
    match kind {
        OpErrorKind::NoSuchObject => ResultCode::NO_SUCH_OBJECT,
        OpErrorKind::EntryAlreadyExists => ResultCode::ENTRY_ALREADY_EXISTS,
        OpErrorKind::ObjectClassViolation => ResultCode::OBJECT_CLASS_VIOLATION,
        OpErrorKind::UndefinedAttributeType => ResultCode::UNDEFINED_ATTRIBUTE_TYPE,
        OpErrorKind::InvalidAttributeSyntax => ResultCode::INVALID_ATTRIBUTE_SYNTAX,
        OpErrorKind::ConstraintViolation => ResultCode::CONSTRAINT_VIOLATION,
        OpErrorKind::NamingViolation => ResultCode::NAMING_VIOLATION,
        OpErrorKind::NotAllowedOnNonLeaf => ResultCode::NOT_ALLOWED_ON_NON_LEAF,
        OpErrorKind::NotAllowedOnRdn => ResultCode::NOT_ALLOWED_ON_RDN,
        OpErrorKind::ObjectClassModsProhibited => ResultCode::OBJECT_CLASS_MODS_PROHIBITED,
        OpErrorKind::NoSuchAttribute => ResultCode::NO_SUCH_ATTRIBUTE,
        OpErrorKind::AttributeOrValueExists => ResultCode::ATTRIBUTE_OR_VALUE_EXISTS,
        OpErrorKind::InappropriateMatching => ResultCode::INAPPROPRIATE_MATCHING,
        OpErrorKind::InvalidDnSyntax => ResultCode::INVALID_DN_SYNTAX,
        OpErrorKind::InsufficientAccess => ResultCode::INSUFFICIENT_ACCESS_RIGHTS,
        OpErrorKind::UnwillingToPerform => ResultCode::UNWILLING_TO_PERFORM,
        OpErrorKind::Protocol => ResultCode::PROTOCOL_ERROR,
        OpErrorKind::AdminLimitExceeded => ResultCode::ADMIN_LIMIT_EXCEEDED,
        OpErrorKind::Busy => ResultCode::BUSY,
        // The name belongs to no naming context held here, and there is nowhere to refer to.
        OpErrorKind::NoGlobalSuperiorKnowledge => ResultCode::NO_SUCH_OBJECT,
        OpErrorKind::Internal => ResultCode::OTHER,
        OpErrorKind::AssertionFailed => ResultCode::ASSERTION_FAILED,
        OpErrorKind::TimeLimitExceeded => ResultCode::TIME_LIMIT_EXCEEDED,
        OpErrorKind::SizeLimitExceeded => ResultCode::SIZE_LIMIT_EXCEEDED,
        OpErrorKind::AliasProblem => ResultCode::ALIAS_PROBLEM,
    }
}

impl From<OpError> for Answer {
    fn from(error: OpError) -> Answer {
        Answer {
            code: code_of(error.kind),
            matched_dn: error.matched_dn.unwrap_or_default(),
            diagnostic: error.diagnostic,
            referrals: Vec::new(),
        }
    }
}

impl From<WriteError> for Answer {
    fn from(error: WriteError) -> Answer {
        match error {
            WriteError::Refused(error) => error.into(),
            // The errors' own texts begin "not applied:" and "outcome unknown:".
            WriteError::Propose(error @ ProposeError::NotApplied { .. }) => {
                Answer::new(ResultCode::BUSY, error.to_string())
            }
            WriteError::Propose(error @ ProposeError::Unknown { .. }) => {
                Answer::new(ResultCode::UNAVAILABLE, error.to_string())
            }
        }
    }
}

impl From<BarrierError> for Answer {
    fn from(error: BarrierError) -> Answer {
        Answer::new(ResultCode::UNAVAILABLE, format!("not readable at this moment: {error}"))
    }
}

impl From<PasswordsStopped> for Answer {
    fn from(error: PasswordsStopped) -> Answer {
        Answer::new(ResultCode::UNAVAILABLE, error.to_string())
    }
}

/// Appends the final response of an operation.
pub fn result(out: &mut Vec<u8>, id: i32, tag: ResponseTag, answer: &Answer) {
    result_with(out, id, tag, answer, &[]);
}

/// Appends the final response of an operation with controls.
pub fn result_with(out: &mut Vec<u8>, id: i32, tag: ResponseTag, answer: &Answer, controls: &[Control<'_>]) {
    let referrals: Vec<&[u8]> = answer.referrals.iter().map(Vec::as_slice).collect();
    let result = borrowed(answer).with_referrals((&referrals).into());
    response::write_result(out, id, tag, &result, controls);
}

/// Appends an extended response with a value.
pub fn extended(out: &mut Vec<u8>, id: i32, answer: &Answer, value: Option<&[u8]>) {
    let response = ExtendedResponse { result: borrowed(answer), name: None, value };
    response::write_extended_response(out, id, &response, &[]);
}

fn borrowed(answer: &Answer) -> LdapResult<'_> {
    LdapResult::new(answer.code, &answer.diagnostic).with_matched_dn(answer.matched_dn.as_bytes())
}

/// Why the server ends a connection.
pub enum Disconnect {
    /// The stream cannot be cut into messages.
    Frame(FrameError),
    /// A message that cannot be read, and not answered on its own.
    Message(MessageError),
    /// A request with message id 0.
    MessageIdZero,
    /// The node stops.
    Stopping,
}

/// Appends a Notice of Disconnection (RFC 4511 4.4.1).
pub fn disconnect(out: &mut Vec<u8>, why: Disconnect) {
    let (code, diagnostic) = match why {
        Disconnect::Frame(error) => (ResultCode::PROTOCOL_ERROR, error.to_string()),
        Disconnect::Message(error) => (ResultCode::PROTOCOL_ERROR, error.to_string()),
        Disconnect::MessageIdZero => (ResultCode::PROTOCOL_ERROR, "message id 0 is not for requests".to_owned()),
        Disconnect::Stopping => (ResultCode::UNAVAILABLE, "this node is stopping: connect to another".to_owned()),
    };
    response::write_notice_of_disconnection(out, code, &diagnostic);
}

/// Answers a message that could not be read. `false`: the connection must end (a notice is appended).
pub fn unreadable(out: &mut Vec<u8>, error: &MessageError) -> bool {
    match error.reply() {
        ErrorReply::Respond { message_id, tag, code } => {
            result(out, message_id, tag, &Answer::new(code, error.to_string()));
            true
        }
        ErrorReply::Ignore => true,
        ErrorReply::Disconnect => {
            disconnect(out, Disconnect::Message(*error));
            false
        }
    }
}
