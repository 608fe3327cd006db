//! Calls that may block.

/// Runs a blocking call beside the executor's threads, or at once in inline mode.
pub(crate) async fn block<T: Send + 'static>(inline: bool, call: impl FnOnce() -> T + Send + 'static) -> T {
    if inline {
        return call();
    }
    match tokio::task::spawn_blocking(call).await {
        Ok(value) => value,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // Only a runtime that shuts down cancels a blocking call: nobody waits for the answer then.
            Err(_) => std::future::pending().await,
        },
    }
}
