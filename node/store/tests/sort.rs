//! The external sorter against a stable sort in memory, with and without files, and with damaged ones.

use std::path::Path;
use std::sync::Arc;

use bindery_store::{FileSystem, OsFiles, Sorter, StoreError};
use proptest::prelude::*;

fn sorted(dir: &Path, budget_bytes: usize, records: &[(Vec<u8>, Vec<u8>)]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut sorter = Sorter::new(Arc::new(OsFiles), dir.join("run"), budget_bytes);
    for (key, value) in records {
        sorter.push(key, value).unwrap();
    }
    let mut sorted = sorter.finish().unwrap();
    let mut found = Vec::new();
    while let Some((key, value)) = sorted.next().unwrap() {
        found.push((key.to_vec(), value.to_vec()));
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn records_come_back_sorted_and_equal_keys_in_the_order_given(
        records in prop::collection::vec(
            (prop::collection::vec(0u8..3, 0..12), prop_oneof![0usize..50, 10_000usize..90_000]), 0..300),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let records: Vec<(Vec<u8>, Vec<u8>)> =
            records.into_iter().enumerate().map(|(at, (key, length))| (key, vec![at as u8; length])).collect();
        let mut model = records.clone();
        model.sort_by(|a, b| a.0.cmp(&b.0));
        // All in memory, and in many runs: the least budget is 256 KiB, of which at most two runs are merged at once.
        prop_assert_eq!(&sorted(dir.path(), 64 << 20, &records), &model);
        prop_assert_eq!(&sorted(dir.path(), 0, &records), &model);
        prop_assert_eq!(OsFiles.list(dir.path()).unwrap().len(), 0, "runs are removed");
    }
}

#[test]
fn a_run_that_reads_otherwise_than_written_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut sorter = Sorter::new(Arc::new(OsFiles), dir.path().join("run"), 0);
    for i in 0..40_000u32 {
        sorter.push(&i.wrapping_mul(2_654_435_761).to_be_bytes(), &[7; 20]).unwrap();
    }
    let mut sorted = sorter.finish().unwrap();
    let paths = OsFiles.list(dir.path()).unwrap();
    assert!(!paths.is_empty());
    for path in paths {
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        // In place: the sorter holds the file open.
        use std::os::unix::fs::FileExt;
        std::fs::OpenOptions::new().write(true).open(&path).unwrap().write_all_at(&bytes, 0).unwrap();
    }
    let error = loop {
        match sorted.next() {
            Ok(Some(_)) => {}
            Ok(None) => panic!("a flipped bit was not found"),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, StoreError::Io { .. }), "{error}");
}
