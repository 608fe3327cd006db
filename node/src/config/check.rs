//! From what was written to what is used: defaults filled in, values understood, contradictions refused.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use bindery_raft::{LogKind, Peer};
use bindery_store::AllocatorKind;

use super::ConfigError;
use super::file::{RawBootstrap, RawCluster, RawConfig, RawGrpc, RawLog, RawRaft, RawSize};
use super::machine::MachineMemory;
use crate::memory::{Budget, MEMORY_MIN_BYTES};
use crate::units::{MIB, format_bytes, parse_bytes};

/// Where data lies unless told otherwise; the commands look for the administration socket there.
pub const DEFAULT_DATA: &str = bindery_ctl::connect::DEFAULT_DATA;
const DEFAULT_NAME: &str = "node1";
const DEFAULT_LDAP: &str = "ldap://127.0.0.1:1389";
const DEFAULT_GRPC: &str = bindery_ctl::connect::DEFAULT_ENDPOINT;
const DEFAULT_HEARTBEAT_MS: u64 = 100;
const DEFAULT_ELECTION_MS: (u64, u64) = (250, 500);
/// At most 1 GiB is kept for nodes that were away for a while.
const RETAIN_LOG_MAX_BYTES: u64 = 1024 * MIB;
const DEFAULT_RETAIN_LOG_BYTES: u64 = 64 * MIB;
const DEFAULT_CHECKPOINT_S: u64 = 60;
/// Replay after a crash takes a part of this.
const CHECKPOINT_MAX_S: u64 = 3600;
const DEFAULT_LEVEL: &str = "info,openraft=warn";
const LDAP_PORT: u16 = 389;

/// A name stands in tables, file names and certificates.
const NAME_MAX_BYTES: usize = 64;
/// More voters than this only slow every write.
const PEERS_MAX: usize = 64;
/// Slower than this nobody would notice a dead leader within a minute.
const ELECTION_MAX_MS: u64 = 60_000;
/// What the kernel takes as the path of a socket, without the byte that ends it.
pub const ADMIN_SOCKET_PATH_MAX_BYTES: usize = 107;
/// The administrator's password as read from a file.
const PASSWORD_MAX_BYTES: u64 = 4096;

/// Everything one node needs to start, checked.
#[derive(Debug, Clone)]
pub struct Config {
    /// This node's name, unique in the cluster.
    pub name: String,
    /// Its data directory.
    pub data: PathBuf,
    /// The one memory number.
    pub memory_bytes: u64,
    /// Its division.
    pub budget: Budget,
    /// Where LDAP is served; never empty.
    pub ldap_listen: Vec<LdapListener>,
    pub grpc: Grpc,
    /// Metrics and health, if served.
    pub http_listen: Option<SocketAddr>,
    /// Every configured node, this one included; empty for a node on its own.
    pub peers: Vec<Peer>,
    /// How many nodes form the cluster at first.
    pub expect: usize,
    pub raft: Raft,
    pub allocator: AllocatorKind,
    /// What the node that forms the cluster writes into it. None: this node only joins or restarts.
    pub bootstrap: Option<Bootstrap>,
    pub log: Log,
}

impl Config {
    /// The administration socket.
    pub fn admin_socket(&self) -> PathBuf {
        bindery_ctl::connect::socket_path(&self.data)
    }
}

/// One LDAP listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LdapListener {
    pub address: SocketAddr,
}

impl fmt::Display for LdapListener {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "ldap://{}", self.address)
    }
}

/// Traffic between nodes, and administration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grpc {
    pub listen: SocketAddr,
    /// `host:port` at which the other nodes reach it.
    pub advertise: String,
    /// Administration from loopback needs no password.
    pub trust_loopback: bool,
}

/// Timings and log of the consensus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raft {
    pub heartbeat_ms: u64,
    pub election_ms: (u64, u64),
    pub log: LogKind,
    /// Log kept behind the older checkpoint.
    pub retain_log_bytes: u64,
    /// Time between checkpoints.
    pub checkpoint_s: u64,
}

/// `[bootstrap]`, complete.
#[derive(Debug, Clone)]
pub struct Bootstrap {
    pub suffix: String,
    pub admin_dn: String,
    pub admin_password: PasswordSource,
    /// Schema files to add, in the order of their names.
    pub schema_dir: Option<PathBuf>,
}

/// Where the administrator's first password comes from. Never shown.
#[derive(Clone)]
pub enum PasswordSource {
    Value(String),
    File(PathBuf),
}

impl fmt::Debug for PasswordSource {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PasswordSource::Value(_) => out.write_str("Value(hidden)"),
            PasswordSource::File(path) => write!(out, "File({path:?})"),
        }
    }
}

impl PasswordSource {
    /// The password; of a file its content without the line end.
    pub fn read(&self) -> Result<Vec<u8>, ConfigError> {
        const KEY: &str = "bootstrap.admin_password_file";
        let path = match self {
            PasswordSource::Value(value) => return Ok(value.clone().into_bytes()),
            PasswordSource::File(path) => path,
        };
        let failed = |source| ConfigError::Read { path: path.clone(), source };
        let length = std::fs::metadata(path).map_err(failed)?.len();
        if length > PASSWORD_MAX_BYTES {
            return Err(invalid(KEY, format!("{} is too large to hold a password", path.display())));
        }
        let content = std::fs::read(path).map_err(failed)?;
        let password = bindery_ctl::password::without_line_end(&content);
        if password.is_empty() {
            return Err(invalid(KEY, format!("{} is empty", path.display())));
        }
        Ok(password.to_vec())
    }
}

/// How this node logs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Log {
    pub format: LogFormat,
    /// Directives of `tracing_subscriber::EnvFilter`, known to be valid.
    pub level: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    Text,
    Json,
}

fn invalid(key: &'static str, reason: impl Into<String>) -> ConfigError {
    ConfigError::Invalid { key, reason: reason.into() }
}

fn contradiction(key: &'static str, other: &'static str, reason: impl Into<String>) -> ConfigError {
    ConfigError::Contradiction { key, other, reason: reason.into() }
}

/// Resolves `raw` on a machine with this much memory. Appends what is allowed but unwise to `warnings`.
pub fn check(raw: RawConfig, machine: &MachineMemory, warnings: &mut Vec<String>) -> Result<Config, ConfigError> {
    let name = name("id", raw.id.as_deref().unwrap_or(DEFAULT_NAME))?;
    let data = raw.data.unwrap_or_else(|| PathBuf::from(DEFAULT_DATA));
    if data.as_os_str().is_empty() {
        return Err(invalid("data", "the path of the data directory is empty"));
    }
    if bindery_ctl::connect::socket_path(&data).as_os_str().len() > ADMIN_SOCKET_PATH_MAX_BYTES {
        return Err(invalid("data", format!("{}: the path is too long for a socket in it", data.display())));
    }
    let memory_bytes = memory(raw.memory.as_ref(), machine)?;
    let ldap_listen = ldap_listeners(raw.ldap.listen.as_deref())?;
    let (peers, expect) = cluster(&raw.cluster, warnings)?;
    if raw.id.is_none() && !peers.is_empty() {
        return Err(contradiction("cluster.peers", "id", "a node of a cluster needs its own name; set id"));
    }
    let grpc = grpc(&raw.grpc, &name, &peers)?;
    let http_listen = raw.http.listen.as_deref().map(|text| socket_address("http.listen", text)).transpose()?;
    refuse_port_twice(&ldap_listen, grpc.listen, http_listen)?;
    Ok(Config {
        name,
        data,
        memory_bytes,
        budget: Budget::divide(memory_bytes),
        ldap_listen,
        grpc,
        http_listen,
        peers,
        expect,
        raft: raft(&raw.raft)?,
        allocator: match raw.store.allocator.as_deref() {
            None | Some("buddy") => AllocatorKind::Buddy,
            Some("first-fit") => AllocatorKind::FirstFit,
            Some(other) => return Err(one_of("store.allocator", other, "buddy, first-fit")),
        },
        bootstrap: bootstrap(raw.bootstrap)?,
        log: log(&raw.log)?,
    })
}

fn one_of(key: &'static str, found: &str, known: &str) -> ConfigError {
    invalid(key, format!("{found:?} is not known; one of {known} is expected"))
}

fn name(key: &'static str, text: &str) -> Result<String, ConfigError> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    if text.is_empty() || text.len() > NAME_MAX_BYTES || !text.bytes().all(allowed) {
        return Err(invalid(
            key,
            format!("{text:?} is no name; up to {NAME_MAX_BYTES} letters, digits, \"-\", \"_\" and \".\" are allowed"),
        ));
    }
    Ok(text.to_owned())
}

fn size_in_bytes(key: &'static str, size: &RawSize) -> Result<u64, ConfigError> {
    match size {
        RawSize::Bytes(bytes) => Ok(*bytes),
        RawSize::Text(text) => {
            parse_bytes(text).ok_or_else(|| invalid(key, format!("{text:?} is no size; write it like 512MiB or 2GiB")))
        }
    }
}

fn memory(raw: Option<&RawSize>, machine: &MachineMemory) -> Result<u64, ConfigError> {
    const KEY: &str = "memory";
    let available = [machine.ram_bytes, machine.cgroup_limit_bytes].into_iter().flatten().min();
    let bytes = match raw {
        Some(size) => size_in_bytes(KEY, size)?,
        // A machine with little memory still runs the smallest node, if that fits at all.
        None => match available {
            Some(available) => (available / 2).max(MEMORY_MIN_BYTES) / MIB * MIB,
            None => return Err(invalid(KEY, "this system does not say how much memory it has; set memory")),
        },
    };
    if bytes < MEMORY_MIN_BYTES {
        return Err(invalid(
            KEY,
            format!("{} is too little; at least {} are needed", format_bytes(bytes), format_bytes(MEMORY_MIN_BYTES)),
        ));
    }
    // The resident size may exceed the number by a tenth.
    let resident_max = bytes.saturating_add(bytes / 10);
    if let Some(limit) = machine.cgroup_limit_bytes.filter(|limit| resident_max > *limit) {
        return Err(contradiction(
            KEY,
            "the memory limit of this container",
            format!(
                "with memory at {} the process may take {}, but the limit is {}; set memory to {}MiB or less, or raise the limit",
                format_bytes(bytes),
                format_bytes(resident_max),
                format_bytes(limit),
                limit / 11 * 10 / MIB
            ),
        ));
    }
    if let Some(ram) = machine.ram_bytes.filter(|ram| bytes > *ram) {
        return Err(contradiction(
            KEY,
            "the memory of this machine",
            format!("{} is more than its {}", format_bytes(bytes), format_bytes(ram)),
        ));
    }
    Ok(bytes)
}

fn socket_address(key: &'static str, text: &str) -> Result<SocketAddr, ConfigError> {
    let address = match text.strip_prefix("localhost:") {
        Some(port) => port.parse::<u16>().ok().map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port))),
        None => text.parse::<SocketAddr>().ok(),
    };
    match address {
        Some(address) if address.port() != 0 => Ok(address),
        _ => Err(invalid(key, format!("{text:?} is not ADDRESS:PORT, as in 127.0.0.1:17389 or 0.0.0.0:17389"))),
    }
}

fn ldap_listeners(raw: Option<&[String]>) -> Result<Vec<LdapListener>, ConfigError> {
    let default = [DEFAULT_LDAP.to_owned()];
    let urls = raw.unwrap_or(&default);
    if urls.is_empty() {
        return Err(invalid("ldap.listen", "the list is empty, so nobody could use the directory"));
    }
    let mut listeners: Vec<LdapListener> = Vec::new();
    for url in urls {
        let listener = ldap_url(url)?;
        if listeners.contains(&listener) {
            return Err(invalid("ldap.listen", format!("{listener} stands in the list twice")));
        }
        listeners.push(listener);
    }
    Ok(listeners)
}

fn ldap_url(url: &str) -> Result<LdapListener, ConfigError> {
    const KEY: &str = "ldap.listen";
    let refuse = |reason: &str| invalid(KEY, format!("{url:?}: {reason}"));
    let (scheme, rest) =
        url.split_once("://").ok_or_else(|| refuse("a URL is expected, as in ldap://127.0.0.1:1389"))?;
    match scheme.to_ascii_lowercase().as_str() {
        "ldap" => {}
        "ldaps" | "ldapi" => return Err(refuse("only ldap:// can be served so far")),
        _ => return Err(refuse("the scheme is not ldap")),
    }
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    if let Ok(address) = rest.parse::<SocketAddr>() {
        return Ok(LdapListener { address });
    }
    let (host, port) = match rest.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => {
            (host, port.parse::<u16>().ok().filter(|port| *port != 0).ok_or_else(|| refuse("the port is no port"))?)
        }
        _ => (rest, LDAP_PORT),
    };
    let ip = match host.trim_start_matches('[').trim_end_matches(']') {
        "" | "*" => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        "localhost" => IpAddr::V4(Ipv4Addr::LOCALHOST),
        // A name could mean another address at every start.
        host => host.parse().map_err(|_| refuse("an IP address to listen on is expected, not a name"))?,
    };
    Ok(LdapListener { address: SocketAddr::new(ip, port) })
}

/// `host:port`, the host a name or an address.
fn host_port(key: &'static str, text: &str) -> Result<String, ConfigError> {
    let valid = text.rsplit_once(':').is_some_and(|(host, port)| {
        let port = port.parse::<u16>().is_ok_and(|port| port != 0);
        let bracketed = host.starts_with('[') && host.ends_with(']') && host.len() > 2;
        let plain = !host.is_empty()
            && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'));
        port && (bracketed || plain)
    });
    if valid { Ok(text.to_owned()) } else { Err(invalid(key, format!("{text:?} is not HOST:PORT"))) }
}

fn cluster(raw: &RawCluster, warnings: &mut Vec<String>) -> Result<(Vec<Peer>, usize), ConfigError> {
    const KEY: &str = "cluster.peers";
    let mut peers: Vec<Peer> = Vec::new();
    let listed = raw.peers.as_deref().unwrap_or_default();
    if listed.len() > PEERS_MAX {
        return Err(invalid(KEY, format!("{} nodes; at most {PEERS_MAX} are allowed", listed.len())));
    }
    for text in listed {
        let (peer_name, address) = text
            .split_once('=')
            .ok_or_else(|| invalid(KEY, format!("{text:?} is not NAME=HOST:PORT, as in node1=node1:17389")))?;
        let peer = Peer { name: name(KEY, peer_name.trim())?, address: host_port(KEY, address.trim())? };
        if let Some(other) = peers.iter().find(|other| other.name == peer.name || other.address == peer.address) {
            return Err(invalid(
                KEY,
                format!(
                    "{}={} and {}={} share a name or an address",
                    other.name, other.address, peer.name, peer.address
                ),
            ));
        }
        peers.push(peer);
    }
    let nodes = peers.len().max(1);
    let expect = match raw.expect {
        None => nodes,
        Some(expect) => usize::try_from(expect).unwrap_or(usize::MAX),
    };
    if expect == 0 {
        return Err(invalid("cluster.expect", "0 nodes cannot form a cluster"));
    }
    if expect > nodes {
        return Err(contradiction(
            "cluster.expect",
            KEY,
            format!("{expect} nodes are to form the cluster, but {nodes} are listed; list every node, this one too"),
        ));
    }
    if expect == 2 {
        warnings.push("cluster.expect = 2: a cluster of two stops writing when either node is down; use three".into());
    }
    Ok((peers, expect))
}

fn grpc(raw: &RawGrpc, own_name: &str, peers: &[Peer]) -> Result<Grpc, ConfigError> {
    const KEY: &str = "grpc.listen";
    let listen = socket_address(KEY, raw.listen.as_deref().unwrap_or(DEFAULT_GRPC))?;
    let insecure = raw.insecure.unwrap_or(false);
    let trust_loopback = raw.trust_loopback.unwrap_or(false);
    if !listen.ip().is_loopback() && !insecure {
        return Err(invalid(
            KEY,
            format!(
                "{listen} is reachable from other machines, and without TLS whoever reaches it could change the \
                 directory; listen on 127.0.0.1, or set grpc.insecure = true (--insecure-grpc) on a network that you trust"
            ),
        ));
    }
    if trust_loopback && !listen.ip().is_loopback() {
        return Err(contradiction(
            "grpc.trust_loopback",
            KEY,
            format!("administration without a password is for demonstrations on loopback only, not for {listen}"),
        ));
    }
    let own_peer = peers.iter().find(|peer| peer.name == own_name);
    let advertise = match (&raw.advertise, own_peer) {
        (Some(advertise), Some(peer)) if *advertise != peer.address => {
            return Err(contradiction(
                "grpc.advertise",
                "cluster.peers",
                format!(
                    "{advertise} here, but {own_name}={} there; the other nodes would use the second",
                    peer.address
                ),
            ));
        }
        (Some(advertise), _) => host_port("grpc.advertise", advertise)?,
        (None, Some(peer)) => peer.address.clone(),
        (None, None) if !peers.is_empty() => {
            let names: Vec<&str> = peers.iter().map(|peer| peer.name.as_str()).collect();
            return Err(contradiction(
                "cluster.peers",
                "id",
                format!("this node, {own_name:?}, is not among {}; list it, or set grpc.advertise", names.join(", ")),
            ));
        }
        (None, None) if listen.ip().is_unspecified() => {
            return Err(contradiction(
                KEY,
                "grpc.advertise",
                format!("{listen} means every address, so the other nodes need to be told one; set grpc.advertise"),
            ));
        }
        (None, None) => listen.to_string(),
    };
    Ok(Grpc { listen, advertise, trust_loopback })
}

fn refuse_port_twice(ldap: &[LdapListener], grpc: SocketAddr, http: Option<SocketAddr>) -> Result<(), ConfigError> {
    let overlap = |a: SocketAddr, b: SocketAddr| {
        a.port() == b.port() && (a.ip() == b.ip() || a.ip().is_unspecified() || b.ip().is_unspecified())
    };
    let reason = |address: SocketAddr| format!("both listen on port {}", address.port());
    if ldap.iter().any(|listener| overlap(listener.address, grpc)) {
        return Err(contradiction("ldap.listen", "grpc.listen", reason(grpc)));
    }
    if let Some(http) = http {
        if overlap(http, grpc) {
            return Err(contradiction("http.listen", "grpc.listen", reason(http)));
        }
        if ldap.iter().any(|listener| overlap(listener.address, http)) {
            return Err(contradiction("http.listen", "ldap.listen", reason(http)));
        }
    }
    Ok(())
}

fn raft(raw: &RawRaft) -> Result<Raft, ConfigError> {
    let heartbeat_ms = raw.heartbeat_ms.unwrap_or(DEFAULT_HEARTBEAT_MS);
    let election_ms = match raw.election_ms.as_deref() {
        None => DEFAULT_ELECTION_MS,
        Some([shortest, longest]) => (*shortest, *longest),
        Some(_) => return Err(invalid("raft.election_ms", "two numbers are expected, as in [250, 500]")),
    };
    let (shortest, longest) = election_ms;
    if heartbeat_ms == 0 {
        return Err(invalid("raft.heartbeat_ms", "0 would send heartbeats without end"));
    }
    if shortest >= longest || longest > ELECTION_MAX_MS {
        return Err(invalid(
            "raft.election_ms",
            format!(
                "the shortest ({shortest}) must be below the longest ({longest}), and that at most {ELECTION_MAX_MS}"
            ),
        ));
    }
    if heartbeat_ms.saturating_mul(2) > shortest {
        return Err(contradiction(
            "raft.heartbeat_ms",
            "raft.election_ms",
            format!(
                "one lost heartbeat of {heartbeat_ms} ms would start an election after {shortest} ms; keep it below half"
            ),
        ));
    }
    let log = match raw.log.as_deref() {
        None | Some("split") => LogKind::Split,
        Some("sled") => LogKind::Sled,
        Some("segmented") => LogKind::Segmented,
        Some(other) => return Err(one_of("raft.log", other, "split, sled, segmented")),
    };
    let retain_log_bytes = match &raw.retain_log {
        None => DEFAULT_RETAIN_LOG_BYTES,
        Some(size) => size_in_bytes("raft.retain_log", size)?,
    };
    if !(MIB..=RETAIN_LOG_MAX_BYTES).contains(&retain_log_bytes) {
        return Err(invalid(
            "raft.retain_log",
            format!(
                "{} is not between 1 MiB and {}",
                format_bytes(retain_log_bytes),
                format_bytes(RETAIN_LOG_MAX_BYTES)
            ),
        ));
    }
    let checkpoint_s = raw.checkpoint_s.unwrap_or(DEFAULT_CHECKPOINT_S);
    if !(1..=CHECKPOINT_MAX_S).contains(&checkpoint_s) {
        return Err(invalid(
            "raft.checkpoint_s",
            format!(
                "{checkpoint_s} is not between 1 and {CHECKPOINT_MAX_S}: the log behind a checkpoint is replayed at a start"
            ),
        ));
    }
    Ok(Raft { heartbeat_ms, election_ms, log, retain_log_bytes, checkpoint_s })
}

fn bootstrap(raw: RawBootstrap) -> Result<Option<Bootstrap>, ConfigError> {
    let none = raw == RawBootstrap::default();
    let Some(suffix) = raw.suffix else {
        return if none { Ok(None) } else { Err(invalid("bootstrap.suffix", "the other keys of [bootstrap] need it")) };
    };
    dn("bootstrap.suffix", &suffix)?;
    let admin_dn = raw.admin_dn.unwrap_or_else(|| format!("cn=admin,{suffix}"));
    dn("bootstrap.admin_dn", &admin_dn)?;
    let admin_password = match (raw.admin_password, raw.admin_password_file) {
        (Some(_), Some(_)) => {
            return Err(contradiction(
                "bootstrap.admin_password",
                "bootstrap.admin_password_file",
                "only one of them can be the password",
            ));
        }
        (Some(value), None) if value.is_empty() => return Err(invalid("bootstrap.admin_password", "it is empty")),
        (Some(value), None) => PasswordSource::Value(value),
        (None, Some(path)) => PasswordSource::File(path),
        (None, None) => {
            return Err(invalid(
                "bootstrap.admin_password_file",
                format!("without a password nobody could bind as {admin_dn}; name a file that holds it"),
            ));
        }
    };
    if let Some(dir) = &raw.schema_dir {
        directory("bootstrap.schema_dir", dir)?;
    }
    Ok(Some(Bootstrap { suffix, admin_dn, admin_password, schema_dir: raw.schema_dir }))
}

/// A first look; the schema's view of it comes when the cluster is formed.
fn dn(key: &'static str, text: &str) -> Result<(), ConfigError> {
    let rdns_have_types = text.split(',').next().is_some_and(|rdn| rdn.contains('='));
    if rdns_have_types { Ok(()) } else { Err(invalid(key, format!("{text:?} is no DN, as dc=example,dc=com is"))) }
}

/// Found missing now rather than after the cluster has formed without it.
fn directory(key: &'static str, path: &Path) -> Result<(), ConfigError> {
    if path.is_dir() { Ok(()) } else { Err(invalid(key, format!("{} is not a directory", path.display()))) }
}

fn log(raw: &RawLog) -> Result<Log, ConfigError> {
    let format = match raw.format.as_deref() {
        None | Some("text") => LogFormat::Text,
        Some("json") => LogFormat::Json,
        Some(other) => return Err(one_of("log.format", other, "text, json")),
    };
    let level = raw.level.clone().unwrap_or_else(|| DEFAULT_LEVEL.to_owned());
    if let Err(error) = level.parse::<tracing_subscriber::EnvFilter>() {
        return Err(invalid(
            "log.level",
            format!("{level:?}: {error}; a level (error, warn, info, debug) is expected"),
        ));
    }
    Ok(Log { format, level })
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
