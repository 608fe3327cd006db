use super::*;
use bindery_directory::DirectoryOptions;
use bindery_store::{OsFiles, StoreOptions};
use std::sync::Arc;

const OPTIONS: Options = Options {
    dry_run: false,
    continue_on_error: false,
    existing: ExistingMode::Error,
    clear: ClearPolicy::Hash(2),
    block_bytes: 1 << 20,
};

/// What the parser gives for `text`, in words.
fn pieces(text: &str, options: Options) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let store = StoreOptions { arena_bytes: 4 << 20, ..StoreOptions::default() };
    let directory =
        Directory::open(Arc::new(OsFiles), dir.path(), DirectoryOptions { store, ..DirectoryOptions::default() });
    let (sender, mut receiver) = mpsc::channel(10_000);
    run(text.as_bytes(), &directory.unwrap(), options, &Counters::default(), &sender);
    drop(sender);
    std::iter::from_fn(|| receiver.blocking_recv())
        .map(|piece| match piece {
            Piece::Block(block) => format!("block of {}, {} clear", block.len(), block.clear.len()),
            Piece::Problem(problem) => format!("problem {}:{}", problem.line, problem.dn),
            Piece::Stop(why) => format!("stop: {why}"),
            Piece::End => "end".to_owned(),
        })
        .collect()
}

fn people(count: usize) -> String {
    (0..count).map(|at| format!("dn: cn={at},dc=x\nobjectClass: person\ncn: {at}\nsn: s\n\n")).collect()
}

#[test]
fn entries_come_in_blocks_of_a_thousand() {
    assert_eq!(
        pieces(&people(2_500), OPTIONS),
        ["block of 1000, 0 clear", "block of 1000, 0 clear", "block of 500, 0 clear", "end"]
    );
    assert_eq!(pieces("", OPTIONS), ["end"]);
}

#[test]
fn blocks_are_bounded_by_bytes_too() {
    let options = Options { block_bytes: 200, ..OPTIONS };
    let given = pieces(&people(10), options);
    assert!(given.len() > 3, "{given:?}");
    assert_eq!(given.last().unwrap(), "end");
}

#[test]
fn a_fault_ends_the_load_after_what_stands_before_it() {
    let text = "dn: cn=1,dc=x\ncn: 1\n\ndn: cn=2,dc=x\nnonsense\n\ndn: cn=3,dc=x\ncn: 3\n";
    assert_eq!(pieces(text, OPTIONS), ["block of 1, 0 clear", "problem 5:cn=2,dc=x", "stop: the input has an error"]);
    let going_on = Options { continue_on_error: true, ..OPTIONS };
    assert_eq!(pieces(text, going_on), ["block of 1, 0 clear", "problem 5:cn=2,dc=x", "block of 1, 0 clear", "end"]);
}

#[test]
fn a_change_is_refused() {
    let text = "dn: cn=1,dc=x\nchangetype: delete\n";
    assert_eq!(pieces(text, OPTIONS), ["problem 2:cn=1,dc=x", "stop: the input has an error"]);
}

#[test]
fn clear_passwords_are_found_and_counted() {
    let entry = |at: usize| {
        format!(
            "dn: cn={at},dc=x\ncn: {at}\nUserPassword: clear\nuserPassword: {{SSHA}}cRDDKDKZJJrwJm2qjGzaqw7d2Z1vVHk=\n\n"
        )
    };
    let text = entry(1) + &entry(2);
    assert_eq!(pieces(&text, OPTIONS), ["block of 2, 2 clear", "end"]);
    let given = pieces(&(text.clone() + &entry(3)), OPTIONS);
    assert_eq!(given[0], "block of 2, 2 clear");
    assert!(given[1].starts_with("stop: line 13: more than 2 clear passwords; load with"), "{given:?}");
    let refuse = Options { clear: ClearPolicy::Refuse, ..OPTIONS };
    assert_eq!(pieces(&text, refuse), ["problem 3:cn=1,dc=x", "stop: the input has an error"]);
}

#[test]
fn a_dry_run_reports_every_error_and_gives_no_blocks() {
    let options = Options { dry_run: true, ..OPTIONS };
    // A directory that is not founded knows no attribute type.
    let given = pieces(&people(3), options);
    assert_eq!(given.len(), 4, "{given:?}");
    assert!(given[..3].iter().all(|piece| piece.starts_with("problem ")), "{given:?}");
    assert_eq!(given[3], "end");
}
