//! What became of a document's writes: derived from its operations and its watch, never stored.
//!
//! ```text
//!   any RECONCILE_ONLY ─▶ NEEDS_RECONCILE      in this order, over the operations that the viewer may see,
//!   any ATTEMPTED ──────▶ PENDING              in list order, from the latest commit on (all, without a commit)
//!   newest finished DEAD ▶ FAILED
//!   the commit's watch ──▶ VERIFYING | DIVERGED | IN_SYNC, COMMITTED without one
//!   nothing ────────────▶ NONE
//! ```

use super::operations::Operation;
use super::watches::Watch;
use super::words::{DocumentWriteState, OperationState, WatchStatus};

/// The winner of a document: what the local store shows now.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the columns are described on the GraphQL type")]
pub struct Winner {
    pub document_id: String,
    pub digest: String,
    pub version: Option<String>,
    pub updated_at: i64,
}

impl Winner {
    /// Whether a winner with this version is older than the stored one, and so leaves it alone.
    #[must_use]
    pub fn outranks(&self, version: Option<&str>) -> bool {
        matches!((self.version.as_deref(), version), (Some(stored), Some(given)) if given < stored)
    }
}

/// Fields that were left out of a document's copy at the provider.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the columns are described on the GraphQL type")]
pub struct EntityTrim {
    pub document_id: String,
    pub owner_did: String,
    pub connector_name: String,
    pub trimmed_fields: String,
    pub updated_at: i64,
}

/// A repair that an observation decided and that is still to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the columns are described on the GraphQL type")]
pub struct ObservationRepair {
    pub document_id: String,
    pub owner: String,
    pub fetch_hlc: String,
    pub decision_hlc: String,
    pub present: i32,
    pub value_digest: Option<String>,
    pub written_at: i64,
    /// Its place in the order of all writes to repairs; ours, given by the database whoever writes.
    pub write_order: i64,
}

/// The write state of a document as it is kept for lists.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the columns are what their names say")]
pub struct KeptWriteState {
    pub document_id: String,
    pub write_state: DocumentWriteState,
}

/// The operations of one document that its write state derives from, each kind fetched by its own index.
#[derive(Debug, Clone, Default)]
pub struct WriteFacts {
    /// Every `attempted` or `reconcile_only` operation, any age, in list order.
    pub in_flight: Vec<Operation>,
    /// The latest committed one, in list order.
    pub last_commit: Option<Operation>,
    /// The newest dead one, if it is newer than the latest commit.
    pub last_failure: Option<Operation>,
}

/// Where an operation stands in its list.
#[must_use]
pub fn list_order(operation: &Operation) -> (i64, &str, &str) {
    (operation.created_at, &operation.caller_did, &operation.operation_id)
}

/// The write state of a document; `watch` is the one of the latest commit's owner and model, if the viewer may see it.
#[must_use]
pub fn write_state(facts: &WriteFacts, watch: Option<&Watch>) -> DocumentWriteState {
    let since = facts.last_commit.as_ref().map(list_order);
    let open = |state| facts.in_flight.iter().any(|row| row.state == state && Some(list_order(row)) >= since);
    if open(OperationState::ReconcileOnly) {
        return DocumentWriteState::NeedsReconcile;
    }
    if open(OperationState::Attempted) {
        return DocumentWriteState::Pending;
    }
    if facts.last_failure.as_ref().is_some_and(|row| Some(list_order(row)) >= since) {
        return DocumentWriteState::Failed;
    }
    match (&facts.last_commit, watch.map(|watch| watch.verification_status)) {
        (None, _) => DocumentWriteState::None,
        (Some(_), None) => DocumentWriteState::Committed,
        (Some(_), Some(WatchStatus::PendingVerification)) => DocumentWriteState::Verifying,
        (Some(_), Some(WatchStatus::RepairFailed)) => DocumentWriteState::Diverged,
        (Some(_), Some(WatchStatus::Verified)) => DocumentWriteState::InSync,
    }
}
