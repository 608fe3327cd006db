//! `bindery bench`: a load generator for LDAP servers, ours or others. It speaks plain LDAP, so the same
//! command measures both sides of a comparison.

mod client;
mod driver;
mod histogram;
mod workload;

use std::path::PathBuf;
use std::time::Duration;

use bindery_ctl::{EXIT_DONE, EXIT_REFUSED, EXIT_UNREACHABLE};
use clap::{Args, ValueEnum};

use crate::cli::complain;
use client::BenchError;
use driver::Outcome;
use workload::Kind;

/// Connections at most: each has two buffers, and the generator's own machine is the limit.
const CONNECTIONS_MAX: u32 = 10_000;

/// Measure an LDAP server
///
/// Works on the people of tests/tools/peons.py (uid=user.N, password secretN). Every connection keeps a number of
/// requests outstanding for the given time.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  bindery bench search --people 100000\n  \
    bindery bench mixed --connections 64 --seconds 10 -o json\n  \
    bindery bench auth --url 127.0.0.1:389 --user cn=admin,dc=example,dc=com --password-file pw")]
pub struct BenchArgs {
    /// What to measure
    #[arg(value_enum)]
    kind: Kind,
    /// The server, HOST:PORT; several are used in turn
    #[arg(long, value_name = "HOST:PORT[,...]", value_delimiter = ',', default_value = "127.0.0.1:1389")]
    url: Vec<String>,
    /// Connections
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=i64::from(CONNECTIONS_MAX)))]
    connections: u32,
    /// Requests outstanding on each connection
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    outstanding: u32,
    /// How long to measure
    #[arg(long, value_name = "S", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    seconds: u64,
    /// People in the directory: user.0 to user.(N-1)
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    people: u32,
    /// Where they are
    #[arg(long, value_name = "DN", default_value = "dc=example,dc=com")]
    base: String,
    /// Who binds
    #[arg(long, value_name = "DN", default_value = "cn=admin,dc=example,dc=com")]
    user: String,
    /// File with its password; without one the demo's
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// How to print
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    output: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Table,
    Json,
}

/// Password of the demo's administrator.
const DEMO_PASSWORD: &[u8] = b"secret";

/// Everything the connections need to know.
#[derive(Debug, Clone)]
pub struct Plan {
    kind: Kind,
    servers: Vec<String>,
    connections: u32,
    outstanding: u32,
    duration: Duration,
    people: u32,
    base: String,
    user: String,
    password: Vec<u8>,
}

/// Runs a measurement to its end and gives the exit status.
pub fn main(args: BenchArgs) -> u8 {
    let password = match &args.password_file {
        None => DEMO_PASSWORD.to_vec(),
        Some(path) => match std::fs::read(path) {
            Ok(content) => bindery_ctl::password::without_line_end(&content).to_vec(),
            Err(error) => {
                complain(&format!("{}: {error}", path.display()));
                return EXIT_REFUSED;
            }
        },
    };
    let plan = Plan {
        kind: args.kind,
        servers: args.url,
        connections: args.connections,
        outstanding: args.outstanding,
        duration: Duration::from_secs(args.seconds),
        people: args.people,
        base: args.base,
        user: args.user,
        password,
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            complain(&format!("cannot start: {error}"));
            return EXIT_REFUSED;
        }
    };
    match runtime.block_on(driver::run(&plan)) {
        Ok(outcome) => {
            print(&plan, &outcome, args.output);
            EXIT_DONE
        }
        Err(error) => {
            complain(&error.to_string());
            match error {
                BenchError::Connect { .. } => EXIT_UNREACHABLE,
                _ => EXIT_REFUSED,
            }
        }
    }
}

fn print(plan: &Plan, outcome: &Outcome, format: Format) {
    let seconds = outcome.elapsed.as_secs_f64();
    let rate = outcome.done as f64 / seconds;
    let latency = |q: f64| outcome.latency.quantile_us(q) as f64 / 1000.0;
    match format {
        Format::Json => println!(
            "{}",
            serde_json::json!({
                "kind": plan.kind.name(),
                "connections": plan.connections,
                "outstanding": plan.outstanding,
                "seconds": seconds,
                "operations": outcome.done,
                "entries": outcome.entries,
                "refused": outcome.refused,
                "rate_per_s": rate,
                "latency_ms": { "p50": latency(0.5), "p90": latency(0.9), "p99": latency(0.99), "max": latency(1.0) },
                "cores": std::thread::available_parallelism().map_or(0, usize::from),
            })
        ),
        Format::Table => {
            println!(
                "{:<12} {:>12} {:>10} {:>10} {:>10} {:>10}",
                "", "operations/s", "p50 ms", "p90 ms", "p99 ms", "max ms"
            );
            println!(
                "{:<12} {:>12.0} {:>10.3} {:>10.3} {:>10.3} {:>10.3}",
                plan.kind.name(),
                rate,
                latency(0.5),
                latency(0.9),
                latency(0.99),
                latency(1.0)
            );
            println!(
                "{} operations, {} entries, {} refused in {seconds:.2} s on {} connections with {} outstanding each",
                outcome.done, outcome.entries, outcome.refused, plan.connections, plan.outstanding
            );
            if let Some(refusal) = &outcome.first_refusal {
                println!("first refusal: {refusal}");
            }
        }
    }
}
