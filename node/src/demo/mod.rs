//! `bindery demo`.
use clap::Args;
use std::path::PathBuf;

/// Run a cluster of real processes on this machine
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  bindery demo")]
pub struct DemoArgs {
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=9))]
    nodes: u16,
    #[arg(long)]
    dir: Option<PathBuf>,
    #[arg(long, conflicts_with = "ldif")]
    empty: bool,
    #[arg(long)]
    ldif: Vec<PathBuf>,
    #[arg(long)]
    indexes: Option<PathBuf>,
    #[arg(long)]
    schema: Vec<PathBuf>,
    #[arg(long)]
    port_base: Option<u16>,
}

pub fn main(_args: DemoArgs) -> u8 {
    1
}
