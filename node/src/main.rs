//! `bindery`: one node, a demonstration cluster, and the administration commands.

mod cli;
// The node's own code uses the rest.
#[allow(dead_code)]
mod config;
mod demo;
mod memory;
mod run;
mod serve;
mod units;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    cli::main(cli::Cli::parse())
}
