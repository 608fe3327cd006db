//! Searching: plan, candidates, entry, scope, filter, access, answer.
//!
//! A search goes through entries in order of their ids, and can be resumed after any id, on the same version or a
//! newer one. It holds its view only as long as the caller lets it: [`Check`] and [`Flow`] make it stop at an id.

use crate::access::{Reader, Rights};
use crate::candidate::{Candidate, Parent};
use crate::dit::{self, Resolved};
use crate::emit::{Picker, SearchItem};
use crate::error::{DirectoryError, OpError};
use crate::identity::Identity;
use crate::index::idset::IdSet;
use crate::lookup::bind_first;
use crate::names::Place;
use crate::op::Name;
use crate::plan::{self, Chooser, NamedEntry, Node};
use crate::referral::Referrals;
use crate::scope::{self, Candidates, Pages, Scope, Walk};
use crate::selection::Selection;
use crate::tables::{self, ID2ENTRY, ROOT_ID};
use crate::view::ReadView;
use crate::virtuals::{SUBSCHEMA_DN, Virtual, Virtuals};
use bindery_model::dn::Dn;
use bindery_model::entry_codec::StoredEntry;
use bindery_model::filter::{Filter, ResolvedFilter, Tri};
use bindery_model::matching::MatchingRule;
use bindery_model::schema::AttrId;
use std::cell::{Cell, OnceCell, RefCell};
use std::sync::Arc;

/// Candidates looked at between two calls of the caller's check: some tens of microseconds.
const CHECK_EVERY: u32 = 64;

/// A search as the caller asks for it.
#[derive(Debug, Clone)]
pub struct SearchRequest<'a> {
    /// Base object; empty for all naming contexts.
    pub base: &'a str,
    /// How far below it.
    pub scope: Scope,
    /// What to look for.
    pub filter: &'a Filter,
    /// Attributes to return, as received.
    pub selection: &'a [&'a [u8]],
    /// Descriptions without values.
    pub types_only: bool,
    /// Referral objects are entries like any other (RFC 3296).
    pub manage_dsa_it: bool,
    /// Entries to return at most; `None` for no limit. When resuming: what is left of it.
    pub size_limit: Option<u64>,
    /// Go on after the entry with this id.
    pub resume_after: Option<u64>,
    /// Entries of a page (RFC 2696).
    pub page_size: Option<u32>,
}

/// What the caller says between candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// Go on.
    Continue,
    /// The time limit has passed.
    TimeUp,
    /// Give the version up; the caller will resume.
    Pause,
}

/// What the caller says after an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    Continue,
    /// Stop here; the caller will resume, or not.
    Pause,
}

/// How a search ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchOutcome {
    /// Everything has been looked at.
    Done,
    /// There are more entries than the size limit allows.
    SizeLimit,
    /// The caller's check said so.
    TimeLimit,
    /// The page is full and there is at least one more entry.
    Page {
        /// What to resume after.
        next: u64,
    },
    /// The caller asked for a pause.
    Paused {
        /// What to resume after.
        next: u64,
    },
    /// The base is, or lies below, a referral object: these are its URIs (RFC 4511 4.1.10).
    Referral {
        /// Values of `ref`.
        uris: Vec<Vec<u8>>,
    },
}

/// Where a name led.
enum Base {
    Entry {
        id: u64,
        /// It is the only naming context, so that everything is below it.
        single_suffix: bool,
    },
    Root,
    Subschema,
    Referral(Vec<Vec<u8>>),
}

impl ReadView {
    /// Runs a search. A base search of the empty name is [`ReadView::root_dse`]'s; here it finds nothing.
    ///
    /// # Errors
    /// `InsufficientAccess` when no rule grants `identity` anything; `NoSuchObject`; `InvalidDnSyntax`; the store's.
    pub fn search(
        &self,
        request: &SearchRequest<'_>,
        identity: &Identity,
        check: &mut dyn FnMut() -> Check,
        sink: &mut dyn FnMut(SearchItem<'_>) -> Flow,
    ) -> Result<SearchOutcome, OpError> {
        let selection = Selection::parse(request.selection.iter().copied(), &self.schema);
        let reader = self.access.reader(identity);
        let (base, single_suffix) = match self.base(request, identity, &reader)? {
            Base::Entry { id, single_suffix } => (id, single_suffix),
            Base::Root => (ROOT_ID, true),
            Base::Referral(uris) => return Ok(SearchOutcome::Referral { uris }),
            Base::Subschema => {
                if matches!(request.scope, Scope::Base | Scope::Subtree) && request.resume_after.is_none() {
                    self.subschema(request.filter, &selection, request.types_only, identity, &mut |item| {
                        sink(item);
                    })?;
                }
                return Ok(SearchOutcome::Done);
            }
        };
        if base == ROOT_ID && request.scope == Scope::Base {
            return Ok(SearchOutcome::Done);
        }
        let filter = request.filter.resolve(&self.schema);
        let plan = match request.scope {
            Scope::Base => Node::All { exact: false },
            _ => self.plan(request.filter, &filter, &reader)?,
        };
        let from = request.resume_after.map_or(0, |id| id.saturating_add(1));
        let pages = Pages { from, paged: request.page_size.is_some() || request.resume_after.is_some() };
        let mut candidates = scope::candidates(&self.store, base, request.scope, single_suffix, &plan, pages)?;
        if !request.manage_dsa_it {
            self.add_referrals(&mut candidates)?;
        }
        let mut run = Run {
            view: self,
            request,
            reader,
            selection,
            filter,
            base,
            exact: candidates.exact,
            in_scope: candidates.in_scope,
            virtuals: OnceCell::new(),
            referrals: if request.manage_dsa_it { None } else { self.referrals()? },
            place: None,
            buffers: Buffers::take(),
            sent: 0,
            last: request.resume_after.unwrap_or(0),
        };
        let end = run.walk(&candidates.walk, from, check, sink);
        run.buffers.give_back();
        Ok(end?)
    }

    /// The plan of a search with `filter`, as text.
    ///
    /// # Errors
    /// The store's.
    pub fn explain(&self, filter: &Filter, identity: &Identity) -> Result<String, OpError> {
        let resolved = filter.resolve(&self.schema);
        let node = self.plan(filter, &resolved, &self.access.reader(identity))?;
        Ok(plan::explain(&node, &self.schema))
    }

    pub(crate) fn plan(
        &self,
        filter: &Filter,
        resolved: &ResolvedFilter,
        reader: &Reader<'_>,
    ) -> Result<Node, DirectoryError> {
        let entry_dn = self.schema.attribute_id(Virtual::EntryDn.name().as_bytes());
        let mut known = Vec::new();
        if let Some(id) = entry_dn.filter(|id| resolved.mentions(*id)) {
            self.named_entries(filter, id, &mut known)?;
        }
        let chooser = Chooser {
            view: &self.store,
            schema: &self.schema,
            indexes: &self.indexes,
            reader: *reader,
            entry_dn,
            named: &known,
        };
        Ok(plan::choose(&chooser, resolved)?)
    }

    /// For each `(entryDN=…)` in the filter: the normal form of the name, and the entry that has it.
    fn named_entries(
        &self,
        filter: &Filter,
        entry_dn: AttrId,
        out: &mut Vec<NamedEntry>,
    ) -> Result<(), DirectoryError> {
        match filter {
            Filter::And(members) | Filter::Or(members) => {
                members.iter().try_for_each(|member| self.named_entries(member, entry_dn, out))
            }
            Filter::Not(inner) => self.named_entries(inner, entry_dn, out),
            Filter::Equality { description, value } if self.schema.attribute_id(description) == Some(entry_dn) => {
                let rule = MatchingRule::DistinguishedNameMatch;
                let Ok(key) = rule.normalize_assertion(value, &self.schema) else { return Ok(()) };
                let Ok(norm) = Dn::parse(value).and_then(|dn| dn.normalize(&self.schema)) else {
                    return Ok(());
                };
                let id = match dit::resolve(&self.store, &self.settings, &norm)? {
                    Resolved::Found { id } => Some(id),
                    Resolved::Root | Resolved::Missing { .. } => None,
                };
                out.push(NamedEntry { key, id });
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn base(&self, request: &SearchRequest<'_>, identity: &Identity, reader: &Reader<'_>) -> Result<Base, OpError> {
        let name = Name::parse(request.base, &self.schema);
        if let Ok(name) = &name
            && name.norm.rdns().len() == 1
            && name.norm == Name::parse(SUBSCHEMA_DN, &self.schema)?.norm
        {
            return Ok(Base::Subschema);
        }
        if !reader.sees_entries() {
            return Err(bind_first());
        }
        let name = name?;
        match dit::resolve(&self.store, &self.settings, &name.norm).map_err(OpError::from)? {
            Resolved::Root => Ok(Base::Root),
            Resolved::Found { id } => {
                if let Some(uris) = self.base_referral(id, request)? {
                    return Ok(Base::Referral(uris));
                }
                let contexts = self.settings.naming_contexts();
                Ok(Base::Entry { id, single_suffix: contexts.len() == 1 && contexts[0].norm == name.norm })
            }
            Resolved::Missing { nearest, .. } => {
                if let Some(id) = nearest
                    && let Some(uris) = self.base_referral(id, request)?
                {
                    return Ok(Base::Referral(uris));
                }
                Err(self.missing(&name, nearest, identity).map_err(OpError::from)?)
            }
        }
    }

    fn base_referral(&self, id: u64, request: &SearchRequest<'_>) -> Result<Option<Vec<Vec<u8>>>, DirectoryError> {
        if request.manage_dsa_it { Ok(None) } else { self.referral_of(id) }
    }

    /// A referral object in scope is answered with a reference whatever the filter (RFC 3296 5.5), so those that the
    /// index knows are candidates. Without an index on objectClass only those that are met on the way are.
    fn add_referrals(&self, candidates: &mut Candidates) -> Result<(), DirectoryError> {
        let Walk::Ids(ids) = &candidates.walk else { return Ok(()) };
        if let Some(found) = self.referrals()?.and_then(|referrals| referrals.ids.as_ref()) {
            candidates.walk = Walk::Ids(ids.or(found));
            candidates.in_scope = false;
        }
        Ok(())
    }

    /// Whether an entry that is made, not stored, matches.
    pub(crate) fn made_matches(&self, entry: &StoredEntry<'_>, filter: &Filter) -> bool {
        filter.resolve(&self.schema).evaluate(&self.schema, entry) == Tri::True
    }
}

/// What a search writes its answers in, kept by each thread for its next search: most searches find one entry, and
/// would spend a tenth of their time on making these.
#[derive(Default)]
struct Buffers {
    /// A copy of the present entry.
    entry: Vec<u8>,
    /// Its DN.
    dn: String,
    picker: Picker,
}

/// Bytes of an entry buffer that a thread keeps: more than almost any entry takes.
const KEPT_BYTES: usize = 64 << 10;

thread_local! {
    static BUFFERS: Cell<Option<Buffers>> = const { Cell::new(None) };
}

impl Buffers {
    /// Fresh ones when a search of this thread is in progress: a sink may search.
    fn take() -> Buffers {
        BUFFERS.take().unwrap_or_default()
    }

    fn give_back(self) {
        if self.entry.capacity() + self.dn.capacity() + self.picker.capacity() <= KEPT_BYTES {
            BUFFERS.set(Some(self));
        }
    }
}

/// A search in progress.
struct Run<'a> {
    view: &'a ReadView,
    request: &'a SearchRequest<'a>,
    reader: Reader<'a>,
    selection: Selection,
    filter: ResolvedFilter,
    base: u64,
    exact: bool,
    in_scope: bool,
    virtuals: OnceCell<Virtuals>,
    referrals: Option<&'a Referrals>,
    /// Where the parent of the entry before stands: neighbours are often siblings.
    place: Option<(u64, Arc<Place>)>,
    buffers: Buffers,
    /// Entries sent.
    sent: u64,
    /// The last id that was looked at and is done with.
    last: u64,
}

impl Run<'_> {
    fn walk(
        &mut self,
        walk: &Walk,
        from: u64,
        check: &mut dyn FnMut() -> Check,
        sink: &mut dyn FnMut(SearchItem<'_>) -> Flow,
    ) -> Result<SearchOutcome, DirectoryError> {
        let mut budget = CHECK_EVERY;
        let mut turn = |last: u64| {
            budget -= 1;
            if budget > 0 {
                return None;
            }
            budget = CHECK_EVERY;
            match check() {
                Check::Continue => None,
                Check::TimeUp => Some(SearchOutcome::TimeLimit),
                Check::Pause => Some(SearchOutcome::Paused { next: last }),
            }
        };
        let view = self.view;
        match walk {
            Walk::All => {
                let mut cursor = view.store.cursor(ID2ENTRY);
                let mut valid = cursor.seek(&tables::id_key(from))?;
                while valid {
                    let id = tables::parse_u64(cursor.key())
                        .ok_or_else(|| DirectoryError::inconsistent("a key of the entry tree is no id"))?;
                    if let Some(end) = self.look_at(id, cursor.value(), sink)? {
                        return Ok(end);
                    }
                    self.last = id;
                    if let Some(end) = turn(id) {
                        return Ok(end);
                    }
                    valid = cursor.next()?;
                }
            }
            Walk::Ids(ids) => {
                let mut bytes = std::mem::take(&mut self.buffers.entry);
                let end = self.walk_ids(ids, from, &mut bytes, &mut turn, sink);
                self.buffers.entry = bytes;
                return end;
            }
        }
        Ok(SearchOutcome::Done)
    }

    fn walk_ids(
        &mut self,
        ids: &IdSet,
        from: u64,
        bytes: &mut Vec<u8>,
        turn: &mut dyn FnMut(u64) -> Option<SearchOutcome>,
        sink: &mut dyn FnMut(SearchItem<'_>) -> Flow,
    ) -> Result<SearchOutcome, DirectoryError> {
        let store = &self.view.store;
        let mut cursor = store.cursor(ID2ENTRY);
        let mut before = None;
        for id in ids.iter_from(from) {
            let key = tables::id_key(id);
            // Next to the entry before: one step, no descent. Else copied out, so that the sink may take its time.
            let step = before.is_some() && before == id.checked_sub(1);
            before = Some(id);
            let end = if step {
                let placed = if cursor.valid() { cursor.next()? } else { cursor.seek(&key)? };
                let here = placed && (cursor.key() == key || cursor.seek(&key)? && cursor.key() == key);
                if here { self.look_at(id, cursor.value(), sink)? } else { None }
            } else {
                let found = store.get(ID2ENTRY, &key, |value| {
                    bytes.clear();
                    bytes.extend_from_slice(value);
                })?;
                if found.is_some() { self.look_at(id, bytes, sink)? } else { None }
            };
            if let Some(end) = end {
                return Ok(end);
            }
            self.last = id;
            if let Some(end) = turn(id) {
                return Ok(end);
            }
        }
        Ok(SearchOutcome::Done)
    }

    /// Tests one candidate and sends it. An outcome ends the search.
    fn look_at(
        &mut self,
        id: u64,
        bytes: &[u8],
        sink: &mut dyn FnMut(SearchItem<'_>) -> Flow,
    ) -> Result<Option<SearchOutcome>, DirectoryError> {
        let entry =
            StoredEntry::parse(bytes).map_err(|error| DirectoryError::inconsistent(format!("entry {id}: {error}")))?;
        let parent = Parent { view: self.view, id: entry.parent(), place: OnceCell::new() };
        match &self.place {
            Some((id, place)) if *id == parent.id => {
                let _ = parent.place.set(Some(Arc::clone(place)));
            }
            _ => {}
        }
        let end = self.test(id, &entry, &parent, sink)?;
        if let Some(Some(place)) = parent.place.into_inner()
            && self.place.as_ref().is_none_or(|(id, _)| *id != parent.id)
        {
            self.place = Some((parent.id, place));
        }
        Ok(end)
    }

    fn test(
        &mut self,
        id: u64,
        entry: &StoredEntry<'_>,
        parent: &Parent<'_>,
        sink: &mut dyn FnMut(SearchItem<'_>) -> Flow,
    ) -> Result<Option<SearchOutcome>, DirectoryError> {
        if !self.in_scope && !self.is_in_scope(id, parent)? {
            return Ok(None);
        }
        if let Some(referrals) = self.referrals
            && let Some(uris) = self.view.referral_uris(id, entry, referrals)
        {
            if self.reader.rights(referrals.reference, id).has(Rights::READ) {
                parent.write_dn(entry.rdn(), &mut self.buffers.dn)?;
                if sink(SearchItem::Reference { id, dn: &self.buffers.dn, uris: &uris }) == Flow::Pause {
                    return Ok(Some(SearchOutcome::Paused { next: id }));
                }
            }
            return Ok(None);
        }
        if !self.exact && !self.matches(id, entry, parent)? {
            return Ok(None);
        }
        if !self.reader.entry_rights(id).has(Rights::READ) {
            return Ok(None);
        }
        // Only now is it known that there is one more than was asked for.
        if self.request.size_limit.is_some_and(|limit| self.sent >= limit) {
            return Ok(Some(SearchOutcome::SizeLimit));
        }
        if self.request.page_size.is_some_and(|size| self.sent >= u64::from(size)) {
            return Ok(Some(SearchOutcome::Page { next: self.last }));
        }
        parent.write_dn(entry.rdn(), &mut self.buffers.dn)?;
        self.buffers.picker.begin();
        self.buffers.picker.pick(entry, id, &self.selection, &self.reader, self.request.types_only);
        if self.selection.all_operational_attributes() || self.selection.has_named() {
            self.pick_virtuals(id)?;
        }
        self.sent += 1;
        let attributes = self.buffers.picker.attributes(entry);
        match sink(SearchItem::Entry { id, dn: &self.buffers.dn, attributes }) {
            Flow::Continue => Ok(None),
            Flow::Pause => Ok(Some(SearchOutcome::Paused { next: id })),
        }
    }

    fn virtuals(&self) -> Virtuals {
        *self.virtuals.get_or_init(|| Virtuals::of(&self.view.schema))
    }

    fn pick_virtuals(&mut self, id: u64) -> Result<(), DirectoryError> {
        for (kind, attribute) in self.virtuals().selected(&self.selection) {
            if !self.reader.rights(attribute, id).has(Rights::READ) {
                continue;
            }
            if self.request.types_only {
                self.buffers.picker.make(kind.name(), &[]);
            } else {
                let value = kind.value(&self.view.store, id, &self.buffers.dn)?;
                self.buffers.picker.make(kind.name(), &[&value]);
            }
        }
        Ok(())
    }

    fn is_in_scope(&self, id: u64, parent: &Parent<'_>) -> Result<bool, DirectoryError> {
        Ok(match self.request.scope {
            Scope::Base => id == self.base,
            Scope::OneLevel => parent.id == self.base,
            Scope::Subtree => id == self.base || parent.is_within(self.base)?,
            Scope::Subordinates => id != self.base && parent.is_within(self.base)?,
        })
    }

    fn matches(&self, id: u64, entry: &StoredEntry<'_>, parent: &Parent<'_>) -> Result<bool, DirectoryError> {
        let values = Candidate {
            view: self.view,
            reader: &self.reader,
            virtuals: &self.virtuals,
            id,
            entry,
            parent,
            failed: RefCell::new(None),
        };
        let result = self.filter.evaluate(&self.view.schema, &values);
        match values.failed.into_inner() {
            Some(error) => Err(error),
            None => Ok(result == Tri::True),
        }
    }
}
