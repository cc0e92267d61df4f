//! The acts: each transition's one function that performs it, as a value for the write path.
//!
//! An act reads its rows locked, asks the rule in `domain`, and writes what the rule answered. What it refuses it
//! answers with the row it found; then it has written nothing.

mod arm;
mod claim;
mod drive;
mod finalize;
mod lease;
mod resume;
mod verify;

pub use arm::{ArmWatch, Armed, RecordWinner, RecordedWinner, RequestRepull};
pub use claim::{Claim, Claimed};
pub use drive::{DeferOperation, Driven, MarkSendStarted, RecordOperation};
pub use finalize::{FinalizeOperation, Finalized};
pub use lease::{AcquireLease, Leased, ReleaseLease, RenewLease};
pub use resume::{Resume, Resumed};
pub use verify::{ClaimWatchAttempt, DeferWatch, RecordVerification, Verified, WatchAct};

use super::error::Result;
use super::locks::{Lock, Locks};
use super::tx::Tx;
use super::{Act, operations, watches};
use crate::domain::operations::Operation;
use crate::domain::watches::Watch;

/// What a person said about an act; it is kept with the change.
pub type Note = Option<String>;

/// The lock of an act on one operation.
async fn operation_locks(tx: &mut Tx, node_key: &str) -> Result<Locks> {
    let found = operations::peek(tx, node_key).await?;
    Ok(Locks::of(found.iter().map(|row| Lock::operation(&row.caller_did, &row.operation_id))))
}

/// The locks of an act on one watch.
async fn watch_locks(tx: &mut Tx, node_key: &str) -> Result<Locks> {
    let found = watches::peek(tx, node_key).await?;
    Ok(Locks::of(found.iter().flat_map(watches::locks)))
}

/// The operation, locked, if the viewer may see it.
async fn visible_operation(tx: &mut Tx, node_key: &str) -> Result<Option<Operation>> {
    let found = operations::lock(tx, node_key).await?;
    Ok(found.filter(|row| tx.viewer().sees(Some(&row.owner_did), Some(&row.caller_did))))
}

/// The watch, locked, if the viewer may see it.
async fn visible_watch(tx: &mut Tx, node_key: &str) -> Result<Option<Watch>> {
    let found = watches::lock(tx, node_key).await?;
    Ok(found.filter(|row| tx.viewer().sees(Some(&row.owner_did), None)))
}

/// Gives the package's watches their node keys; answers how many were found.
#[derive(Debug)]
pub struct AdoptWatches;

impl Act for AdoptWatches {
    type Answer = usize;

    async fn locks(&self, _: &mut Tx) -> Result<Locks> {
        Ok(Locks::none())
    }

    async fn run(&self, tx: &mut Tx) -> Result<usize> {
        watches::adopt(tx).await
    }
}
