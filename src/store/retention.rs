//! Retention: what may go, and what is remembered of it.
//!
//! Which finished operations nothing needs any more is marked in the `collectable` column by triggers, whoever writes. The mark
//! finds them; the rule is asked again of every row that goes.

use super::engine::{Arg, args, statements};
use super::error::Result;
use super::locks::Lock;
use super::row::row;
use super::rows::insert_many;
use super::select::Select;
use super::tx::Tx;
use super::{Engine, Sql};
use crate::domain::changes::NewChange;
use crate::domain::envelope::Tombstone;
use crate::domain::operations::Operation;
use crate::domain::words::OperationState;

const OPERATIONS: &str = "kubun_connector_operation";
/// Operations that one statement removes with their document.
const SWEPT_AT_ONCE: usize = 500;
/// How long a tombstone is kept when it is not said (a year of 365 days).
pub(super) const TOMBSTONE_MS: i64 = 365 * 24 * 3_600 * 1_000;

row!(Tombstone from "operation_tombstone" {
    caller_did, operation_id, node_key, envelope_digest, state, document_id, settled_at, expires_at, reissued_from,
});

/// Newer rows of the document keep its write state without this one, for its caller and for its owner: newer commits of a
/// commit, newer finished ones of a dead one.
const NOT_NEEDED: &str = "(document_id IS NULL OR (EXISTS (SELECT 1 FROM kubun_connector_operation AS newer \
    WHERE newer.document_id = kubun_connector_operation.document_id \
    AND newer.state IN ('committed', kubun_connector_operation.state) \
    AND newer.caller_did = kubun_connector_operation.caller_did \
    AND (newer.created_at, newer.caller_did, newer.operation_id) > (kubun_connector_operation.created_at, \
    kubun_connector_operation.caller_did, kubun_connector_operation.operation_id)) \
    AND EXISTS (SELECT 1 FROM kubun_connector_operation AS newer \
    WHERE newer.document_id = kubun_connector_operation.document_id \
    AND newer.state IN ('committed', kubun_connector_operation.state) \
    AND newer.owner_did = kubun_connector_operation.owner_did \
    AND (newer.created_at, newer.caller_did, newer.operation_id) > (kubun_connector_operation.created_at, \
    kubun_connector_operation.caller_did, kubun_connector_operation.operation_id))))";

statements! {
    MARKED: "",
        "SELECT caller_did, operation_id, coalesce(document_id, '') FROM kubun_connector_operation WHERE collectable = 1 \
        AND updated_at < $1 AND (lease_token IS NULL OR lease_expires_at < $2) \
        ORDER BY updated_at, caller_did, operation_id LIMIT $3 {for_update}";
    TOMBSTONE: Tombstone::COLUMNS,
        "SELECT {columns} FROM operation_tombstone WHERE caller_did = $1 AND operation_id = $2 AND expires_at > $3";
    TOMBSTONE_OF_REISSUE: Tombstone::COLUMNS,
        "SELECT {columns} FROM operation_tombstone WHERE reissued_from = $1 AND expires_at > $2";
    DELETE_TOMBSTONES: "",
        "DELETE FROM operation_tombstone WHERE (caller_did, operation_id) IN (SELECT caller_did, operation_id \
        FROM operation_tombstone WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2)";
}

/// Removes the oldest finished operations that nobody needs, each with its tombstone; how many. The caller keeps every other
/// writer of ours out.
pub(super) async fn collect(tx: &mut Tx, before: i64, limit: i32) -> Result<usize> {
    let mut collected = 0;
    while let Some(left) =
        usize::try_from(limit).ok().and_then(|limit| limit.checked_sub(collected)).filter(|left| *left > 0)
    {
        let left = i32::try_from(left).unwrap_or(limit);
        let marked: Vec<(String, String, String)> = tx.all(&MARKED, args![before, tx.now(), left]).await?;
        if marked.is_empty() {
            break;
        }
        keep_neighbours(tx, marked.iter().map(|(_, _, document)| document)).await?;
        let of_marked = |select: &mut Select| {
            let keys = marked.iter().map(|(caller, id, _)| [caller.as_str(), id.as_str()]);
            select.keys(&["caller_did", "operation_id"], keys);
            select.and("collectable = 1");
        };
        let mut delete = Select::delete(OPERATIONS);
        of_marked(&mut delete);
        delete.and("state IN ('committed', 'dead')");
        delete.and(NOT_NEEDED);
        let (text, args) = delete.returning(Operation::COLUMNS);
        let removed: Vec<Operation> = tx.write_returning(Sql::Once(&text), args).await?;
        bury(tx, "collect", &removed).await?;
        if removed.len() < marked.len() {
            // What kept them was removed by somebody since they were marked: they are not looked at again until they are
            // marked again.
            let mut unmark = Select::update(OPERATIONS);
            unmark.set("collectable = NULL", Vec::<i64>::new());
            of_marked(&mut unmark);
            let (text, args) = unmark.returning("caller_did");
            tx.write_returning::<(String,)>(Sql::Once(&text), args).await?;
        }
        collected += removed.len();
    }
    Ok(collected)
}

/// Holds the rows that keep others' place against change by writers that take no locks of ours.
async fn keep_neighbours(tx: &mut Tx, documents: impl Iterator<Item = &String>) -> Result<()> {
    if tx.engine() != Engine::Postgres {
        return Ok(());
    }
    let documents: std::collections::BTreeSet<&str> =
        documents.map(String::as_str).filter(|document| !document.is_empty()).collect();
    for chunk in documents.into_iter().collect::<Vec<_>>().chunks(128) {
        let mut select = Select::new("caller_did", OPERATIONS);
        select.among("document_id", Some(chunk));
        select.and("collectable IS NULL AND state IN ('committed', 'dead') ORDER BY document_id, caller_did, operation_id FOR UPDATE");
        tx.all_of::<(String,)>(select).await?;
    }
    Ok(())
}

/// Leaves a tombstone and a change for each operation that was removed, in key order.
async fn bury(tx: &mut Tx, transition: &'static str, removed: &[Operation]) -> Result<()> {
    let mut removed: Vec<&Operation> = removed.iter().collect();
    removed.sort_by(|a, b| (&a.caller_did, &a.operation_id).cmp(&(&b.caller_did, &b.operation_id)));
    let expires_at = tx.tombstone_expires_at();
    let rows: Vec<Vec<Arg>> = removed
        .iter()
        .map(|row| {
            args![
                &row.caller_did,
                &row.operation_id,
                &row.node_key,
                row.envelope().digest(),
                row.state,
                &row.document_id,
                row.updated_at,
                expires_at,
                &row.reissued_from,
            ]
        })
        .collect();
    let head = format!("INSERT INTO operation_tombstone ({})", Tombstone::COLUMNS);
    let tail = " ON CONFLICT (caller_did, operation_id) DO UPDATE SET node_key = excluded.node_key, \
        envelope_digest = excluded.envelope_digest, state = excluded.state, document_id = excluded.document_id, \
        settled_at = excluded.settled_at, expires_at = excluded.expires_at, reissued_from = excluded.reissued_from";
    insert_many::<(i64,)>(tx.writing(), (&head, tail), rows).await?;
    for row in removed {
        tx.emit(NewChange::operation_removed(transition, row));
    }
    Ok(())
}

/// Removes finished operations, leased or not, which are locked.
pub(super) async fn sweep(tx: &mut Tx, rows: &[Operation]) -> Result<()> {
    for row in rows {
        tx.must_hold(Lock::operation(&row.caller_did, &row.operation_id))?;
    }
    for rows in rows.chunks(SWEPT_AT_ONCE) {
        let keys: Vec<&str> = rows.iter().map(|row| row.node_key.as_str()).collect();
        let mut delete = Select::delete(OPERATIONS);
        delete.among("node_key", Some(&keys));
        let (text, args) = delete.returning("node_key");
        tx.write_returning::<(String,)>(Sql::Shaped(&text), args).await?;
    }
    bury(tx, "sweep", rows).await
}

/// What is remembered of a key, while it is.
pub(super) async fn tombstone(tx: &mut Tx, caller_did: &str, operation_id: &str) -> Result<Option<Tombstone>> {
    tx.first(&TOMBSTONE, args![caller_did, operation_id, tx.now()]).await
}

/// What is remembered of the reissue of an operation.
pub(super) async fn tombstone_of_reissue(tx: &mut Tx, node_key: &str) -> Result<Option<Tombstone>> {
    tx.first(&TOMBSTONE_OF_REISSUE, args![node_key, tx.now()]).await
}

/// Forgets tombstones whose time is over; how many.
pub(super) async fn delete_tombstones(tx: &mut Tx, limit: i32) -> Result<u64> {
    tx.write(&DELETE_TOMBSTONES, args![tx.now(), limit]).await
}

impl Tombstone {
    /// How a claim with this envelope is answered: settled, or none for a conflict.
    pub(super) fn settled(&self, envelope_digest: &str) -> Option<(OperationState, Option<String>)> {
        (self.envelope_digest == envelope_digest).then(|| (self.state, self.document_id.clone()))
    }
}
