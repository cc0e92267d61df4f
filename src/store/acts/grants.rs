//! Grants: given and taken back, by the owner or an operator. They make no changes; the log says who did it.

use crate::domain::grants::{Grant, GrantKey};
use crate::store::error::Result;
use crate::store::locks::{Lock, Locks};
use crate::store::tx::Tx;
use crate::store::{Act, grants};

/// Gives a grant; one that stands stays as it is.
#[derive(Debug, Clone)]
pub struct GrantAccess(pub GrantKey);

/// Takes grants back; answers how many there were.
#[derive(Debug, Clone)]
pub struct RevokeAccess(pub GrantKey);

/// Claims by this grant hold the same lock: one that comes after the answer does not find it any more.
fn locks(key: &GrantKey) -> Locks {
    Locks::of([Lock::grants(&key.owner_did, &key.caller_did)])
}

impl Act for GrantAccess {
    type Answer = Grant;

    async fn locks(&self, _: &mut Tx) -> Result<Locks> {
        Ok(locks(&self.0))
    }

    async fn run(&self, tx: &mut Tx) -> Result<Grant> {
        tx.viewer().must_grant(&self.0.owner_did)?;
        let grant = grants::put(tx, &self.0).await?;
        tracing::info!(grant = ?self.0, by = tx.viewer().did(), "access is granted");
        Ok(grant)
    }
}

impl Act for RevokeAccess {
    type Answer = u64;

    async fn locks(&self, _: &mut Tx) -> Result<Locks> {
        Ok(locks(&self.0))
    }

    async fn run(&self, tx: &mut Tx) -> Result<u64> {
        tx.viewer().must_grant(&self.0.owner_did)?;
        let removed = grants::remove(tx, &self.0).await?;
        tracing::info!(grant = ?self.0, by = tx.viewer().did(), removed, "access is revoked");
        Ok(removed)
    }
}
