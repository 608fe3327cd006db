//! Prints nanoseconds for the hot shapes: `cargo bench -p bindery-wire`.

#[path = "../tests/common/mod.rs"]
mod common;

use std::hint::black_box;
use std::time::Instant;

use bindery_wire::client::write_request;
use bindery_wire::entry::{SearchEntryWriter, write_search_entry};
use bindery_wire::response::write_result;
use bindery_wire::{Attribute, LdapResult, Limits, List, RequestMessage, ResponseTag};

const ROUNDS: usize = 40;
const PER_ROUND: u32 = 50_000;

/// The lower quartile over rounds, in nanoseconds per call: other work on the machine only adds.
fn measure(name: &str, mut work: impl FnMut()) {
    let mut rounds: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            (0..PER_ROUND).for_each(|_| work());
            start.elapsed().as_nanos() as f64 / f64::from(PER_ROUND)
        })
        .collect();
    rounds.sort_by(f64::total_cmp);
    println!("{name:44} {:8.1} ns", rounds[ROUNDS / 4]);
}

fn main() {
    let limits = Limits::DEFAULT;
    let mut simple = Vec::new();
    write_request(&mut simple, 1234, &common::search(common::equality("uid", "user.123456")), &[]);
    measure(&format!("decode search, one term, {} bytes", simple.len()), || {
        black_box(RequestMessage::decode(black_box(&simple), &limits).expect("valid"));
    });
    let mut complex = Vec::new();
    write_request(&mut complex, 1234, &common::search(common::every_filter()), &[]);
    measure(&format!("decode search, nine terms, {} bytes", complex.len()), || {
        black_box(RequestMessage::decode(black_box(&complex), &limits).expect("valid"));
    });

    let value: &[u8] = b"a value of thirty bytes length";
    let values = [value];
    let attributes: Vec<Attribute<'_>> =
        (0..15).map(|_| Attribute { description: b"attribute", values: List::from(&values) }).collect();
    let mut run = Vec::new();
    List::from(&attributes).write_run(&mut run);
    let single: Vec<&[u8]> = run.chunks(run.len() / attributes.len()).collect();
    let dn: &[u8] = b"uid=user.123456,ou=People,dc=example,dc=com";
    let mut out = Vec::with_capacity(4096);
    measure(&format!("encode entry, list as one run, {} bytes", run.len()), || {
        out.clear();
        write_search_entry(&mut out, 1234, black_box(dn), &[black_box(&run)], &[]);
        black_box(&out);
    });
    measure("encode entry, 15 runs", || {
        out.clear();
        write_search_entry(&mut out, 1234, black_box(dn), black_box(&single), &[]);
        black_box(&out);
    });
    measure("encode entry, 15 attributes from parts", || {
        out.clear();
        let mut writer = SearchEntryWriter::begin(&mut out, 1234, black_box(dn));
        attributes.iter().for_each(|attribute| writer.values(attribute.description, attribute.values));
        writer.finish(&[]);
        black_box(&out);
    });
    measure("encode search done", || {
        out.clear();
        write_result(&mut out, 1234, ResponseTag::SearchDone, black_box(&LdapResult::SUCCESS), &[]);
        black_box(&out);
    });
}
