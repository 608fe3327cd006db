//! Adding integers of any size in their string form (RFC 4517 3.3.16).

use std::cmp::Ordering;

/// Longest result. Far beyond any use; without a bound, repeated increments could grow an entry for ever.
pub(super) const MAX_DIGITS: usize = 4096;

/// An integer as sign and digits without leading zeros; zero is no digits.
struct Integer<'a> {
    negative: bool,
    digits: &'a [u8],
}

/// The sum, in canonical form; None when one of them is not an integer. Never wraps.
pub(super) fn add_integers(left: &[u8], right: &[u8]) -> Option<Vec<u8>> {
    let (left, right) = (parse(left)?, parse(right)?);
    let (negative, digits) = if left.negative == right.negative {
        (left.negative, add(left.digits, right.digits))
    } else {
        match compare(left.digits, right.digits) {
            Ordering::Equal => (false, Vec::new()),
            Ordering::Greater => (left.negative, subtract(left.digits, right.digits)),
            Ordering::Less => (right.negative, subtract(right.digits, left.digits)),
        }
    };
    // Least digit first until here.
    let mut sum = digits;
    while sum.last() == Some(&b'0') {
        sum.pop();
    }
    if sum.is_empty() {
        return Some(b"0".to_vec());
    }
    if negative {
        sum.push(b'-');
    }
    sum.reverse();
    Some(sum)
}

/// Leading zeros, which the grammar forbids and other servers have let in, are passed over.
fn parse(text: &[u8]) -> Option<Integer<'_>> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
    Some(Integer { negative, digits: &digits[zeros..] })
}

fn compare(left: &[u8], right: &[u8]) -> Ordering {
    left.len().cmp(&right.len()).then_with(|| left.cmp(right))
}

/// The sum, least digit first.
fn add(left: &[u8], right: &[u8]) -> Vec<u8> {
    let mut sum = Vec::with_capacity(left.len().max(right.len()) + 1);
    let (mut left, mut right) = (left.iter().rev(), right.iter().rev());
    let mut carry = 0;
    loop {
        let (left, right) = (left.next(), right.next());
        if left.is_none() && right.is_none() && carry == 0 {
            return sum;
        }
        let digit = value(left) + value(right) + carry;
        carry = digit / 10;
        sum.push(b'0' + digit % 10);
    }
}

/// The difference, least digit first. `left` is not the smaller.
fn subtract(left: &[u8], right: &[u8]) -> Vec<u8> {
    let mut difference = Vec::with_capacity(left.len());
    let mut right = right.iter().rev();
    let mut borrow = 0;
    for digit in left.iter().rev() {
        let take = value(right.next()) + borrow;
        let have = value(Some(digit));
        borrow = u8::from(have < take);
        difference.push(b'0' + have + 10 * borrow - take);
    }
    difference
}

fn value(digit: Option<&u8>) -> u8 {
    digit.map_or(0, |digit| digit - b'0')
}
