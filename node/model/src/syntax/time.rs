//! Generalized Time and UTC Time (RFC 4517, 3.3.13 and 3.3.34).

use crate::error::InvalidValue;

const WHAT: &str = "Generalized Time";

/// Digits of a fraction at most: far below a nanosecond, and exact in 128 bits after scaling by an hour.
const MAX_FRACTION_DIGITS: usize = 18;

/// Added to seconds so that the year 0 with an offset stays positive.
const BIAS_SECONDS: i64 = 1 << 40;

/// A point in time, exactly as a Generalized Time says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Instant {
    /// Seconds from 0000-01-01T00:00:00Z in the proleptic Gregorian calendar; of second 59 for a leap second.
    seconds: i64,
    /// The second was given as 60.
    leap: bool,
    /// The fraction of the second in units of 10^-18.
    fraction: u64,
}

impl Instant {
    /// Reads `YYYYMMDDHH[MM[SS]][(.|,)fraction](Z|+hh[mm]|-hh[mm])`.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, InvalidValue> {
        let mut reader = Reader { text, what: WHAT };
        let year = i64::from(reader.number(4, 0, 9999)?);
        reader.rest_of_time(year, true)
    }

    /// Appends octets that compare as the instants do. A leap second comes after every fraction of second 59 and
    /// before the next minute.
    pub(crate) fn key_into(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&((self.seconds + BIAS_SECONDS) as u64).to_be_bytes()[2..]);
        if self.leap {
            // After every digit.
            out.push(b':');
        }
        if self.fraction > 0 {
            let digits = format!("{:018}", self.fraction);
            out.extend_from_slice(digits.trim_end_matches('0').as_bytes());
        }
    }
}

/// Checks `YYMMDDHHMM[SS](Z|+hhmm|-hhmm)`.
pub(super) fn validate_utc_time(text: &[u8]) -> Result<(), InvalidValue> {
    let mut reader = Reader { text, what: "UTC Time" };
    if text.iter().take_while(|byte| byte.is_ascii_digit()).count() < 10 {
        return reader.fail("it needs hours and minutes");
    }
    let year = 1900 + i64::from(reader.number(2, 0, 99)?);
    // The zone was optional in RFC 2252.
    let mut zoned = Vec::new();
    if text.last().is_some_and(u8::is_ascii_digit) && !text.iter().any(|byte| matches!(byte, b'+' | b'-')) {
        zoned.extend_from_slice(reader.text);
        zoned.push(b'Z');
        reader.text = &zoned;
    }
    reader.rest_of_time(year, false).map(|_| ())
}

struct Reader<'a> {
    text: &'a [u8],
    what: &'static str,
}

impl Reader<'_> {
    fn fail<T>(&self, reason: &'static str) -> Result<T, InvalidValue> {
        Err(InvalidValue::new(self.what, reason))
    }

    fn number(&mut self, digits: usize, low: u32, high: u32) -> Result<u32, InvalidValue> {
        let Some((number, rest)) = self.text.split_at_checked(digits) else {
            return self.fail("it is too short");
        };
        let mut value = 0;
        for &byte in number {
            if !byte.is_ascii_digit() {
                return self.fail("a digit is missing");
            }
            value = value * 10 + u32::from(byte - b'0');
        }
        if value < low || value > high {
            return self.fail("a field is out of range");
        }
        self.text = rest;
        Ok(value)
    }

    fn at_digit(&self) -> bool {
        self.text.first().is_some_and(u8::is_ascii_digit)
    }

    fn rest_of_time(&mut self, year: i64, fractions: bool) -> Result<Instant, InvalidValue> {
        let month = self.number(2, 1, 12)?;
        let day = self.number(2, 1, days_in_month(year, month))?;
        let hour = self.number(2, 0, 23)?;
        let (mut minute, mut second, mut unit) = (0, 0, 3600);
        if self.at_digit() {
            minute = self.number(2, 0, 59)?;
            unit = 60;
            if self.at_digit() {
                second = self.number(2, 0, 60)?;
                unit = 1;
            }
        }
        let leap = second == 60;
        let mut seconds = days_before(year, month, day) * 86_400
            + i64::from(hour) * 3600
            + i64::from(minute) * 60
            + i64::from(second - u32::from(leap));
        let mut fraction = 0;
        if fractions && matches!(self.text.first(), Some(b'.' | b',')) {
            self.text = &self.text[1..];
            let (whole, part) = self.fraction(unit)?;
            seconds += whole;
            fraction = part;
        }
        seconds -= self.zone()?;
        Ok(Instant { seconds, leap, fraction })
    }

    /// A decimal fraction of `unit` seconds: whole seconds and 10^-18 parts.
    fn fraction(&mut self, unit: u32) -> Result<(i64, u64), InvalidValue> {
        const ONE: u128 = 1_000_000_000_000_000_000;
        let count = self.text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 || count > MAX_FRACTION_DIGITS {
            return self.fail("a fraction has 1 to 18 digits");
        }
        let (digits, rest) = self.text.split_at(count);
        self.text = rest;
        let mut value = digits.iter().fold(0_u128, |value, digit| value * 10 + u128::from(digit - b'0'));
        for _ in count..MAX_FRACTION_DIGITS {
            value *= 10;
        }
        value *= u128::from(unit);
        // Both fit: the value is below one hour in these parts.
        Ok(((value / ONE) as i64, (value % ONE) as u64))
    }

    /// The time zone's seconds east of UTC; nothing may follow it.
    fn zone(&mut self) -> Result<i64, InvalidValue> {
        let Some((&sign, rest)) = self.text.split_first() else {
            return self.fail("the time zone is missing: end it with Z");
        };
        self.text = rest;
        let seconds = match sign {
            b'Z' | b'z' => 0,
            b'+' | b'-' => {
                let hours = i64::from(self.number(2, 0, 23)?);
                let minutes = if self.at_digit() { i64::from(self.number(2, 0, 59)?) } else { 0 };
                let east = hours * 3600 + minutes * 60;
                if sign == b'+' { east } else { -east }
            }
            _ => return self.fail("the time zone is missing: end it with Z"),
        };
        if self.text.is_empty() { Ok(seconds) } else { self.fail("something follows the time zone") }
    }
}

fn is_leap_year(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in_month(year: i64, month: u32) -> u32 {
    match month {
        2 if is_leap_year(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 0000-01-01 to this date.
fn days_before(year: i64, month: u32, day: u32) -> i64 {
    let earlier = year - 1;
    // Leap years in 0..year: the year 0 is one.
    let leaps = if year == 0 { 0 } else { 1 + earlier / 4 - earlier / 100 + earlier / 400 };
    let months: u32 = (1..month).map(|month| days_in_month(year, month)).sum();
    year * 365 + leaps + i64::from(months) + i64::from(day) - 1
}
