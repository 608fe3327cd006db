//! gRPC over the simulated network, and the simulated clock and randomness.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bindery_raft::{Clock, Cluster, ConnectError, Network, Randomness, endpoint, server};
use futures_util::stream::unfold;
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tonic::transport::server::Connected;
use tonic::transport::{Channel, Uri};
use turmoil::net::{TcpListener, TcpStream};

use crate::faulty_file::Rng;

/// Port of the gRPC services on every simulated node.
pub const PORT: u16 = 7000;

/// Dials through the simulation.
pub struct SimNetwork;

impl Network for SimNetwork {
    fn connect(&self, address: &str) -> Result<Channel, ConnectError> {
        let connector = tower::service_fn(|uri: Uri| async move {
            let authority = uri.authority().map(|a| a.as_str().to_owned()).unwrap_or_default();
            TcpStream::connect(authority).await.map(TokioIo::new)
        });
        Ok(endpoint("http", address)?.connect_with_connector_lazy(connector))
    }
}

struct Accepted(TcpStream);

impl Connected for Accepted {
    type ConnectInfo = ();
    fn connect_info(&self) {}
}

impl AsyncRead for Accepted {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Accepted {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

/// Serves a node's gRPC services until the simulation ends it.
pub async fn serve(cluster: &Cluster) -> Result<(), Box<dyn std::error::Error>> {
    let listener = TcpListener::bind((IpAddr::from(Ipv4Addr::UNSPECIFIED), PORT)).await?;
    let incoming = unfold(listener, |listener| async move {
        let accepted = listener.accept().await.map(|(stream, _)| Accepted(stream));
        Some((accepted, listener))
    });
    server().add_routes(cluster.routes()).serve_with_incoming(incoming).await?;
    Ok(())
}

/// Simulated time, with a fixed error of this node's wall clock.
pub struct SimClock {
    /// Added to the simulation's wall clock.
    pub ahead: Duration,
}

fn since_start() -> Duration {
    turmoil::sim_elapsed().unwrap_or_default()
}

impl Clock for SimClock {
    fn now_us(&self) -> u64 {
        let epoch = turmoil::since_epoch().unwrap_or_default();
        (epoch + self.ahead).as_micros() as u64
    }

    fn monotonic_us(&self) -> u64 {
        since_start().as_micros() as u64
    }
}

/// Randomness from a seed.
pub struct SimRandomness(Mutex<Rng>);

impl SimRandomness {
    /// The sequence of `seed`.
    pub fn new(seed: u64) -> Self {
        SimRandomness(Mutex::new(Rng::new(seed)))
    }
}

impl Randomness for SimRandomness {
    fn fill(&self, buffer: &mut [u8]) {
        let mut rng = self.0.lock();
        for chunk in buffer.chunks_mut(8) {
            chunk.copy_from_slice(&rng.next().to_le_bytes()[..chunk.len()]);
        }
    }
}
