//! One connection of the load generator.

use std::io;

use bindery_wire::client::{Response, ResponseMessage, write_request};
use bindery_wire::request::{Authentication, BindRequest, Request};
use bindery_wire::{Limits, next_message};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Largest answer accepted.
const MESSAGE_BYTES: usize = 16 << 20;
/// Room made for each read.
const READ_BYTES: usize = 64 << 10;

/// Why a measurement could not be made.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// No connection.
    #[error("{server}: {source}; is a server running there? (--url)")]
    Connect {
        /// The server as named.
        server: String,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// The connection broke.
    #[error("the connection broke: {0}")]
    Io(#[from] io::Error),
    /// The bind was refused.
    #[error("bind as {user} answered {code} {diagnostic}; see --user and --password-file")]
    Bind {
        /// Who.
        user: String,
        /// The result code.
        code: u32,
        /// The diagnostic.
        diagnostic: String,
    },
    /// What is needed is not in the directory.
    #[error("{0}")]
    Data(String),
}

/// A connection with requests outstanding.
pub struct Client {
    stream: TcpStream,
    input: Vec<u8>,
    consumed: usize,
    /// Requests encoded and not yet sent.
    pub output: Vec<u8>,
}

impl Client {
    /// Connects.
    pub async fn connect(server: &str) -> Result<Client, BenchError> {
        let failed = |source| BenchError::Connect { server: server.to_owned(), source };
        let stream = TcpStream::connect(server).await.map_err(failed)?;
        stream.set_nodelay(true)?;
        Ok(Client { stream, input: Vec::new(), consumed: 0, output: Vec::new() })
    }

    /// Encodes a request.
    pub fn push(&mut self, id: i32, request: &Request<'_>) {
        write_request(&mut self.output, id, request, &[]);
    }

    /// Sends what was encoded.
    pub async fn send(&mut self) -> io::Result<()> {
        self.stream.write_all(&self.output).await?;
        self.output.clear();
        Ok(())
    }

    /// Waits until at least one response has arrived and hands every whole one to `visit`.
    pub async fn receive(&mut self, mut visit: impl FnMut(&ResponseMessage<'_>)) -> io::Result<()> {
        loop {
            let mut any = false;
            while let Some(length) =
                next_message(&self.input[self.consumed..], MESSAGE_BYTES).map_err(io::Error::other)?
            {
                let bytes = &self.input[self.consumed..self.consumed + length];
                visit(&ResponseMessage::decode(bytes, &Limits::DEFAULT).map_err(io::Error::other)?);
                self.consumed += length;
                any = true;
            }
            self.input.drain(..self.consumed);
            self.consumed = 0;
            if any {
                return Ok(());
            }
            self.input.reserve(READ_BYTES);
            if self.stream.read_buf(&mut self.input).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    /// Binds and waits for the answer.
    pub async fn bind(&mut self, user: &str, password: &[u8]) -> Result<(), BenchError> {
        let authentication = Authentication::Simple(password);
        self.push(1, &Request::Bind(BindRequest { version: 3, name: user.as_bytes(), authentication }));
        self.send().await?;
        let mut answer = None;
        while answer.is_none() {
            self.receive(|message| {
                if let Response::Bind(bind) = &message.response {
                    let diagnostic = String::from_utf8_lossy(bind.result.diagnostic).into_owned();
                    answer = Some((bind.result.code.0, diagnostic));
                }
            })
            .await?;
        }
        match answer {
            Some((0, _)) | None => Ok(()),
            Some((code, diagnostic)) => Err(BenchError::Bind { user: user.to_owned(), code, diagnostic }),
        }
    }
}
