//! One connection: frames in, answers out, in the order of the requests. All whole requests that have
//! arrived are served before the next read, and their answers go out together. A long search runs in slices;
//! between slices its answers are written out, Abandon and Unbind are looked for, and others get to run.

use std::sync::Arc;

use bindery_wire::frame;
use futures_util::FutureExt;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::watch;

use super::connection::Connection;
use super::op::Step;
use super::op::search::Slice;
use super::respond;
use super::server::Server;
use crate::limits;

/// Bytes that may wait behind a running search; more are left in the socket.
const LOOKAHEAD_BYTES: usize = 256 << 10;

/// Why a session ends without an answer to the client.
enum End {
    /// The client closed the connection or said unbind.
    Closed,
    /// The client went silent, or reads nothing.
    Stalled,
    /// The socket failed.
    Broken,
}

/// One client's connection over any byte stream.
pub struct Session<S> {
    stream: S,
    /// Received and not yet served, from `start` on.
    input: Vec<u8>,
    start: usize,
    connection: Connection,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Session<S> {
    /// A fresh, anonymous session.
    pub fn new(server: Arc<Server>, stream: S) -> Session<S> {
        Session { stream, input: Vec::new(), start: 0, connection: Connection::new(server) }
    }

    /// Serves the connection until either side ends it.
    pub async fn run(mut self, mut stop: watch::Receiver<bool>) {
        loop {
            match self.serve_received().await {
                Ok(true) => {}
                Ok(false) | Err(End::Stalled) => {
                    let _ = self.flush().await;
                    let _ = self.stream.shutdown().await;
                    return;
                }
                Err(End::Closed | End::Broken) => return,
            }
            let read = tokio::select! {
                read = self.read_more() => Some(read),
                () = stopped(&mut stop) => None,
            };
            match read {
                Some(Ok(())) => {}
                Some(Err(_)) => return,
                None => {
                    respond::disconnect(&mut self.connection.output, respond::Disconnect::Stopping);
                    let _ = self.flush().await;
                    let _ = self.stream.shutdown().await;
                    return;
                }
            }
        }
    }

    /// Serves all whole requests in the buffer and writes the answers out. `false`: the connection ends.
    async fn serve_received(&mut self) -> Result<bool, End> {
        loop {
            let frame = frame::next_message(&self.input[self.start..], self.connection.message_bytes_max());
            let length = match frame {
                Ok(Some(length)) => length,
                Ok(None) => break,
                Err(error) => {
                    respond::disconnect(&mut self.connection.output, respond::Disconnect::Frame(error));
                    return Ok(false);
                }
            };
            // The request borrows the buffer, so the buffer leaves `self` while it is served.
            let buffer = std::mem::take(&mut self.input);
            let (begin, end) = (self.start, self.start + length);
            let step = self.connection.serve(&buffer[begin..end]).await;
            self.start = end;
            self.input = buffer;
            match step {
                Step::Answered => {}
                Step::Search(search) => self.run_search(search).await?,
                Step::Unbind => return Err(End::Closed),
                Step::Disconnect => return Ok(false),
            }
            if self.connection.output.len() >= limits::WRITE_BUFFER_BYTES {
                self.flush().await?;
            }
        }
        self.flush().await?;
        Ok(true)
    }

    /// Runs a search slice by slice. What arrives meanwhile is kept for later, except an Abandon of it.
    async fn run_search(&mut self, mut search: Box<super::op::search::RunningSearch>) -> Result<(), End> {
        let mut scanned = self.start;
        loop {
            let slice = search.slice(&mut self.connection);
            if slice == Slice::Done {
                return Ok(());
            }
            // The search holds its version for a bounded time; the connection's copy must not hold it longer.
            self.connection.forget_view();
            if self.connection.output.len() >= limits::WRITE_BUFFER_BYTES {
                self.flush().await?;
            }
            tokio::task::yield_now().await;
            self.read_ahead()?;
            if self.abandoned(search.message_id(), &mut scanned) {
                return Ok(());
            }
        }
    }

    /// Takes what has arrived without waiting for more.
    fn read_ahead(&mut self) -> Result<(), End> {
        if self.input.len() - self.start >= LOOKAHEAD_BYTES {
            return Ok(());
        }
        self.input.reserve(limits::READ_BUFFER_BYTES);
        match self.stream.read_buf(&mut self.input).now_or_never() {
            None => Ok(()),
            Some(Ok(0)) => Err(End::Closed),
            Some(Ok(_)) => {
                // What arrived after the view was taken must be served from a newer one.
                self.connection.forget_view();
                Ok(())
            }
            Some(Err(_)) => Err(End::Broken),
        }
    }

    /// Whether a whole request from `scanned` on abandons the operation (RFC 4511 4.11) or unbinds.
    fn abandoned(&self, message_id: i32, scanned: &mut usize) -> bool {
        while let Ok(Some(length)) = frame::next_message(&self.input[*scanned..], self.connection.message_bytes_max()) {
            let message = &self.input[*scanned..*scanned + length];
            *scanned += length;
            if self.connection.ends_operation(message, message_id) {
                return true;
            }
        }
        false
    }

    /// Writes all gathered answers.
    async fn flush(&mut self) -> Result<(), End> {
        if self.connection.output.is_empty() {
            return Ok(());
        }
        let write = self.stream.write_all(&self.connection.output);
        match tokio::time::timeout(limits::WRITE_STALL, write).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return Err(End::Broken),
            Err(_) => return Err(End::Stalled),
        }
        self.connection.output.clear();
        if self.connection.output.capacity() > 2 * limits::WRITE_BUFFER_BYTES {
            self.connection.output = Vec::new();
        }
        Ok(())
    }

    /// Waits for more bytes. Makes room first: never more than one message at the limit.
    async fn read_more(&mut self) -> Result<(), End> {
        self.input.drain(..self.start);
        self.start = 0;
        if self.input.is_empty() && self.input.capacity() > 16 * limits::READ_BUFFER_BYTES {
            self.input = Vec::new();
        }
        // A message being received grows the buffer as its bytes come, not as its header announces.
        let room = self.input.len().max(limits::READ_BUFFER_BYTES);
        if self.input.capacity() - self.input.len() < limits::READ_BUFFER_BYTES {
            self.input.reserve(room);
        }
        self.connection.forget_view();
        let read = self.stream.read_buf(&mut self.input);
        match tokio::time::timeout(self.connection.idle_limit(), read).await {
            Ok(Ok(0)) => Err(End::Closed),
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) => Err(End::Broken),
            Err(_) => Err(End::Stalled),
        }
    }
}

/// Waits until the node stops.
async fn stopped(stop: &mut watch::Receiver<bool>) {
    // An error means that the sender is gone, which is as good as a stop.
    let _ = stop.wait_for(|stop| *stop).await;
}
