//! gRPC: consensus between nodes, and administration.

use std::net::SocketAddr;

use bindery_directory::Directory;
use bindery_raft::Cluster;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::config::Config;
use crate::passwords::Passwords;
use crate::read::Reads;

/// What the administration works on.
#[derive(Clone)]
pub struct AdminParts {
    pub config: Config,
    pub cluster: Cluster,
    pub directory: Directory,
    pub reads: Reads,
    pub passwords: Passwords,
}

#[derive(Debug, thiserror::Error)]
#[error("gRPC cannot listen on {address}: {source}")]
pub struct ListenError {
    address: SocketAddr,
    #[source]
    source: std::io::Error,
}

pub async fn serve(
    parts: AdminParts,
    routes: tonic::service::Routes,
    mut stop: watch::Receiver<bool>,
) -> Result<Vec<JoinHandle<()>>, ListenError> {
    let address = parts.config.grpc.listen;
    let listener = tokio::net::TcpListener::bind(address).await.map_err(|source| ListenError { address, source })?;
    Ok(vec![tokio::spawn(async move {
        let incoming = tonic::transport::server::TcpIncoming::from(listener).with_nodelay(Some(true));
        let stopped = async move {
            let _ = stop.wait_for(|stop| *stop).await;
        };
        let served =
            tonic::transport::Server::builder().add_routes(routes).serve_with_incoming_shutdown(incoming, stopped).await;
        if let Err(error) = served {
            tracing::error!(%error, "gRPC ended");
        }
    })])
}
