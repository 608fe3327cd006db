//! Every valid message, damaged at every element in every way the codec knows to be dangerous: no panic,
//! and no allocation beyond a small multiple of the input.

// Counting allocations takes an allocator, and that trait is unsafe.
#![allow(unsafe_code)]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::{Duration, Instant};

use bindery_wire::client::ResponseMessage;
use bindery_wire::control::*;
use bindery_wire::{Filter, Limits, RequestMessage, extended, next_message};

struct Counting;

thread_local! {
    static LIVE_BYTES: Cell<usize> = const { Cell::new(0) };
    static PEAK_BYTES: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is passed on to the system allocator unchanged; the counters do not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE_BYTES.with(|live| {
            live.set(live.get() + layout.size());
            PEAK_BYTES.with(|peak| peak.set(peak.get().max(live.get())));
        });
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE_BYTES.with(|live| live.set(live.get().saturating_sub(layout.size())));
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A filter term takes two bytes at least, and a node of the tree 56 bytes.
const ALLOWED_FACTOR: usize = 32;

fn peak_during(work: impl FnOnce()) -> usize {
    let before = LIVE_BYTES.get();
    PEAK_BYTES.set(before);
    work();
    PEAK_BYTES.get() - before
}

/// Decodes in every way there is, walks what was decoded, and checks what was allocated.
fn exercise(bytes: &[u8]) {
    let limits = Limits::DEFAULT;
    let peak = peak_during(|| {
        let _ = next_message(bytes, 1 << 20);
        match RequestMessage::decode(bytes, &limits) {
            Ok(message) => {
                message.controls.iter().for_each(|control| control.value.iter().for_each(|value| values(value)));
                if let bindery_wire::Request::Add(add) = &message.request {
                    let walked: usize = add.attributes.iter().map(|attribute| attribute.values.iter().count()).sum();
                    assert!(walked <= bytes.len());
                }
            }
            Err(error) => {
                assert!(error.cause.offset <= bytes.len(), "{error:?}");
                let _ = error.reply();
            }
        }
        match ResponseMessage::decode(bytes, &limits) {
            Ok(message) => assert!(message.controls.iter().count() == message.controls.len()),
            Err(error) => assert!(error.cause.offset <= bytes.len(), "{error:?}"),
        }
        values(bytes);
    });
    assert!(peak <= ALLOWED_FACTOR * bytes.len() + 512, "{peak} bytes for {}", bytes.len());
}

fn values(value: &[u8]) {
    let limits = Limits::DEFAULT;
    let _ = paged_results::PagedResults::decode(value);
    let _ = sort::SortRequest::decode(value, &limits);
    let _ = sort::SortResponse::decode(value);
    let _ = virtual_list_view::VlvRequest::decode(value);
    let _ = virtual_list_view::VlvResponse::decode(value);
    let _ = read_entry::decode_request(value, &limits);
    let _ = read_entry::decode_response(value, &limits);
    let _ = matched_values::decode(value, &limits);
    let _ = proxied_authorization::decode_v1(value);
    let _ = subentries::decode(value);
    let _ = password_policy::PasswordPolicyResponse::decode(value);
    let _ = password_policy::AccountUsability::decode(value);
    let _ = sync::SyncRequest::decode(value);
    let _ = sync::SyncState::decode(value);
    let _ = sync::SyncDone::decode(value);
    let _ = sync::SyncInfo::decode(value);
    let _ = persistent_search::PersistentSearch::decode(value);
    let _ = persistent_search::EntryChange::decode(value);
    let _ = deref::decode_request(value, &limits);
    let _ = deref::decode_response(value);
    let _ = session_tracking::SessionTracking::decode(value);
    let _ = Filter::decode(value, &limits);
    let _ = extended::PasswordModifyRequest::decode(Some(value));
    let _ = extended::decode_password_modify_response(value);
    let _ = extended::decode_cancel(value);
    let _ = extended::TransactionEnd::decode(value);
    let _ = extended::decode_transaction_end_response(value);
    let _ = extended::RefreshRequest::decode(value);
    let _ = extended::decode_refresh_response(value);
}

/// An element as a tree, so that it can be written again with one node damaged.
struct Node {
    tag: u8,
    content: Vec<u8>,
    children: Vec<Node>,
}

/// Parses what our writers wrote: shortest lengths, and constructed means bit 0x20.
fn parse(mut bytes: &[u8]) -> Vec<Node> {
    let mut nodes = Vec::new();
    while let [tag, first, after @ ..] = bytes {
        let (length, body) = match first {
            0..0x80 => (usize::from(*first), after),
            _ => {
                let count = usize::from(first & 0x7F);
                let length = after[..count].iter().fold(0, |length, byte| (length << 8) | usize::from(*byte));
                (length, &after[count..])
            }
        };
        let content = &body[..length];
        let children = if tag & 0x20 != 0 { parse(content) } else { Vec::new() };
        nodes.push(Node { tag: *tag, content: content.to_vec(), children });
        bytes = &body[length..];
    }
    nodes
}

fn header(tag: u8, length: usize) -> Vec<u8> {
    let mut out = Vec::new();
    bindery_wire::ber::write::put_header(&mut out, tag, length);
    out
}

/// Writes the tree with node number `target` replaced by `damage`; returns how many nodes there are.
fn write_damaged(nodes: &[Node], seen: &mut usize, target: usize, damage: &Damage) -> Vec<u8> {
    let mut out = Vec::new();
    for node in nodes {
        let number = *seen;
        *seen += 1;
        if number == target {
            out.extend(damage(node));
            *seen += count(&node.children);
        } else if node.children.is_empty() {
            out.extend(header(node.tag, node.content.len()));
            out.extend_from_slice(&node.content);
        } else {
            let content = write_damaged(&node.children, seen, target, damage);
            out.extend(header(node.tag, content.len()));
            out.extend(content);
        }
    }
    out
}

fn count(nodes: &[Node]) -> usize {
    nodes.iter().map(|node| 1 + count(&node.children)).sum()
}

/// Makes damaged bytes of one element.
type Damage = Box<dyn Fn(&Node) -> Vec<u8>>;

fn damages() -> Vec<Damage> {
    let mut all: Vec<Damage> = Vec::new();
    let lengths: &[&[u8]] = &[
        &[0],
        &[1],
        &[0x7F],
        &[0x80],
        &[0x81, 0xFF],
        &[0x82, 0xFF, 0xFF],
        &[0x84, 0xFF, 0xFF, 0xFF, 0xFF],
        &[0x84, 0x7F, 0xFF, 0xFF, 0xFF],
        &[0x85, 0, 0, 0, 0, 1],
        &[0x88, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
        &[0x88, 0, 0, 0, 0, 0, 0, 0, 1],
        &[0xFF],
    ];
    for length in lengths {
        all.push(Box::new(move |node| [&[node.tag], *length, &node.content].concat()));
    }
    for delta in [-1isize, 1, 2] {
        all.push(Box::new(move |node| {
            let length = node.content.len().checked_add_signed(delta).unwrap_or(0);
            [&header(node.tag, length)[..], &node.content].concat()
        }));
    }
    all.push(Box::new(|node| {
        let length = (node.content.len() as u32).to_be_bytes();
        [&[node.tag, 0x84][..], &length, &node.content].concat()
    }));
    for flip in [0x20u8, 0x40, 0x80, 0xC0, 0x01, 0x02, 0x04, 0x08, 0x10] {
        all.push(Box::new(move |node| [&header(node.tag ^ flip, node.content.len())[..], &node.content].concat()));
    }
    all.push(Box::new(|node| [&[node.tag | 0x1F, 0x20][..], &header(node.tag, 0)[1..], &node.content].concat()));
    let contents: &[&[u8]] = &[
        &[],
        &[0],
        &[1],
        &[4],
        &[0x7F],
        &[0x80],
        &[0xFF],
        &[0, 0, 0, 1],
        &[0x7F, 0xFF, 0xFF, 0xFF],
        &[0, 0x80, 0, 0, 0],
        &[0x80, 0, 0, 0, 0, 0, 0, 0],
        &[1, 0, 0, 0, 0, 0, 0, 0, 0],
        &[0; 40],
        b"\x00\xC3\x28\xFF",
    ];
    for content in contents {
        all.push(Box::new(move |node| [&header(node.tag, content.len())[..], content].concat()));
    }
    all.push(Box::new(|_| Vec::new()));
    all.push(Box::new(|node| {
        let one = [&header(node.tag, node.content.len())[..], &node.content].concat();
        [&one[..], &one].concat()
    }));
    all
}

#[test]
fn rfc4511_5_1_damaged_elements_neither_panic_nor_allocate() {
    let damages = damages();
    let mut tried = 0;
    for message in common::requests().into_iter().chain(common::responses()) {
        let nodes = parse(&message);
        for target in 0..count(&nodes) {
            for damage in &damages {
                exercise(&write_damaged(&nodes, &mut 0, target, damage));
                tried += 1;
            }
        }
    }
    assert!(tried > 10_000, "{tried}");
}

#[test]
fn truncated_messages_are_errors_at_every_byte() {
    let limits = Limits::DEFAULT;
    for message in common::requests().into_iter().chain(common::responses()) {
        for end in 0..message.len() {
            exercise(&message[..end]);
            assert!(RequestMessage::decode(&message[..end], &limits).is_err());
            assert!(ResponseMessage::decode(&message[..end], &limits).is_err());
        }
    }
}

/// A small generator, so that a failure can be repeated from its seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}

#[test]
fn random_damage_for_two_seconds() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let corpus: Vec<Vec<u8>> = common::requests().into_iter().chain(common::responses()).collect();
    let end = Instant::now() + Duration::from_secs(2);
    while Instant::now() < end {
        for _ in 0..256 {
            let mut message = corpus[random.below(corpus.len())].clone();
            for _ in 0..=random.below(4) {
                let at = random.below(message.len());
                match random.below(4) {
                    0 => message[at] = random.next() as u8,
                    1 => message[at] ^= 1 << random.below(8),
                    2 => message.truncate(at + 1),
                    _ => message.insert(at, random.next() as u8),
                }
            }
            exercise(&message);
        }
        let noise: Vec<u8> = (0..random.below(300)).map(|_| random.next() as u8).collect();
        exercise(&noise);
    }
}

#[test]
fn a_million_empty_values_cost_nothing() {
    let values = vec![[4u8, 0]; 1 << 20].concat();
    let mut message = Vec::new();
    bindery_wire::ber::write::put_constructed(&mut message, 0x30, |out| {
        out.extend_from_slice(&[2, 1, 1]);
        bindery_wire::ber::write::put_constructed(out, 0x68, |out| {
            out.extend_from_slice(&[4, 1, b'x']);
            bindery_wire::ber::write::put_constructed(out, 0x30, |out| {
                bindery_wire::ber::write::put_constructed(out, 0x30, |out| {
                    out.extend_from_slice(&[4, 1, b'm']);
                    bindery_wire::ber::write::put_tlv(out, 0x31, &values);
                });
            });
        });
    });
    let peak = peak_during(|| {
        let message = RequestMessage::decode(&message, &Limits::DEFAULT).unwrap();
        let bindery_wire::Request::Add(add) = message.request else { panic!() };
        assert_eq!(add.attributes.iter().next().unwrap().values.iter().count(), 1 << 20);
    });
    assert_eq!(peak, 0);
}
