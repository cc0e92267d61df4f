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

/// Where an operation stands in its list: by creation, caller and the caller's name for it.
pub type ListOrder<'o> = (i64, &'o str, &'o str);

/// Where an operation stands in its list.
#[must_use]
pub fn list_order(operation: &Operation) -> ListOrder<'_> {
    (operation.created_at, &operation.caller_did, &operation.operation_id)
}

impl WriteFacts {
    /// The write state that they make; `watch` is the status of the latest commit's watch, if the viewer may see it.
    #[must_use]
    pub fn write_state(&self, watch: Option<WatchStatus>) -> DocumentWriteState {
        let operations = self.in_flight.iter().chain(&self.last_commit).chain(&self.last_failure);
        write_state(&operations.map(|row| (row.state, list_order(row))), watch)
    }
}

/// The write state of a document whose operations, as far as the viewer may see them, are these: all, or at least those that
/// `WriteFacts` names. `watch` is the status of the watch of the latest commit's owner and model, if the viewer may see it.
#[must_use]
pub fn write_state<'o>(
    operations: &(impl Iterator<Item = (OperationState, ListOrder<'o>)> + Clone),
    watch: Option<WatchStatus>,
) -> DocumentWriteState {
    let of = |wanted| operations.clone().filter(move |(state, _)| *state == wanted).map(|(_, order)| order);
    let since = of(OperationState::Committed).max();
    let newer = |state| of(state).any(|order| Some(order) >= since);
    if newer(OperationState::ReconcileOnly) {
        return DocumentWriteState::NeedsReconcile;
    }
    if newer(OperationState::Attempted) {
        return DocumentWriteState::Pending;
    }
    if newer(OperationState::Dead) {
        return DocumentWriteState::Failed;
    }
    match (since, watch) {
        (None, _) => DocumentWriteState::None,
        (Some(_), None) => DocumentWriteState::Committed,
        (Some(_), Some(WatchStatus::PendingVerification)) => DocumentWriteState::Verifying,
        (Some(_), Some(WatchStatus::RepairFailed)) => DocumentWriteState::Diverged,
        (Some(_), Some(WatchStatus::Verified)) => DocumentWriteState::InSync,
    }
}
