//! One task stamps and submits commands in order: so time never goes back in the log, and what waits at one
//! moment goes into the log as one message to the core.

use std::sync::{Arc, Weak};

use bytes::Bytes;
use futures_util::StreamExt;
use openraft::errors::ClientWriteError;
use tokio::sync::{mpsc, oneshot};

use super::handle::Proposed;
use super::inner::Inner;
use super::propose::Attempt;
use super::running::Running;
use crate::core::types::position;

/// Commands submitted as one.
const MAX_BATCH: usize = 512;
/// Payload bytes submitted as one, so that a few large commands do not delay many small ones.
const MAX_BATCH_BYTES: usize = 4 << 20;

/// One command on its way into the log.
pub(crate) struct Proposal {
    pub payload: Bytes,
    pub answer: oneshot::Sender<Attempt>,
}

/// The queue is as long as proposals are admitted.
pub(super) fn queue(max_pending: usize) -> (mpsc::Sender<Proposal>, mpsc::Receiver<Proposal>) {
    mpsc::channel(max_pending.max(1))
}

pub(super) fn spawn(inner: &Arc<Inner>, running: &Arc<Running>, waiting: mpsc::Receiver<Proposal>) {
    inner.spawn(serve(Arc::downgrade(inner), Arc::downgrade(running), waiting));
}

async fn serve(inner: Weak<Inner>, running: Weak<Running>, mut waiting: mpsc::Receiver<Proposal>) {
    while let Some(first) = waiting.recv().await {
        let mut bytes = first.payload.len();
        let mut batch = vec![first];
        while batch.len() < MAX_BATCH
            && bytes < MAX_BATCH_BYTES
            && let Ok(next) = waiting.try_recv()
        {
            bytes += next.payload.len();
            batch.push(next);
        }
        // Whoever gave up already was told that the outcome is unknown; not writing is one outcome.
        batch.retain(|proposal| !proposal.answer.is_closed());
        let (Some(inner), Some(running)) = (inner.upgrade(), running.upgrade()) else { return };
        submit(&inner, &running, batch).await;
    }
}

/// openraft answers `ForwardToLeader` only before it appends (its core checks leadership and lease first);
/// an entry appended and then lost to another leader is `LogEntryDiscarded`, whose command may yet be
/// committed. A fatal error says nothing.
async fn submit(inner: &Inner, running: &Running, batch: Vec<Proposal>) {
    let mut commands = Vec::with_capacity(batch.len());
    let mut answers = Vec::with_capacity(batch.len());
    for proposal in batch {
        commands.push(running.stamp(proposal.payload, &*inner.clock, &*inner.randomness));
        answers.push(proposal.answer);
    }
    let mut results = match running.raft.client_write_many(commands).await {
        Ok(results) => results,
        Err(fatal) => {
            for answer in answers {
                let _ = answer.send(Attempt::Unknown(fatal.to_string()));
            }
            return;
        }
    };
    inner.spawn(async move {
        for answer in answers {
            let attempt = match results.next().await {
                Some(Ok(Ok(written))) => {
                    Attempt::Done(Proposed { position: position(&written.log_id), reply: written.response.0 })
                }
                Some(Ok(Err(ClientWriteError::ForwardToLeader(forward)))) => {
                    Attempt::NotApplied(format!("this node does not lead ({:?})", forward.reason))
                }
                Some(Ok(Err(error))) => Attempt::Unknown(error.to_string()),
                Some(Err(fatal)) => Attempt::Unknown(fatal.to_string()),
                None => Attempt::Unknown("the consensus core ended".into()),
            };
            // The proposer may have given up.
            let _ = answer.send(attempt);
        }
    });
}
