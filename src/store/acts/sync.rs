//! Sync state: set as given, moved on by compare-and-set, removed.

use crate::domain::sync::{Progress, ReadVersion, SyncState, SyncStateOutcome, SyncStatus};
use crate::entropy::fresh_key;
use crate::store::error::{Error, Result};
use crate::store::locks::{Lock, Locks};
use crate::store::tx::Tx;
use crate::store::{Act, sync};

/// Sets a sync state, whatever it was.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of SetSyncStateInput, where they are described")]
pub struct SetSyncState {
    pub progress: Progress,
    pub status: SyncStatus,
}

/// Moves a sync state on from the one that was read.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of AdvanceSyncProgressInput, where they are described")]
pub struct AdvanceSyncProgress {
    pub progress: Progress,
    /// None: there must be no row.
    pub expected: Option<ReadVersion>,
}

/// Removes a sync state; answers how many there were.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of SyncStateKeyInput, where they are described")]
pub struct DeleteSyncState {
    pub connector_name: String,
    pub owner_did: String,
}

/// What came of writing a sync state, with the row as it is now.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of SyncStatePayload, where they are described")]
pub struct SyncStateWritten {
    pub outcome: SyncStateOutcome,
    pub sync_state: Option<SyncState>,
}

fn locks(connector_name: &str, owner_did: &str) -> Locks {
    Locks::of([Lock::sync_state(connector_name, owner_did)])
}

async fn begin(tx: &mut Tx, transition: &'static str, row: SyncState) -> Result<SyncState> {
    if sync::insert(tx, transition, &row).await? { Ok(row) } else { Err(Error::Moved) }
}

impl Act for SetSyncState {
    type Answer = SyncStateWritten;

    async fn locks(&self, _: &mut Tx) -> Result<Locks> {
        Ok(locks(&self.progress.connector_name, &self.progress.owner_did))
    }

    async fn run(&self, tx: &mut Tx) -> Result<SyncStateWritten> {
        tx.viewer().must_own("ownerDid", &self.progress.owner_did)?;
        let row = match sync::lock(tx, &self.progress.connector_name, &self.progress.owner_did).await? {
            None => begin(tx, "set", self.progress.begin(self.status, fresh_key())).await?,
            Some(found) => {
                let next = self.progress.applied_to(&found, self.status)?;
                sync::change(tx, "set", &found, &next).await?;
                next
            }
        };
        Ok(SyncStateWritten { outcome: SyncStateOutcome::Set, sync_state: Some(row) })
    }
}

impl Act for AdvanceSyncProgress {
    type Answer = SyncStateWritten;

    async fn locks(&self, _: &mut Tx) -> Result<Locks> {
        Ok(locks(&self.progress.connector_name, &self.progress.owner_did))
    }

    async fn run(&self, tx: &mut Tx) -> Result<SyncStateWritten> {
        tx.viewer().must_own("ownerDid", &self.progress.owner_did)?;
        let found = sync::lock(tx, &self.progress.connector_name, &self.progress.owner_did).await?;
        let row = match (found, &self.expected) {
            (None, None) => begin(tx, "advance", self.progress.begin(SyncStatus::Idle, fresh_key())).await?,
            (Some(found), Some(expected)) if expected.is_of(&found) => {
                let next = self.progress.applied_to(&found, found.status)?;
                sync::change(tx, "advance", &found, &next).await?;
                next
            }
            (found, _) => {
                return Ok(SyncStateWritten { outcome: SyncStateOutcome::Stale, sync_state: found });
            }
        };
        Ok(SyncStateWritten { outcome: SyncStateOutcome::Advanced, sync_state: Some(row) })
    }
}

impl Act for DeleteSyncState {
    type Answer = usize;

    async fn locks(&self, _: &mut Tx) -> Result<Locks> {
        Ok(locks(&self.connector_name, &self.owner_did))
    }

    async fn run(&self, tx: &mut Tx) -> Result<usize> {
        let found = sync::lock(tx, &self.connector_name, &self.owner_did).await?;
        let Some(row) = found.filter(|row| tx.viewer().sees(Some(&row.owner_did), None)) else { return Ok(0) };
        sync::remove(tx, &row).await?;
        Ok(1)
    }
}
