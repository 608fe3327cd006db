//! `bindery`: one node, a demonstration cluster, and the administration commands.

mod admin;
mod allocator;
mod bench;
mod cli;
// The node's own code uses the rest.
mod config;
mod demo;
mod descriptors;
mod founding;
mod health;
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

/// musl's own allocator serves one thread at a time.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::main(cli::Cli::parse())
}
