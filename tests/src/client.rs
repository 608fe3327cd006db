//! A small LDAP client for tests: blocking, one connection, and able to send whatever a test wants to send.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use bindery_model::filter::Filter as TextFilter;
use bindery_wire::client::{Response, ResponseMessage, write_request};
use bindery_wire::control::Control;
use bindery_wire::control::paged_results::PagedResults;
use bindery_wire::filter::{Assertion, Extensible, Filter, Piece, Substrings};
use bindery_wire::list::List;
use bindery_wire::oid;
use bindery_wire::request::{
    AddRequest, Authentication, BindRequest, Change, ChangeOperation, CompareRequest, DeleteRequest, DerefAliases,
    ExtendedRequest, ModifyDnRequest, ModifyRequest, Request, Scope, SearchRequest,
};
use bindery_wire::{Attribute, Limits, next_message};

use crate::process::{ADMIN_DN, ADMIN_PASSWORD};

/// Answers are waited for this long; a test that waits longer has found a hang.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
/// Largest answer accepted.
const MESSAGE_BYTES: usize = 64 << 20;

/// The final result of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// resultCode.
    pub code: u32,
    /// matchedDN.
    pub matched_dn: String,
    /// diagnosticMessage.
    pub diagnostic: String,
    /// Value of an extended response.
    pub value: Option<Vec<u8>>,
}

impl Outcome {
    /// Panics unless the code is 0.
    #[track_caller]
    pub fn ok(self) -> Self {
        self.is(0)
    }

    /// Panics unless the code is this.
    #[track_caller]
    pub fn is(self, code: u32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        self
    }
}

/// An entry as received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its DN.
    pub dn: String,
    /// Descriptions and values in the order received.
    pub attributes: Vec<(String, Vec<Vec<u8>>)>,
}

impl Entry {
    /// The values of a description, compared without case.
    pub fn values(&self, description: &str) -> Vec<String> {
        let found = self.attributes.iter().find(|(d, _)| d.eq_ignore_ascii_case(description));
        found.map(|(_, v)| v.iter().map(|v| String::from_utf8_lossy(v).into_owned()).collect()).unwrap_or_default()
    }

    /// The descriptions received.
    pub fn descriptions(&self) -> Vec<&str> {
        self.attributes.iter().map(|(d, _)| d.as_str()).collect()
    }
}

/// What a search returned.
#[derive(Debug, Clone)]
pub struct Found {
    /// Entries in the order received.
    pub entries: Vec<Entry>,
    /// Continuation references.
    pub references: Vec<String>,
    /// The end.
    pub outcome: Outcome,
    /// Cookie of the paged-results control, if one came.
    pub cookie: Option<Vec<u8>>,
}

impl Found {
    /// DNs received, sorted.
    pub fn dns(&self) -> Vec<String> {
        let mut dns: Vec<String> = self.entries.iter().map(|e| e.dn.clone()).collect();
        dns.sort();
        dns
    }

    /// Panics unless the search succeeded.
    #[track_caller]
    pub fn ok(self) -> Self {
        assert_eq!(self.outcome.code, 0, "{:?}", self.outcome);
        self
    }
}

/// A search to be made. Start from [`search`].
#[derive(Debug, Clone)]
pub struct Search {
    base: String,
    scope: Scope,
    filter: TextFilter,
    attributes: Vec<String>,
    size_limit: i32,
    types_only: bool,
    page: Option<(i32, Vec<u8>)>,
    critical_page: bool,
    strict: bool,
}

/// A subtree search for all user attributes.
pub fn search(base: &str, filter: &str) -> Search {
    Search {
        base: base.to_owned(),
        scope: Scope::WholeSubtree,
        filter: TextFilter::parse(filter).unwrap_or_else(|error| panic!("{filter}: {error}")),
        attributes: Vec::new(),
        size_limit: 0,
        types_only: false,
        page: None,
        critical_page: false,
        strict: false,
    }
}

impl Search {
    /// Another scope.
    pub fn scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }

    /// Only the base.
    pub fn base_only(self) -> Self {
        self.scope(Scope::BaseObject)
    }

    /// Only children of the base.
    pub fn one_level(self) -> Self {
        self.scope(Scope::SingleLevel)
    }

    /// These attributes.
    pub fn attributes(mut self, names: &[&str]) -> Self {
        self.attributes = names.iter().map(|n| (*n).to_owned()).collect();
        self
    }

    /// A client's size limit.
    pub fn size_limit(mut self, limit: i32) -> Self {
        self.size_limit = limit;
        self
    }

    /// Names without values.
    pub fn types_only(mut self) -> Self {
        self.types_only = true;
        self
    }

    /// The paged-results control.
    pub fn page(mut self, size: i32, cookie: &[u8]) -> Self {
        self.page = Some((size, cookie.to_vec()));
        self
    }

    /// The control Don't Use Copy, critical.
    pub fn strict(mut self) -> Self {
        self.strict = true;
        self
    }
}

/// One connection.
pub struct Client {
    stream: TcpStream,
    input: Vec<u8>,
    next_id: i32,
}

impl Client {
    /// Connects, anonymous.
    pub fn connect(address: SocketAddr) -> io::Result<Client> {
        let stream = TcpStream::connect_timeout(&address, Duration::from_secs(5))?;
        stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
        stream.set_nodelay(true)?;
        Ok(Client { stream, input: Vec::new(), next_id: 1 })
    }

    /// Connects and binds.
    pub fn bound(address: SocketAddr, dn: &str, password: &str) -> io::Result<Client> {
        let mut client = Client::connect(address)?;
        let outcome = client.bind(dn, password)?;
        if outcome.code == 0 { Ok(client) } else { Err(io::Error::other(format!("bind as {dn}: {outcome:?}"))) }
    }

    /// Connects as the test clusters' administrator.
    pub fn admin(address: SocketAddr) -> io::Result<Client> {
        Client::bound(address, ADMIN_DN, ADMIN_PASSWORD)
    }

    /// This end of the connection.
    pub fn local_address(&self) -> SocketAddr {
        self.stream.local_addr().expect("a connected socket")
    }

    /// Another time to wait for answers.
    pub fn set_timeout(&self, timeout: Duration) {
        self.stream.set_read_timeout(Some(timeout)).expect("a positive time");
    }

    /// Sends bytes as they are.
    pub fn send_raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// Sends a request and returns its message id.
    pub fn send(&mut self, request: &Request<'_>, controls: &[Control<'_>]) -> io::Result<i32> {
        let id = self.next_id;
        self.next_id += 1;
        let mut bytes = Vec::new();
        write_request(&mut bytes, id, request, controls);
        self.stream.write_all(&bytes)?;
        Ok(id)
    }

    /// Receives one whole message; an error at the end of the stream.
    pub fn receive(&mut self) -> io::Result<Vec<u8>> {
        loop {
            let length = next_message(&self.input, MESSAGE_BYTES).map_err(io::Error::other)?;
            if let Some(length) = length {
                let rest = self.input.split_off(length);
                return Ok(std::mem::replace(&mut self.input, rest));
            }
            let mut buffer = [0; 64 << 10];
            let count = self.stream.read(&mut buffer)?;
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.input.extend_from_slice(&buffer[..count]);
        }
    }

    fn receive_outcome(&mut self, id: i32) -> io::Result<Outcome> {
        let bytes = self.receive()?;
        let message = ResponseMessage::decode(&bytes, &limits()).map_err(io::Error::other)?;
        if message.id != id {
            return Err(io::Error::other(format!("answer to {} while waiting for {id}: {message:?}", message.id)));
        }
        outcome_of(&message.response).ok_or_else(|| io::Error::other(format!("not a final response: {message:?}")))
    }

    /// Sends a request and waits for its result.
    pub fn operate(&mut self, request: &Request<'_>, controls: &[Control<'_>]) -> io::Result<Outcome> {
        let id = self.send(request, controls)?;
        self.receive_outcome(id)
    }

    /// Simple bind.
    pub fn bind(&mut self, dn: &str, password: &str) -> io::Result<Outcome> {
        let authentication = Authentication::Simple(password.as_bytes());
        self.operate(&Request::Bind(BindRequest { version: 3, name: dn.as_bytes(), authentication }), &[])
    }

    /// Adds an entry.
    pub fn add(&mut self, dn: &str, attributes: &[(&str, &[&str])]) -> io::Result<Outcome> {
        let values: Vec<Vec<&[u8]>> =
            attributes.iter().map(|(_, v)| v.iter().map(|v| v.as_bytes()).collect()).collect();
        let attributes: Vec<Attribute<'_>> = attributes
            .iter()
            .zip(&values)
            .map(|((description, _), values)| Attribute { description: description.as_bytes(), values: values.into() })
            .collect();
        let attributes = (&attributes).into();
        self.operate(&Request::Add(AddRequest { dn: dn.as_bytes(), attributes }), &[])
    }

    /// Adds an inetOrgPerson with this uid below `parent`.
    pub fn add_person(&mut self, parent: &str, uid: &str) -> io::Result<Outcome> {
        self.add(
            &format!("uid={uid},{parent}"),
            &[("objectClass", &["inetOrgPerson"]), ("uid", &[uid]), ("cn", &[uid]), ("sn", &[uid])],
        )
    }

    /// Deletes an entry.
    pub fn delete(&mut self, dn: &str) -> io::Result<Outcome> {
        self.operate(&Request::Delete(DeleteRequest { dn: dn.as_bytes() }), &[])
    }

    /// Changes an entry.
    pub fn modify(&mut self, dn: &str, changes: &[(ChangeOperation, &str, &[&str])]) -> io::Result<Outcome> {
        let values: Vec<Vec<&[u8]>> =
            changes.iter().map(|(_, _, v)| v.iter().map(|v| v.as_bytes()).collect()).collect();
        let changes: Vec<Change<'_>> = changes
            .iter()
            .zip(&values)
            .map(|((operation, description, _), values)| Change {
                operation: *operation,
                modification: Attribute { description: description.as_bytes(), values: values.into() },
            })
            .collect();
        let changes = (&changes).into();
        self.operate(&Request::Modify(ModifyRequest { dn: dn.as_bytes(), changes }), &[])
    }

    /// Renames or moves an entry.
    pub fn modify_dn(
        &mut self,
        dn: &str,
        new_rdn: &str,
        delete_old_rdn: bool,
        new_superior: Option<&str>,
    ) -> io::Result<Outcome> {
        let request = ModifyDnRequest {
            dn: dn.as_bytes(),
            new_rdn: new_rdn.as_bytes(),
            delete_old_rdn,
            new_superior: new_superior.map(str::as_bytes),
        };
        self.operate(&Request::ModifyDn(request), &[])
    }

    /// Compares a value.
    pub fn compare(&mut self, dn: &str, attribute: &str, value: &str) -> io::Result<Outcome> {
        let assertion = Assertion { attribute: attribute.as_bytes(), value: value.as_bytes() };
        self.operate(&Request::Compare(CompareRequest { dn: dn.as_bytes(), assertion }), &[])
    }

    /// An extended operation.
    pub fn extended(&mut self, name: &str, value: Option<&[u8]>) -> io::Result<Outcome> {
        self.operate(&Request::Extended(ExtendedRequest { name: name.as_bytes(), value }), &[])
    }

    /// Who am I?
    pub fn who_am_i(&mut self) -> io::Result<String> {
        let outcome = self.extended(oid::extended::WHO_AM_I, None)?.ok();
        Ok(String::from_utf8_lossy(&outcome.value.unwrap_or_default()).into_owned())
    }

    /// Sends a search.
    pub fn send_search(&mut self, search: &Search) -> io::Result<i32> {
        let attributes: Vec<&[u8]> = search.attributes.iter().map(|a| a.as_bytes()).collect();
        let request = Request::Search(SearchRequest {
            base: search.base.as_bytes(),
            scope: search.scope,
            deref_aliases: DerefAliases::Never,
            size_limit: search.size_limit,
            time_limit_s: 0,
            types_only: search.types_only,
            filter: wire_filter(&search.filter),
            attributes: (&attributes).into(),
        });
        let mut page_value = Vec::new();
        let mut controls = Vec::new();
        if let Some((size, cookie)) = &search.page {
            PagedResults { size: *size, cookie }.write(&mut page_value);
            let control = Control::new(oid::control::PAGED_RESULTS).with_value(&page_value);
            controls.push(if search.critical_page { control.critical() } else { control });
        }
        if search.strict {
            controls.push(Control::new(oid::control::DONT_USE_COPY).critical());
        }
        self.send(&request, &controls)
    }

    /// Makes a search and gathers everything.
    pub fn search(&mut self, search: &Search) -> io::Result<Found> {
        let id = self.send_search(search)?;
        let (mut entries, mut references) = (Vec::new(), Vec::new());
        loop {
            let bytes = self.receive()?;
            let message = ResponseMessage::decode(&bytes, &limits()).map_err(io::Error::other)?;
            if message.id != id {
                return Err(io::Error::other(format!("answer to {} while waiting for {id}", message.id)));
            }
            match &message.response {
                Response::SearchEntry(entry) => entries.push(Entry {
                    dn: String::from_utf8_lossy(entry.dn).into_owned(),
                    attributes: entry
                        .attributes
                        .iter()
                        .map(|a| {
                            let description = String::from_utf8_lossy(a.description).into_owned();
                            (description, a.values.iter().map(<[u8]>::to_vec).collect())
                        })
                        .collect(),
                }),
                Response::SearchReference(uris) => {
                    references.extend(uris.iter().map(|uri| String::from_utf8_lossy(uri).into_owned()));
                }
                other => {
                    let outcome = outcome_of(other).ok_or_else(|| io::Error::other(format!("unexpected {other:?}")))?;
                    let cookie = message
                        .controls
                        .iter()
                        .find(|c| c.oid == oid::control::PAGED_RESULTS.as_bytes())
                        .and_then(|c| c.value)
                        .map(|value| PagedResults::decode(value).map(|p| p.cookie.to_vec()))
                        .transpose()
                        .map_err(io::Error::other)?;
                    return Ok(Found { entries, references, outcome, cookie });
                }
            }
        }
    }
}

fn limits() -> Limits {
    Limits { attributes: 1 << 20, ..Limits::DEFAULT }
}

fn outcome_of(response: &Response<'_>) -> Option<Outcome> {
    let result = response.result()?;
    let value = match response {
        Response::Extended(extended) => extended.value.map(<[u8]>::to_vec),
        _ => None,
    };
    Some(Outcome {
        code: result.code.0,
        matched_dn: String::from_utf8_lossy(result.matched_dn).into_owned(),
        diagnostic: String::from_utf8_lossy(result.diagnostic).into_owned(),
        value,
    })
}

/// A filter in the wire's form, borrowing from the text's.
pub fn wire_filter(filter: &TextFilter) -> Filter<'_> {
    match filter {
        TextFilter::And(members) => Filter::And(members.iter().map(wire_filter).collect()),
        TextFilter::Or(members) => Filter::Or(members.iter().map(wire_filter).collect()),
        TextFilter::Not(member) => Filter::Not(Box::new(wire_filter(member))),
        TextFilter::Equality { description, value } => Filter::Equality(Assertion { attribute: description, value }),
        TextFilter::GreaterOrEqual { description, value } => {
            Filter::GreaterOrEqual(Assertion { attribute: description, value })
        }
        TextFilter::LessOrEqual { description, value } => {
            Filter::LessOrEqual(Assertion { attribute: description, value })
        }
        TextFilter::Approx { description, value } => Filter::Approx(Assertion { attribute: description, value }),
        TextFilter::Present { description } => Filter::Present(description),
        TextFilter::Substrings { description, initial, any, last } => {
            let initial = initial.iter().map(|text| Piece::Initial(text));
            let any = any.iter().map(|text| Piece::Any(text));
            let last = last.iter().map(|text| Piece::Final(text));
            let pieces: Vec<Piece<'_>> = initial.chain(any).chain(last).collect();
            // The wire's filter borrows its pieces and nothing here lives long enough to own them; a test
            // makes few of these.
            let pieces: List<'_, Piece<'_>> = List::from(&*pieces.leak());
            Filter::Substrings(Substrings { attribute: description, pieces })
        }
        TextFilter::Extensible { rule, description, value, dn_attributes } => Filter::Extensible(Extensible {
            matching_rule: rule.as_deref(),
            attribute: description.as_deref(),
            value,
            dn_attributes: *dn_attributes,
        }),
    }
}
