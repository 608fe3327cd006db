//! The demo with the people of `peons.py`, asked by Debian's ldap-utils on each node.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bindery_tests::count::scaled;
use bindery_tests::process::{ADMIN_DN, SUFFIX, binary, free_port, signal};
use bindery_tests::{peons, process};

/// How long the demo may take to be ready, its load included.
const READY: Duration = Duration::from_secs(900);

struct Demo {
    child: Child,
    /// First LDAP port; the others follow.
    port: u16,
}

impl Demo {
    fn start(directory: &Path, arguments: &[&str]) -> Demo {
        // The three kinds of ports lie 16,000 apart; a free one below leaves room for all.
        let port = loop {
            let port = free_port() % 14_000 + 10_000;
            if (0..3).all(|i| std::net::TcpListener::bind(("127.0.0.1", port + i)).is_ok()) {
                break port;
            }
        };
        let mut child = Command::new(binary())
            .arg("demo")
            .args(["--port-base", &port.to_string(), "--dir"])
            .arg(directory)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the demo starts");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        let began = Instant::now();
        let (sender, lines) = std::sync::mpsc::channel();
        std::thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let mut all = String::new();
        loop {
            match lines.recv_timeout(READY.saturating_sub(began.elapsed())) {
                Ok(line) if line.starts_with("ready") => break,
                Ok(line) => all = all + &line + "\n",
                Err(error) => {
                    let _ = child.kill();
                    panic!("the demo is not ready ({error}):\n{all}");
                }
            }
        }
        println!("{all}ready after {:?}", began.elapsed());
        // The rest of the output is read so that the demo is never held up.
        std::thread::spawn(move || lines.into_iter().for_each(drop));
        Demo { child, port }
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        signal(self.child.id(), rustix::process::Signal::INT);
        let end = Instant::now() + Duration::from_secs(30);
        while !matches!(self.child.try_wait(), Ok(Some(_))) && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(50));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn ldapsearch(port: u16, user: &str, password: &str, filter: &str, attributes: &[&str]) -> String {
    let output = Command::new("ldapsearch")
        .args(["-x", "-LLL", "-o", "ldif-wrap=no", "-H", &format!("ldap://127.0.0.1:{port}")])
        .args(["-D", user, "-w", password, "-b", SUFFIX, filter])
        .args(attributes)
        .output()
        .expect("ldapsearch is installed (Debian: ldap-utils)");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "ldapsearch {filter} at {port}: {error}");
    String::from_utf8(output.stdout).expect("ldapsearch writes UTF-8")
}

fn dns(ldif: &str) -> BTreeSet<String> {
    ldif.lines().filter_map(|line| line.strip_prefix("dn: ")).map(str::to_owned).collect()
}

/// What the filter below must find, by reading the input line by line.
fn expected(ldif: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for record in std::fs::read_to_string(ldif).expect("the people").split("\n\n") {
        let value = |name: &str| record.lines().find_map(|line| line.strip_prefix(name));
        let (Some(dn), Some(cn)) = (value("dn: "), value("cn: ")) else { continue };
        if record.contains("\nobjectClass: person\n")
            && cn.to_lowercase().contains("an")
            && value("departmentNumber: ") == Some("7")
        {
            found.insert(dn.to_owned());
        }
    }
    found
}

#[test]
fn people_load_into_the_demo_and_are_found_on_every_node() {
    let count = scaled(20_000, 100_000);
    let folder = tempfile::Builder::new().prefix("bindery-demo-").tempdir().expect("temporary directory");
    let (people, indexes) = (folder.path().join("people.ldif"), folder.path().join("indexes.conf"));
    peons::people(count, &people);
    peons::indices(&indexes);
    let demo = Demo::start(
        &folder.path().join("demo"),
        &["--ldif", people.to_str().expect("UTF-8"), "--indexes", indexes.to_str().expect("UTF-8")],
    );
    let wanted = expected(&people);
    assert!(!wanted.is_empty());
    let person = "(uid=user.4242)";
    for port in (0..3).map(|i| demo.port + i) {
        let found = ldapsearch(port, ADMIN_DN, process::ADMIN_PASSWORD, person, &[]);
        assert!(found.contains("\nmail: user.4242@example.com\n"), "{found}");
        let filter = "(&(objectClass=person)(cn=*an*)(departmentNumber=7))";
        let answer = ldapsearch(port, ADMIN_DN, process::ADMIN_PASSWORD, filter, &["1.1"]);
        assert_eq!(dns(&answer), wanted, "at {port}");
        let dn = dns(&found).into_iter().next().expect("one entry");
        let own = ldapsearch(port, &dn, "secret4242", person, &["cn"]);
        assert_eq!(dns(&own).len(), 1, "the password does not bind at {port}");
    }
}
