//! The state of one connection, and one request's way through it: decode, recognise controls, do, answer.

use std::sync::Arc;
use std::time::Duration;

use bindery_directory::{Identity, ReadView};
use bindery_wire::limits::Limits;
use bindery_wire::message::RequestMessage;
use bindery_wire::request::Request;
use bindery_wire::tag::ResponseTag;

use super::controls::RequestControls;
use super::op::{self, Step};
use super::respond::{self, Answer};
use super::server::Server;
use crate::limits;
use crate::read::ReadLevel;

/// Everything about a connection but its socket.
pub struct Connection {
    pub(super) server: Arc<Server>,
    /// Who asks.
    pub(super) identity: Identity,
    /// Answers gathered and not yet written out.
    pub(super) output: Vec<u8>,
    /// Log index of this connection's last acknowledged write: no later answer may be older.
    own_write: u64,
    /// The view for requests that had arrived when its barrier began.
    view: Option<(ReadLevel, ReadView)>,
}

impl Connection {
    /// A fresh, anonymous connection.
    pub fn new(server: Arc<Server>) -> Connection {
        Connection { server, identity: Identity::Anonymous, output: Vec::new(), own_write: 0, view: None }
    }

    /// Largest message accepted at this moment.
    pub fn message_bytes_max(&self) -> usize {
        match self.identity {
            Identity::Anonymous => limits::MESSAGE_BYTES_ANONYMOUS,
            _ => limits::MESSAGE_BYTES_BOUND,
        }
    }

    /// How long the connection may rest.
    pub fn idle_limit(&self) -> Duration {
        match self.identity {
            Identity::Anonymous => limits::IDLE_ANONYMOUS,
            _ => limits::IDLE_BOUND,
        }
    }

    /// New bytes have arrived: their requests need a barrier of their own.
    pub fn forget_view(&mut self) {
        self.view = None;
    }

    /// A view for a request that has arrived.
    pub(super) async fn view(&mut self, controls: &RequestControls) -> Result<ReadView, Answer> {
        let level = if controls.dont_use_copy { ReadLevel::Strict } else { ReadLevel::Prefer };
        if let Some((at, view)) = &self.view
            && (*at == level || *at == ReadLevel::Strict)
        {
            return Ok(view.clone());
        }
        let view = self.server.reads.view(level, self.own_write).await?;
        if !view.settings().is_founded() {
            return Err(Answer::unavailable("this node does not hold the directory yet: it waits for the cluster"));
        }
        self.view = Some((level, view.clone()));
        Ok(view)
    }

    /// A write of this connection is acknowledged: everything after it must see it.
    pub(super) fn wrote(&mut self, index: u64) {
        self.own_write = self.own_write.max(index);
        self.view = None;
    }

    /// Serves one whole message.
    pub async fn serve(&mut self, bytes: &[u8]) -> Step {
        let message = match RequestMessage::decode(bytes, &Limits::DEFAULT) {
            Ok(message) => message,
            Err(error) => {
                return if respond::unreadable(&mut self.output, &error) { Step::Answered } else { Step::Disconnect };
            }
        };
        let id = message.id;
        if id == 0 {
            // RFC 4511 4.1.1.1: zero is for unsolicited notifications.
            respond::disconnect(&mut self.output, respond::Disconnect::MessageIdZero);
            return Step::Disconnect;
        }
        if let Request::Bind(_) = &message.request {
            // RFC 4513 4: a bind ends the identity before it, whatever becomes of the bind.
            self.identity = Identity::Anonymous;
        }
        let controls = match RequestControls::recognise(&message.controls, message.request.tag()) {
            Ok(controls) => controls,
            Err(answer) => {
                if let Some(tag) = message.request.tag().response() {
                    respond::result(&mut self.output, id, tag, &answer);
                }
                return Step::Answered;
            }
        };
        let (tag, answer) = match &message.request {
            Request::Search(request) => match op::search::start(self, id, request, controls).await {
                Ok(search) => return Step::Search(search),
                Err(answer) => (ResponseTag::SearchDone, answer),
            },
            Request::Bind(request) => (ResponseTag::Bind, op::bind::bind(self, request, &controls).await),
            Request::Unbind => return Step::Unbind,
            // What is asked to be abandoned was answered before this message was read.
            Request::Abandon(_) => return Step::Answered,
            Request::Compare(request) => (ResponseTag::Compare, op::compare::compare(self, request, &controls).await),
            Request::Add(request) => (ResponseTag::Add, op::add::add(self, request).await),
            Request::Delete(request) => (ResponseTag::Delete, op::delete::delete(self, request).await),
            Request::Modify(request) => (ResponseTag::Modify, op::modify::modify(self, request).await),
            Request::ModifyDn(request) => (ResponseTag::ModifyDn, op::modify_dn::modify_dn(self, request).await),
            Request::Extended(request) => {
                let (answer, value) = op::extended::extended(self, request, &controls).await;
                respond::extended(&mut self.output, id, &answer, value.as_deref());
                return Step::Answered;
            }
        };
        respond::result(&mut self.output, id, tag, &answer);
        Step::Answered
    }

    /// Whether this message abandons the operation, or ends the connection.
    pub fn ends_operation(&self, bytes: &[u8], message_id: i32) -> bool {
        match RequestMessage::decode(bytes, &Limits::DEFAULT).map(|message| message.request) {
            Ok(Request::Abandon(abandon)) => abandon.message_id == message_id,
            Ok(Request::Unbind) => true,
            _ => false,
        }
    }
}
