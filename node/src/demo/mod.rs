//! `bindery demo`: a cluster of real processes on this machine, with something in it to look at.

/// Prints a line. That nobody reads it any more must not end the nodes.
macro_rules! say {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stdout(), $($text)*);
    }};
}

mod plan;
mod process;

use std::io::{IsTerminal, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bindery_ctl::connect::ConnectArgs;
use bindery_ctl::load::{LoadOptions, Report};
use bindery_ctl::{CtlError, EXIT_DONE, EXIT_REFUSED};
use bindery_proto::admin::{AddIndexesRequest, AddSchemaRequest, StatusReply, StatusRequest};
use clap::Args;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinSet;

use process::Running;

use plan::{ADMIN_DN, ADMIN_PASSWORD, DEFAULT_PORT_BASE, Node, SUFFIX};

use crate::cli::complain;

const SAMPLE: &str = include_str!("sample.ldif");
const MEMORY_MIB: u64 = 256;
/// Forming a cluster takes an election; a busy machine may be slow.
const READY_PATIENCE: Duration = Duration::from_secs(60);
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// What is in a directory given with --dir: nodes and port base, and, once loaded, that it is.
const LAYOUT_FILE: &str = "layout";
const LOADED_FILE: &str = "loaded";

/// Run a cluster of real processes on this machine, to try it
///
/// Suffix dc=example,dc=com, administrator cn=admin,dc=example,dc=com with the password "secret" (for the
/// demonstration only). A node that is killed starts again after 10 seconds. Ctrl-C stops everything.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  bindery demo\n  bindery demo --nodes 5 --port-base 20000\n  \
                        bindery demo --dir ./demo --ldif people.ldif --indexes indexes.conf    (kept for the next time)")]
pub struct DemoArgs {
    /// How many nodes
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=9))]
    nodes: u16,
    /// Keep the data in this directory, and use what is in it [default: temporary]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Begin without any entry
    #[arg(long, conflicts_with = "ldif")]
    empty: bool,
    /// Load these files instead of the small sample directory
    #[arg(long, value_name = "FILE", num_args = 1..)]
    ldif: Vec<PathBuf>,
    /// Add the indexes in this file (lines "index ATTR TYPES")
    #[arg(long, value_name = "FILE")]
    indexes: Option<PathBuf>,
    /// Add this schema file first; may be repeated
    #[arg(long, value_name = "FILE")]
    schema: Vec<PathBuf>,
    /// LDAP port of the first node; gRPC lies 16000 above, HTTP 17000
    #[arg(long, value_name = "PORT", default_value_t = DEFAULT_PORT_BASE, value_parser = clap::value_parser!(u16).range(1..))]
    port_base: u16,
    /// Memory of each node, in MiB
    #[arg(long, value_name = "MIB", default_value_t = MEMORY_MIB)]
    memory_mib: u64,
}

/// Why the demonstration did not come up.
#[derive(Debug, thiserror::Error)]
enum DemoError {
    #[error("{0}")]
    Setup(String),
    #[error("{0}")]
    Command(#[from] CtlError),
    /// Ctrl-C before it was ready.
    #[error("interrupted")]
    Interrupted,
}

fn setup(path: &Path) -> impl FnOnce(std::io::Error) -> DemoError {
    let path = path.to_owned();
    move |error| DemoError::Setup(format!("{}: {error}", path.display()))
}

/// Where the demonstration lives. A temporary one is removed at the end.
struct Home {
    dir: PathBuf,
    temporary: bool,
}

impl Drop for Home {
    fn drop(&mut self) {
        if self.temporary
            && let Err(error) = std::fs::remove_dir_all(&self.dir)
        {
            eprintln!("{} could not be removed: {error}", self.dir.display());
        }
    }
}

/// Runs the demonstration until it is interrupted.
pub fn main(args: DemoArgs) -> u8 {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            complain(&format!("cannot start: {error}"));
            return EXIT_REFUSED;
        }
    };
    let ended = runtime.block_on(run(&args));
    runtime.shutdown_background();
    match ended {
        Ok(()) => EXIT_DONE,
        Err(error) => {
            complain(&format!("demo: {error}"));
            match error {
                DemoError::Command(error) => error.exit_status(),
                _ => EXIT_REFUSED,
            }
        }
    }
}

async fn run(args: &DemoArgs) -> Result<(), DemoError> {
    let started = Instant::now();
    let mut interrupt = Interrupt::new()?;
    // What was asked for must be readable before anything is started.
    let indexes = args.indexes.as_deref().map(bindery_ctl::index_definitions).transpose()?;
    let schema = bindery_ctl::schema::read(&args.schema)?;
    for file in &args.ldif {
        std::fs::File::open(file).map_err(setup(file))?;
    }
    let home = home(args.dir.as_deref())?;
    let nodes = plan::nodes(args.nodes, args.port_base, &home.dir).map_err(DemoError::Setup)?;
    refuse_ports_in_use(&nodes)?;
    check_layout(&home, args)?;
    for node in &nodes {
        std::fs::create_dir_all(&node.data).map_err(setup(&node.data))?;
        let text = plan::config_text(node, &nodes, args.memory_mib);
        std::fs::write(&node.config_file, text).map_err(setup(&node.config_file))?;
    }
    let place = if home.temporary { "temporary, removed at the end" } else { "kept" };
    say!("{} nodes, data in {} ({place})", nodes.len(), home.dir.display());
    let mut children = Vec::with_capacity(nodes.len());
    for node in &nodes {
        children.push(process::spawn(node).map_err(DemoError::Setup)?);
    }
    let prepared = tokio::select! {
        prepared = prepare(args, &home, &nodes, &mut children, indexes, schema) => prepared,
        () = interrupt.wait() => Err(DemoError::Interrupted),
    };
    let status = match prepared {
        Ok(status) => status,
        Err(error) => {
            stop_all(&nodes, children).await;
            return Err(error);
        }
    };
    introduce(&nodes, &children, &status);
    say!("ready in {:.1} s; Ctrl-C stops all nodes", started.elapsed().as_secs_f64());
    // Whoever waits for the line through a pipe must get it now.
    let _ = std::io::stdout().flush();
    supervise(nodes, children, &mut interrupt).await;
    Ok(())
}

fn home(dir: Option<&Path>) -> Result<Home, DemoError> {
    use std::os::unix::fs::DirBuilderExt;
    let (dir, temporary) = match dir {
        Some(dir) => (std::path::absolute(dir).map_err(setup(dir))?, false),
        None => (std::env::temp_dir().join(format!("bindery-demo-{}", std::process::id())), true),
    };
    let mut builder = std::fs::DirBuilder::new();
    // The data holds password hashes. A temporary directory must not be one that somebody else prepared.
    builder.recursive(!temporary).mode(0o700).create(&dir).map_err(setup(&dir))?;
    Ok(Home { dir, temporary })
}

/// Asks before anything is started: a node that cannot listen would only say so in its log.
fn refuse_ports_in_use(nodes: &[Node]) -> Result<(), DemoError> {
    for node in nodes {
        for (port, purpose) in node.ports() {
            if let Err(error) = TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
                return Err(DemoError::Setup(format!(
                    "port {port} ({purpose} of {}) cannot be used: {error}\nis another demo running? stop it, or choose other ports with --port-base",
                    node.name
                )));
            }
        }
    }
    Ok(())
}

/// The addresses are part of the cluster's membership: a kept cluster runs with those it was made with.
fn check_layout(home: &Home, args: &DemoArgs) -> Result<(), DemoError> {
    let path = home.dir.join(LAYOUT_FILE);
    let layout = format!("--nodes {} --port-base {}\n", args.nodes, args.port_base);
    match std::fs::read_to_string(&path) {
        Ok(found) if found == layout => Ok(()),
        Ok(found) => Err(DemoError::Setup(format!(
            "{} holds a cluster made with {}; start it with the same, or use another --dir",
            home.dir.display(),
            found.trim_end()
        ))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            std::fs::write(&path, layout).map_err(setup(&path))
        }
        Err(error) => Err(setup(&path)(error)),
    }
}

/// Waits for the cluster and puts into it what was asked for.
async fn prepare(
    args: &DemoArgs,
    home: &Home,
    nodes: &[Node],
    children: &mut [Running],
    indexes: Option<Vec<bindery_proto::admin::IndexDefinition>>,
    schema: Vec<bindery_proto::admin::add_schema_request::File>,
) -> Result<StatusReply, DemoError> {
    let connect = ConnectArgs { data: nodes.first().map(|node| node.data.clone()), ..ConnectArgs::default() };
    let status = wait_until_formed(&connect, nodes, children).await?;
    let mut connection = connect.connect().await?;
    if !schema.is_empty() {
        let request = connection.request(AddSchemaRequest { files: schema });
        connection.client.add_schema(request).await.map_err(|status| CtlError::of_change(&status))?;
    }
    if let Some(indexes) = indexes {
        let request = connection.request(AddIndexesRequest { indexes });
        connection.client.add_indexes(request).await.map_err(|status| CtlError::of_change(&status))?;
    }
    let marker = home.dir.join(LOADED_FILE);
    if marker.exists() {
        say!("the data of the last time is used; nothing is loaded");
        return Ok(status);
    }
    if args.empty {
        std::fs::write(&marker, "empty\n").map_err(setup(&marker))?;
        return Ok(status);
    }
    if args.ldif.is_empty() {
        let path = home.dir.join("sample.ldif");
        std::fs::write(&path, SAMPLE).map_err(setup(&path))?;
        load(&connect, &path).await?;
    }
    for path in &args.ldif {
        load(&connect, path).await?;
    }
    std::fs::write(&marker, "loaded\n").map_err(setup(&marker))?;
    Ok(status)
}

async fn load(connect: &ConnectArgs, path: &Path) -> Result<(), DemoError> {
    let report = Report::new(path);
    // An earlier start may have been interrupted in the middle.
    let summary = bindery_ctl::load::load(connect, path, LoadOptions::skip_existing(), &report).await;
    report.finish();
    let summary = summary?;
    say!("{}: {}", path.display(), bindery_ctl::load::sentence(&summary, false));
    if summary.complete && summary.errors == 0 {
        Ok(())
    } else {
        Err(DemoError::Setup(format!("{} was not loaded: {}", path.display(), summary.stopped)))
    }
}

/// Polls the first node until it knows a leader and every node answers.
async fn wait_until_formed(
    connect: &ConnectArgs,
    nodes: &[Node],
    children: &mut [Running],
) -> Result<StatusReply, DemoError> {
    let deadline = Instant::now() + READY_PATIENCE;
    loop {
        for (node, child) in nodes.iter().zip(children.iter_mut()) {
            if let Some(status) = child.ended() {
                return Err(DemoError::Setup(format!(
                    "{} {}; its log ends so:\n{}",
                    node.name,
                    process::describe(status),
                    process::log_tail(node)
                )));
            }
        }
        let last = match formed(connect, nodes.len()).await {
            Ok(Some(status)) => return Ok(status),
            Ok(None) => "the nodes have not found each other yet".to_owned(),
            Err(error) => error.to_string(),
        };
        if Instant::now() > deadline {
            let log = nodes.first().map(|node| node.log_file.display().to_string()).unwrap_or_default();
            return Err(DemoError::Setup(format!(
                "no cluster after {} s: {last}\nsee {log}",
                READY_PATIENCE.as_secs()
            )));
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

async fn formed(connect: &ConnectArgs, nodes: usize) -> Result<Option<StatusReply>, CtlError> {
    let mut connection = connect.connect().await?;
    let request = connection.request(StatusRequest { local: false });
    let reply = connection.client.get_status(request).await.map_err(|status| CtlError::of_read(&status))?;
    let reply = reply.into_inner();
    // A node that has something to say about itself is not ready: above all, the directory is not founded yet.
    let answering = reply.nodes.iter().filter(|node| node.reachable && node.trouble.is_empty()).count();
    Ok((!reply.leader.is_empty() && answering == nodes).then_some(reply))
}

/// Says what there is, with lines that can be pasted.
fn introduce(nodes: &[Node], children: &[Running], status: &StatusReply) {
    say!("");
    say!("{:<8}{:<4}{:<9}{:<26}{:<18}{}", "NODE", "ID", "PID", "LDAP", "GRPC", "DATA");
    for (node, child) in nodes.iter().zip(children) {
        let id = status.nodes.iter().find(|reported| reported.name == node.name).and_then(|reported| reported.id);
        say!(
            "{:<8}{:<4}{:<9}{:<26}{:<18}{}",
            node.name,
            id.map_or_else(|| "-".to_owned(), |id| id.to_string()),
            child.pid().map_or_else(|| "-".to_owned(), |pid| pid.to_string()),
            node.ldap_url(),
            node.grpc_address(),
            node.data.display()
        );
    }
    say!("\nadministrator {ADMIN_DN}, password \"{ADMIN_PASSWORD}\" (for this demo only)\n\ntry:");
    for node in nodes.iter().take(2) {
        say!("  ldapsearch -x -H {} -D {ADMIN_DN} -w {ADMIN_PASSWORD} -b {SUFFIX} '(uid=ada)'", node.ldap_url());
    }
    let first = nodes.first().map(Node::grpc_address).unwrap_or_default();
    say!("  bindery status --endpoint {first}");
    if nodes.len() > 1
        && let Some(pid) = children.last().and_then(Running::pid)
    {
        say!("  kill -9 {pid}    (it starts again after 10 s; reads and writes go on meanwhile)");
    }
    say!("");
}

async fn supervise(nodes: Vec<Node>, children: Vec<Running>, interrupt: &mut Interrupt) {
    let (stop, stopping) = watch::channel(false);
    let mut keepers = JoinSet::new();
    for (node, child) in nodes.into_iter().zip(children) {
        keepers.spawn(process::keep(node, child, stopping.clone()));
    }
    interrupt.wait().await;
    say!("stopping{}", if std::io::stdout().is_terminal() { "; Ctrl-C again to kill" } else { "" });
    stop.send_replace(true);
    tokio::select! {
        () = async { while keepers.join_next().await.is_some() {} } => say!("all nodes have stopped"),
        // Dropping the keepers drops the processes, which kills them.
        () = interrupt.wait() => say!("killed"),
    }
}

async fn stop_all(nodes: &[Node], children: Vec<Running>) {
    let mut ending = JoinSet::new();
    for (node, child) in nodes.iter().cloned().zip(children) {
        ending.spawn(async move { process::end(&node, child).await });
    }
    while ending.join_next().await.is_some() {}
}

/// Every way in which a person or a service manager ends the demonstration.
struct Interrupt {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Interrupt {
    fn new() -> Result<Interrupt, DemoError> {
        let listen = |kind| signal(kind).map_err(|error| DemoError::Setup(format!("signals: {error}")));
        Ok(Interrupt {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hangup: listen(SignalKind::hangup())?,
        })
    }

    async fn wait(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hangup.recv() => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_in_use_is_named_with_its_purpose() {
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = taken.local_addr().unwrap().port();
        let mut nodes = plan::nodes(1, 1389, Path::new("/d")).unwrap();
        nodes[0].ldap_port = port;
        let refused = refuse_ports_in_use(&nodes).unwrap_err().to_string();
        assert!(refused.contains(&format!("port {port} (LDAP of node1) cannot be used")), "{refused}");
        assert!(refused.contains("--port-base"), "{refused}");
    }

    #[test]
    fn a_kept_directory_keeps_its_layout() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home { dir: dir.path().to_owned(), temporary: false };
        let args = |nodes| DemoArgs {
            nodes,
            dir: None,
            empty: false,
            ldif: Vec::new(),
            indexes: None,
            schema: Vec::new(),
            port_base: 1389,
            memory_mib: 256,
        };
        check_layout(&home, &args(3)).unwrap();
        check_layout(&home, &args(3)).unwrap();
        let refused = check_layout(&home, &args(5)).unwrap_err().to_string();
        assert!(refused.contains("made with --nodes 3 --port-base 1389"), "{refused}");
    }

    #[test]
    fn a_temporary_home_disappears() {
        let temporary = home(None).unwrap();
        let dir = temporary.dir.clone();
        assert!(dir.is_dir());
        drop(temporary);
        assert!(!dir.exists());
    }
}
