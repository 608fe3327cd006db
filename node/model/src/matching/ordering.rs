//! Keys that compare as values do (RFC 4517, 4.2: the ordering rules).

use super::MatchingRule;
use crate::error::InvalidValue;
use crate::schema::Schema;

/// True for ordering rules and for equality rules whose keys are ordered the same way.
pub(super) fn has_order(rule: MatchingRule) -> bool {
    use MatchingRule as R;
    matches!(
        rule,
        R::CaseIgnoreOrderingMatch
            | R::CaseIgnoreMatch
            | R::CaseIgnoreIa5Match
            | R::CaseExactOrderingMatch
            | R::CaseExactMatch
            | R::CaseExactIa5Match
            | R::NumericStringOrderingMatch
            | R::NumericStringMatch
            | R::TelephoneNumberMatch
            | R::IntegerOrderingMatch
            | R::IntegerMatch
            | R::OctetStringOrderingMatch
            | R::OctetStringMatch
            | R::GeneralizedTimeOrderingMatch
            | R::GeneralizedTimeMatch
            | R::UuidOrderingMatch
            | R::UuidMatch
            | R::CsnOrderingMatch
            | R::CsnMatch
            | R::BooleanMatch
    )
}

/// Appends the ordered key. Equality keys of ordered rules are made to compare as values do: prepared text by code
/// point (which UTF-8 preserves), integers and times by construction, the rest as octets.
pub(super) fn key(rule: MatchingRule, value: &[u8], schema: &Schema, out: &mut Vec<u8>) -> Result<(), InvalidValue> {
    if !has_order(rule) {
        return Err(InvalidValue::new(rule.name(), "this rule has no order"));
    }
    super::normalize::assertion(rule, value, schema, out)
}
