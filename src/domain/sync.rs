//! Sync state: how far a connector has read of one owner's data, changed by compare-and-set.

use super::bounds::{self, BadInput};
use super::words::words;

words! {
    /// What a connector does with an owner's data now.
    SyncStatus {
        /// Nothing.
        Idle = "idle",
        /// It reads.
        Syncing = "syncing",
        /// It could not go on.
        Error = "error",
    }
}

words! {
    /// What came of writing a sync state.
    SyncStateOutcome {
        /// It is as given.
        Set = "set",
        /// It moved on.
        Advanced = "advanced",
        /// It is not the one that was read: nothing was written, here is the one that stands.
        Stale = "stale",
    }
}

/// One row of the sync states' table, as the package names its columns. Its dead lease column is never read or written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the columns are described in SPEC section 1 and on the GraphQL type")]
pub struct SyncState {
    pub connector_name: String,
    pub owner_did: String,
    pub checkpoint: Option<String>,
    /// RFC 3339 text, as the package writes it.
    pub last_synced_at: String,
    pub entity_count: i32,
    pub status: SyncStatus,
    pub error: Option<String>,
    pub recovery: Option<String>,
    pub version: i32,
    pub incarnation: Option<String>,
}

/// What a connector says of its progress.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of AdvanceSyncProgressInput, where they are described")]
pub struct Progress {
    pub connector_name: String,
    pub owner_did: String,
    pub checkpoint: Option<String>,
    pub last_synced_at: String,
    pub entity_count: i32,
    pub error: Option<String>,
    pub recovery: Option<String>,
}

impl Progress {
    /// The first row, as version 0 of this incarnation.
    #[must_use]
    pub fn begin(&self, status: SyncStatus, incarnation: String) -> SyncState {
        SyncState {
            connector_name: self.connector_name.clone(),
            owner_did: self.owner_did.clone(),
            checkpoint: self.checkpoint.clone(),
            last_synced_at: self.last_synced_at.clone(),
            entity_count: self.entity_count,
            status,
            error: self.error.clone(),
            recovery: self.recovery.clone(),
            version: 0,
            incarnation: Some(incarnation),
        }
    }

    /// The row after this progress, one version on; what is null in it clears.
    ///
    /// # Errors
    /// `BadInput` when the version is at its bound.
    pub fn applied_to(&self, row: &SyncState, status: SyncStatus) -> Result<SyncState, BadInput> {
        let begun = self.begin(status, String::new());
        Ok(SyncState {
            version: bounds::one_more("version", row.version)?,
            incarnation: row.incarnation.clone(),
            ..begun
        })
    }
}

/// The row that a compare-and-set was decided by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadVersion {
    /// Its version.
    pub version: i32,
    /// Its incarnation; null equals null.
    pub incarnation: Option<String>,
}

impl ReadVersion {
    /// Whether this is the row that was read.
    #[must_use]
    pub fn is_of(&self, row: &SyncState) -> bool {
        row.version == self.version && row.incarnation == self.incarnation
    }
}
