//! Tables for people, JSON for scripts.

use std::io::Write;

use clap::{Args, ValueEnum};
use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;

use crate::error::CtlError;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    #[default]
    Table,
    Json,
}

/// How results are printed.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct FormatArgs {
    /// How to print the result
    #[arg(short, long = "output", global = true, value_enum, default_value_t)]
    pub output: Format,
}

/// A table with the house style: no borders, a header line.
pub fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header.to_vec());
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table
}

/// Prints a table without the blanks at the ends of its lines.
pub fn print_table(table: &Table) -> Result<(), CtlError> {
    table.lines().try_for_each(|row| line(row.trim_end()))
}

/// Prints `text` and a line end.
pub fn line(text: &str) -> Result<(), CtlError> {
    writeln!(std::io::stdout(), "{text}").map_err(|error| CtlError::stdout(&error))
}

/// Prints a value as JSON on lines of its own.
pub fn json<T: Serialize>(value: &T) -> Result<(), CtlError> {
    let text = serde_json::to_string_pretty(value).map_err(|error| CtlError::Local(error.to_string()))?;
    line(&text)
}

/// `1234567` as `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 error`, `2 errors`.
pub fn counted(number: u64, noun: &str, plural: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { noun } else { plural })
}

/// A size with the largest unit that keeps it at 1 or more.
pub fn bytes(number: u64) -> String {
    indicatif::BinaryBytes(number).to_string()
}

/// What stands where nothing is known.
pub const NOTHING: &str = "-";

/// A number if it is known.
pub fn known(number: Option<u64>) -> String {
    number.map_or_else(|| NOTHING.to_owned(), grouped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_in_groups() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
    }
}
