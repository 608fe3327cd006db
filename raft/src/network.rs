//! How nodes reach each other. The product dials TCP (or TLS, by the node's own implementation);
//! a simulation dials its simulated network.

use std::time::Duration;

use tonic::transport::{Channel, Endpoint};

/// Why a channel could not even be prepared.
#[derive(Debug, thiserror::Error)]
#[error("address {address:?} cannot be used: {why}")]
pub struct ConnectError {
    /// The address as given.
    pub address: String,
    /// What is wrong with it.
    pub why: String,
}

/// Makes channels to other nodes.
pub trait Network: Send + Sync + 'static {
    /// A lazily connected channel of its own (its own TCP connection) to `address` (`host:port`). Must not
    /// block. Each channel has keepalive, so that a half-open connection dies.
    fn connect(&self, address: &str) -> Result<Channel, ConnectError>;
}

/// Time to establish a connection.
pub const CONNECT_TIMEOUT: Duration = Duration::from_millis(500);
/// HTTP/2 ping interval and answer time: a dead peer is noticed within twice this.
pub const KEEPALIVE: Duration = Duration::from_secs(2);

/// HTTP/2 windows: one snapshot chunk in flight; they bound what a slow receiver makes us buffer.
const STREAM_WINDOW_BYTES: u32 = 1 << 20;
const CONNECTION_WINDOW_BYTES: u32 = 2 << 20;

/// A server with the settings that go with [`endpoint`]. Whoever gives it accepted connections must set
/// TCP_NODELAY on them (for instance `TcpIncoming::with_nodelay`): without it every single write waits for
/// delayed acknowledgements.
pub fn server() -> tonic::transport::Server {
    tonic::transport::Server::builder()
        .initial_stream_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
        .http2_keepalive_interval(Some(KEEPALIVE))
        .http2_keepalive_timeout(Some(KEEPALIVE))
}

/// An endpoint with the settings every transport should use.
pub fn endpoint(scheme: &str, address: &str) -> Result<Endpoint, ConnectError> {
    let endpoint = Endpoint::from_shared(format!("{scheme}://{address}"))
        .map_err(|e| ConnectError { address: address.to_owned(), why: e.to_string() })?;
    Ok(endpoint
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_nodelay(true)
        .initial_stream_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
        .http2_keep_alive_interval(KEEPALIVE)
        .keep_alive_timeout(KEEPALIVE)
        .keep_alive_while_idle(true))
}

/// Plain TCP.
#[derive(Clone, Copy, Debug, Default)]
pub struct TcpNetwork;

impl Network for TcpNetwork {
    fn connect(&self, address: &str) -> Result<Channel, ConnectError> {
        Ok(endpoint("http", address)?.connect_lazy())
    }
}
