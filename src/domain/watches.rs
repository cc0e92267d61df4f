//! The watch: does the provider show what the local store says?
//!
//! ```text
//!   finalize, re-pull, ingress            fetched = winner
//!   ─────────────▶ PENDING_VERIFICATION ──────────────────▶ VERIFIED
//!                    ▲   │  ▲  claim, defer, mismatch │        │
//!                    │   └──┘                         │        │
//!                    │              attempts = K      ▼        │
//!                    └──── ingress, re-pull ──── REPAIR_FAILED ◀ (only from pending)
//! ```
//!
//! A *generation* is one run of attempts against one winner; acts name theirs, so that a late worker of an older one
//! changes nothing. The winner is handed in: it was read inside the transition's own transaction.

use super::bounds::{self, BadInput};
use super::words::{ArmOutcome, DeferReason, VerificationOutcome, WatchOutcome, WatchStatus};

/// The five parts that name a watch: where at which provider the document's copy lives.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the fields are those of WatchIdentityInput, where they are described")]
pub struct WatchIdentity {
    pub owner_did: String,
    pub connector_name: String,
    pub model: String,
    pub account_key: String,
    pub source_id: String,
}

impl WatchIdentity {
    /// The primary key, in column order.
    #[must_use]
    pub fn parts(&self) -> [&str; 5] {
        [&self.owner_did, &self.connector_name, &self.model, &self.account_key, &self.source_id]
    }
}

/// One row of the watches' table, as the package names its columns.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the columns are described in SPEC section 1 and on the GraphQL type")]
pub struct Watch {
    pub owner_did: String,
    pub connector_name: String,
    pub model: String,
    pub account_key: String,
    pub source_id: String,
    pub document_id: String,
    pub verified_state_digest: Option<String>,
    pub observed_winner_digest: Option<String>,
    pub verification_status: WatchStatus,
    pub verification_attempts: i32,
    pub repair_generation: i32,
    pub next_attempt_at: Option<i64>,
    pub claimed_until: Option<i64>,
    pub defer_reason: Option<DeferReason>,
    pub version: i32,
    pub created_at: i64,
    pub updated_at: i64,
    /// When the winner was written that neither digest knows; ours, set by the database whoever writes the winner.
    pub drifted_at: Option<i64>,
}

impl Watch {
    /// Whether a counter of this watch can go no higher, so that every act on it is refused.
    #[must_use]
    pub const fn is_at_its_bound(&self) -> bool {
        self.version == i32::MAX || self.repair_generation == i32::MAX
    }

    /// When it is due: by its schedule while it is pending, by the drifted winner once it is settled.
    #[must_use]
    pub fn due_at(&self) -> Option<i64> {
        match self.verification_status {
            WatchStatus::PendingVerification => self.next_attempt_at,
            WatchStatus::Verified => self.drifted_at,
            WatchStatus::RepairFailed => self.drifted_at.or(self.next_attempt_at),
        }
    }

    /// What names this watch.
    #[must_use]
    pub fn identity(&self) -> WatchIdentity {
        WatchIdentity {
            owner_did: self.owner_did.clone(),
            connector_name: self.connector_name.clone(),
            model: self.model.clone(),
            account_key: self.account_key.clone(),
            source_id: self.source_id.clone(),
        }
    }
}

/// What a finalize arms: the identity's watch, of this document, against the winner as it is now.
///
/// # Errors
/// `BadInput` when a counter is at its bound.
pub fn arm_by_finalize(
    found: Option<&Watch>,
    identity: WatchIdentity,
    document_id: &str,
    winner: &str,
    now: i64,
) -> Result<Watch, BadInput> {
    let (generation, version, created_at) = match found {
        None => (0, 0, now),
        Some(row) => (
            bounds::one_more("generation", row.repair_generation)?,
            bounds::one_more("version", row.version)?,
            row.created_at,
        ),
    };
    Ok(Watch {
        owner_did: identity.owner_did,
        connector_name: identity.connector_name,
        model: identity.model,
        account_key: identity.account_key,
        source_id: identity.source_id,
        document_id: document_id.to_owned(),
        verified_state_digest: None,
        observed_winner_digest: Some(winner.to_owned()),
        verification_status: WatchStatus::PendingVerification,
        verification_attempts: 0,
        repair_generation: generation,
        next_attempt_at: Some(now),
        claimed_until: None,
        defer_reason: None,
        version,
        created_at,
        updated_at: now,
        drifted_at: None,
    })
}

/// Opens a new generation against `winner`, due at `due`. What was verified stays.
///
/// # Errors
/// `BadInput` when a counter is at its bound.
pub fn open_generation(row: &Watch, winner: Option<&str>, due: i64, now: i64) -> Result<Watch, BadInput> {
    Ok(Watch {
        observed_winner_digest: winner.map(str::to_owned),
        verification_status: WatchStatus::PendingVerification,
        verification_attempts: 0,
        repair_generation: bounds::one_more("generation", row.repair_generation)?,
        next_attempt_at: Some(due),
        claimed_until: None,
        defer_reason: None,
        version: bounds::one_more("version", row.version)?,
        updated_at: now,
        drifted_at: None,
        ..row.clone()
    })
}

/// Arms by ingress: a document was seen to have the winner `trigger`. `None` beside NOOP: the row stays as it is.
///
/// A failed repair whose winner returned to the verified digest is reopened too: there it is enough that the trigger
/// is not the winner that was given up on.
///
/// # Errors
/// `BadInput` when a counter is at its bound.
pub fn arm_by_ingress(
    row: &Watch,
    trigger: &str,
    winner: Option<&str>,
    due: i64,
    now: i64,
) -> Result<(ArmOutcome, Option<Watch>), BadInput> {
    let news = winner == Some(trigger) && row.observed_winner_digest.as_deref() != Some(trigger);
    let unverified = row.verified_state_digest.as_deref() != Some(trigger);
    match row.verification_status {
        WatchStatus::Verified if news && unverified => {
            Ok((ArmOutcome::Opened, Some(open_generation(row, winner, due, now)?)))
        }
        WatchStatus::RepairFailed if news => Ok((ArmOutcome::Opened, Some(open_generation(row, winner, due, now)?))),
        WatchStatus::PendingVerification if news && unverified && row.next_attempt_at.is_none_or(|next| next > due) => {
            let version = bounds::one_more("version", row.version)?;
            let next = Watch { next_attempt_at: Some(due), version, updated_at: now, ..row.clone() };
            Ok((ArmOutcome::Coalesced, Some(next)))
        }
        _ => Ok((ArmOutcome::Noop, None)),
    }
}

/// Why an act on a watch writes nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal<Outcome> {
    /// An expected refusal, told as the payload's outcome.
    Outcome(Outcome),
    /// A counter at its bound.
    BadInput(BadInput),
}

impl<Outcome> From<BadInput> for Refusal<Outcome> {
    fn from(bad: BadInput) -> Self {
        Self::BadInput(bad)
    }
}

/// Takes one verification attempt until `until`.
///
/// # Errors
/// `STALE_GENERATION`, `NOT_PENDING`, `NOT_DUE`, `ALREADY_CLAIMED`.
pub fn claim_attempt(row: &Watch, generation: i32, until: i64, now: i64) -> Result<Watch, Refusal<WatchOutcome>> {
    current(row, generation)?;
    if row.next_attempt_at.is_none_or(|next| next > now) {
        return Err(Refusal::Outcome(WatchOutcome::NotDue));
    }
    if row.claimed_until.is_some_and(|claimed| claimed > now) {
        return Err(Refusal::Outcome(WatchOutcome::AlreadyClaimed));
    }
    let version = bounds::one_more("version", row.version)?;
    Ok(Watch { claimed_until: Some(until), version, updated_at: now, ..row.clone() })
}

/// Gives an attempt back unused, to be made later.
///
/// # Errors
/// `STALE_GENERATION`, `NOT_PENDING`, `STALE_CLAIM`.
pub fn defer(
    row: &Watch,
    generation: i32,
    claimed_until: i64,
    next_attempt_at: i64,
    reason: Option<DeferReason>,
    now: i64,
) -> Result<Watch, Refusal<WatchOutcome>> {
    current(row, generation)?;
    if row.claimed_until != Some(claimed_until) {
        return Err(Refusal::Outcome(WatchOutcome::StaleClaim));
    }
    Ok(Watch {
        next_attempt_at: Some(next_attempt_at),
        defer_reason: reason,
        claimed_until: None,
        version: bounds::one_more("version", row.version)?,
        updated_at: now,
        ..row.clone()
    })
}

fn current(row: &Watch, generation: i32) -> Result<(), Refusal<WatchOutcome>> {
    if row.repair_generation != generation {
        return Err(Refusal::Outcome(WatchOutcome::StaleGeneration));
    }
    if row.verification_status != WatchStatus::PendingVerification {
        return Err(Refusal::Outcome(WatchOutcome::NotPending));
    }
    Ok(())
}

/// What a worker found at the provider.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of RecordVerificationInput, where they are described")]
pub struct Verification {
    pub generation: i32,
    pub claimed_until: Option<i64>,
    pub fetched_digest: Option<String>,
    pub max_attempts: i32,
    pub due_at: i64,
}

/// Compares what the provider shows with the winner. A document without a winner counts as a mismatch: it ends at K.
///
/// # Errors
/// `STALE_GENERATION`, `NOT_PENDING`, `STALE_CLAIM`; `BadInput` when a counter is at its bound.
pub fn record_verification(
    row: &Watch,
    input: &Verification,
    winner: Option<&str>,
    now: i64,
) -> Result<(VerificationOutcome, Watch), Refusal<VerificationOutcome>> {
    if row.repair_generation != input.generation {
        return Err(Refusal::Outcome(VerificationOutcome::StaleGeneration));
    }
    if row.verification_status != WatchStatus::PendingVerification {
        return Err(Refusal::Outcome(VerificationOutcome::NotPending));
    }
    if input.claimed_until.is_some() && input.claimed_until != row.claimed_until {
        return Err(Refusal::Outcome(VerificationOutcome::StaleClaim));
    }
    let settled = Watch {
        next_attempt_at: None,
        claimed_until: None,
        defer_reason: None,
        version: bounds::one_more("version", row.version)?,
        updated_at: now,
        ..row.clone()
    };
    let winner = winner.map(str::to_owned);
    if winner.is_some() && winner == input.fetched_digest {
        let next = Watch {
            verification_status: WatchStatus::Verified,
            observed_winner_digest: winner.clone(),
            verified_state_digest: winner,
            drifted_at: None,
            ..settled
        };
        return Ok((VerificationOutcome::Verified, next));
    }
    let attempts = bounds::one_more("attempts", row.verification_attempts)?;
    if attempts >= input.max_attempts {
        let next = Watch {
            verification_status: WatchStatus::RepairFailed,
            observed_winner_digest: winner,
            verification_attempts: attempts,
            drifted_at: None,
            ..settled
        };
        return Ok((VerificationOutcome::RepairFailed, next));
    }
    let next = Watch { verification_attempts: attempts, next_attempt_at: Some(input.due_at), ..settled };
    Ok((VerificationOutcome::Pending, next))
}
