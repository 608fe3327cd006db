//! Small grammars shared by syntaxes and parsers.

/// `numericoid` of RFC 4512, 1.4: numbers without leading zeros, joined by dots. One number alone passes, as in
/// other servers.
pub(crate) fn is_numeric_oid(text: &[u8]) -> bool {
    !text.is_empty()
        && text.split(|&byte| byte == b'.').all(|number| {
            number.iter().all(u8::is_ascii_digit) && (number.len() == 1 || number.first().is_some_and(|&b| b != b'0'))
        })
}

/// `descr` of RFC 4512, 1.4: a letter, then letters, digits and hyphens. Underscores and options (`;`) pass, as in
/// other servers.
pub(crate) fn is_descr(text: &[u8]) -> bool {
    text.first().is_some_and(u8::is_ascii_alphabetic)
        && text.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b';' | b'.'))
}
