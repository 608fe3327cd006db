//! The first stage: chunks from the client, as a file for the parser.

use std::io::{self, BufRead, Read};
use std::time::Duration;

use bindery_proto::admin::{LoadRequest, load_request};
use bytes::{Buf, Bytes};
use tokio::sync::mpsc;
use tonic::Streaming;

use super::Counters;

/// A client that sends nothing for so long has forgotten the load, which keeps others from loading.
const IDLE_MAX: Duration = Duration::from_secs(15 * 60);
/// More in one message than the protocol says.
const CHUNK_BYTES_MAX: usize = 1 << 20;

/// A part of the input, its end, or why there is no more.
pub enum Chunk {
    Data(Bytes),
    End,
    Broken(String),
}

/// Passes on what comes, until it ends or nobody takes it.
pub async fn run(mut requests: Streaming<LoadRequest>, chunks: mpsc::Sender<Chunk>) {
    loop {
        let chunk = match tokio::time::timeout(IDLE_MAX, requests.message()).await {
            Err(_) => Chunk::Broken(format!("nothing came for {} minutes", IDLE_MAX.as_secs() / 60)),
            Ok(Err(status)) => Chunk::Broken(format!("the client has gone: {}", status.message())),
            Ok(Ok(None)) => Chunk::Broken("the input was cut off".to_owned()),
            Ok(Ok(Some(request))) => match request.message {
                Some(load_request::Message::Data(data)) if data.len() <= CHUNK_BYTES_MAX => Chunk::Data(data),
                Some(load_request::Message::Data(_)) => Chunk::Broken("a chunk is too large".to_owned()),
                Some(load_request::Message::End(_)) => Chunk::End,
                Some(load_request::Message::Begin(_)) | None => Chunk::Broken("an unexpected message".to_owned()),
            },
        };
        let last = !matches!(chunk, Chunk::Data(_));
        if chunks.send(chunk).await.is_err() || last {
            return;
        }
    }
}

/// The chunks as one blocking stream of bytes. An input that was cut off is an error, never an end.
pub struct Input<'a> {
    chunks: mpsc::Receiver<Chunk>,
    present: Bytes,
    ended: bool,
    counters: &'a Counters,
}

impl Input<'_> {
    pub fn new(chunks: mpsc::Receiver<Chunk>, counters: &Counters) -> Input<'_> {
        Input { chunks, present: Bytes::new(), ended: false, counters }
    }
}

impl Read for Input<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let length = available.len().min(buffer.len());
        buffer[..length].copy_from_slice(&available[..length]);
        self.consume(length);
        Ok(length)
    }
}

impl BufRead for Input<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.present.is_empty() && !self.ended {
            match self.chunks.blocking_recv() {
                Some(Chunk::Data(data)) => self.present = data,
                Some(Chunk::End) => self.ended = true,
                Some(Chunk::Broken(why)) => return Err(io::Error::new(io::ErrorKind::UnexpectedEof, why)),
                None => return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the input was cut off")),
            }
        }
        Ok(&self.present)
    }

    fn consume(&mut self, length: usize) {
        self.present.advance(length);
        Counters::add(&self.counters.bytes_read, length as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(chunks: Vec<Chunk>) -> (io::Result<usize>, Vec<u8>, u64) {
        let (sender, receiver) = mpsc::channel(chunks.len().max(1));
        for chunk in chunks {
            assert!(sender.try_send(chunk).is_ok());
        }
        drop(sender);
        let counters = Counters::default();
        let mut bytes = Vec::new();
        let result = Input::new(receiver, &counters).read_to_end(&mut bytes);
        (result, bytes, Counters::get(&counters.bytes_read))
    }

    #[test]
    fn chunks_are_joined_and_empty_ones_are_no_end() {
        let data = |text: &'static [u8]| Chunk::Data(Bytes::from_static(text));
        let (result, bytes, counted) = read(vec![data(b"dn: "), data(b""), data(b"dc=x\n"), Chunk::End]);
        assert_eq!((result.unwrap(), &bytes[..], counted), (9, &b"dn: dc=x\n"[..], 9));
    }

    #[test]
    fn an_input_that_was_cut_off_is_an_error() {
        let (result, bytes, _) = read(vec![Chunk::Data(Bytes::from_static(b"dn: "))]);
        assert_eq!(result.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        assert_eq!(bytes, b"dn: ");
        assert!(read(vec![Chunk::Broken("gone".into())]).0.is_err());
    }
}
