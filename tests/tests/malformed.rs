//! What no client should send: the connection ends cleanly, the node lives, memory does not move.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use bindery_tests::client::{Client, search};
use bindery_tests::process::{ClusterOptions, ProcessCluster, SUFFIX};
use bindery_wire::Limits;
use bindery_wire::client::{Response, ResponseMessage};

/// Growth of the resident size that rubbish may cause: buffers at rest, nothing in proportion to lengths
/// announced.
const GROWTH_BYTES: u64 = 8 << 20;

fn one() -> ProcessCluster {
    ProcessCluster::start(ClusterOptions { nodes: 1, ..ClusterOptions::default() })
}

/// Sends bytes and returns everything that comes back until the server closes, or until it goes quiet.
fn exchange(address: SocketAddr, bytes: &[u8]) -> (Vec<u8>, bool) {
    let mut stream = TcpStream::connect(address).expect("the node accepts");
    stream.set_read_timeout(Some(Duration::from_millis(300))).expect("a positive time");
    // The server may close before all is sent.
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return (answer, true),
            Ok(count) => answer.extend_from_slice(&buffer[..count]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                return (answer, false);
            }
            Err(_) => return (answer, true),
        }
    }
}

/// Codes of the responses in an answer; `None` for a Notice of Disconnection.
fn codes(answer: &[u8]) -> Vec<(i32, u32)> {
    let mut found = Vec::new();
    let mut rest = answer;
    while let Ok(Some(length)) = bindery_wire::next_message(rest, usize::MAX) {
        let message = ResponseMessage::decode(&rest[..length], &Limits::DEFAULT).expect("a readable answer");
        if let Some(result) = message.response.result() {
            if message.id == 0 {
                assert!(
                    matches!(&message.response, Response::Extended(e) if e.name == Some(b"1.3.6.1.4.1.1466.20036"))
                );
            }
            found.push((message.id, result.code.0));
        }
        rest = &rest[length..];
    }
    assert!(rest.is_empty(), "the answer ends inside a message");
    found
}

fn assert_alive(address: SocketAddr) {
    let mut client = Client::connect(address).expect("the node accepts");
    let found = client.search(&search("", "(objectClass=*)").base_only()).expect("an answer");
    assert_eq!((found.outcome.code, found.entries.len()), (0, 1));
}

/// BER: tag, definite length, content.
fn tlv(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    let length = content.len();
    if length < 0x80 {
        out.push(length as u8);
    } else {
        out.push(0x84);
        out.extend_from_slice(&(length as u32).to_be_bytes());
    }
    out.extend_from_slice(content);
    out
}

fn search_message(id: u8, filter: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    body.extend(tlv(0x04, SUFFIX.as_bytes()));
    body.extend(tlv(0x0A, &[2]));
    body.extend(tlv(0x0A, &[0]));
    body.extend(tlv(0x02, &[0]));
    body.extend(tlv(0x02, &[0]));
    body.extend(tlv(0x01, &[0]));
    body.extend_from_slice(filter);
    body.extend(tlv(0x30, &[]));
    let mut message = tlv(0x02, &[id]);
    message.extend(tlv(0x63, &body));
    tlv(0x30, &message)
}

#[test]
fn rubbish_ends_the_connection_and_nothing_else() {
    let cluster = one();
    let address = cluster.nodes[0].ldap;
    assert_alive(address);
    let before = cluster.nodes[0].resident_bytes();

    // RFC 4511 5.1 and 4.1.1: what cannot be framed ends with a Notice of Disconnection.
    for bytes in [
        &b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"[..],
        &[0x30, 0x80, 0, 0],
        &[0x30, 0x84, 0x40, 0, 0, 0],
        &[0x30, 0x88, 0, 0, 0, 0, 0, 0, 1, 0],
        &[0xFF; 64],
        &[0x30, 0x03, 0x02, 0x01, 0x01],
        &[0x30, 0x05, 0x02, 0x01, 0x01, 0x7F, 0x00],
    ] {
        let (answer, closed) = exchange(address, bytes);
        assert!(closed, "{bytes:02x?} leaves the connection open");
        assert!(matches!(codes(&answer)[..], [(0, 2)]), "{bytes:02x?}: {:?}", codes(&answer));
    }

    // Truncated: the server waits for the rest, and goes on with others.
    let whole = search_message(1, &tlv(0x87, b"objectClass"));
    for end in 1..whole.len() {
        let (answer, closed) = exchange_briefly(address, &whole[..end]);
        assert!(answer.is_empty() && !closed, "{end} bytes of {}", whole.len());
    }

    // Random bytes, and valid messages with random bytes changed.
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    let end = Instant::now() + Duration::from_secs(5);
    let mut count = 0;
    while Instant::now() < end {
        let bytes: Vec<u8> = if count % 2 == 0 {
            (0..next() % 200).map(|_| next() as u8).collect()
        } else {
            let mut bytes = whole.clone();
            for _ in 0..1 + next() % 3 {
                let at = next() as usize % bytes.len();
                bytes[at] = next() as u8;
            }
            bytes
        };
        let (answer, _) = exchange_briefly(address, &bytes);
        codes(&answer);
        count += 1;
    }
    assert_alive(address);
    let after = cluster.nodes[0].resident_bytes();
    println!("{count} random messages; resident {before} -> {after} bytes");
    assert!(after < before + GROWTH_BYTES, "memory grew from {before} to {after}");
}

fn exchange_briefly(address: SocketAddr, bytes: &[u8]) -> (Vec<u8>, bool) {
    let mut stream = TcpStream::connect(address).expect("the node accepts");
    stream.set_read_timeout(Some(Duration::from_millis(3))).expect("a positive time");
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Ok(_) => (answer, true),
        Err(error) => (answer, !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)),
    }
}

/// T36: filters nested 10 and 100 deep, 100,000 deep, and 500 and 50,000 terms wide.
#[test]
fn deep_and_wide_filters_are_answered_or_refused() {
    let cluster = one();
    let address = cluster.nodes[0].ldap;
    let before = cluster.nodes[0].resident_bytes();
    let nested = |depth: usize| {
        let mut filter = tlv(0x87, b"objectClass");
        for _ in 0..depth {
            filter = tlv(0xA2, &filter);
        }
        filter
    };
    let wide = |terms: usize| tlv(0xA1, &(0..terms).flat_map(|_| tlv(0x87, b"cn")).collect::<Vec<u8>>());
    let mut client = Client::admin(address).expect("a ready node");
    for (filter, allowed) in [
        (nested(10), &[0, 32][..]),
        (nested(100), &[0, 32, 2, 11, 53][..]),
        (wide(500), &[0, 32][..]),
        (wide(50_000), &[2, 11, 53][..]),
    ] {
        client.send_raw(&search_message(9, &filter)).expect("a connection");
        let answer = client.receive().expect("an answer");
        let found = codes(&answer);
        assert!(matches!(found[..], [(9, code)] if allowed.contains(&code)), "{found:?}, allowed {allowed:?}");
    }
    // 100,000 deep: built from the inside, lengths of five bytes a level.
    let mut filter = tlv(0x87, b"cn");
    let mut levels: Vec<Vec<u8>> = Vec::new();
    let mut length = filter.len();
    for _ in 0..100_000 {
        let mut header = vec![0xA2, 0x84];
        header.extend_from_slice(&(length as u32).to_be_bytes());
        length += header.len();
        levels.push(header);
    }
    let mut deep: Vec<u8> = levels.into_iter().rev().flatten().collect();
    deep.append(&mut filter);
    client.send_raw(&search_message(10, &deep)).expect("a connection");
    let found = codes(&client.receive().expect("an answer"));
    assert!(matches!(found[..], [(0, 2)] | [(10, 2 | 11 | 53)]), "{found:?}");
    assert_alive(address);
    let after = cluster.nodes[0].resident_bytes();
    assert!(after < before + 2 * GROWTH_BYTES, "memory grew from {before} to {after}");
}

/// T35: one byte at a time, glued, and split inside a length.
#[test]
fn messages_arrive_in_any_pieces() {
    let cluster = one();
    let address = cluster.nodes[0].ldap;
    let mut client = Client::admin(address).expect("a ready node");
    let message = search_message(3, &tlv(0x87, b"objectClass"));
    for byte in &message {
        client.send_raw(&[*byte]).expect("a connection");
    }
    assert_eq!(codes(&client.receive().expect("an answer")).len(), 1);
    let glued: Vec<u8> = (1..=3).flat_map(|id| search_message(id, &tlv(0x87, b"objectClass"))).collect();
    client.send_raw(&glued).expect("a connection");
    for id in 1..=3 {
        assert_eq!(codes(&client.receive().expect("an answer"))[0].0, id);
    }
    client.send_raw(&message[..3]).expect("a connection");
    std::thread::sleep(Duration::from_millis(50));
    client.send_raw(&message[3..]).expect("a connection");
    assert_eq!(codes(&client.receive().expect("an answer"))[0].0, 3);
}
