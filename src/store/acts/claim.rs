//! Claiming: an operation is made once under its key, and a replay finds it.

use crate::domain::operations::{Envelope, Operation};
use crate::domain::words::{ClaimOutcome, OperationState};
use crate::entropy::fresh_key;
use crate::store::error::{Error, Result};
use crate::store::locks::{Lock, Locks};
use crate::store::tx::Tx;
use crate::store::{Act, operations};

/// Claims an idempotency key for a write.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of ClaimOperationInput, where they are described")]
pub struct Claim {
    pub caller_did: String,
    pub operation_id: String,
    pub envelope: Envelope,
    pub reissue_intent: String,
    pub provider_etag: Option<String>,
    pub document_id: Option<String>,
    pub lease_token: String,
    pub lease_ms: i32,
}

/// What came of a claim; the row with CLAIMED and EXISTS alone.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of ClaimOperationPayload, where they are described")]
pub struct Claimed {
    pub outcome: ClaimOutcome,
    pub operation: Option<Operation>,
}

impl Claim {
    fn row(&self, now: i64) -> Operation {
        let envelope = self.envelope.clone();
        Operation {
            caller_did: self.caller_did.clone(),
            operation_id: self.operation_id.clone(),
            node_key: fresh_key(),
            owner_did: envelope.owner_did,
            connector_name: envelope.connector_name,
            model: envelope.model,
            op: envelope.op,
            account_key: envelope.account_key,
            target: envelope.target,
            source_id: envelope.source_id,
            deterministic_event_id: envelope.deterministic_event_id,
            payload_hash: envelope.payload_hash,
            provider_etag: self.provider_etag.clone(),
            document_id: self.document_id.clone(),
            state: OperationState::Attempted,
            attempts: 0,
            next_attempt_at: None,
            defer_reason: None,
            send_marker: None,
            last_kind: None,
            last_http_status: None,
            version: 0,
            incarnation: Some(fresh_key()),
            lease_token: Some(self.lease_token.clone()),
            lease_expires_at: Some(now + i64::from(self.lease_ms)),
            created_at: now,
            updated_at: now,
            reissued_from: None,
            refunded_attempts: None,
        }
    }
}

impl Act for Claim {
    type Answer = Claimed;

    async fn locks(&self, _: &mut Tx) -> Result<Locks> {
        Ok(Locks::of([Lock::operation(&self.caller_did, &self.operation_id)]))
    }

    async fn run(&self, tx: &mut Tx) -> Result<Claimed> {
        if let Some(found) = operations::lock_by_key(tx, &self.caller_did, &self.operation_id).await? {
            return Ok(if found.has_envelope(&self.envelope) {
                Claimed { outcome: ClaimOutcome::Exists, operation: Some(found) }
            } else {
                Claimed { outcome: ClaimOutcome::Conflict, operation: None }
            });
        }
        let row = self.row(tx.now());
        if !operations::insert(tx, &row, &self.reissue_intent, "claim").await? {
            // The package took the key between the look and the insert: look again.
            return Err(Error::Moved);
        }
        Ok(Claimed { outcome: ClaimOutcome::Claimed, operation: Some(row) })
    }
}
