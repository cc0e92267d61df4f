//! Verifying: an attempt is taken, put off, or tells what the provider shows.

use super::{visible_watch, watch_locks};
use crate::domain::watches::{self as rules, Refusal, Verification, Watch};
use crate::domain::words::{DeferReason, VerificationOutcome, WatchOutcome};
use crate::store::error::Result;
use crate::store::locks::Locks;
use crate::store::tx::Tx;
use crate::store::{Act, watches, winners};

/// What came of an act on a watch, with the row as it is now.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of WatchPayload, where they are described")]
pub struct WatchAct {
    pub outcome: WatchOutcome,
    pub watch: Option<Watch>,
}

/// What came of a verification, with the row as it is now.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of RecordVerificationPayload, where they are described")]
pub struct Verified {
    pub outcome: VerificationOutcome,
    pub watch: Option<Watch>,
}

/// Takes one verification attempt.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of ClaimWatchAttemptInput, where they are described")]
pub struct ClaimWatchAttempt {
    pub node_key: String,
    pub generation: i32,
    pub claim_ms: i32,
}

/// Puts an attempt off.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of DeferWatchInput, where they are described")]
pub struct DeferWatch {
    pub node_key: String,
    pub generation: i32,
    pub claimed_until: i64,
    pub next_attempt_at: i64,
    pub reason: Option<DeferReason>,
}

/// Tells what the provider shows.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of RecordVerificationInput, where they are described")]
pub struct RecordVerification {
    pub node_key: String,
    pub verification: Verification,
}

impl Act for ClaimWatchAttempt {
    type Answer = WatchAct;

    async fn locks(&self, tx: &mut Tx) -> Result<Locks> {
        watch_locks(tx, &self.node_key).await
    }

    async fn run(&self, tx: &mut Tx) -> Result<WatchAct> {
        let Some(row) = visible_watch(tx, &self.node_key).await? else { return Ok(not_found()) };
        let until = tx.now() + i64::from(self.claim_ms);
        let ruled = rules::claim_attempt(&row, self.generation, until, tx.now());
        settle(tx, ("claim_attempt", WatchOutcome::Claimed), row, ruled).await
    }
}

impl Act for DeferWatch {
    type Answer = WatchAct;

    async fn locks(&self, tx: &mut Tx) -> Result<Locks> {
        watch_locks(tx, &self.node_key).await
    }

    async fn run(&self, tx: &mut Tx) -> Result<WatchAct> {
        let Some(row) = visible_watch(tx, &self.node_key).await? else { return Ok(not_found()) };
        let ruled =
            rules::defer(&row, self.generation, self.claimed_until, self.next_attempt_at, self.reason, tx.now());
        settle(tx, ("defer", WatchOutcome::Deferred), row, ruled).await
    }
}

impl Act for RecordVerification {
    type Answer = Verified;

    async fn locks(&self, tx: &mut Tx) -> Result<Locks> {
        watch_locks(tx, &self.node_key).await
    }

    async fn run(&self, tx: &mut Tx) -> Result<Verified> {
        let Some(row) = visible_watch(tx, &self.node_key).await? else {
            return Ok(Verified { outcome: VerificationOutcome::NotFound, watch: None });
        };
        let winner = winners::lock(tx, &row.document_id).await?.map(|winner| winner.digest);
        match rules::record_verification(&row, &self.verification, winner.as_deref(), tx.now()) {
            Ok((outcome, next)) => {
                watches::put(tx, "record_verification", Some(&row), &next, |change| {
                    change
                        .with("outcome", Some(outcome.as_str().to_ascii_uppercase()))
                        .with("fetchedDigest", self.verification.fetched_digest.clone())
                        .with("winnerDigest", winner)
                        .with("maxAttempts", Some(self.verification.max_attempts))
                })
                .await?;
                Ok(Verified { outcome, watch: Some(next) })
            }
            Err(Refusal::Outcome(outcome)) => Ok(Verified { outcome, watch: Some(row) }),
            Err(Refusal::BadInput(bad)) => Err(bad.into()),
        }
    }
}

/// Writes what the rule made of the row, or answers with its refusal.
async fn settle(
    tx: &mut Tx,
    (transition, done): (&'static str, WatchOutcome),
    row: Watch,
    ruled: std::result::Result<Watch, Refusal<WatchOutcome>>,
) -> Result<WatchAct> {
    match ruled {
        Ok(next) => {
            watches::put(tx, transition, Some(&row), &next, |change| change).await?;
            Ok(WatchAct { outcome: done, watch: Some(next) })
        }
        Err(Refusal::Outcome(outcome)) => Ok(WatchAct { outcome, watch: Some(row) }),
        Err(Refusal::BadInput(bad)) => Err(bad.into()),
    }
}

const fn not_found() -> WatchAct {
    WatchAct { outcome: WatchOutcome::NotFound, watch: None }
}
