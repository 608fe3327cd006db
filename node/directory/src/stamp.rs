//! Operational values made of a command's stamp and log position: times, change numbers, UUIDs.

use crate::command::LogPosition;

/// The last second of the year 9999: `GeneralizedTime` (RFC 4517 3.3.13) has four digits for the year.
pub const TIME_MAX_US: u64 = 253_402_300_799_999_999;

struct Civil {
    year: u64,
    month: u64,
    day: u64,
    hour: u64,
    minute: u64,
    second: u64,
    micros: u64,
}

/// Proleptic Gregorian date of a time up to [`TIME_MAX_US`]; later ones are taken as that.
fn civil(time_us: u64) -> Civil {
    let time_us = time_us.min(TIME_MAX_US);
    let seconds = time_us / 1_000_000;
    // Days counted from 0000-03-01, so that the leap day ends a year and a 400-year era repeats.
    let days = seconds / 86_400 + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    Civil {
        year: era * 400 + year_of_era + u64::from(month <= 2),
        month,
        day: day_of_year - (153 * shifted_month + 2) / 5 + 1,
        hour: seconds / 3_600 % 24,
        minute: seconds / 60 % 60,
        second: seconds % 60,
        micros: time_us % 1_000_000,
    }
}

/// `YYYYMMDDHHMMSSZ` (RFC 4517 3.3.13).
pub fn generalized_time(time_us: u64) -> String {
    let Civil { year, month, day, hour, minute, second, .. } = civil(time_us);
    format!("{year:04}{month:02}{day:02}{hour:02}{minute:02}{second:02}Z")
}

/// A change sequence number in OpenLDAP's form: time, a count that orders changes of one microsecond, a
/// server number and the number within the command. The count is the low bits of the log index; there is
/// one writer, so the server number is always 0.
pub fn entry_csn(time_us: u64, position: LogPosition, ordinal: usize) -> String {
    let Civil { year, month, day, hour, minute, second, micros } = civil(time_us);
    let count = position.index & 0xff_ffff;
    format!(
        "{year:04}{month:02}{day:02}{hour:02}{minute:02}{second:02}.{micros:06}Z#{count:06x}#000#{:06x}",
        ordinal & 0xff_ffff
    )
}

/// The UUID of the `ordinal`-th entry of a command, formatted as version 4 (RFC 9562 5.4).
pub fn entry_uuid(random: &[u8; 16], ordinal: usize) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(random);
    hasher.update(&(ordinal as u64).to_be_bytes());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let mut text = String::with_capacity(36);
    for (at, byte) in bytes.iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc4517_3_3_13_generalized_time() {
        assert_eq!(generalized_time(0), "19700101000000Z");
        assert_eq!(generalized_time(951_782_400_000_000), "20000229000000Z");
        assert_eq!(generalized_time(1_735_689_599_999_999), "20241231235959Z");
        assert_eq!(generalized_time(4_107_542_400_000_000), "21000301000000Z");
        assert_eq!(generalized_time(TIME_MAX_US), "99991231235959Z");
        assert_eq!(generalized_time(u64::MAX), "99991231235959Z");
    }

    #[test]
    fn csn_and_uuid_have_their_forms() {
        let position = LogPosition { term: 1, leader: 2, index: 0x1_0000_00ff };
        assert_eq!(entry_csn(1_735_689_599_000_042, position, 3), "20241231235959.000042Z#0000ff#000#000003");
        let uuid = entry_uuid(&[7; 16], 0);
        assert_eq!(uuid.len(), 36);
        assert_eq!(uuid.as_bytes()[14], b'4');
        assert!(matches!(uuid.as_bytes()[19], b'8' | b'9' | b'a' | b'b'));
        assert_ne!(uuid, entry_uuid(&[7; 16], 1));
    }
}
