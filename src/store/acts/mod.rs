//! The acts: each transition's one function that performs it, as a value for the write path.
//!
//! An act reads its rows locked, asks the rule in `domain`, and writes what the rule answered. What it refuses it
//! answers with the row it found; then it has written nothing.

mod arm;
mod claim;
mod documents;
mod drive;
mod each;
mod finalize;
mod grants;
mod lease;
mod pending_auth;
mod refresh;
mod reissue;
mod resume;
mod retention;
mod sweeps;
mod sync;
mod told;
mod upkeep;
mod verify;

pub use arm::{ArmWatch, Armed, RecordWinner, RecordedWinner, RequestRepull};
pub use claim::{Claim, Claimed};
pub use documents::{
    ClearEntityTrim, ClearObservationRepair, PruneObservationRecord, PutObservationRecord, PutObservationRepair,
    SetEntityTrim,
};
pub use drive::{DeferOperation, Driven, MarkSendStarted, RecordOperation};
pub use each::Each;
pub use finalize::{FinalizeOperation, Finalized};
pub use grants::{GrantAccess, RevokeAccess};
pub use lease::{AcquireLease, Leased, ReleaseLease, RenewLease};
pub use pending_auth::{ConsumePendingAuth, CreatePendingAuth, DeleteExpiredPendingAuth, PendingAuthActed};
pub use refresh::{CountBooks, CountOutcomes, RefreshWriteStates};
pub use reissue::{ReissueOperation, Reissued};
pub use resume::{Resume, Resumed};
pub use retention::{CollectFinished, SweepDocument, SweptDocument};
pub use sweeps::{
    CandidateNews, CommitSweepCheckpoint, CommittedSweep, ReceiptKey, RecordRelistReceipt, RecordedRelist,
    RelistCandidate, TellCandidate, ToldCandidate,
};
pub use sync::{AdvanceSyncProgress, DeleteSyncState, SetSyncState, SyncStateWritten};
pub use upkeep::{Upkeep, UpkeepTask};
pub use verify::{ClaimWatchAttempt, DeferWatch, RecordVerification, Verified, WatchAct};

use super::digests::Digested;
use super::error::Result;
use super::locks::Locks;
use super::tx::Tx;
use super::{Act, operations, watches};
use crate::domain::operations::Operation;
use crate::domain::viewer::Forbidden;
use crate::domain::watches::Watch;

/// What a person said about an act; it is kept with the change.
pub type Note = Option<String>;

/// The locks of an act on one operation.
async fn operation_locks(tx: &mut Tx, node_key: &str) -> Result<Locks> {
    let found = operations::peek(tx, node_key).await?;
    Ok(Locks::of(found.iter().flat_map(operations::locks)))
}

/// The locks of an act on one watch.
async fn watch_locks(tx: &mut Tx, node_key: &str) -> Result<Locks> {
    let found = watches::peek(tx, node_key).await?;
    Ok(Locks::of(found.iter().flat_map(watches::locks)))
}

/// The operation, locked, if the viewer may see it; whoever sees it and may not drive it is refused.
async fn driven_operation(tx: &mut Tx, node_key: &str) -> Result<Option<Operation>> {
    let found = operations::lock(tx, node_key).await?;
    let found = found.filter(|row| tx.viewer().sees(Some(&row.owner_did), Some(&row.caller_did)));
    if let Some(row) = &found {
        tx.viewer().must_drive(&row.caller_did)?;
    }
    Ok(found)
}

/// Makes sure that the viewer may write what is said of a document: as the owner of a watch or an operation of it, or a service.
async fn must_own_document(tx: &mut Tx, document_id: &str) -> Result<()> {
    let Some(did) = tx.viewer().confined_to().map(str::to_owned) else { return Ok(()) };
    if super::documents::is_of_owner(tx, document_id, &did).await? {
        return Ok(());
    }
    Err(Forbidden::new("documentId", "is a document of which others own the operations and watches").into())
}

/// The watch, locked, if the viewer may see it.
async fn visible_watch(tx: &mut Tx, node_key: &str) -> Result<Option<Watch>> {
    let found = watches::lock(tx, node_key).await?;
    Ok(found.filter(|row| tx.viewer().sees(Some(&row.owner_did), None)))
}

/// Gives the package's rows of a table their node keys; answers how many were found.
#[derive(Debug)]
pub struct Adopt(pub(super) &'static Digested);

impl Act for Adopt {
    type Answer = usize;

    async fn locks(&self, _: &mut Tx) -> Result<Locks> {
        Ok(Locks::none())
    }

    async fn run(&self, tx: &mut Tx) -> Result<usize> {
        self.0.adopt(tx).await
    }
}
