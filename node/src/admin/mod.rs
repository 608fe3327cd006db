//! gRPC: consensus between nodes, and administration, over TCP and over a socket in the data directory.

mod access;
mod convert;
mod dump;
mod load;
mod process;
mod service;
mod socket;
mod status;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bindery_directory::Directory;
use bindery_proto::admin::admin_server::AdminServer;
use bindery_proto::admin::peer_server::PeerServer;
use bindery_raft::Cluster;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::config::Config;
use crate::passwords::Passwords;
use crate::read::Reads;

use access::Door;
use service::{AdminService, PeerService};

/// The largest message that a command sends: a schema file, or a chunk of a load.
const REQUEST_MAX_BYTES: usize = 8 << 20;
/// The largest reply: the status of a large cluster, or a chunk of a dump.
const REPLY_MAX_BYTES: usize = 8 << 20;
/// Calls under way when the node stops may take this long to end.
const STOP_GRACE: Duration = Duration::from_millis(500);
/// Loads at once on one node: each may hold all the memory that is set aside for commands.
const LOADS_MAX: usize = 1;

/// What the administration works on.
#[derive(Clone)]
pub struct AdminParts {
    pub config: Config,
    pub cluster: Cluster,
    pub directory: Directory,
    pub reads: Reads,
    pub passwords: Passwords,
}

/// What the services share.
struct Shared {
    parts: AdminParts,
    started: Instant,
    loads: Arc<Semaphore>,
}

/// Why the administration cannot be reached.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The port.
    #[error("gRPC cannot listen on {address}: {source}; is another node running? choose another grpc.listen")]
    Tcp {
        address: SocketAddr,
        #[source]
        source: std::io::Error,
    },
    /// The socket in the data directory.
    #[error("{path}: {source}", path = path.display())]
    Socket {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
}

/// Serves `routes` (consensus) and the administration at `grpc.listen`, and the administration alone on the
/// socket, until `stop`.
pub async fn serve(
    parts: AdminParts,
    routes: tonic::service::Routes,
    stop: watch::Receiver<bool>,
) -> Result<Vec<JoinHandle<()>>, ListenError> {
    let address = parts.config.grpc.listen;
    let path = parts.config.admin_socket();
    let trust_loopback = parts.config.grpc.trust_loopback;
    let shared = Arc::new(Shared { parts, started: Instant::now(), loads: Arc::new(Semaphore::new(LOADS_MAX)) });

    let listener = tokio::net::TcpListener::bind(address).await;
    let listener = listener.map_err(|source| ListenError::Tcp { address, source })?;
    let socket = socket::bind(&path).map_err(|source| ListenError::Socket { path, source })?;

    let peer = PeerServer::new(PeerService::new(shared.clone()));
    let over_tcp = routes.add_service(admin(&shared, Door::Tcp { trust_loopback })).add_service(peer);
    let over_socket = tonic::service::Routes::new(admin(&shared, Door::Socket));
    let incoming = tonic::transport::server::TcpIncoming::from(listener).with_nodelay(Some(true));
    let tcp = tonic::transport::Server::builder()
        .add_routes(over_tcp)
        .serve_with_incoming_shutdown(incoming, stopped(stop.clone()));
    let incoming = tokio_stream::wrappers::UnixListenerStream::new(socket);
    let unix = tonic::transport::Server::builder()
        .add_routes(over_socket)
        .serve_with_incoming_shutdown(incoming, stopped(stop.clone()));
    Ok(vec![
        tokio::spawn(until_stopped("gRPC", tcp, stop.clone())),
        tokio::spawn(until_stopped("the administration socket", unix, stop)),
    ])
}

fn admin(shared: &Arc<Shared>, door: Door) -> AdminServer<AdminService> {
    AdminServer::new(AdminService::new(shared.clone(), door))
        .max_decoding_message_size(REQUEST_MAX_BYTES)
        .max_encoding_message_size(REPLY_MAX_BYTES)
}

async fn stopped(mut stop: watch::Receiver<bool>) {
    // An error means that the node is going down anyhow.
    let _ = stop.wait_for(|stop| *stop).await;
}

/// Serves until `stop`, and then for [`STOP_GRACE`]: the other nodes' connections never end by themselves.
async fn until_stopped(
    what: &str,
    serving: impl Future<Output = Result<(), tonic::transport::Error>>,
    stop: watch::Receiver<bool>,
) {
    let grace = async {
        stopped(stop).await;
        tokio::time::sleep(STOP_GRACE).await;
    };
    tokio::select! {
        served = serving => {
            if let Err(error) = served {
                tracing::error!(%error, "{what} ended");
            }
        }
        () = grace => tracing::debug!("{what}: open connections are cut off"),
    }
}
