//! How often and how long: tests run with scaled counts unless the full ones are asked for.

/// `full` when `BINDERY_TESTS=full` (what `tests/soak` sets), else `scaled`.
pub fn scaled(scaled: usize, full: usize) -> usize {
    if std::env::var("BINDERY_TESTS").as_deref() == Ok("full") { full } else { scaled }
}
