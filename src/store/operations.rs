//! The operations' table: what acts read of it, and the two writes that every act goes through.

use super::acts::Note;
use super::engine::{args, statements};
use super::error::Result;
use super::locks::Lock;
use super::row::row;
use super::select::Select;
use super::tx::Tx;
use crate::domain::changes::NewChange;
use crate::domain::operations::Operation;

pub(super) const TABLE: &str = "kubun_connector_operation";

row!(Operation from "kubun_connector_operation" {
    caller_did, operation_id, node_key, owner_did, connector_name, model, op, account_key, target, source_id,
    deterministic_event_id, payload_hash, provider_etag, document_id, state, attempts,
    next_attempt_at, defer_reason, send_marker, last_kind, last_http_status, version, incarnation, lease_token,
    lease_expires_at, created_at, updated_at, reissued_from, refunded_attempts,
});

/// The columns of an operation that may be large: JSON texts.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the columns are described on the GraphQL type")]
pub struct OperationJson {
    pub node_key: String,
    pub reissue_intent: String,
    pub result_entity: Option<String>,
}

row!(OperationJson from "kubun_connector_operation" { node_key, reissue_intent, result_entity });

statements! {
    BY_KEY: Operation::COLUMNS,
        "SELECT {columns} FROM kubun_connector_operation WHERE caller_did = $1 AND operation_id = $2";
    LOCK_BY_KEY: Operation::COLUMNS,
        "SELECT {columns} FROM kubun_connector_operation WHERE caller_did = $1 AND operation_id = $2 {for_update}";
    BY_NODE_KEY: Operation::COLUMNS,
        "SELECT {columns} FROM kubun_connector_operation WHERE node_key = $1";
    LOCK_BY_NODE_KEY: Operation::COLUMNS,
        "SELECT {columns} FROM kubun_connector_operation WHERE node_key = $1 {for_update}";
    INSERT: Operation::COLUMNS,
        "INSERT INTO kubun_connector_operation ({columns}, reissue_intent, unproven) SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, \
        $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, \
        CASE WHEN $31 = 1 OR EXISTS (SELECT 1 FROM kubun_connector_operation AS origin WHERE origin.node_key = $28 \
        AND origin.unproven = 1) THEN 1 ELSE 0 END WHERE NOT EXISTS (SELECT 1 FROM operation_tombstone AS settled WHERE settled.caller_did = $1 \
        AND settled.operation_id = $2 AND settled.expires_at > $26) ON CONFLICT (caller_did, operation_id) DO NOTHING";
    IS_UNPROVEN: "",
        "SELECT unproven FROM kubun_connector_operation WHERE caller_did = $1 AND operation_id = $2";
    UPDATE: "",
        "UPDATE kubun_connector_operation SET provider_etag = $1, document_id = $2, state = $3, attempts = $4, \
        next_attempt_at = $5, defer_reason = $6, send_marker = $7, last_kind = $8, last_http_status = $9, version = $10, \
        lease_token = $11, lease_expires_at = $12, updated_at = $13, refunded_attempts = $14, \
        unproven = CASE WHEN $3 = 'committed' THEN 0 ELSE unproven END WHERE caller_did = $15 AND operation_id = $16 AND state = $17 AND version = $18 \
        AND lease_token IS NOT DISTINCT FROM $19";
    REISSUE_OF: Operation::COLUMNS, "SELECT {columns} FROM kubun_connector_operation WHERE reissued_from = $1";
    INTENT: "", "SELECT reissue_intent FROM kubun_connector_operation WHERE caller_did = $1 AND operation_id = $2";
    PUT_RESULT: "",
        "UPDATE kubun_connector_operation SET result_entity = $1 WHERE caller_did = $2 AND operation_id = $3 \
        AND state = 'committed' AND version = $4";
}

/// Reads an operation, its row locked until the transaction ends.
pub(super) async fn lock(tx: &mut Tx, node_key: &str) -> Result<Option<Operation>> {
    tx.first(&LOCK_BY_NODE_KEY, args![node_key]).await
}

/// As `lock`, by the primary key.
pub(super) async fn lock_by_key(tx: &mut Tx, caller_did: &str, operation_id: &str) -> Result<Option<Operation>> {
    tx.first(&LOCK_BY_KEY, args![caller_did, operation_id]).await
}

/// Reads an operation without locking it: for its key, which never changes.
pub(super) async fn peek(tx: &mut Tx, node_key: &str) -> Result<Option<Operation>> {
    tx.first(&BY_NODE_KEY, args![node_key]).await
}

/// Whether all that is known of an operation is what a DID without a role said.
pub(super) async fn is_unproven(tx: &mut Tx, row: &Operation) -> Result<bool> {
    let found = tx.first::<(i64,)>(&IS_UNPROVEN, args![&row.caller_did, &row.operation_id]).await?;
    Ok(matches!(found, Some((1,))))
}

/// The operations that count as a document's, oldest first.
pub(super) async fn of_document(tx: &mut Tx, document_id: &str, locked: bool) -> Result<Vec<Operation>> {
    let mut select = Select::new(Operation::COLUMNS, TABLE);
    let document = select.arg(document_id);
    select.and(&format!(
        "document_id = {document} AND (caller_did, operation_id) IN (SELECT caller_did, operation_id FROM document_operation \
        WHERE document_id = {document})"
    ));
    select.text.push_str(" ORDER BY created_at, caller_did, operation_id");
    if locked && tx.needs_locks() {
        select.text.push_str(" FOR UPDATE");
    }
    tx.all_of(select).await
}

/// The operation that was reissued from the one with this node key.
pub(super) async fn reissue_of(tx: &mut Tx, node_key: &str) -> Result<Option<Operation>> {
    tx.first(&REISSUE_OF, args![node_key]).await
}

/// What is stored to write an operation again.
pub(super) async fn reissue_intent(tx: &mut Tx, row: &Operation) -> Result<String> {
    let found = tx.first::<(String,)>(&INTENT, args![&row.caller_did, &row.operation_id]).await?;
    found.map(|(intent,)| intent).ok_or(super::Error::Guard(TABLE, 0))
}

/// Makes an operation; false when its key has a tombstone, or was taken meanwhile by a writer that takes no locks of ours.
pub(super) async fn insert(
    tx: &mut Tx,
    row: &Operation,
    reissue_intent: &str,
    transition: &'static str,
    note: &Note,
) -> Result<bool> {
    tx.must_hold(Lock::operation(&row.caller_did, &row.operation_id))?;
    let args = args![
        &row.caller_did,
        &row.operation_id,
        &row.node_key,
        &row.owner_did,
        &row.connector_name,
        &row.model,
        row.op,
        &row.account_key,
        &row.target,
        &row.source_id,
        &row.deterministic_event_id,
        &row.payload_hash,
        &row.provider_etag,
        &row.document_id,
        row.state,
        row.attempts,
        row.next_attempt_at,
        row.defer_reason,
        &row.send_marker,
        &row.last_kind,
        row.last_http_status,
        row.version,
        &row.incarnation,
        &row.lease_token,
        row.lease_expires_at,
        row.created_at,
        row.updated_at,
        &row.reissued_from,
        row.refunded_attempts,
        reissue_intent,
        i64::from(tx.viewer().confined_to().is_some()),
    ];
    let made = tx.write(&INSERT, args).await? == 1;
    if made {
        tx.emit_noted(NewChange::operation(transition, None, row), note.as_deref());
    }
    Ok(made)
}

/// The locks of an act on this operation as it is now. What is finished marks others of its document for retention.
pub(super) fn locks(row: &Operation) -> impl Iterator<Item = Lock> {
    let document = row.document_id.as_deref().map(Lock::document);
    [Lock::operation(&row.caller_did, &row.operation_id)].into_iter().chain(document)
}

/// Writes an operation as a rule made it of the row that was read, which the statement checks again.
pub(super) async fn update(tx: &mut Tx, before: &Operation, after: &Operation) -> Result<()> {
    if tx.needs_locks() {
        locks(before).chain(locks(after)).try_for_each(|lock| tx.must_hold(lock))?;
    }
    let args = args![
        &after.provider_etag,
        &after.document_id,
        after.state,
        after.attempts,
        after.next_attempt_at,
        after.defer_reason,
        &after.send_marker,
        &after.last_kind,
        after.last_http_status,
        after.version,
        &after.lease_token,
        after.lease_expires_at,
        after.updated_at,
        after.refunded_attempts,
        &before.caller_did,
        &before.operation_id,
        before.state,
        before.version,
        &before.lease_token,
    ];
    tx.write_one(TABLE, &UPDATE, args).await
}

/// Puts what the provider answered to a write that was finalized in this transaction.
pub(super) async fn put_result(tx: &mut Tx, row: &Operation, result_entity: Option<&str>) -> Result<()> {
    let args = args![result_entity, &row.caller_did, &row.operation_id, row.version];
    tx.write_one(TABLE, &PUT_RESULT, args).await
}

/// As `update`, with its change.
pub(super) async fn change(
    tx: &mut Tx,
    transition: &'static str,
    before: &Operation,
    after: &Operation,
    note: &Note,
) -> Result<()> {
    update(tx, before, after).await?;
    tx.emit_noted(NewChange::operation(transition, Some(before), after), note.as_deref());
    Ok(())
}
