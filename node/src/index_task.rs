//! Builds indexes online: while one is building, the leader proposes one bounded step after another. The
//! state is in the log, so that the next leader goes on where the last one stopped.

use std::time::Duration;

use bindery_directory::Directory;
use bindery_directory::op::index_build;
use bindery_raft::{Cluster, Role};
use tokio::sync::watch;

use crate::write;

/// How often the leader looks for something to build.
const LOOK: Duration = Duration::from_millis(100);
/// Wait after a failed step.
const RETRY: Duration = Duration::from_secs(1);

/// Runs until the node stops.
pub async fn run(cluster: Cluster, directory: Directory, mut stop: watch::Receiver<bool>) {
    loop {
        let building = directory.view().indexes().iter().any(|index| !index.building.is_empty());
        let pause = if building && cluster.status().role == Role::Leader {
            match write::write(&cluster, &index_build::prepare()).await {
                Ok(written) if written.done.more => Duration::ZERO,
                Ok(_) => LOOK,
                Err(error) => {
                    tracing::warn!("index building waits: {error}");
                    RETRY
                }
            }
        } else {
            LOOK
        };
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            _ = stop.wait_for(|stop| *stop) => return,
        }
    }
}
