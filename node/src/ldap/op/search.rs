//! Search (RFC 4511 4.5), in slices, with paged results (RFC 2696).

use std::time::{Duration, Instant};

use bindery_directory::{Check, Flow, Identity, ReadView, Scope, SearchItem, SearchOutcome, SearchRequest};
use bindery_model::filter::Filter;
use bindery_wire::control::Control;
use bindery_wire::control::paged_results::PagedResults;
use bindery_wire::oid::control;
use bindery_wire::request::{Scope as WireScope, SearchRequest as WireRequest};
use bindery_wire::tag::ResponseTag;
use bindery_wire::{entry, response};
use xxhash_rust::xxh3::Xxh3;

use super::super::connection::Connection;
use super::super::controls::RequestControls;
use super::super::convert;
use super::super::respond::{self, Answer};
use super::dn_text;
use crate::limits;

/// What a slice of a search came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slice {
    /// There is more to do.
    More,
    /// The final response is in the output.
    Done,
}

/// A search under way: everything that is needed to go on after an entry id.
pub struct RunningSearch {
    message_id: i32,
    view: ReadView,
    view_taken: Instant,
    base: String,
    scope: Scope,
    filter: Filter,
    selection: Vec<Vec<u8>>,
    types_only: bool,
    manage_dsa_it: bool,
    /// What is left of the size limit.
    size_left: Option<u64>,
    page: Option<Page>,
    resume_after: Option<u64>,
    deadline: Instant,
}

/// A page of a paged search.
struct Page {
    /// Entries still wanted.
    left: u32,
    /// Binds the cookie to the search and to who makes it.
    fingerprint: u128,
}

/// Begins a search: everything about it that can be refused before it runs.
pub async fn start(
    connection: &mut Connection,
    message_id: i32,
    request: &WireRequest<'_>,
    controls: RequestControls,
) -> Result<Box<RunningSearch>, Answer> {
    let anonymous = connection.identity == Identity::Anonymous;
    let filter = convert::filter(&request.filter);
    let page = controls
        .paged
        .as_ref()
        .map(|paged| Page { left: paged.size, fingerprint: fingerprint(request, &filter, &connection.identity) });
    let resume_after = match (&controls.paged, &page) {
        (Some(paged), Some(page)) if !paged.cookie.is_empty() => Some(read_cookie(&paged.cookie, page.fingerprint)?),
        _ => None,
    };
    let time_limit = if anonymous { limits::ANONYMOUS_TIME_LIMIT } else { limits::BOUND_TIME_LIMIT };
    let asked = Duration::from_secs(u64::from(request.time_limit_s.unsigned_abs()));
    let time_limit = if request.time_limit_s == 0 { time_limit } else { asked.min(time_limit) };
    let size_limit = match (request.size_limit, anonymous) {
        (0, true) => Some(limits::ANONYMOUS_SIZE_LIMIT),
        (0, false) => None,
        (asked, true) => Some(asked.unsigned_abs().min(limits::ANONYMOUS_SIZE_LIMIT)),
        (asked, false) => Some(asked.unsigned_abs()),
    };
    let view = connection.view(&controls).await?;
    let now = Instant::now();
    Ok(Box::new(RunningSearch {
        message_id,
        view,
        view_taken: now,
        base: dn_text(request.base)?,
        scope: match request.scope {
            WireScope::BaseObject => Scope::Base,
            WireScope::SingleLevel => Scope::OneLevel,
            WireScope::WholeSubtree => Scope::Subtree,
            WireScope::SubordinateSubtree => Scope::Subordinates,
        },
        filter,
        selection: request.attributes.iter().map(<[u8]>::to_vec).collect(),
        types_only: request.types_only,
        manage_dsa_it: controls.manage_dsa_it,
        size_left: size_limit.map(u64::from),
        page,
        resume_after,
        deadline: now + time_limit,
    }))
}

impl RunningSearch {
    /// The request's message id, for Abandon.
    pub fn message_id(&self) -> i32 {
        self.message_id
    }

    /// Runs until something is worth writing out or others should run; appends entries to the output.
    pub fn slice(&mut self, connection: &mut Connection) -> Slice {
        if self.base.is_empty() && self.scope == Scope::Base {
            return self.root_dse(connection);
        }
        if let Some(page) = &self.page
            && page.left == 0
        {
            // RFC 2696 3: a page of no entries asks for an estimate, or ends the paged search.
            return self.finish(connection, &Answer::success(), Some(Vec::new()));
        }
        let began = Instant::now();
        if began - self.view_taken > limits::VIEW_HELD {
            self.view = connection.server.reads.latest();
            self.view_taken = began;
        }
        match self.run(connection, began) {
            Ok(SearchOutcome::Paused { next }) => {
                self.resume_after = Some(next);
                Slice::More
            }
            Ok(SearchOutcome::Done) => {
                let cookie = self.page.is_some().then(Vec::new);
                self.finish(connection, &Answer::success(), cookie)
            }
            Ok(SearchOutcome::Page { next }) => {
                let cookie = self.page.as_ref().map(|page| write_cookie(next, page.fingerprint));
                self.finish(connection, &Answer::success(), cookie)
            }
            Ok(SearchOutcome::SizeLimit) => self.finish(connection, &Answer::size_limit(), None),
            Ok(SearchOutcome::TimeLimit) => self.finish(connection, &Answer::time_limit(), None),
            Ok(SearchOutcome::Referral { uris }) => self.finish(connection, &Answer::referral(uris), None),
            Err(error) => self.finish(connection, &error.into(), None),
        }
    }

    fn run(
        &mut self,
        connection: &mut Connection,
        began: Instant,
    ) -> Result<SearchOutcome, bindery_directory::OpError> {
        let selection: Vec<&[u8]> = self.selection.iter().map(Vec::as_slice).collect();
        let request = SearchRequest {
            base: &self.base,
            scope: self.scope,
            filter: &self.filter,
            selection: &selection,
            types_only: self.types_only,
            manage_dsa_it: self.manage_dsa_it,
            size_limit: self.size_left,
            resume_after: self.resume_after,
            page_size: self.page.as_ref().map(|page| page.left),
        };
        let deadline = self.deadline;
        let mut check = || {
            let now = Instant::now();
            if now >= deadline {
                Check::TimeUp
            } else if now - began >= limits::SEARCH_SLICE {
                Check::Pause
            } else {
                Check::Continue
            }
        };
        let output = &mut connection.output;
        let message_id = self.message_id;
        let mut sent = 0;
        let mut sink = |item: SearchItem<'_>| {
            sent += write_item(output, message_id, &item);
            if output.len() >= limits::SEARCH_SLICE_BYTES { Flow::Pause } else { Flow::Continue }
        };
        let outcome = self.view.search(&request, &connection.identity, &mut check, &mut sink);
        if let Some(left) = &mut self.size_left {
            *left = left.saturating_sub(u64::from(sent));
        }
        if let Some(page) = &mut self.page {
            page.left = page.left.saturating_sub(sent);
            // A pause may fall on the last entry of the page: only looking further tells whether it is the
            // last of all, so the page stays open by one look.
            if page.left == 0
                && let Ok(SearchOutcome::Paused { next }) = outcome
            {
                return Ok(SearchOutcome::Page { next });
            }
        }
        outcome
    }

    /// The root DSE is made by the directory from what it and the node know.
    fn root_dse(&mut self, connection: &mut Connection) -> Slice {
        let selection: Vec<&[u8]> = self.selection.iter().map(Vec::as_slice).collect();
        let server = connection.server.root_dse();
        let output = &mut connection.output;
        let message_id = self.message_id;
        let mut sink = |item: SearchItem<'_>| {
            write_item(output, message_id, &item);
        };
        let outcome =
            self.view.root_dse(&self.filter, &selection, self.types_only, server, &connection.identity, &mut sink);
        let cookie = self.page.is_some().then(Vec::new);
        match outcome {
            Ok(()) => self.finish(connection, &Answer::success(), cookie),
            Err(error) => self.finish(connection, &error.into(), None),
        }
    }

    fn finish(&self, connection: &mut Connection, answer: &Answer, cookie: Option<Vec<u8>>) -> Slice {
        let output = &mut connection.output;
        match cookie {
            None => respond::result(output, self.message_id, ResponseTag::SearchDone, answer),
            Some(cookie) => {
                let mut value = Vec::new();
                PagedResults { size: 0, cookie: &cookie }.write(&mut value);
                let control = Control::new(control::PAGED_RESULTS).with_value(&value);
                respond::result_with(output, self.message_id, ResponseTag::SearchDone, answer, &[control]);
            }
        }
        Slice::Done
    }
}

/// Appends an entry or a reference; returns how many entries that is.
fn write_item(output: &mut Vec<u8>, message_id: i32, item: &SearchItem<'_>) -> u32 {
    match item {
        SearchItem::Entry { dn, attributes, .. } => {
            entry::write_search_entry_head(output, message_id, dn.as_bytes(), attributes.len());
            attributes.slices().for_each(|slice| output.extend_from_slice(slice));
            1
        }
        SearchItem::Reference { uris, .. } => {
            let uris: Vec<&[u8]> = uris.iter().map(Vec::as_slice).collect();
            response::write_search_reference(output, message_id, (&uris).into(), &[]);
            0
        }
    }
}

/// What a cookie is good for: the same search by the same client identity, on any node.
fn fingerprint(request: &WireRequest<'_>, filter: &Filter, identity: &Identity) -> u128 {
    let mut hash = Xxh3::new();
    let who = match identity {
        Identity::Anonymous => "anonymous".to_owned(),
        Identity::Admin => "administrator".to_owned(),
        Identity::User { id, .. } => format!("user {id}"),
    };
    for part in [request.base, filter.to_string().as_bytes(), who.as_bytes()] {
        hash.update(&(part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.update(&[request.scope as u8]);
    hash.digest128()
}

const COOKIE_BYTES: usize = 24;

/// The last entry id looked at, and the fingerprint. No secret: access is decided again for every entry.
fn write_cookie(after: u64, fingerprint: u128) -> Vec<u8> {
    let mut cookie = Vec::with_capacity(COOKIE_BYTES);
    cookie.extend_from_slice(&after.to_be_bytes());
    cookie.extend_from_slice(&fingerprint.to_be_bytes());
    cookie
}

fn read_cookie(cookie: &[u8], fingerprint: u128) -> Result<u64, Answer> {
    let (after, of) = cookie.split_first_chunk::<8>().ok_or_else(Answer::bad_cookie)?;
    if of != fingerprint.to_be_bytes() {
        return Err(Answer::bad_cookie());
    }
    Ok(u64::from_be_bytes(*after))
}
