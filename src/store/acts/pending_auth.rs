//! Pending authorisations: waited for, consumed once, removed when they are too old. They make no changes.

use crate::domain::pending_auth::{PendingAuth, PendingAuthOutcome, Secret};
use crate::store::Act;
use crate::store::error::Result;
use crate::store::locks::{Lock, Locks};
use crate::store::pending_auth::{self, Consumed};
use crate::store::tx::Tx;

/// Waits for an authorisation.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of CreatePendingAuthInput, where they are described")]
pub struct CreatePendingAuth {
    /// Its time of creation is the act's.
    pub pending: PendingAuth,
    pub code_verifier: Secret,
}

/// Takes an authorisation out.
#[derive(Debug, Clone)]
pub struct ConsumePendingAuth(pub String);

/// Removes authorisations that are too old; answers how many there were.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of DeleteExpiredInput, where they are described")]
pub struct DeleteExpiredPendingAuth {
    pub before: Option<i64>,
    pub limit: i32,
}

/// What came of an act on a pending authorisation.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of PendingAuthPayload, where they are described")]
pub struct PendingAuthActed {
    pub outcome: PendingAuthOutcome,
    pub pending: Option<PendingAuth>,
    pub code_verifier: Option<Secret>,
}

impl Act for CreatePendingAuth {
    type Answer = PendingAuthActed;

    async fn locks(&self, _: &mut Tx) -> Result<Locks> {
        Ok(Locks::of([Lock::pending_auth(&self.pending.state)]))
    }

    async fn run(&self, tx: &mut Tx) -> Result<PendingAuthActed> {
        tx.viewer().must_own("ownerDid", &self.pending.owner_did)?;
        let row = PendingAuth { created_at: tx.now(), ..self.pending.clone() };
        let (outcome, pending) = if pending_auth::insert(tx, &row, &self.code_verifier).await? {
            (PendingAuthOutcome::Created, Some(row))
        } else {
            let found = pending_auth::find(tx, &row.state).await?;
            (PendingAuthOutcome::Exists, found.filter(|row| tx.viewer().sees(Some(&row.owner_did), None)))
        };
        Ok(PendingAuthActed { outcome, pending, code_verifier: None })
    }
}

impl Act for ConsumePendingAuth {
    type Answer = PendingAuthActed;

    async fn locks(&self, _: &mut Tx) -> Result<Locks> {
        Ok(Locks::of([Lock::pending_auth(&self.0)]))
    }

    async fn run(&self, tx: &mut Tx) -> Result<PendingAuthActed> {
        Ok(match pending_auth::consume(tx, &self.0).await? {
            None => PendingAuthActed { outcome: PendingAuthOutcome::NotFound, pending: None, code_verifier: None },
            Some(Consumed(row, _)) if row.is_expired(tx.now()) => {
                PendingAuthActed { outcome: PendingAuthOutcome::Expired, pending: Some(row), code_verifier: None }
            }
            Some(Consumed(row, code_verifier)) => PendingAuthActed {
                outcome: PendingAuthOutcome::Consumed,
                pending: Some(row),
                code_verifier: Some(code_verifier),
            },
        })
    }
}

impl Act for DeleteExpiredPendingAuth {
    type Answer = u64;

    async fn locks(&self, _: &mut Tx) -> Result<Locks> {
        Ok(Locks::none())
    }

    async fn run(&self, tx: &mut Tx) -> Result<u64> {
        // The clock may have moved since the border was checked: never what is still good.
        let now = tx.now();
        pending_auth::delete_expired(tx, self.before.map_or(now, |before| before.min(now)), self.limit).await
    }
}
