//! The nodes as processes: starting them, watching them, starting them again, stopping them.

use std::fs::OpenOptions;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::watch;

use super::plan::Node;

/// A killed node stays away this long, so that its absence can be looked at.
const RESTART_AFTER: Duration = Duration::from_secs(10);
/// A node that has not stopped in good order by then is killed.
const STOP_PATIENCE: Duration = Duration::from_secs(15);
/// How much of a log is shown when a node does not start.
const LOG_TAIL_LINES: usize = 12;

/// A node's process. Its standard input is kept apart, since waiting for a [`Child`] closes the one it has.
pub struct Running {
    child: Child,
    /// Closing it stops the node.
    _stdin: Option<ChildStdin>,
}

impl Running {
    /// None once it has ended and been waited for.
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }
}

/// Starts a node. Standard input is a pipe whose other end this process holds: should it die in whatever way,
/// the pipe closes and the node stops.
pub fn spawn(node: &Node) -> Result<Running, String> {
    let failed = |error: std::io::Error| format!("{} cannot be started: {error}", node.name);
    let program = std::env::current_exe().map_err(failed)?;
    let log = OpenOptions::new()
        .create(true)
        .append(true)
        .open(&node.log_file)
        .map_err(|error| format!("{}: {error}", node.log_file.display()))?;
    let mut command = Command::new(program);
    // Settings meant for another node must not reach this one.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("BINDERY_") {
            command.env_remove(name);
        }
    }
    command
        .args(["serve", "--stop-with-stdin", "--config"])
        .arg(&node.config_file)
        .stdin(Stdio::piped())
        .stdout(log.try_clone().map_err(failed)?)
        .stderr(log)
        // Ctrl-C at the terminal goes to this process only, which stops the nodes in good order.
        .process_group(0)
        .kill_on_drop(true);
    let mut child = command.spawn().map_err(failed)?;
    let stdin = child.stdin.take();
    Ok(Running { child, _stdin: stdin })
}

/// The last lines of a node's log.
pub fn log_tail(node: &Node) -> String {
    let text = std::fs::read(&node.log_file).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LOG_TAIL_LINES)..].join("\n")
}

/// "was killed by signal 9", "ended with status 1".
pub fn describe(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("was killed by signal {signal}"),
        (None, Some(code)) => format!("ended with status {code}"),
        (None, None) => "ended".to_owned(),
    }
}

/// Keeps one node running until `stop` turns true, then stops it.
pub async fn keep(node: Node, mut running: Running, mut stop: watch::Receiver<bool>) {
    loop {
        let pid = running.pid().unwrap_or_default();
        tokio::select! {
            _ = stopped(&mut stop) => return end(&node, running).await,
            status = running.child.wait() => {
                let how = status.map_or_else(|error| format!("is lost ({error})"), describe);
                say!("{} (pid {pid}) {how}; it starts again in {} s", node.name, RESTART_AFTER.as_secs());
            }
        }
        loop {
            tokio::select! {
                _ = stopped(&mut stop) => return,
                () = tokio::time::sleep(RESTART_AFTER) => {}
            }
            match spawn(&node) {
                Ok(started) => {
                    say!("{} started again, pid {}", node.name, started.pid().unwrap_or_default());
                    running = started;
                    break;
                }
                Err(why) => say!("{why}; next attempt in {} s", RESTART_AFTER.as_secs()),
            }
        }
    }
}

/// Returns when `stop` is true, or its sender is gone.
async fn stopped(stop: &mut watch::Receiver<bool>) {
    // An error means that nobody can ever ask again: as good as being asked.
    let _ = stop.wait_for(|stop| *stop).await;
}

/// Asks a node to stop, and kills it if it does not.
pub async fn end(node: &Node, mut running: Running) {
    let pid = running.pid().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
    if let Some(pid) = pid {
        // It may have ended by itself meanwhile; it has not been waited for, so that the pid is still its own.
        let _ = kill_process(pid, Signal::TERM);
    }
    if tokio::time::timeout(STOP_PATIENCE, running.child.wait()).await.is_err() {
        say!("{} does not stop; it is killed (its data is safe)", node.name);
        if let Err(error) = running.child.kill().await {
            say!("{} cannot be killed: {error}", node.name);
        }
    }
}
