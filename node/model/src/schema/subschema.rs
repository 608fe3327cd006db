//! The schema as the subschema subentry shows it (RFC 4512, 4.2).

use super::Schema;
use crate::matching::{MatchingRule, RuleKind};
use crate::syntax::Syntax;

impl Schema {
    /// The attributes of the subschema subentry that describe the schema, with their values.
    pub fn subschema_attributes(&self) -> Vec<(&'static str, Vec<String>)> {
        vec![
            ("objectClasses", self.object_classes().map(|class| class.text.clone()).collect()),
            ("attributeTypes", self.attributes().map(|attribute| attribute.text.clone()).collect()),
            ("ldapSyntaxes", Syntax::all().map(describe_syntax).collect()),
            ("matchingRules", MatchingRule::all().map(describe_rule).collect()),
            ("matchingRuleUse", MatchingRule::all().filter_map(|rule| self.describe_use(rule)).collect()),
        ]
    }

    /// Which attribute types a rule can be asked for by an extensible filter item: those whose values are of the
    /// syntax that it compares (RFC 4512, 4.1.4).
    fn describe_use(&self, rule: MatchingRule) -> Option<String> {
        let names: Vec<&str> = self
            .attributes()
            .filter(|attribute| {
                if rule.kind() == RuleKind::Substring {
                    attribute.substring == Some(rule)
                } else {
                    attribute.equality == Some(rule)
                        || attribute.ordering == Some(rule)
                        || attribute.syntax == rule.syntax()
                }
            })
            .map(|attribute| attribute.name())
            .collect();
        let applies = match names.as_slice() {
            [] => return None,
            [one] => (*one).to_owned(),
            several => format!("( {} )", several.join(" $ ")),
        };
        Some(format!("( {} NAME '{}' APPLIES {applies} )", rule.oid(), rule.name()))
    }
}

fn describe_syntax(syntax: Syntax) -> String {
    let binary = if syntax.is_binary() { " X-NOT-HUMAN-READABLE 'TRUE'" } else { "" };
    format!("( {} DESC '{}'{binary} )", syntax.oid(), syntax.description())
}

fn describe_rule(rule: MatchingRule) -> String {
    format!("( {} NAME '{}' SYNTAX {} )", rule.oid(), rule.name(), rule.syntax().oid())
}
