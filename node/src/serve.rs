//! `bindery serve`: one node, from its command line to its end.

use std::io::{IsTerminal, Read};
use std::path::PathBuf;
use std::time::Duration;

use bindery_ctl::{EXIT_DONE, EXIT_REFUSED};
use clap::Args;
use tracing_subscriber::EnvFilter;

use crate::allocator;
use crate::cli::complain;
use crate::config::check::{Log, LogFormat};
use crate::config::file::{RawConfig, RawSize};
use crate::config::{self};
use crate::run;

/// How long a node whose parent has gone may take to stop in good order.
const STOP_PATIENCE: Duration = Duration::from_secs(20);

/// Threads for blocking work: apply, checkpoint, log reads, password hashes (which have slots of their own), the
/// parser of a load. Few run at once, and each keeps a stack and caches of the allocator.
const BLOCKING_THREADS: usize = 32;

/// Run one node
///
/// Settings come from the file, then from BINDERY_... variables (BINDERY_LDAP__LISTEN is ldap.listen), then from
/// these flags, each overriding the one before.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  bindery serve --config /etc/bindery/bindery.toml\n  \
    bindery serve --data ./node1 --memory 256MiB    (a node on its own)\n  \
    BINDERY_ID=node1 BINDERY_CLUSTER__PEERS=node1=node1:17389,node2=node2:17389,node3=node3:17389 bindery serve --insecure-grpc")]
pub struct ServeArgs {
    /// TOML file with this node's settings
    #[arg(long, value_name = "FILE", env = "BINDERY_CONFIG")]
    config: Option<PathBuf>,
    /// This node's name
    #[arg(long, value_name = "NAME")]
    id: Option<String>,
    /// Data directory [default: /var/lib/bindery]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Memory of the whole process [default: half of what there is]
    #[arg(long, value_name = "SIZE")]
    memory: Option<String>,
    /// Where to serve LDAP [default: ldap://127.0.0.1:1389]
    #[arg(long, value_name = "URL[,...]", value_delimiter = ',')]
    ldap_listen: Vec<String>,
    /// Where the other nodes and the administration connect [default: 127.0.0.1:17389]
    #[arg(long, value_name = "ADDRESS:PORT")]
    grpc_listen: Option<String>,
    /// Address of that for the other nodes
    #[arg(long, value_name = "HOST:PORT")]
    grpc_advertise: Option<String>,
    /// Allow --grpc-listen beyond loopback without TLS
    #[arg(long)]
    insecure_grpc: bool,
    /// Where to serve metrics and health
    #[arg(long, value_name = "ADDRESS:PORT")]
    http_listen: Option<String>,
    /// Every node of the cluster, the same list on all of them
    #[arg(long, value_name = "NAME=HOST:PORT[,...]", value_delimiter = ',')]
    peers: Vec<String>,
    /// How many nodes form the cluster at its first start [default: all peers]
    #[arg(long, value_name = "N")]
    expect: Option<u64>,
    /// Log as text or json
    #[arg(long, value_name = "FORMAT")]
    log_format: Option<String>,
    /// error, warn, info, debug, or directives
    #[arg(long, value_name = "LEVEL")]
    log_level: Option<String>,
    /// Stop when standard input ends: with the process that holds its other end.
    #[arg(long, hide = true)]
    stop_with_stdin: bool,
}

impl ServeArgs {
    fn raw(&self) -> RawConfig {
        let list = |list: &[String]| (!list.is_empty()).then(|| list.to_vec());
        let mut raw = RawConfig {
            id: self.id.clone(),
            data: self.data.clone(),
            memory: self.memory.clone().map(RawSize::Text),
            ..RawConfig::default()
        };
        raw.ldap.listen = list(&self.ldap_listen);
        raw.grpc.listen = self.grpc_listen.clone();
        raw.grpc.advertise = self.grpc_advertise.clone();
        // A flag can only say yes; the file's setting stays when it is absent.
        raw.grpc.insecure = self.insecure_grpc.then_some(true);
        raw.http.listen = self.http_listen.clone();
        raw.cluster.peers = list(&self.peers);
        raw.cluster.expect = self.expect;
        raw.log.format = self.log_format.clone();
        raw.log.level = self.log_level.clone();
        raw
    }
}

/// Runs a node until it is told to stop.
pub fn main(args: ServeArgs) -> u8 {
    let loaded = match config::load(args.config.as_deref(), args.raw(), utf8_variables()) {
        Ok(loaded) => loaded,
        Err(error) => {
            complain(&error.to_string());
            return EXIT_REFUSED;
        }
    };
    start_logging(&loaded.config.log);
    if let Err(error) = allocator::settle(loaded.config.memory_bytes) {
        tracing::warn!(%error, "the allocator keeps its own settings: more memory than configured may be used");
    }
    for warning in &loaded.warnings {
        tracing::warn!("{warning}");
    }
    if args.stop_with_stdin {
        std::thread::spawn(stop_with_stdin);
    }
    let runtime =
        match tokio::runtime::Builder::new_multi_thread().enable_all().max_blocking_threads(BLOCKING_THREADS).build() {
            Ok(runtime) => runtime,
            Err(error) => {
                complain(&format!("cannot start: {error}"));
                return EXIT_REFUSED;
            }
        };
    match runtime.block_on(run::serve(loaded.config)) {
        Ok(()) => EXIT_DONE,
        Err(error) => {
            complain(&error.to_string());
            EXIT_REFUSED
        }
    }
}

/// Names and values that are no text cannot be ours.
fn utf8_variables() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

fn start_logging(log: &Log) {
    let filter = log.level.parse::<EnvFilter>().expect("checked with the configuration");
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal());
    match log.format {
        LogFormat::Text => builder.init(),
        LogFormat::Json => builder.json().init(),
    }
}

/// Waits for the end of standard input, then stops this process as a service manager would.
fn stop_with_stdin() {
    let mut ignored = [0_u8; 64];
    while !matches!(std::io::stdin().lock().read(&mut ignored), Ok(0) | Err(_)) {}
    tracing::info!("the process that started this node has gone; stopping");
    if rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::TERM).is_ok() {
        std::thread::sleep(STOP_PATIENCE);
        tracing::error!("not stopped after {} s; ending now", STOP_PATIENCE.as_secs());
    }
    std::process::exit(i32::from(EXIT_REFUSED));
}
