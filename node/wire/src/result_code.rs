//! Result codes: a plain number, since the registry is open (RFC 4520 section 3.6).

use std::fmt;

/// A resultCode. Codes without a constant are carried unchanged.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResultCode(pub u32);

macro_rules! codes {
    ($($(#[$doc:meta])* $constant:ident = $number:literal, $name:literal;)*) => {
        impl ResultCode {
            $($(#[$doc])* pub const $constant: ResultCode = ResultCode($number);)*

            /// The code's name in its RFC, or `None` for a number that is in none of them.
            pub fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($number => Some($name),)*
                    _ => None,
                }
            }

            /// Every code that has a name, ascending.
            pub const NAMED: &'static [ResultCode] = &[$(ResultCode($number)),*];
        }
    };
}

codes! {
    /// RFC 4511.
    SUCCESS = 0, "success";
    /// RFC 4511.
    OPERATIONS_ERROR = 1, "operationsError";
    /// RFC 4511.
    PROTOCOL_ERROR = 2, "protocolError";
    /// RFC 4511.
    TIME_LIMIT_EXCEEDED = 3, "timeLimitExceeded";
    /// RFC 4511.
    SIZE_LIMIT_EXCEEDED = 4, "sizeLimitExceeded";
    /// RFC 4511.
    COMPARE_FALSE = 5, "compareFalse";
    /// RFC 4511.
    COMPARE_TRUE = 6, "compareTrue";
    /// RFC 4511.
    AUTH_METHOD_NOT_SUPPORTED = 7, "authMethodNotSupported";
    /// RFC 4511.
    STRONGER_AUTH_REQUIRED = 8, "strongerAuthRequired";
    /// RFC 4511.
    REFERRAL = 10, "referral";
    /// RFC 4511.
    ADMIN_LIMIT_EXCEEDED = 11, "adminLimitExceeded";
    /// RFC 4511.
    UNAVAILABLE_CRITICAL_EXTENSION = 12, "unavailableCriticalExtension";
    /// RFC 4511.
    CONFIDENTIALITY_REQUIRED = 13, "confidentialityRequired";
    /// RFC 4511.
    SASL_BIND_IN_PROGRESS = 14, "saslBindInProgress";
    /// RFC 4511.
    NO_SUCH_ATTRIBUTE = 16, "noSuchAttribute";
    /// RFC 4511.
    UNDEFINED_ATTRIBUTE_TYPE = 17, "undefinedAttributeType";
    /// RFC 4511.
    INAPPROPRIATE_MATCHING = 18, "inappropriateMatching";
    /// RFC 4511.
    CONSTRAINT_VIOLATION = 19, "constraintViolation";
    /// RFC 4511.
    ATTRIBUTE_OR_VALUE_EXISTS = 20, "attributeOrValueExists";
    /// RFC 4511.
    INVALID_ATTRIBUTE_SYNTAX = 21, "invalidAttributeSyntax";
    /// RFC 4511.
    NO_SUCH_OBJECT = 32, "noSuchObject";
    /// RFC 4511.
    ALIAS_PROBLEM = 33, "aliasProblem";
    /// RFC 4511.
    INVALID_DN_SYNTAX = 34, "invalidDNSyntax";
    /// RFC 4511.
    ALIAS_DEREFERENCING_PROBLEM = 36, "aliasDereferencingProblem";
    /// RFC 4511.
    INAPPROPRIATE_AUTHENTICATION = 48, "inappropriateAuthentication";
    /// RFC 4511.
    INVALID_CREDENTIALS = 49, "invalidCredentials";
    /// RFC 4511.
    INSUFFICIENT_ACCESS_RIGHTS = 50, "insufficientAccessRights";
    /// RFC 4511.
    BUSY = 51, "busy";
    /// RFC 4511.
    UNAVAILABLE = 52, "unavailable";
    /// RFC 4511.
    UNWILLING_TO_PERFORM = 53, "unwillingToPerform";
    /// RFC 4511.
    LOOP_DETECT = 54, "loopDetect";
    /// RFC 2891.
    SORT_CONTROL_MISSING = 60, "sortControlMissing";
    /// draft-ietf-ldapext-ldapv3-vlv.
    OFFSET_RANGE_ERROR = 61, "offsetRangeError";
    /// RFC 4511.
    NAMING_VIOLATION = 64, "namingViolation";
    /// RFC 4511.
    OBJECT_CLASS_VIOLATION = 65, "objectClassViolation";
    /// RFC 4511.
    NOT_ALLOWED_ON_NON_LEAF = 66, "notAllowedOnNonLeaf";
    /// RFC 4511.
    NOT_ALLOWED_ON_RDN = 67, "notAllowedOnRDN";
    /// RFC 4511.
    ENTRY_ALREADY_EXISTS = 68, "entryAlreadyExists";
    /// RFC 4511.
    OBJECT_CLASS_MODS_PROHIBITED = 69, "objectClassModsProhibited";
    /// RFC 4511.
    AFFECTS_MULTIPLE_DSAS = 71, "affectsMultipleDSAs";
    /// draft-ietf-ldapext-ldapv3-vlv.
    VIRTUAL_LIST_VIEW_ERROR = 76, "virtualListViewError";
    /// RFC 4511.
    OTHER = 80, "other";
    /// RFC 3909.
    CANCELED = 118, "canceled";
    /// RFC 3909.
    NO_SUCH_OPERATION = 119, "noSuchOperation";
    /// RFC 3909.
    TOO_LATE = 120, "tooLate";
    /// RFC 3909.
    CANNOT_CANCEL = 121, "cannotCancel";
    /// RFC 4528.
    ASSERTION_FAILED = 122, "assertionFailed";
    /// RFC 4370.
    AUTHORIZATION_DENIED = 123, "authorizationDenied";
    /// RFC 4533.
    SYNC_REFRESH_REQUIRED = 4096, "e-syncRefreshRequired";
}

impl fmt::Display for ResultCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{name} ({})", self.0),
            None => write!(f, "{}", self.0),
        }
    }
}

impl fmt::Debug for ResultCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::ResultCode;

    #[test]
    fn named_codes_are_distinct_and_ascending() {
        assert!(ResultCode::NAMED.is_sorted_by(|a, b| a < b));
        assert_eq!(ResultCode::ASSERTION_FAILED.to_string(), "assertionFailed (122)");
        assert_eq!(ResultCode(113).to_string(), "113");
    }
}
