//! Writing LDIF: parents before children, in an order that depends on nothing but the content.

use bindery_directory::{Check, Flow, Identity, OpError, OpErrorKind, ReadView, Scope, SearchRequest, Walk};
use bindery_model::entry_codec::StoredEntry;
use bindery_model::filter::Filter;
use bindery_model::ldif::Writer;
use bindery_proto::admin::{DumpReply, DumpRequest, DumpSummary, dump_reply};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Status;

use super::convert;

/// Bytes gathered for one message.
const CHUNK_BYTES: usize = 64 << 10;
/// Messages that wait for a slow reader.
const CHUNKS_WAITING: usize = 4;
/// Entries that do not match are passed over in silence only for so long: the other side waits for a sign of life.
const SIGN_OF_LIFE_ENTRIES: u32 = 20_000;

type Replies = mpsc::Sender<Result<DumpReply, Status>>;

/// Starts a dump of `view`. It holds this version, and the disk blocks that belong to it, until it is done or the
/// reader is gone.
pub fn start(view: ReadView, request: DumpRequest) -> Result<ReceiverStream<Result<DumpReply, Status>>, Status> {
    let filter = match request.filter.as_str() {
        "" => None,
        text => Some(Filter::parse(text).map_err(|error| Status::invalid_argument(format!("{text}: {error}")))?),
    };
    let walk = Walk::new(view.clone(), &request.base).map_err(|error| convert::of_refusal(&error))?;
    let (replies, stream) = mpsc::channel(CHUNKS_WAITING);
    tokio::task::spawn_blocking(move || {
        if let Err(error) = run(&view, walk, filter.as_ref(), &replies) {
            tracing::error!("dump: {error}");
            let _ = replies.blocking_send(Err(convert::of_refusal(&error)));
        }
    });
    Ok(ReceiverStream::new(stream))
}

/// Returns early, without an error, when nobody reads any more.
fn run(view: &ReadView, mut walk: Walk, filter: Option<&Filter>, replies: &Replies) -> Result<(), OpError> {
    let mut writer = Writer::new(Vec::with_capacity(CHUNK_BYTES * 2));
    writer.version().map_err(|error| failed(&error))?;
    let mut entries = 0;
    let mut silent = 0;
    loop {
        let mut written = Ok(());
        let more = walk.step(&mut |dn, entry| {
            written = match matches(view, dn, filter) {
                Ok(true) => {
                    entries += 1;
                    write(&mut writer, dn, entry)
                }
                Ok(false) => {
                    silent += 1;
                    Ok(())
                }
                Err(error) => Err(error),
            };
        })?;
        written?;
        let full = writer.get_mut().len() >= CHUNK_BYTES || silent >= SIGN_OF_LIFE_ENTRIES;
        if full || !more {
            silent = 0;
            let data = std::mem::replace(writer.get_mut(), Vec::with_capacity(CHUNK_BYTES * 2));
            let reply = DumpReply { message: Some(dump_reply::Message::Data(data.into())) };
            if replies.blocking_send(Ok(reply)).is_err() {
                return Ok(());
            }
        }
        if !more {
            let summary = DumpSummary { entries, applied: Some(view.applied_index()) };
            let reply = DumpReply { message: Some(dump_reply::Message::Summary(summary)) };
            let _ = replies.blocking_send(Ok(reply));
            return Ok(());
        }
    }
}

fn write(writer: &mut Writer<Vec<u8>>, dn: &str, entry: &StoredEntry<'_>) -> Result<(), OpError> {
    writer.dn(dn).map_err(|error| failed(&error))?;
    for attribute in entry.user_attributes().chain(entry.operational_attributes()) {
        for value in attribute.values() {
            writer.attribute(attribute.description(), value).map_err(|error| failed(&error))?;
        }
    }
    writer.end_record().map_err(|error| failed(&error))
}

fn failed(error: &std::io::Error) -> OpError {
    OpError::new(OpErrorKind::Internal, format!("writing LDIF: {error}"))
}

fn matches(view: &ReadView, dn: &str, filter: Option<&Filter>) -> Result<bool, OpError> {
    let Some(filter) = filter else { return Ok(true) };
    let request = SearchRequest {
        base: dn,
        scope: Scope::Base,
        filter,
        selection: &[b"1.1"],
        types_only: true,
        manage_dsa_it: true,
        size_limit: None,
        resume_after: None,
        page_size: None,
    };
    let mut found = false;
    view.search(&request, &Identity::Admin, &mut || Check::Continue, &mut |_| {
        found = true;
        Flow::Continue
    })?;
    Ok(found)
}
