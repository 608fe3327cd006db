//! A plan as text: what `bindery explain` prints, and what tests compare.

use super::Node;
use crate::index::posting::Kind;
use bindery_model::schema::{AttrId, Schema};
use std::fmt::Write;

/// Members of an AND or OR that are printed one by one; the rest is counted.
const MEMBERS_SHOWN: usize = 20;

/// One line for each node, members indented below it.
pub fn explain(node: &Node, schema: &Schema) -> String {
    let mut out = String::new();
    print(node, schema, 0, &mut out);
    out
}

fn exactness(exact: bool) -> &'static str {
    if exact { "exact" } else { "re-test" }
}

fn name(attribute: AttrId, schema: &Schema) -> &str {
    schema.attribute_by_id(attribute).map_or("?", |attribute| attribute.name())
}

fn kind_word(kind: Kind) -> &'static str {
    match kind {
        Kind::Approx => "approx",
        Kind::Equality => "eq",
        Kind::Ordering => "ordering",
        Kind::Presence => "pres",
        Kind::Substring => "sub",
    }
}

fn print(node: &Node, schema: &Schema, depth: usize, out: &mut String) {
    let pad = depth * 2;
    // Writing to a String cannot fail.
    let mut line = |text: String| {
        let _ = writeln!(out, "{:pad$}{text}", "");
    };
    match node {
        Node::Nothing => line("nothing".to_owned()),
        Node::All { exact } => line(format!("all entries, {}", exactness(*exact))),
        Node::Entry { id } => line(format!("entry {id}, exact")),
        Node::Key { attribute, kind, key, count, exact, .. } => line(format!(
            "{} {} `{}`: {count} entries, {}",
            name(*attribute, schema),
            kind_word(*kind),
            key.get(1..).unwrap_or_default().escape_ascii(),
            exactness(*exact)
        )),
        Node::Range { attribute, kind, count, exact, .. } => line(format!(
            "{} {} range: {}{} entries, {}",
            name(*attribute, schema),
            kind_word(*kind),
            if count.complete { "" } else { "more than " },
            count.count,
            exactness(*exact)
        )),
        Node::And { of, without, skipped, exact } => {
            let mut text = format!("and, {}", exactness(*exact));
            if *skipped > 0 {
                let _ = write!(text, ", {skipped} terms only re-tested");
            }
            line(text);
            members(of, schema, depth, out);
            if !without.is_empty() {
                let _ = writeln!(out, "{:pad$}  without", "");
                members(without, schema, depth + 1, out);
            }
        }
        Node::Or { of, exact } => {
            line(format!("or, {}", exactness(*exact)));
            members(of, schema, depth, out);
        }
    }
}

fn members(of: &[Node], schema: &Schema, depth: usize, out: &mut String) {
    for node in of.iter().take(MEMBERS_SHOWN) {
        print(node, schema, depth + 1, out);
    }
    if of.len() > MEMBERS_SHOWN {
        let pad = depth * 2 + 2;
        let _ = writeln!(out, "{:pad$}and {} more", "", of.len() - MEMBERS_SHOWN);
    }
}
