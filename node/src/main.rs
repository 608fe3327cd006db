//! `bindery`: one node, a demonstration cluster, and the administration commands.

mod admin;
mod bench;
mod cli;
// The node's own code uses the rest.
#[allow(dead_code)]
mod config;
mod demo;
mod founding;
mod index_task;
mod ldap;
mod limits;
mod lock;
mod machine;
mod memory;
mod passwords;
mod read;
mod run;
mod serve;
mod units;
mod write;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    cli::main(cli::Cli::parse())
}
