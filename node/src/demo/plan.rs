//! What a demonstration consists of: ports, directories and the nodes' configuration files. Pure.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::config::check::ADMIN_SOCKET_PATH_MAX_BYTES;

pub const SUFFIX: &str = "dc=example,dc=com";
pub const ADMIN_DN: &str = "cn=admin,dc=example,dc=com";
pub const ADMIN_PASSWORD: &str = "secret";

/// The first node's LDAP port; the other ports keep their distance to it wherever it is moved.
pub const DEFAULT_PORT_BASE: u16 = 1389;
const GRPC_ABOVE_LDAP: u16 = 16_000;
const HTTP_ABOVE_LDAP: u16 = 17_000;

/// One node of the demonstration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    pub name: String,
    pub ldap_port: u16,
    pub grpc_port: u16,
    pub http_port: u16,
    /// Its data directory.
    pub data: PathBuf,
    pub config_file: PathBuf,
    pub log_file: PathBuf,
}

impl Node {
    /// Its ports and what they are for.
    pub fn ports(&self) -> [(u16, &'static str); 3] {
        [(self.ldap_port, "LDAP"), (self.grpc_port, "gRPC"), (self.http_port, "HTTP")]
    }

    pub fn ldap_url(&self) -> String {
        format!("ldap://127.0.0.1:{}", self.ldap_port)
    }

    pub fn grpc_address(&self) -> String {
        format!("127.0.0.1:{}", self.grpc_port)
    }
}

/// Lays out `count` nodes in `dir`, which is absolute.
pub fn nodes(count: u16, port_base: u16, dir: &Path) -> Result<Vec<Node>, String> {
    let highest = u32::from(port_base) + u32::from(HTTP_ABOVE_LDAP) + u32::from(count) - 1;
    if highest > u32::from(u16::MAX) {
        return Err(format!(
            "--port-base {port_base} is too high: the HTTP ports lie {HTTP_ABOVE_LDAP} above it; use at most {}",
            u16::MAX - HTTP_ABOVE_LDAP - count + 1
        ));
    }
    let node = |at: u16| {
        let name = format!("node{}", at + 1);
        let ldap_port = port_base + at;
        Node {
            ldap_port,
            grpc_port: ldap_port + GRPC_ABOVE_LDAP,
            http_port: ldap_port + HTTP_ABOVE_LDAP,
            data: dir.join(&name),
            config_file: dir.join(format!("{name}.toml")),
            log_file: dir.join(format!("{name}.log")),
            name,
        }
    };
    let nodes: Vec<Node> = (0..count).map(node).collect();
    let socket = nodes.last().map(|node| bindery_ctl::connect::socket_path(&node.data)).unwrap_or_default();
    if socket.as_os_str().len() > ADMIN_SOCKET_PATH_MAX_BYTES {
        return Err(format!("{}: the path is too long for a socket in it; use a shorter --dir", dir.display()));
    }
    Ok(nodes)
}

/// The configuration file of one of `nodes`.
pub fn config_text(node: &Node, nodes: &[Node], memory_mib: u64) -> String {
    let peers: Vec<String> =
        nodes.iter().map(|peer| format!("{}={}", peer.name, peer.grpc_address())).map(|peer| quoted(&peer)).collect();
    let mut text = String::new();
    let mut line = |content: &str| {
        text.push_str(content);
        text.push('\n');
    };
    line("# Written by `bindery demo`; written again at its next start.");
    line(&format!("id = {}", quoted(&node.name)));
    line(&format!("data = {}", quoted(&node.data.to_string_lossy())));
    line(&format!("memory = \"{memory_mib}MiB\""));
    line(&format!("\n[ldap]\nlisten = [{}]", quoted(&node.ldap_url())));
    line(&format!("\n[grpc]\nlisten = {}\ntrust_loopback = true", quoted(&node.grpc_address())));
    line(&format!("\n[http]\nlisten = \"127.0.0.1:{}\"", node.http_port));
    line(&format!("\n[cluster]\npeers = [{}]\nexpect = {}", peers.join(", "), nodes.len()));
    line(&format!(
        "\n[bootstrap]\nsuffix = {}\nadmin_dn = {}\n# For the demonstration only.\nadmin_password = {}",
        quoted(SUFFIX),
        quoted(ADMIN_DN),
        quoted(ADMIN_PASSWORD)
    ));
    text
}

/// A TOML basic string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(character);
            }
            control if control.is_control() => {
                // Writing to a String cannot fail.
                let _ = write!(quoted, "\\u{:04X}", u32::from(control));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::check;
    use crate::config::file::RawConfig;
    use crate::config::machine::MachineMemory;
    use crate::units::GIB;

    #[test]
    fn ports_move_together() {
        let nodes = nodes(3, 1389, Path::new("/d")).unwrap();
        let ports: Vec<[u16; 3]> = nodes.iter().map(|node| node.ports().map(|(port, _)| port)).collect();
        assert_eq!(ports, [[1389, 17389, 18389], [1390, 17390, 18390], [1391, 17391, 18391]]);
        assert_eq!(super::nodes(1, 20_000, Path::new("/d")).unwrap()[0].grpc_port, 36_000);
        assert!(super::nodes(3, 60_000, Path::new("/d")).unwrap_err().contains("use at most 48533"));
        assert!(super::nodes(3, 48_533, Path::new("/d")).is_ok());
        assert!(super::nodes(3, 48_534, Path::new("/d")).is_err());
    }

    #[test]
    fn a_directory_too_deep_for_a_socket_is_refused() {
        let deep = PathBuf::from("/").join("d".repeat(100));
        assert!(nodes(1, 1389, &deep).unwrap_err().contains("shorter --dir"));
    }

    #[test]
    fn the_configuration_is_accepted() {
        let dir = Path::new("/tmp/with \"quotes\"");
        let nodes = nodes(3, 1389, dir).unwrap();
        let machine = MachineMemory { ram_bytes: Some(8 * GIB), cgroup_limit_bytes: None };
        for node in &nodes {
            let raw: RawConfig = toml::from_str(&config_text(node, &nodes, 256)).unwrap();
            let mut warnings = Vec::new();
            let config = check::check(raw, &machine, &mut warnings).unwrap();
            assert_eq!(config.data, node.data);
            assert_eq!((config.peers.len(), config.expect), (3, 3));
            assert!(config.grpc.trust_loopback);
            assert_eq!(config.bootstrap.unwrap().admin_dn, ADMIN_DN);
            assert!(warnings.is_empty(), "{warnings:?}");
        }
    }
}
