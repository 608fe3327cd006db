//! `/live` and `/ready` for health checks, each connection one small answer.
//!
//! `/live`: this process runs. `/ready`: this node answers LDAP reads at its level. `/ready?write`: and it
//! knows a leader that could take a write. An answer that is not 200 lists the reasons.

use std::net::SocketAddr;
use std::time::Duration;

use bindery_directory::Directory;
use bindery_raft::Cluster;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// A request line and headers; health checks send a few hundred bytes.
const HEAD_BYTES: usize = 8 << 10;
/// A client that has not sent its request by then is no health check.
const PATIENCE: Duration = Duration::from_secs(5);
/// Wait after a failed accept, so that the loop does not spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Connections at once; checks come one every few seconds.
const CONNECTIONS: usize = 64;

/// The port cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error("HTTP cannot listen on {address}: {source}; is another program using the port? choose another http.listen")]
pub struct ListenError {
    address: SocketAddr,
    #[source]
    source: std::io::Error,
}

/// Serves health checks until `stop`.
pub async fn serve(
    address: SocketAddr,
    cluster: Cluster,
    directory: Directory,
    mut stop: watch::Receiver<bool>,
) -> Result<JoinHandle<()>, ListenError> {
    let listener = TcpListener::bind(address).await.map_err(|source| ListenError { address, source })?;
    Ok(tokio::spawn(async move {
        let permits = std::sync::Arc::new(tokio::sync::Semaphore::new(CONNECTIONS));
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                _ = stop.wait_for(|stop| *stop) => return,
            };
            if let Err(error) = &accepted {
                tracing::warn!(%error, "a health check was not accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
            // Beyond the bound the connection is dropped: the check fails, as it should on a node so busy.
            if let (Ok((stream, _)), Ok(permit)) = (accepted, permits.clone().try_acquire_owned()) {
                let (cluster, directory) = (cluster.clone(), directory.clone());
                tokio::spawn(async move {
                    let _ = tokio::time::timeout(PATIENCE, answer(stream, &cluster, &directory)).await;
                    drop(permit);
                });
            }
        }
    }))
}

async fn answer(mut stream: TcpStream, cluster: &Cluster, directory: &Directory) -> std::io::Result<()> {
    let mut head = Vec::with_capacity(1024);
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        if head.len() >= HEAD_BYTES || stream.read_buf(&mut head).await? == 0 {
            return Ok(());
        }
    }
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let mut words = line.split(|byte| *byte == b' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (status, body) = match (method, target) {
        (b"GET" | b"HEAD", b"/live") => ("200 OK", "live\n".to_owned()),
        (b"GET" | b"HEAD", b"/ready") => verdict(reasons(cluster, directory, false)),
        (b"GET" | b"HEAD", b"/ready?write") => verdict(reasons(cluster, directory, true)),
        (b"GET" | b"HEAD", _) => ("404 Not Found", "/live, /ready and /ready?write are served here\n".to_owned()),
        _ => ("405 Method Not Allowed", "only GET\n".to_owned()),
    };
    let body = if method == b"HEAD" { String::new() } else { body };
    let response = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(response.as_bytes()).await?;
    stream.shutdown().await
}

fn verdict(reasons: Vec<String>) -> (&'static str, String) {
    if reasons.is_empty() {
        return ("200 OK", "ready\n".to_owned());
    }
    ("503 Service Unavailable", reasons.iter().map(|reason| format!("{reason}\n")).collect())
}

/// What keeps the node from serving; empty when it is ready.
fn reasons(cluster: &Cluster, directory: &Directory, write: bool) -> Vec<String> {
    let status = cluster.status();
    let mut reasons: Vec<String> = status.trouble.clone().into_iter().collect();
    if !directory.view().settings().is_founded() {
        reasons.push("this node does not hold the directory yet".to_owned());
    }
    if write && status.leader.is_none() {
        reasons.push("no leader is known: writes wait".to_owned());
    }
    reasons
}
