//! Cuts a byte stream into messages.

use crate::ber::{SEQUENCE, read::MAX_LENGTH_OF_LENGTH};

/// The stream holds no LDAP message here; there is no way to find the next one, so the connection must
/// end (RFC 4511 section 4.1.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The first byte is not the tag of LDAPMessage.
    #[error("0x{0:02x} is not the start of an LDAP message")]
    NotASequence(u8),
    /// Indefinite length, which RFC 4511 section 5.1 forbids.
    #[error("LDAP message of indefinite length")]
    IndefiniteLength,
    /// The length is written in more than four bytes.
    #[error("LDAP message with its length written in {0} bytes")]
    LengthOfLength(u8),
    /// More bytes than the limit in force.
    #[error("LDAP message of {announced_bytes} bytes, the limit is {max_bytes}")]
    TooLarge {
        /// Size of the whole message by its header.
        announced_bytes: u64,
        /// The limit in force.
        max_bytes: usize,
    },
}

/// Length in bytes of the first message in `buffer`, `None` while it is not complete. Refuses as soon as
/// the header shows that the message cannot be accepted, before any of its content has arrived.
///
/// `max_bytes` bounds the whole message, header included.
#[inline]
pub fn next_message(buffer: &[u8], max_bytes: usize) -> Result<Option<usize>, FrameError> {
    match message_size(buffer, max_bytes)? {
        Some(size) if size <= buffer.len() => Ok(Some(size)),
        _ => Ok(None),
    }
}

/// Size in bytes of the first message by its header, `None` while the header is not complete: tells a
/// reader how much room to make. Never more than `max_bytes`.
#[inline]
pub fn message_size(buffer: &[u8], max_bytes: usize) -> Result<Option<usize>, FrameError> {
    let Some((tag, after)) = buffer.split_first() else { return Ok(None) };
    if *tag != SEQUENCE {
        return Err(FrameError::NotASequence(*tag));
    }
    let Some((first, after)) = after.split_first() else { return Ok(None) };
    let announced_bytes = if *first < 0x80 {
        2 + u64::from(*first)
    } else {
        let count = first & 0x7F;
        if count == 0 {
            return Err(FrameError::IndefiniteLength);
        }
        if count > MAX_LENGTH_OF_LENGTH {
            return Err(FrameError::LengthOfLength(count));
        }
        let Some(length_bytes) = after.get(..usize::from(count)) else { return Ok(None) };
        2 + u64::from(count) + length_bytes.iter().fold(0, |length, byte| (length << 8) | u64::from(*byte))
    };
    match usize::try_from(announced_bytes) {
        Ok(size) if size <= max_bytes => Ok(Some(size)),
        _ => Err(FrameError::TooLarge { announced_bytes, max_bytes }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: usize = 1 << 20;

    #[test]
    fn a_message_is_complete_only_with_its_last_byte() {
        let mut message = vec![0x30, 0x82, 1, 0];
        message.resize(4 + 256, 7);
        for end in 0..message.len() {
            assert_eq!(next_message(&message[..end], LIMIT), Ok(None), "{end}");
        }
        assert_eq!(next_message(&message, LIMIT), Ok(Some(260)));
        message.extend_from_slice(&[0x30, 0]);
        assert_eq!(next_message(&message, LIMIT), Ok(Some(260)));
        assert_eq!(next_message(&message[260..], LIMIT), Ok(Some(2)));
    }

    #[test]
    fn rfc4511_5_1_refused_by_the_header_alone() {
        assert_eq!(next_message(&[0x16], LIMIT), Err(FrameError::NotASequence(0x16)));
        assert_eq!(next_message(&[0x30, 0x80], LIMIT), Err(FrameError::IndefiniteLength));
        assert_eq!(next_message(&[0x30, 0x85], LIMIT), Err(FrameError::LengthOfLength(5)));
        assert_eq!(next_message(&[0x30, 0xFF], LIMIT), Err(FrameError::LengthOfLength(127)));
        let one_gibibyte = [0x30, 0x84, 0x40, 0, 0, 0];
        assert_eq!(
            next_message(&one_gibibyte, LIMIT),
            Err(FrameError::TooLarge { announced_bytes: (1 << 30) + 6, max_bytes: LIMIT })
        );
        assert_eq!(next_message(&[0x30, 3], 4), Err(FrameError::TooLarge { announced_bytes: 5, max_bytes: 4 }));
        assert_eq!(next_message(&[0x30, 2], 4), Ok(None));
    }

    #[test]
    fn padded_lengths_are_accepted() {
        assert_eq!(next_message(&[0x30, 0x84, 0, 0, 0, 1, 9], LIMIT), Ok(Some(7)));
        assert_eq!(next_message(&[0x30, 0x81, 1, 9], LIMIT), Ok(Some(4)));
        assert_eq!(message_size(&[0x30, 0x81, 100], LIMIT), Ok(Some(103)));
    }
}
