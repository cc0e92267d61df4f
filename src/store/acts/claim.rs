//! Claiming: an operation is made once under its key, and a replay finds it.

use crate::domain::envelope::{Envelope, Tombstone};
use crate::domain::operations::{Operation, begin};
use crate::domain::viewer::Forbidden;
use crate::domain::words::{ClaimOutcome, OperationState};
use crate::entropy::fresh_key;
use crate::store::error::{Error, Result};
use crate::store::locks::{Lock, Locks};
use crate::store::tx::Tx;
use crate::store::{Act, grants, operations, retention};

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
    /// How the collected operation had ended, and its document; with SETTLED.
    pub settled: Option<(OperationState, Option<String>)>,
}

const CONFLICT: Claimed = Claimed { outcome: ClaimOutcome::Conflict, operation: None, settled: None };

impl Claim {
    fn row(&self, now: i64) -> Operation {
        let lease = (self.lease_token.as_str(), now + i64::from(self.lease_ms));
        let key = (self.caller_did.as_str(), self.operation_id.as_str());
        Operation {
            provider_etag: self.provider_etag.clone(),
            document_id: self.document_id.clone(),
            ..begin(key, &self.envelope, [fresh_key(), fresh_key()], lease, now)
        }
    }

    /// Whether the viewer may claim for this owner: it is the owner, a service, or holds a grant.
    async fn may_claim(&self, tx: &mut Tx) -> Result<bool> {
        let owner = &self.envelope.owner_did;
        Ok(tx.viewer().acts_for(owner)
            || grants::holds(tx, owner, &self.caller_did, &self.envelope.connector_name).await?)
    }

    fn settled(&self, tombstone: &Tombstone) -> Claimed {
        match tombstone.settled(&self.envelope.digest()) {
            Some(settled) => Claimed { outcome: ClaimOutcome::Settled, operation: None, settled: Some(settled) },
            None => CONFLICT,
        }
    }
}

impl Act for Claim {
    type Answer = Claimed;

    async fn locks(&self, tx: &mut Tx) -> Result<Locks> {
        let owner = &self.envelope.owner_did;
        let grant = (!tx.viewer().acts_for(owner)).then(|| Lock::grants(owner, &self.caller_did));
        Ok(Locks::of([Lock::operation(&self.caller_did, &self.operation_id)].into_iter().chain(grant)))
    }

    async fn run(&self, tx: &mut Tx) -> Result<Claimed> {
        if !tx.viewer().acts_for(&self.caller_did) {
            return Err(Forbidden::new("callerDid", "is another DID: only services claim for other callers").into());
        }
        if let Some(found) = operations::lock_by_key(tx, &self.caller_did, &self.operation_id).await? {
            return Ok(if found.has_envelope(&self.envelope) {
                Claimed { outcome: ClaimOutcome::Exists, operation: Some(found), settled: None }
            } else {
                CONFLICT
            });
        }
        if !self.may_claim(tx).await? {
            // A replay of what was collected claims nothing.
            let settled = retention::tombstone(tx, &self.caller_did, &self.operation_id).await?;
            let refused = || Forbidden::new("ownerDid", "is another DID, which has granted no claim by this connector");
            return settled.map(|found| self.settled(&found)).ok_or_else(|| refused().into());
        }
        let row = self.row(tx.now());
        // The insert looks for a tombstone itself; whoever leaves one keeps us out until it is there.
        if operations::insert(tx, &row, &self.reissue_intent, "claim", &None).await? {
            return Ok(Claimed { outcome: ClaimOutcome::Claimed, operation: Some(row), settled: None });
        }
        let Some(tombstone) = retention::tombstone(tx, &self.caller_did, &self.operation_id).await? else {
            // The package took the key between the look and the insert: look again.
            return Err(Error::Moved);
        };
        Ok(self.settled(&tombstone))
    }
}
