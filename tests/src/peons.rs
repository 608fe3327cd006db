//! The people of `tests/tools/peons.py`, as files.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn tool() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/peons.py")
}

/// Writes `count` people as LDIF.
pub fn people(count: usize, path: &Path) {
    run(&[&count.to_string()], path);
}

/// Writes the 21 index lines.
pub fn indices(path: &Path) {
    run(&["--indices"], path);
}

fn run(arguments: &[&str], path: &Path) {
    let output = File::create(path).expect("output file");
    let status = Command::new("python3")
        .arg(tool())
        .args(arguments)
        .stdout(output)
        .stderr(Stdio::inherit())
        .status()
        .expect("python3 runs");
    assert!(status.success(), "peons.py {arguments:?}");
}
