//! Accepts connections, each under a permit, and runs a session for each.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use super::server::Server;
use super::session::Session;

/// Wait after a failed accept (no descriptors left, usually), so that the loop does not spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A listener could not be opened.
#[derive(Debug, thiserror::Error)]
#[error("LDAP cannot listen on {address}: {source}{hint}")]
pub struct ListenError {
    address: SocketAddr,
    source: std::io::Error,
    hint: &'static str,
}

impl ListenError {
    fn new(address: SocketAddr, source: std::io::Error) -> ListenError {
        let hint = match source.kind() {
            std::io::ErrorKind::AddrInUse => {
                "; another program listens there: stop it, or change ldap.listen (--ldap-listen)"
            }
            std::io::ErrorKind::PermissionDenied => "; ports below 1024 need a privilege: use a higher one",
            std::io::ErrorKind::AddrNotAvailable => "; this machine has no such address: change ldap.listen",
            _ => "",
        };
        ListenError { address, source, hint }
    }
}

/// Opens a listener.
pub async fn listen(address: SocketAddr) -> Result<TcpListener, ListenError> {
    TcpListener::bind(address).await.map_err(|source| ListenError::new(address, source))
}

/// Serves a listener until `stop` turns true.
pub fn serve(server: Arc<Server>, listener: TcpListener, stop: watch::Receiver<bool>) -> tokio::task::JoinHandle<()> {
    tokio::spawn(accept_loop(server, listener, stop))
}

async fn accept_loop(server: Arc<Server>, listener: TcpListener, mut stop: watch::Receiver<bool>) {
    loop {
        let permit = tokio::select! {
            permit = server.connection_permit() => permit,
            _ = stop.wait_for(|stop| *stop) => return,
        };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.wait_for(|stop| *stop) => return,
        };
        match accepted {
            Ok((stream, peer)) => {
                let server = server.clone();
                let stop = stop.clone();
                tokio::spawn(async move {
                    prepare_socket(&stream);
                    Session::new(server, stream).run(stop).await;
                    tracing::debug!(%peer, "connection closed");
                    drop(permit);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "accept failed; if it says too many open files, raise the limit (ulimit -n)");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

fn prepare_socket(stream: &TcpStream) {
    // Answers are gathered before they are written, so there is nothing for Nagle's algorithm to gather.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY refused");
    }
}
