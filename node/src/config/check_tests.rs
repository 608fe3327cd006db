use super::*;
use crate::units::GIB;

const MACHINE: MachineMemory = MachineMemory { ram_bytes: Some(8 * GIB), cgroup_limit_bytes: None };

fn checked(text: &str) -> Result<Config, String> {
    checked_on(text, &MACHINE)
}

fn checked_on(text: &str, machine: &MachineMemory) -> Result<Config, String> {
    let raw: RawConfig = toml::from_str(text).map_err(|error| error.to_string())?;
    check(raw, machine, &mut Vec::new()).map_err(|error| error.to_string())
}

#[test]
fn nothing_written_is_a_node_on_its_own() {
    let config = checked("").unwrap();
    assert_eq!(config.name, "node1");
    assert_eq!(config.data, Path::new("/var/lib/bindery"));
    assert_eq!(config.memory_bytes, 4 * GIB);
    assert_eq!(config.ldap_listen[0].to_string(), "ldap://127.0.0.1:1389");
    assert_eq!(config.grpc.listen.to_string(), "127.0.0.1:17389");
    assert_eq!(config.grpc.advertise, "127.0.0.1:17389");
    assert_eq!((config.peers.len(), config.expect), (0, 1));
    assert!(config.bootstrap.is_none());
}

#[test]
fn a_node_of_three() {
    let config = checked(
        "id = 'b'\n[grpc]\nlisten = '0.0.0.0:17389'\ninsecure = true\n[cluster]\npeers = ['a=a:1', 'b=b:1', 'c=c:1']",
    )
    .unwrap();
    assert_eq!(config.grpc.advertise, "b:1");
    assert_eq!((config.peers.len(), config.expect), (3, 3));
}

/// Text of the file, and what the refusal must contain.
const REFUSED: &[(&str, &str)] = &[
    ("id = 'a b'", "id: \"a b\" is no name"),
    ("id = ''", "id: \"\" is no name"),
    ("data = ''", "data: "),
    ("memory = '64MiB'", "at least 128 MiB are needed"),
    ("memory = 'lots'", "write it like 512MiB"),
    ("memory = '16GiB'", "is more than its 8 GiB"),
    ("[ldap]\nlisten = []", "the list is empty"),
    ("[ldap]\nlisten = ['127.0.0.1:389']", "a URL is expected"),
    ("[ldap]\nlisten = ['ldaps://127.0.0.1']", "only ldap:// can be served so far"),
    ("[ldap]\nlisten = ['ldap://host:389']", "not a name"),
    ("[ldap]\nlisten = ['ldap://127.0.0.1:99999']", "the port is no port"),
    ("[ldap]\nlisten = ['ldap://*', 'ldap://0.0.0.0:389']", "stands in the list twice"),
    ("[grpc]\nlisten = '0.0.0.0:17389'", "set grpc.insecure = true"),
    ("[grpc]\nlisten = '0.0.0.0:17389'\ninsecure = true", "set grpc.advertise"),
    ("[grpc]\nlisten = '10.0.0.1:1'\ninsecure = true\ntrust_loopback = true", "for demonstrations on loopback only"),
    ("[grpc]\nlisten = '17389'", "is not ADDRESS:PORT"),
    ("[grpc]\nadvertise = 'nohost'", "is not HOST:PORT"),
    ("[grpc]\nlisten = '127.0.0.1:1389'", "ldap.listen contradicts grpc.listen: both listen on port 1389"),
    ("[http]\nlisten = '127.0.0.1:17389'", "http.listen contradicts grpc.listen"),
    ("[cluster]\npeers = ['a=a:1']", "a node of a cluster needs its own name"),
    ("id = 'z'\n[cluster]\npeers = ['a=a:1', 'b=b:1']", "is not among a, b"),
    ("id = 'a'\n[cluster]\npeers = ['a:1']", "is not NAME=HOST:PORT"),
    ("id = 'a'\n[cluster]\npeers = ['a=a:1', 'a=b:1']", "share a name or an address"),
    ("id = 'a'\n[cluster]\npeers = ['a=a:1', 'b=a:1']", "share a name or an address"),
    ("id = 'a'\n[cluster]\npeers = ['a=a:1']\nexpect = 3", "3 nodes are to form the cluster, but 1 are listed"),
    ("[cluster]\nexpect = 0", "0 nodes cannot form a cluster"),
    ("id = 'a'\n[grpc]\nadvertise = 'x:1'\n[cluster]\npeers = ['a=a:1']", "grpc.advertise contradicts cluster.peers"),
    ("[raft]\nheartbeat_ms = 0", "heartbeats without end"),
    ("[raft]\nheartbeat_ms = 200", "keep it below half"),
    ("[raft]\nelection_ms = [500, 250]", "the shortest (500) must be below the longest (250)"),
    ("[raft]\nelection_ms = [500]", "two numbers are expected"),
    ("[raft]\nlog = 'paper'", "one of split, sled, segmented is expected"),
    ("[store]\nallocator = 'slab'", "one of buddy, first-fit is expected"),
    ("[bootstrap]\nadmin_dn = 'cn=admin'", "bootstrap.suffix: the other keys"),
    ("[bootstrap]\nsuffix = 'example.com'\nadmin_password = 'x'", "is no DN"),
    ("[bootstrap]\nsuffix = 'dc=x'", "without a password nobody could bind as cn=admin,dc=x"),
    ("[bootstrap]\nsuffix = 'dc=x'\nadmin_password = 'a'\nadmin_password_file = '/a'", "only one of them"),
    ("[bootstrap]\nsuffix = 'dc=x'\nadmin_password = 'a'\nschema_dir = '/nonexistent'", "is not a directory"),
    ("[raft]\nretain_log = '1KiB'", "raft.retain_log"),
    ("[raft]\ncheckpoint_s = 0", "raft.checkpoint_s"),
    ("[log]\nformat = 'xml'", "one of text, json is expected"),
    ("[log]\nlevel = 'bindery=loud'", "log.level: "),
];

#[test]
fn refusals_name_the_key_and_the_reason() {
    for (text, expected) in REFUSED {
        let refused = checked(text).expect_err(text);
        assert!(refused.contains(expected), "{text:?}: {refused:?}");
    }
}

#[test]
fn memory_follows_the_container_limit() {
    let limited = |mib: u64| MachineMemory { ram_bytes: Some(8 * GIB), cgroup_limit_bytes: Some(mib * MIB) };
    assert_eq!(checked_on("", &limited(1024)).unwrap().memory_bytes, 512 * MIB);
    // Half would be too little, the minimum still fits.
    assert_eq!(checked_on("", &limited(200)).unwrap().memory_bytes, 128 * MIB);
    let refused = checked_on("memory = '500MiB'", &limited(512)).unwrap_err();
    assert!(refused.contains("but the limit is 512 MiB; set memory to 465MiB or less"), "{refused}");
    checked_on("memory = '465MiB'", &limited(512)).unwrap();
    assert!(checked_on("", &limited(128)).is_err());
}

#[test]
fn ldap_urls() {
    let table = [
        ("ldap://127.0.0.1:1389", "127.0.0.1:1389"),
        ("LDAP://127.0.0.1:1389/", "127.0.0.1:1389"),
        ("ldap://*:389", "0.0.0.0:389"),
        ("ldap://", "0.0.0.0:389"),
        ("ldap://localhost", "127.0.0.1:389"),
        ("ldap://[::1]:1389", "[::1]:1389"),
        ("ldap://[::1]", "[::1]:389"),
    ];
    for (url, address) in table {
        assert_eq!(ldap_url(url).unwrap().address.to_string(), address, "{url}");
    }
}

#[test]
fn the_password_is_never_shown() {
    let config = checked("[bootstrap]\nsuffix = 'dc=x'\nadmin_password = 'hunter2'").unwrap();
    let bootstrap = config.bootstrap.unwrap();
    assert!(!format!("{bootstrap:?}").contains("hunter2"));
    assert_eq!(bootstrap.admin_dn, "cn=admin,dc=x");
    assert_eq!(bootstrap.admin_password.read().unwrap(), b"hunter2");
}

#[test]
fn a_password_file_loses_its_line_end() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("password");
    std::fs::write(&path, "secret\n").unwrap();
    assert_eq!(PasswordSource::File(path.clone()).read().unwrap(), b"secret");
    std::fs::write(&path, "\n").unwrap();
    assert!(PasswordSource::File(path).read().unwrap_err().to_string().contains("is empty"));
    assert!(PasswordSource::File(dir.path().join("none")).read().is_err());
}

#[test]
fn the_example_configuration_is_accepted_with_and_without_its_optional_keys() {
    let text = include_str!("../../../deploy/bindery.toml");
    let config = checked(text).unwrap();
    assert_eq!((config.name.as_str(), config.peers.len()), ("node1", 0));
    // A line that is only a key behind "# " is an optional setting; the schema folder does not exist here.
    let with_all: String = text
        .lines()
        .map(|line| match line.strip_prefix("# ") {
            Some(key) if key.contains(" = ") && !key.contains("schema_dir") && !key.starts_with("Where") => key,
            _ => line,
        })
        .map(|line| format!("{line}\n"))
        .collect();
    let config = checked(&with_all).unwrap_or_else(|error| panic!("{error}\n{with_all}"));
    assert_eq!((config.peers.len(), config.expect), (3, 3));
}
