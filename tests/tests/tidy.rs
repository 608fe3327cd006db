//! House rules, checked like any other behaviour: which crate may know which, file and function sizes,
//! and words that must not stand in the product.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The only edges allowed between our crates. `tests` may name anything and nothing names it.
const ALLOWED: &[(&str, &[&str])] = &[
    ("bindery-proto", &[]),
    ("bindery-raft", &["bindery-proto"]),
    ("bindery-wire", &[]),
    ("bindery-model", &[]),
    ("bindery-store", &[]),
    ("bindery-directory", &["bindery-model", "bindery-store"]),
    ("bindery-ctl", &["bindery-proto"]),
    (
        "bindery",
        &[
            "bindery-ctl",
            "bindery-directory",
            "bindery-model",
            "bindery-proto",
            "bindery-raft",
            "bindery-store",
            "bindery-wire",
        ],
    ),
];

/// Third-party crates that only one of ours may name.
const WALLED: &[(&str, &str)] =
    &[("openraft", "bindery-raft"), ("openraft-rt", "bindery-raft"), ("sled", "bindery-raft")];

const FILE_LINES_MAX: usize = 900;
const FUNCTION_LINES_MAX: usize = 120;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ stands in the workspace").to_path_buf()
}

fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let mut all = BTreeMap::new();
    for package in metadata["packages"].as_array().expect("packages") {
        let name = package["name"].as_str().expect("name").to_string();
        let edges = package["dependencies"]
            .as_array()
            .expect("dependencies")
            .iter()
            .map(|d| d["name"].as_str().expect("name").to_string())
            .collect();
        all.insert(name, edges);
    }
    all
}

#[test]
fn crates_know_only_what_the_architecture_allows() {
    let all = dependencies();
    let ours: BTreeSet<&String> = all.keys().collect();
    for (name, edges) in &all {
        if name == "bindery-tests" {
            continue;
        }
        let allowed = ALLOWED.iter().find(|(n, _)| n == name).map(|(_, e)| *e);
        let allowed = allowed.unwrap_or_else(|| panic!("crate {name} is not in the architecture"));
        for edge in edges.iter().filter(|e| ours.contains(e)) {
            assert!(allowed.contains(&edge.as_str()), "{name} must not know {edge}");
        }
        for (crate_name, owner) in WALLED {
            assert!(!edges.contains(*crate_name) || name == owner, "only {owner} may name {crate_name}, not {name}");
        }
    }
}

#[test]
fn pure_crates_stay_synchronous() {
    let all = dependencies();
    for name in ["bindery-wire", "bindery-model", "bindery-store", "bindery-directory"] {
        for banned in ["tokio", "tonic", "tracing", "getrandom", "futures-util"] {
            assert!(!all[name].contains(banned), "{name} must not know {banned}");
        }
    }
}

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).expect("readable directory") {
        let path = entry.expect("readable entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().to_string();
        if path.is_dir() {
            if name != "target" && !name.starts_with('.') && !name.starts_with("target-") {
                sources(&path, found);
            }
        } else if name.ends_with(".rs") {
            found.push(path);
        }
    }
}

/// Lines before the file's own unit tests.
fn product_lines(text: &str) -> Vec<&str> {
    text.lines().take_while(|line| !line.starts_with("#[cfg(test)]")).collect()
}

#[test]
fn files_and_functions_stay_readable() {
    let mut found = Vec::new();
    sources(&root(), &mut found);
    let mut faults = Vec::new();
    for path in found {
        let text = std::fs::read_to_string(&path).expect("readable source");
        let lines = product_lines(&text);
        if lines.len() > FILE_LINES_MAX {
            faults.push(format!("{}: {} lines, at most {FILE_LINES_MAX}", path.display(), lines.len()));
        }
        // A function runs from its `fn` line to the closing brace at the same indentation (rustfmt'd source).
        let mut open: Option<(usize, usize, String)> = None;
        for (number, line) in lines.iter().enumerate() {
            let indent = line.len() - line.trim_start().len();
            let trimmed = line.trim_start();
            let starts = [
                "fn ",
                "pub fn ",
                "pub(crate) fn ",
                "async fn ",
                "pub async fn ",
                "pub(super) fn ",
                "pub(crate) async fn ",
            ]
            .iter()
            .any(|p| trimmed.starts_with(p));
            match &open {
                None if starts && !trimmed.ends_with(';') => open = Some((number, indent, trimmed.to_string())),
                Some((start, at, name)) if *at == indent && trimmed.starts_with('}') => {
                    if number - start > FUNCTION_LINES_MAX {
                        faults.push(format!("{}:{}: {name}: {} lines", path.display(), start + 1, number - start));
                    }
                    open = None;
                }
                _ => {}
            }
        }
    }
    assert!(faults.is_empty(), "too long:\n{}", faults.join("\n"));
}

#[test]
fn product_code_holds_no_leftovers() {
    let mut found = Vec::new();
    sources(&root(), &mut found);
    let marks = [concat!("to", "do!("), concat!("unimpl", "emented!("), concat!("FIX", "ME"), concat!("XX", "X")];
    let mut faults = Vec::new();
    for path in found.iter().filter(|p| !p.starts_with(root().join("tests"))) {
        let text = std::fs::read_to_string(path).expect("readable source");
        for (number, line) in product_lines(&text).iter().enumerate() {
            if marks.iter().any(|m| line.contains(m)) {
                faults.push(format!("{}:{}: {}", path.display(), number + 1, line.trim()));
            }
        }
    }
    assert!(faults.is_empty(), "left over:\n{}", faults.join("\n"));
}
