//! The few BER forms that an attribute list needs (X.690 8.1; RFC 4511 5.1: definite lengths).

pub(super) const SEQUENCE: u8 = 0x30;
pub(super) const SET: u8 = 0x31;
pub(super) const OCTET_STRING: u8 = 0x04;

/// Bytes of tag and length before `content` bytes of content.
pub(super) fn header_bytes(content: usize) -> usize {
    match content {
        0..0x80 => 2,
        0x80..0x100 => 3,
        0x100..0x1_0000 => 4,
        0x1_0000..0x100_0000 => 5,
        _ => 6,
    }
}

/// Bytes of a whole element.
pub(super) fn element_bytes(content: usize) -> usize {
    header_bytes(content) + content
}

/// `content` is below 4 GiB: [`super::MAX_ENTRY_BYTES`] was checked before.
pub(super) fn put_header(out: &mut Vec<u8>, tag: u8, content: usize) {
    out.push(tag);
    let bytes = (content as u64).to_be_bytes();
    match header_bytes(content) {
        2 => out.push(bytes[7]),
        3 => out.extend_from_slice(&[0x81, bytes[7]]),
        4 => out.extend_from_slice(&[0x82, bytes[6], bytes[7]]),
        5 => out.extend_from_slice(&[0x83, bytes[5], bytes[6], bytes[7]]),
        _ => out.extend_from_slice(&[0x84, bytes[4], bytes[5], bytes[6], bytes[7]]),
    }
}

/// The content of the element with `tag` at the head of `input`, and what follows it.
pub(super) fn take(input: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&[found, first], rest) = input.split_first_chunk::<2>()?;
    if found != tag {
        return None;
    }
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            let length = digits.iter().fold(0u64, |length, digit| length << 8 | u64::from(*digit));
            (usize::try_from(length).ok()?, rest)
        }
        // 0x80 is the indefinite length.
        _ => return None,
    };
    rest.split_at_checked(length)
}
