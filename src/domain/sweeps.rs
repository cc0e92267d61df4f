//! Delete sweeps: the receipt of a relist, the documents that it did not show, and how far a partition is done.
//!
//! ```text
//!   PENDING ◀──INCONCLUSIVE── any but APPLIED, REFUSED ──▶ PRESENT │ ABSENT │ CANCELLED ──applied──▶ APPLIED
//!      ▲                                                       │
//!      └──────────────── apply failure 1 to 4 ─────────────────┴── the 5th ──▶ REFUSED
//! ```
//!
//! A candidate is *unresolved* until it is applied or refused. A checkpoint moves past a receipt only when neither it nor an
//! earlier one of its partition has an unresolved candidate.

use super::bounds::{self, BadInput};
use super::words::words;

words! {
    /// Where a candidate stands. APPLIED and REFUSED are final.
    SweepCandidateState {
        /// Nobody has looked yet, or the last look told nothing.
        Pending = "pending",
        /// The provider still has it.
        Present = "present",
        /// The provider has it no more.
        Absent = "absent",
        /// It is not to be looked at any more.
        Cancelled = "cancelled",
        /// What was found is written to the local store. Final.
        Applied = "applied",
        /// Writing it failed five times: somebody must know. Final.
        Refused = "refused",
    }
}

words! {
    /// What a look at the provider found.
    SweepFinding {
        /// The provider still has the document.
        Present = "present",
        /// The provider has it no more.
        Absent = "absent",
        /// The document is not to be looked at any more.
        Cancelled = "cancelled",
        /// The look told nothing: another one follows.
        Inconclusive = "inconclusive",
    }
}

words! {
    /// What came of an act on a candidate.
    SweepCandidateOutcome {
        /// What was found is recorded.
        Recorded = "recorded",
        /// The candidate is done.
        Applied = "applied",
        /// The failure is recorded: another look follows.
        Retry = "retry",
        /// This failure was the fifth: the candidate is refused.
        Refused = "refused",
        /// The candidate is in another state.
        WrongState = "wrong_state",
        /// No such candidate.
        NotFound = "not_found",
    }
}

words! {
    /// What came of recording a relist.
    RelistReceiptOutcome {
        /// The receipt is new, with the partition's next sequence.
        Recorded = "recorded",
        /// The receipt was there: candidates that it missed were added.
        Extended = "extended",
        /// The receipt is committed: nothing was written.
        AlreadyCommitted = "already_committed",
        /// The relist was not complete: nothing was written.
        IgnoredIncomplete = "ignored_incomplete",
        /// The receipt was recorded with another scope, keep or model: nothing was written.
        Conflict = "conflict",
    }
}

words! {
    /// What came of committing a checkpoint, or which rule held it.
    CommitSweepOutcome {
        /// The receipt is committed, and the checkpoint is at least there.
        Committed = "committed",
        /// No such receipt.
        NotFound = "not_found",
        /// The receipt's relist was not complete.
        Incomplete = "incomplete",
        /// The receipt was committed before.
        AlreadyCommitted = "already_committed",
        /// A candidate of this receipt is not resolved.
        UnresolvedCandidate = "unresolved_candidate",
        /// A candidate of an earlier receipt of the partition is not resolved.
        EarlierUnresolved = "earlier_unresolved",
    }
}

/// How many failures to apply a candidate refuse it.
pub const APPLY_FAILURES_MOST: i32 = 5;

/// What names a partition of a provider.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the fields are those of SweepPartitionInput, where they are described")]
pub struct Partition {
    pub owner_did: String,
    pub connector_name: String,
    pub partition: String,
}

impl Partition {
    /// The primary key of its checkpoint, in column order.
    #[must_use]
    pub fn parts(&self) -> [&str; 3] {
        [&self.owner_did, &self.connector_name, &self.partition]
    }
}

/// One row of the receipts' table, as the package names its columns.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the columns are described in SPEC section 1 and on the GraphQL type")]
pub struct Receipt {
    pub owner_did: String,
    pub connector_name: String,
    pub partition: String,
    pub provenance: String,
    pub sequence: i64,
    pub model_id: String,
    pub scope: String,
    pub keep: String,
    pub source_fetch_hlc: String,
    pub predicate: Option<String>,
    pub kind: String,
    pub complete: i32,
    pub created_at: i64,
    pub committed_at: Option<i64>,
}

impl Receipt {
    /// The primary key, in column order.
    #[must_use]
    pub fn parts(&self) -> [&str; 4] {
        [&self.owner_did, &self.connector_name, &self.partition, &self.provenance]
    }

    /// The partition that it is of.
    #[must_use]
    pub fn partition(&self) -> Partition {
        Partition {
            owner_did: self.owner_did.clone(),
            connector_name: self.connector_name.clone(),
            partition: self.partition.clone(),
        }
    }

    /// Whether a replay says the same of the relist: its scope, what it keeps, its model.
    #[must_use]
    pub fn is_replayed_by(&self, other: &Self) -> bool {
        let parsed = |text| serde_json::from_str::<serde_json::Value>(text).ok();
        let same = |a, b| a == b || parsed(a).is_some_and(|a| Some(a) == parsed(b));
        self.model_id == other.model_id
            && same(self.scope.as_str(), other.scope.as_str())
            && same(self.keep.as_str(), other.keep.as_str())
    }
}

/// One row of the candidates' table, as the package names its columns.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the columns are described in SPEC section 1 and on the GraphQL type")]
pub struct Candidate {
    pub owner_did: String,
    pub connector_name: String,
    pub partition: String,
    pub provenance: String,
    pub document_id: String,
    pub source_id: String,
    pub model_id: String,
    pub state: SweepCandidateState,
    pub attempts: i32,
    pub apply_failures: i32,
    pub last_error: Option<String>,
    pub next_attempt_at: i64,
    pub updated_at: i64,
}

impl Candidate {
    /// The primary key, in column order.
    #[must_use]
    pub fn parts(&self) -> [&str; 5] {
        [&self.owner_did, &self.connector_name, &self.partition, &self.provenance, &self.document_id]
    }

    /// Whether it is applied or refused.
    #[must_use]
    pub const fn is_resolved(&self) -> bool {
        matches!(self.state, SweepCandidateState::Applied | SweepCandidateState::Refused)
    }

    /// What a look at the provider found.
    ///
    /// # Errors
    /// `BadInput` when the attempts are at their bound. `Ok(None)`: the candidate is resolved.
    pub fn found(&self, finding: SweepFinding, retry: &Retry, now: i64) -> Result<Option<Self>, BadInput> {
        if self.is_resolved() {
            return Ok(None);
        }
        let state = match finding {
            SweepFinding::Present => SweepCandidateState::Present,
            SweepFinding::Absent => SweepCandidateState::Absent,
            SweepFinding::Cancelled => SweepCandidateState::Cancelled,
            SweepFinding::Inconclusive => SweepCandidateState::Pending,
        };
        let attempts = bounds::one_more("attempts", self.attempts)?;
        Ok(Some(Self { attempts, ..self.moved(state, retry, now) }))
    }

    /// What was found is written to the local store. `None`: nothing was found yet, or it is resolved.
    #[must_use]
    pub fn applied(&self, now: i64) -> Option<Self> {
        use SweepCandidateState::{Absent, Applied, Cancelled, Present};
        matches!(self.state, Present | Absent | Cancelled).then(|| self.moved(Applied, &Retry::default(), now))
    }

    /// Writing it to the local store failed; the fifth failure refuses it. `None`: it is resolved.
    #[must_use]
    pub fn failed(&self, retry: &Retry, now: i64) -> Option<Self> {
        if self.is_resolved() {
            return None;
        }
        let apply_failures = self.apply_failures.saturating_add(1);
        let refused = apply_failures >= APPLY_FAILURES_MOST;
        let state = if refused { SweepCandidateState::Refused } else { SweepCandidateState::Pending };
        Some(Self { apply_failures, ..self.moved(state, retry, now) })
    }

    fn moved(&self, state: SweepCandidateState, retry: &Retry, now: i64) -> Self {
        Self {
            state,
            last_error: retry.last_error.clone(),
            next_attempt_at: retry.next_attempt_at.unwrap_or(0),
            updated_at: now,
            ..self.clone()
        }
    }
}

/// What went wrong, and when to look again.
#[derive(Debug, Clone, Default)]
pub struct Retry {
    /// What went wrong, in words.
    pub last_error: Option<String>,
    /// When to look again; at once when there is none.
    pub next_attempt_at: Option<i64>,
}

/// One row of the checkpoints' table, as the package names its columns.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the columns are described in SPEC section 1 and on the GraphQL type")]
pub struct Checkpoint {
    pub owner_did: String,
    pub connector_name: String,
    pub partition: String,
    pub provenance: String,
    pub receipt_sequence: i64,
    pub updated_at: i64,
}
