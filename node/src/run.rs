//! Placeholder until the node is wired together.

use crate::config::Config;

#[derive(Debug, thiserror::Error)]
#[error("this build cannot serve")]
pub struct RunError;

pub async fn serve(_config: Config) -> Result<(), RunError> {
    Err(RunError)
}
