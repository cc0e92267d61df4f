//! Driving an operation under its lease: a send that starts, an attempt that ended, a later time.

use super::{Note, driven_operation, operation_locks};
use crate::domain::operations::{self as rules, Operation, Refusal};
use crate::domain::words::{DeferReason, OperationOutcome};
use crate::store::error::Result;
use crate::store::locks::Locks;
use crate::store::tx::Tx;
use crate::store::{Act, operations};

/// What came of an act on an operation, with the row as it is now.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of OperationPayload, where they are described")]
pub struct Driven {
    pub outcome: OperationOutcome,
    pub operation: Option<Operation>,
}

/// Says that a send is about to start.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of MarkSendStartedInput, where they are described")]
pub struct MarkSendStarted {
    pub node_key: String,
    pub lease_token: String,
    pub marker: String,
}

/// Records how an attempt ended, short of success.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of RecordOperationInput, where they are described")]
pub struct RecordOperation {
    pub node_key: String,
    pub record: rules::Record,
    pub note: Note,
}

/// Moves the next attempt.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of DeferOperationInput, where they are described")]
pub struct DeferOperation {
    pub node_key: String,
    pub lease_token: Option<String>,
    pub next_attempt_at: i64,
    pub reason: Option<DeferReason>,
    pub note: Note,
}

impl Act for MarkSendStarted {
    type Answer = Driven;

    async fn locks(&self, tx: &mut Tx) -> Result<Locks> {
        operation_locks(tx, &self.node_key).await
    }

    async fn run(&self, tx: &mut Tx) -> Result<Driven> {
        let Some(row) = driven_operation(tx, &self.node_key).await? else { return Ok(not_found()) };
        let ruled = rules::mark_send_started(&row, &self.lease_token, &self.marker, tx.now());
        settle(tx, ("mark_send_started", OperationOutcome::Marked), row, ruled, &Note::None).await
    }
}

impl Act for RecordOperation {
    type Answer = Driven;

    async fn locks(&self, tx: &mut Tx) -> Result<Locks> {
        operation_locks(tx, &self.node_key).await
    }

    async fn run(&self, tx: &mut Tx) -> Result<Driven> {
        let Some(row) = driven_operation(tx, &self.node_key).await? else { return Ok(not_found()) };
        let ruled = rules::record(&row, &self.record, tx.now());
        settle(tx, ("record", OperationOutcome::Recorded), row, ruled, &self.note).await
    }
}

impl Act for DeferOperation {
    type Answer = Driven;

    async fn locks(&self, tx: &mut Tx) -> Result<Locks> {
        operation_locks(tx, &self.node_key).await
    }

    async fn run(&self, tx: &mut Tx) -> Result<Driven> {
        let Some(row) = driven_operation(tx, &self.node_key).await? else { return Ok(not_found()) };
        let ruled = rules::defer(&row, self.lease_token.as_deref(), self.next_attempt_at, self.reason, tx.now());
        settle(tx, ("defer", OperationOutcome::Deferred), row, ruled, &self.note).await
    }
}

/// Writes what the rule made of the row, or answers with its refusal.
async fn settle(
    tx: &mut Tx,
    (transition, done): (&'static str, OperationOutcome),
    row: Operation,
    ruled: std::result::Result<Operation, Refusal>,
    note: &Note,
) -> Result<Driven> {
    match ruled {
        Ok(next) => {
            operations::change(tx, transition, &row, &next, note).await?;
            Ok(Driven { outcome: done, operation: Some(next) })
        }
        Err(Refusal::Outcome(outcome)) => Ok(Driven { outcome, operation: Some(row) }),
        Err(Refusal::BadInput(bad)) => Err(bad.into()),
    }
}

const fn not_found() -> Driven {
    Driven { outcome: OperationOutcome::NotFound, operation: None }
}
