//! The operation: a write that is claimed once, driven under a lease and settled.
//!
//! ```text
//!            claim            record                    finalize
//!   (none) ─────────▶ ATTEMPTED ◀──────▶ RECONCILE_ONLY    │
//!                        │  │  record         │ record      │
//!                        │  └────────▶ DEAD ◀─┘             │
//!                        └───────────────────────────▶ COMMITTED (finalize again)
//! ```
//!
//! Each rule answers with the row as it should be, or with the reason against it; reasons are looked for in the order
//! of SPEC section 2. Leases may be taken in any state. Nothing here bumps a version but `record`.

use super::bounds::{self, BadInput};
use super::envelope::Envelope;
use super::words::{DeferReason, OperationOp, OperationOutcome, OperationState, SendState};

/// The marker that stands for two senders in one attempt.
pub const CONTESTED: &str = "*contested*";

/// One row of the operations' table, as the package names its columns; but for its two JSON columns, which may be large and
/// are read only where they are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the columns are described in SPEC section 1 and on the GraphQL type")]
pub struct Operation {
    pub caller_did: String,
    pub operation_id: String,
    pub node_key: String,
    pub owner_did: String,
    pub connector_name: String,
    pub model: String,
    pub op: OperationOp,
    pub account_key: String,
    pub target: String,
    pub source_id: Option<String>,
    pub deterministic_event_id: String,
    pub payload_hash: String,
    pub provider_etag: Option<String>,
    pub document_id: Option<String>,
    pub state: OperationState,
    pub attempts: i32,
    pub next_attempt_at: Option<i64>,
    pub defer_reason: Option<DeferReason>,
    pub send_marker: Option<String>,
    pub last_kind: Option<String>,
    pub last_http_status: Option<i32>,
    pub version: i32,
    pub incarnation: Option<String>,
    pub lease_token: Option<String>,
    pub lease_expires_at: Option<i64>,
    pub created_at: i64,
    pub updated_at: i64,
    /// Ours: the node key of the operation that this one was reissued from.
    pub reissued_from: Option<String>,
    /// Ours: `attempts` right after the last refund; only a later count can be refunded.
    pub refunded_attempts: Option<i32>,
}

/// Why an act on an operation writes nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// An expected refusal, told as the payload's outcome.
    Outcome(OperationOutcome),
    /// An input that cannot be, or a counter at its bound.
    BadInput(BadInput),
}

impl From<BadInput> for Refusal {
    fn from(bad: BadInput) -> Self {
        Self::BadInput(bad)
    }
}

impl Operation {
    /// What its claim said about the write.
    #[must_use]
    pub fn envelope(&self) -> Envelope {
        Envelope {
            owner_did: self.owner_did.clone(),
            connector_name: self.connector_name.clone(),
            model: self.model.clone(),
            op: self.op,
            account_key: self.account_key.clone(),
            target: self.target.clone(),
            source_id: self.source_id.clone(),
            deterministic_event_id: self.deterministic_event_id.clone(),
            payload_hash: self.payload_hash.clone(),
        }
    }

    /// Whether a claim with this envelope is a replay of the one that made this row.
    #[must_use]
    pub fn has_envelope(&self, envelope: &Envelope) -> bool {
        self.envelope() == *envelope
    }

    /// Whether the attempt may have reached the provider. The marker itself stays inside.
    #[must_use]
    pub fn send_state(&self) -> SendState {
        match self.send_marker.as_deref() {
            None => SendState::Unsent,
            Some(CONTESTED) => SendState::Contested,
            Some(_) => SendState::Started,
        }
    }

    /// When it is due; none once it is no longer live.
    #[must_use]
    pub fn due_at(&self) -> Option<i64> {
        (self.state == OperationState::Attempted).then(|| self.next_attempt_at.unwrap_or(self.created_at))
    }

    /// Whether it is settled for good.
    #[must_use]
    pub const fn is_finished(&self) -> bool {
        matches!(self.state, OperationState::Committed | OperationState::Dead)
    }

    /// Whether somebody's lease is running at `now`.
    #[must_use]
    pub fn has_live_lease(&self, now: i64) -> bool {
        self.lease_token.is_some() && self.lease_expires_at.is_none_or(|expiry| expiry >= now)
    }

    fn is_leased_to(&self, token: &str) -> bool {
        self.lease_token.as_deref() == Some(token)
    }
}

/// A fresh operation under its first lease; the keys are its node key and its incarnation.
#[must_use]
pub fn begin(
    (caller_did, operation_id): (&str, &str),
    envelope: &Envelope,
    [node_key, incarnation]: [String; 2],
    (lease_token, expires_at): (&str, i64),
    now: i64,
) -> Operation {
    let Envelope { owner_did, connector_name, model, op, account_key, target, .. } = envelope.clone();
    Operation {
        caller_did: caller_did.to_owned(),
        operation_id: operation_id.to_owned(),
        node_key,
        owner_did,
        connector_name,
        model,
        op,
        account_key,
        target,
        source_id: envelope.source_id.clone(),
        deterministic_event_id: envelope.deterministic_event_id.clone(),
        payload_hash: envelope.payload_hash.clone(),
        provider_etag: None,
        document_id: None,
        state: OperationState::Attempted,
        attempts: 0,
        next_attempt_at: None,
        defer_reason: None,
        send_marker: None,
        last_kind: None,
        last_http_status: None,
        version: 0,
        incarnation: Some(incarnation),
        lease_token: Some(lease_token.to_owned()),
        lease_expires_at: Some(expires_at),
        created_at: now,
        updated_at: now,
        reissued_from: None,
        refunded_attempts: None,
    }
}

/// Gives up an operation that another takes the place of.
///
/// # Errors
/// `WRONG_STATE` unless a person must look at it; `BadInput` when its version is at its bound.
pub fn give_up(row: &Operation, now: i64) -> Result<Operation, Refusal> {
    in_state(row, &[OperationState::ReconcileOnly])?;
    Ok(Operation {
        state: OperationState::Dead,
        next_attempt_at: None,
        defer_reason: None,
        version: bounds::one_more("version", row.version)?,
        updated_at: now,
        ..row.clone()
    })
}

/// Takes the lease, or takes it again. `None`: somebody else's is live.
#[must_use]
pub fn acquire_lease(row: &Operation, token: &str, expires_at: i64, now: i64) -> Option<Operation> {
    if row.has_live_lease(now) && !row.is_leased_to(token) {
        return None;
    }
    Some(with_lease(row, Some(token.to_owned()), Some(expires_at), now))
}

/// Extends the lease of its holder. `None`: the token does not hold it.
#[must_use]
pub fn renew_lease(row: &Operation, token: &str, expires_at: i64, now: i64) -> Option<Operation> {
    row.is_leased_to(token).then(|| with_lease(row, Some(token.to_owned()), Some(expires_at), now))
}

/// Frees the lease of its holder. `None`: the token does not hold it.
#[must_use]
pub fn release_lease(row: &Operation, token: &str, now: i64) -> Option<Operation> {
    row.is_leased_to(token).then(|| with_lease(row, None, None, now))
}

fn with_lease(row: &Operation, token: Option<String>, expires_at: Option<i64>, now: i64) -> Operation {
    Operation { lease_token: token, lease_expires_at: expires_at, updated_at: now, ..row.clone() }
}

/// Says that a send is about to start; a second sender in one attempt makes it contested.
///
/// # Errors
/// `LEASE_NOT_HELD` and `WRONG_STATE`.
pub fn mark_send_started(row: &Operation, token: &str, marker: &str, now: i64) -> Result<Operation, Refusal> {
    leased(row, token)?;
    in_state(row, &[OperationState::Attempted])?;
    let marker = match row.send_marker.as_deref() {
        None => marker,
        Some(found) if found == marker => marker,
        Some(_) => CONTESTED,
    };
    Ok(Operation { send_marker: Some(marker.to_owned()), updated_at: now, ..row.clone() })
}

/// What a worker says about the attempt that ended.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of RecordOperationInput, where they are described")]
pub struct Record {
    pub lease_token: String,
    pub version: i32,
    pub from_state: OperationState,
    pub to_state: OperationState,
    pub kind: Option<String>,
    pub http_status: Option<i32>,
    /// Left out keeps the stored one, `Some(None)` clears it.
    pub provider_etag: Option<Option<String>>,
    pub next_attempt_at: Option<i64>,
    pub defer_reason: Option<DeferReason>,
    pub count_attempt: bool,
    pub refund_attempt: bool,
    pub send_marker: Option<String>,
}

/// The states that `record` leaves and those that it enters. Committed is entered by finalize alone.
const RECORD_FROM: [OperationState; 2] = [OperationState::Attempted, OperationState::ReconcileOnly];
const RECORD_TO: [OperationState; 3] = [OperationState::Attempted, OperationState::ReconcileOnly, OperationState::Dead];

/// Records how an attempt ended, short of success.
///
/// # Errors
/// `INVALID_TRANSITION`, `LEASE_NOT_HELD`, `WRONG_STATE`, `STALE_VERSION`, `NOTHING_TO_REFUND`, `MAYBE_SENT`; `BadInput`
/// when a counter is at its bound.
pub fn record(row: &Operation, input: &Record, now: i64) -> Result<Operation, Refusal> {
    if !RECORD_FROM.contains(&input.from_state) || !RECORD_TO.contains(&input.to_state) {
        return Err(Refusal::Outcome(OperationOutcome::InvalidTransition));
    }
    leased(row, &input.lease_token)?;
    in_state(row, &[input.from_state])?;
    at_version(row, input.version)?;
    let mut next = Operation {
        state: input.to_state,
        next_attempt_at: input.next_attempt_at,
        defer_reason: input.defer_reason,
        last_kind: input.kind.clone(),
        last_http_status: input.http_status,
        version: bounds::one_more("version", row.version)?,
        updated_at: now,
        ..row.clone()
    };
    if let Some(etag) = &input.provider_etag {
        next.provider_etag.clone_from(etag);
    }
    if input.refund_attempt {
        next.attempts = refunded(row, input.send_marker.as_deref())?;
        next.refunded_attempts = Some(next.attempts);
        next.send_marker = None;
    } else if input.count_attempt {
        next.attempts = bounds::one_more("attempts", row.attempts)?;
        next.send_marker = None;
    }
    Ok(next)
}

/// The attempts left after a refund: only the last counted attempt, only once, and only if nobody else may have sent.
fn refunded(row: &Operation, marker: Option<&str>) -> Result<i32, Refusal> {
    if row.attempts <= 0 || row.refunded_attempts.is_some_and(|refunded| row.attempts <= refunded) {
        return Err(Refusal::Outcome(OperationOutcome::NothingToRefund));
    }
    if row.send_marker.is_some() && row.send_marker.as_deref() != marker {
        return Err(Refusal::Outcome(OperationOutcome::MaybeSent));
    }
    Ok(row.attempts - 1)
}

/// Moves the next attempt, by the lease's holder or while nobody holds a live one.
///
/// # Errors
/// `LEASE_NOT_HELD` and `WRONG_STATE`.
pub fn defer(
    row: &Operation,
    token: Option<&str>,
    next_attempt_at: i64,
    reason: Option<DeferReason>,
    now: i64,
) -> Result<Operation, Refusal> {
    if row.has_live_lease(now) && row.lease_token.as_deref() != token {
        return Err(Refusal::Outcome(OperationOutcome::LeaseNotHeld));
    }
    in_state(row, &[OperationState::Attempted])?;
    Ok(Operation { next_attempt_at: Some(next_attempt_at), defer_reason: reason, updated_at: now, ..row.clone() })
}

/// What a success says about the row itself.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of FinalizeOperationInput, where they are described")]
pub struct Finalize {
    pub lease_token: String,
    pub version: i32,
    pub document_id: String,
}

/// Settles the write as done, or settles it again. The version is not bumped.
///
/// # Errors
/// `LEASE_NOT_HELD`, `WRONG_STATE`, `STALE_VERSION`.
pub fn finalize(row: &Operation, input: &Finalize, now: i64) -> Result<Operation, Refusal> {
    leased(row, &input.lease_token)?;
    in_state(row, &[OperationState::Attempted, OperationState::Committed])?;
    at_version(row, input.version)?;
    Ok(Operation {
        state: OperationState::Committed,
        document_id: Some(input.document_id.clone()),
        updated_at: now,
        ..row.clone()
    })
}

fn leased(row: &Operation, token: &str) -> Result<(), Refusal> {
    row.is_leased_to(token).then_some(()).ok_or(Refusal::Outcome(OperationOutcome::LeaseNotHeld))
}

fn in_state(row: &Operation, states: &[OperationState]) -> Result<(), Refusal> {
    states.contains(&row.state).then_some(()).ok_or(Refusal::Outcome(OperationOutcome::WrongState))
}

fn at_version(row: &Operation, version: i32) -> Result<(), Refusal> {
    (row.version == version).then_some(()).ok_or(Refusal::Outcome(OperationOutcome::StaleVersion))
}
