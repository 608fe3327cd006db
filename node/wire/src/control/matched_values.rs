//! Matched values (RFC 3876).

use crate::ber::{SEQUENCE, read::whole, write};
use crate::error::{DecodeError, DecodeErrorKind};
use crate::filter::Filter;
use crate::limits::Limits;

/// Decodes ValuesReturnFilter: filters without and, or, not; and no extensible one with `:dn`.
pub fn decode<'a>(value: &'a [u8], limits: &Limits) -> Result<Vec<Filter<'a>>, DecodeError> {
    const WHAT: &str = "ValuesReturnFilter";
    whole(value, WHAT, |reader| {
        let list = reader.sequence(WHAT)?;
        if list.is_empty() {
            return Err(list.fault(WHAT, DecodeErrorKind::Empty));
        }
        let mut counting = list;
        let mut count = 0;
        while !counting.is_empty() {
            if count == limits.control_elements {
                return Err(counting.fault(WHAT, DecodeErrorKind::TooMany { limit: limits.control_elements }));
            }
            counting.any(WHAT)?;
            count += 1;
        }
        // No level is allowed, so that no and, or, not is looked into.
        let limits = Limits { filter_depth: 0, ..*limits };
        let mut filters = Vec::with_capacity(count);
        let mut items = list;
        while !items.is_empty() {
            let at = items;
            let invalid = |kind| at.fault(WHAT, DecodeErrorKind::Invalid(kind));
            match Filter::read(&mut items, &limits) {
                Ok(Filter::Extensible(extensible)) if extensible.dn_attributes => {
                    return Err(invalid("dnAttributes in a SimpleMatchingAssertion"));
                }
                Ok(filter) => filters.push(filter),
                Err(DecodeError { kind: DecodeErrorKind::TooDeep { .. }, .. }) => {
                    return Err(invalid("and, or, not in a SimpleFilterItem"));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(filters)
    })
}

/// Appends ValuesReturnFilter.
pub fn write(out: &mut Vec<u8>, items: &[Filter<'_>]) {
    write::put_constructed(out, SEQUENCE, |out| items.iter().for_each(|item| item.write(out)));
}
