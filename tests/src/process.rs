//! Clusters of real processes: started, killed, wiped and asked like an administrator would.

use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Administrator of every test cluster.
pub const ADMIN_DN: &str = "cn=admin,dc=example,dc=com";
/// Its password.
pub const ADMIN_PASSWORD: &str = "secret";
/// The one naming context of every test cluster.
pub const SUFFIX: &str = "dc=example,dc=com";

/// The product's binary: `BINDERY_BIN`, or built now in the profile of the running test.
pub fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        if let Some(path) = std::env::var_os("BINDERY_BIN") {
            return PathBuf::from(path);
        }
        let this = std::env::current_exe().expect("a test runs from a file");
        let profile_directory = this.parent().and_then(Path::parent).expect("target/PROFILE/deps/test");
        let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        // The whole workspace's features, so that what `cargo test --workspace` has built serves here too.
        build.args(["build", "--workspace", "--bin", "bindery"]);
        if profile_directory.ends_with("release") {
            build.arg("--release");
        }
        let target = profile_directory.parent().expect("target directory");
        build.arg("--target-dir").arg(target).current_dir(env!("CARGO_MANIFEST_DIR"));
        let status = build.stdout(Stdio::null()).status().expect("cargo runs");
        assert!(status.success(), "the bindery binary does not build");
        profile_directory.join("bindery")
    })
}

/// A free port of this machine's loopback.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("loopback has free ports").port()
}

/// How a test cluster differs from the plain one.
#[derive(Clone, Debug)]
pub struct ClusterOptions {
    /// Number of nodes.
    pub nodes: usize,
    /// The `memory` setting of each node.
    pub memory: String,
    /// Lines added to the top of each configuration file (before any table).
    pub top_level: String,
    /// Lines added to the end of each configuration file.
    pub extra: String,
}

impl Default for ClusterOptions {
    fn default() -> Self {
        ClusterOptions { nodes: 3, memory: "128MiB".into(), top_level: String::new(), extra: String::new() }
    }
}

/// One node's process and what is known of it.
pub struct Node {
    /// Its configured name.
    pub name: String,
    /// Its directory: configuration, data and output.
    pub directory: PathBuf,
    /// Where it serves LDAP.
    pub ldap: SocketAddr,
    /// Where it serves gRPC.
    pub grpc: SocketAddr,
    child: Option<Child>,
}

impl Node {
    /// Its data directory.
    pub fn data(&self) -> PathBuf {
        self.directory.join("data")
    }

    /// `ldap://host:port`.
    pub fn url(&self) -> String {
        format!("ldap://{}", self.ldap)
    }

    /// Its process id; panics when it does not run.
    pub fn pid(&self) -> u32 {
        self.child.as_ref().expect("the node runs").id()
    }

    /// Starts the process.
    pub fn start(&mut self) {
        self.spawn(Command::new(binary()));
    }

    /// Starts the process under `strace`, which writes what it sees to `trace`.
    pub fn start_traced(&mut self, trace: &Path) {
        let mut command = crate::trace::strace(trace);
        command.arg(binary());
        self.spawn(command);
    }

    fn spawn(&mut self, mut command: Command) {
        assert!(self.child.is_none(), "{} runs already", self.name);
        let output = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.directory.join("output.log"))
            .expect("output file");
        let child = command
            .arg("serve")
            .arg("--config")
            .arg(self.directory.join("bindery.toml"))
            .env("RUST_BACKTRACE", "1")
            .stdin(Stdio::null())
            .stdout(output.try_clone().expect("output file"))
            .stderr(output)
            .spawn()
            .expect("bindery starts");
        self.child = Some(child);
    }

    /// SIGKILL, and waits for the end.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// SIGTERM, and waits for a graceful end.
    pub fn stop(&mut self) -> std::process::ExitStatus {
        let mut child = self.child.take().expect("the node runs");
        signal(child.id(), rustix::process::Signal::TERM);
        let end = Instant::now() + Duration::from_secs(30);
        loop {
            if let Some(status) = child.try_wait().expect("waitable") {
                return status;
            }
            assert!(Instant::now() < end, "{} does not stop", self.name);
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Removes everything the node had stored.
    pub fn wipe(&self) {
        assert!(self.child.is_none(), "{} still runs", self.name);
        std::fs::remove_dir_all(self.data()).expect("data directory");
    }

    /// What the process wrote so far.
    pub fn output(&self) -> String {
        std::fs::read_to_string(self.directory.join("output.log")).unwrap_or_default()
    }

    /// An administration command on this node's own socket.
    pub fn admin(&self, arguments: &[&str]) -> Output {
        Command::new(binary())
            .args(arguments)
            .arg("--data")
            .arg(self.data())
            .stdin(Stdio::null())
            .output()
            .expect("bindery runs")
    }

    /// The same, which must succeed; its standard output.
    pub fn admin_ok(&self, arguments: &[&str]) -> String {
        let output = self.admin(arguments);
        assert!(
            output.status.success(),
            "bindery {arguments:?} on {}: {}\n{}",
            self.name,
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).expect("output is UTF-8")
    }

    /// Resident size of the process in bytes.
    pub fn resident_bytes(&self) -> u64 {
        self.status_bytes("VmRSS:")
    }

    /// The highest it has been.
    pub fn resident_peak_bytes(&self) -> u64 {
        self.status_bytes("VmHWM:")
    }

    fn status_bytes(&self, name: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).expect("a running process");
        let line = status.lines().find(|l| l.starts_with(name)).expect("a line of this name");
        line.split_whitespace().nth(1).and_then(|n| n.parse::<u64>().ok()).expect("a number of KiB") * 1024
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Sends a signal to a process.
pub fn signal(pid: u32, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(pid as i32).expect("a process id is not 0");
    rustix::process::kill_process(pid, signal).expect("the process exists");
}

/// A cluster of processes in a temporary directory.
pub struct ProcessCluster {
    /// Its nodes, in order of their names.
    pub nodes: Vec<Node>,
    directory: tempfile::TempDir,
}

impl ProcessCluster {
    /// Three plain nodes, formed and serving.
    pub fn three() -> Self {
        Self::start(ClusterOptions::default())
    }

    /// Starts a cluster and waits until every node answers.
    pub fn start(options: ClusterOptions) -> Self {
        let mut cluster = Self::prepare(options);
        for node in &mut cluster.nodes {
            node.start();
        }
        cluster.wait_ready(Duration::from_secs(60));
        cluster
    }

    /// Writes the configuration of a cluster without starting it.
    pub fn prepare(options: ClusterOptions) -> Self {
        let directory = tempfile::Builder::new().prefix("bindery-test-").tempdir().expect("temporary directory");
        std::fs::write(directory.path().join("admin-password"), ADMIN_PASSWORD).expect("password file");
        let ports: Vec<(u16, u16)> = (0..options.nodes).map(|_| (free_port(), free_port())).collect();
        let peers = ports
            .iter()
            .enumerate()
            .map(|(i, (_, grpc))| format!("\"node{}=127.0.0.1:{grpc}\"", i + 1))
            .collect::<Vec<_>>()
            .join(", ");
        let mut nodes = Vec::new();
        for (i, (ldap, grpc)) in ports.iter().enumerate() {
            let name = format!("node{}", i + 1);
            let node_directory = directory.path().join(&name);
            std::fs::create_dir_all(&node_directory).expect("node directory");
            let text = format!(
                "id = \"{name}\"\ndata = \"{data}\"\nmemory = \"{memory}\"\n{top}\n\
                 [ldap]\nlisten = [\"ldap://127.0.0.1:{ldap}\"]\n\
                 [grpc]\nlisten = \"127.0.0.1:{grpc}\"\n\
                 [cluster]\npeers = [{peers}]\nexpect = {count}\n\
                 [bootstrap]\nsuffix = \"{SUFFIX}\"\nadmin_dn = \"{ADMIN_DN}\"\nadmin_password_file = \"{password}\"\n{extra}\n",
                data = node_directory.join("data").display(),
                memory = options.memory,
                top = options.top_level,
                count = options.nodes,
                password = directory.path().join("admin-password").display(),
                extra = options.extra,
            );
            std::fs::write(node_directory.join("bindery.toml"), text).expect("configuration file");
            nodes.push(Node {
                name,
                directory: node_directory,
                ldap: SocketAddr::from(([127, 0, 0, 1], *ldap)),
                grpc: SocketAddr::from(([127, 0, 0, 1], *grpc)),
                child: None,
            });
        }
        ProcessCluster { nodes, directory }
    }

    /// A place for the test's own files.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Waits until every running node binds its administrator and reads the root DSE.
    pub fn wait_ready(&mut self, limit: Duration) {
        let end = Instant::now() + limit;
        for i in 0..self.nodes.len() {
            loop {
                let node = &mut self.nodes[i];
                let Some(child) = node.child.as_mut() else { break };
                if let Some(status) = child.try_wait().expect("waitable") {
                    panic!("{} ended: {status}\n{}", node.name, node.output());
                }
                if crate::client::Client::admin(node.ldap).is_ok() {
                    break;
                }
                assert!(Instant::now() < end, "{} is not ready\n{}", node.name, node.output());
                std::thread::sleep(Duration::from_millis(50));
            }
        }
    }

    /// Index of the node that leads, waiting for one.
    pub fn leader(&self) -> usize {
        let end = Instant::now() + Duration::from_secs(30);
        loop {
            for node in self.nodes.iter().filter(|n| n.child.is_some()) {
                let output = node.admin(&["leader", "show", "-o", "json"]);
                let answer: Option<serde_json::Value> = serde_json::from_slice(&output.stdout).ok();
                let leader = answer.as_ref().and_then(|a| a["leader"].as_str()).unwrap_or_default();
                if let Some(i) = self.nodes.iter().position(|n| n.name == leader && n.child.is_some()) {
                    return i;
                }
            }
            assert!(Instant::now() < end, "no leader");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Waits until all running nodes' dumps are the same bytes, and returns the dump.
    pub fn equal_dumps(&self) -> String {
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            let dumps: Vec<String> =
                self.nodes.iter().filter(|n| n.child.is_some()).map(|n| n.admin_ok(&["dump"])).collect();
            if dumps.windows(2).all(|pair| pair[0] == pair[1]) {
                return dumps.into_iter().next().expect("a node runs");
            }
            assert!(Instant::now() < end, "the nodes' dumps stay different");
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// Output of all nodes, for a failing test's message.
    pub fn output(&self) -> String {
        self.nodes.iter().map(|n| format!("--- {}\n{}", n.name, n.output())).collect()
    }
}
