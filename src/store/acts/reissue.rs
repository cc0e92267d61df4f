//! Reissuing: a write that was given up, or whose outcome nobody knows, is claimed again under a new key.

use super::{Note, driven_operation};
use crate::domain::operations::{Operation, Refusal, begin, give_up};
use crate::domain::words::{OperationState, ReissueOutcome};
use crate::entropy::fresh_key;
use crate::store::error::{Error, Result};
use crate::store::locks::{Lock, Locks};
use crate::store::tx::Tx;
use crate::store::{Act, operations, retention};

/// Claims the write of an operation again, under a new key.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of ReissueOperationInput, where they are described")]
pub struct ReissueOperation {
    pub node_key: String,
    pub version: i32,
    pub operation_id: String,
    pub lease_token: String,
    pub lease_ms: i32,
    pub note: Note,
}

/// What came of a reissue: the new operation, and the one that it was made from as it is now.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of ReissueOperationPayload, where they are described")]
pub struct Reissued {
    pub outcome: ReissueOutcome,
    pub operation: Option<Operation>,
    pub from: Option<Operation>,
}

impl ReissueOperation {
    /// The reissue that there is already, if there is one: a replay finds it, whatever became of the row since.
    async fn found(&self, tx: &mut Tx, row: &Operation) -> Result<Option<Reissued>> {
        let again = |outcome, operation| Some(Reissued { outcome, operation, from: Some(row.clone()) });
        if let Some(found) = operations::reissue_of(tx, &row.node_key).await? {
            let same = found.operation_id == self.operation_id;
            return Ok(again(if same { ReissueOutcome::Exists } else { ReissueOutcome::AlreadyReissued }, Some(found)));
        }
        let collected = retention::tombstone_of_reissue(tx, &row.node_key).await?;
        Ok(collected.and_then(|collected| {
            let same = collected.operation_id == self.operation_id;
            again(if same { ReissueOutcome::Settled } else { ReissueOutcome::AlreadyReissued }, None)
        }))
    }

    fn refusal(&self, row: &Operation, now: i64) -> Option<ReissueOutcome> {
        match row.state {
            OperationState::Attempted | OperationState::Committed => Some(ReissueOutcome::WrongState),
            _ if row.version != self.version => Some(ReissueOutcome::StaleVersion),
            _ if row.has_live_lease(now) => Some(ReissueOutcome::Held),
            OperationState::ReconcileOnly | OperationState::Dead => None,
        }
    }
}

impl Act for ReissueOperation {
    type Answer = Reissued;

    async fn locks(&self, tx: &mut Tx) -> Result<Locks> {
        let Some(row) = operations::peek(tx, &self.node_key).await? else { return Ok(Locks::none()) };
        let new = Lock::operation(&row.caller_did, &self.operation_id);
        Ok(Locks::of(operations::locks(&row).chain([new])))
    }

    async fn run(&self, tx: &mut Tx) -> Result<Reissued> {
        let Some(row) = driven_operation(tx, &self.node_key).await? else {
            return Ok(Reissued { outcome: ReissueOutcome::NotFound, operation: None, from: None });
        };
        if let Some(found) = self.found(tx, &row).await? {
            return Ok(found);
        }
        let now = tx.now();
        let refused = |outcome, row| Ok(Reissued { outcome, operation: None, from: Some(row) });
        if let Some(outcome) = self.refusal(&row, now) {
            return refused(outcome, row);
        }
        if operations::lock_by_key(tx, &row.caller_did, &self.operation_id).await?.is_some()
            || retention::tombstone(tx, &row.caller_did, &self.operation_id).await?.is_some()
        {
            return refused(ReissueOutcome::Conflict, row);
        }
        let lease = (self.lease_token.as_str(), now + i64::from(self.lease_ms));
        let new = Operation {
            provider_etag: row.provider_etag.clone(),
            document_id: row.document_id.clone(),
            reissued_from: Some(row.node_key.clone()),
            ..begin((&row.caller_did, &self.operation_id), &row.envelope(), [fresh_key(), fresh_key()], lease, now)
        };
        let intent = operations::reissue_intent(tx, &row).await?;
        let from = if row.state == OperationState::ReconcileOnly {
            let next = match give_up(&row, now) {
                Ok(next) => next,
                Err(Refusal::BadInput(bad)) => return Err(bad.into()),
                Err(Refusal::Outcome(_)) => return refused(ReissueOutcome::WrongState, row),
            };
            operations::change(tx, "reissue", &row, &next, &self.note).await?;
            next
        } else {
            row
        };
        if !operations::insert(tx, &new, &intent, "reissue", &self.note).await? {
            return Err(Error::Moved);
        }
        Ok(Reissued { outcome: ReissueOutcome::Claimed, operation: Some(new), from: Some(from) })
    }
}
