//! The lease: a fencing token on an operation. Taking and freeing it are changes, renewing is not.

use super::{Note, driven_operation, operation_locks};
use crate::domain::operations::{self as rules, Operation};
use crate::domain::words::LeaseOutcome;
use crate::store::error::Result;
use crate::store::locks::Locks;
use crate::store::tx::Tx;
use crate::store::{Act, operations};

/// What came of a lease act, with the row as it is now.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of LeasePayload, where they are described")]
pub struct Leased {
    pub outcome: LeaseOutcome,
    pub operation: Option<Operation>,
}

/// Takes a lease that is free, expired or one's own.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of LeaseInput, where they are described")]
pub struct AcquireLease {
    pub node_key: String,
    pub lease_token: String,
    pub lease_ms: i32,
}

/// Extends one's own lease.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of LeaseInput, where they are described")]
pub struct RenewLease {
    pub node_key: String,
    pub lease_token: String,
    pub lease_ms: i32,
}

/// Frees one's own lease.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of ReleaseLeaseInput, where they are described")]
pub struct ReleaseLease {
    pub node_key: String,
    pub lease_token: String,
}

impl Act for AcquireLease {
    type Answer = Leased;

    async fn locks(&self, tx: &mut Tx) -> Result<Locks> {
        operation_locks(tx, &self.node_key).await
    }

    async fn run(&self, tx: &mut Tx) -> Result<Leased> {
        let Some(row) = driven_operation(tx, &self.node_key).await? else { return Ok(not_found()) };
        let expires_at = tx.now() + i64::from(self.lease_ms);
        match rules::acquire_lease(&row, &self.lease_token, expires_at, tx.now()) {
            Some(next) => {
                operations::change(tx, "acquire_lease", &row, &next, &Note::None).await?;
                Ok(Leased { outcome: LeaseOutcome::Acquired, operation: Some(next) })
            }
            None => Ok(Leased { outcome: LeaseOutcome::Held, operation: Some(row) }),
        }
    }
}

impl Act for RenewLease {
    type Answer = Leased;

    async fn locks(&self, tx: &mut Tx) -> Result<Locks> {
        operation_locks(tx, &self.node_key).await
    }

    async fn run(&self, tx: &mut Tx) -> Result<Leased> {
        let Some(row) = driven_operation(tx, &self.node_key).await? else { return Ok(not_found()) };
        let expires_at = tx.now() + i64::from(self.lease_ms);
        match rules::renew_lease(&row, &self.lease_token, expires_at, tx.now()) {
            Some(next) => {
                operations::update(tx, &row, &next).await?;
                Ok(Leased { outcome: LeaseOutcome::Renewed, operation: Some(next) })
            }
            None => Ok(Leased { outcome: LeaseOutcome::LeaseNotHeld, operation: Some(row) }),
        }
    }
}

impl Act for ReleaseLease {
    type Answer = Leased;

    async fn locks(&self, tx: &mut Tx) -> Result<Locks> {
        operation_locks(tx, &self.node_key).await
    }

    async fn run(&self, tx: &mut Tx) -> Result<Leased> {
        let Some(row) = driven_operation(tx, &self.node_key).await? else { return Ok(not_found()) };
        match rules::release_lease(&row, &self.lease_token, tx.now()) {
            Some(next) => {
                operations::change(tx, "release_lease", &row, &next, &Note::None).await?;
                Ok(Leased { outcome: LeaseOutcome::Released, operation: Some(next) })
            }
            None => Ok(Leased { outcome: LeaseOutcome::LeaseNotHeld, operation: Some(row) }),
        }
    }
}

const fn not_found() -> Leased {
    Leased { outcome: LeaseOutcome::NotFound, operation: None }
}
