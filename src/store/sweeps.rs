//! The sweeps' tables: what acts read and write of receipts, candidates and checkpoints.

use super::digests::Digested;
use super::engine::{Arg, args, statements};
use super::error::Result;
use super::locks::Lock;
use super::row::row;
use super::rows::insert_many;
use super::tx::Tx;
use crate::domain::changes::NewChange;
use crate::domain::ids::digest;
use crate::domain::sweeps::{Candidate, Checkpoint, Partition, Receipt};

pub(super) const RECEIPTS: &str = "kubun_connector_sweep_receipt";
pub(super) const CANDIDATES: &str = "kubun_connector_sweep_candidate";

/// How receipts are named.
pub(super) const RECEIPT_KEYS: Digested =
    Digested { table: RECEIPTS, key: &["owner_did", "connector_name", "partition", "provenance"] };
/// How candidates are named.
pub(super) const CANDIDATE_KEYS: Digested =
    Digested { table: CANDIDATES, key: &["owner_did", "connector_name", "partition", "provenance", "document_id"] };

row!(Receipt from "kubun_connector_sweep_receipt" {
    owner_did, connector_name, partition, provenance, sequence, model_id, scope, keep, source_fetch_hlc, predicate, kind,
    complete, created_at, committed_at,
});
row!(Candidate from "kubun_connector_sweep_candidate" {
    owner_did, connector_name, partition, provenance, document_id, source_id, model_id, state, attempts, apply_failures,
    last_error, next_attempt_at, updated_at,
});
row!(Checkpoint from "kubun_connector_sweep_checkpoint" {
    owner_did, connector_name, partition, provenance, receipt_sequence, updated_at,
});

statements! {
    LOCK_RECEIPT: Receipt::COLUMNS,
        "SELECT {columns} FROM kubun_connector_sweep_receipt WHERE owner_did = $1 AND connector_name = $2 AND partition = $3 \
        AND provenance = $4 {for_update}";
    LAST_SEQUENCE: "",
        "SELECT coalesce(max(sequence), 0) FROM kubun_connector_sweep_receipt WHERE owner_did = $1 AND connector_name = $2 \
        AND partition = $3";
    INSERT_RECEIPT: Receipt::COLUMNS,
        "INSERT INTO kubun_connector_sweep_receipt ({columns}, node_key) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, \
        $12, $13, $14, $15) ON CONFLICT (owner_did, connector_name, partition, provenance) DO NOTHING";
    COMMIT_RECEIPT: "",
        "UPDATE kubun_connector_sweep_receipt SET committed_at = $1 WHERE owner_did = $2 AND connector_name = $3 \
        AND partition = $4 AND provenance = $5 AND committed_at IS NULL";
    LOCK_CANDIDATE: Candidate::COLUMNS,
        "SELECT {columns} FROM kubun_connector_sweep_candidate WHERE owner_did = $1 AND connector_name = $2 AND partition = $3 \
        AND provenance = $4 AND document_id = $5 {for_update}";
    UPDATE_CANDIDATE: "",
        "UPDATE kubun_connector_sweep_candidate SET state = $1, attempts = $2, apply_failures = $3, last_error = $4, \
        next_attempt_at = $5, updated_at = $6 WHERE owner_did = $7 AND connector_name = $8 AND partition = $9 \
        AND provenance = $10 AND document_id = $11 AND state = $12";
    UNRESOLVED: Candidate::COLUMNS,
        "SELECT {columns} FROM kubun_connector_sweep_candidate WHERE owner_did = $1 AND connector_name = $2 AND partition = $3 \
        AND provenance = $4 AND state NOT IN ('applied', 'refused') ORDER BY document_id LIMIT 1";
    EARLIER_UNRESOLVED: Candidate::COLUMNS,
        "SELECT {columns} FROM kubun_connector_sweep_candidate WHERE owner_did = $1 AND connector_name = $2 AND partition = $3 \
        AND state NOT IN ('applied', 'refused') AND provenance IN (SELECT earlier.provenance \
        FROM kubun_connector_sweep_receipt AS earlier WHERE earlier.owner_did = $1 AND earlier.connector_name = $2 \
        AND earlier.partition = $3 AND earlier.sequence <= $4 AND earlier.provenance <> $5) ORDER BY provenance, document_id LIMIT 1";
    DELETE_APPLIED: Candidate::COLUMNS,
        "DELETE FROM kubun_connector_sweep_candidate WHERE owner_did = $1 AND connector_name = $2 AND partition = $3 \
        AND provenance = $4 AND state = 'applied' RETURNING {columns}";
    CHECKPOINT: Checkpoint::COLUMNS,
        "SELECT {columns} FROM kubun_connector_sweep_checkpoint WHERE owner_did = $1 AND connector_name = $2 \
        AND partition = $3";
    PUT_CHECKPOINT: Checkpoint::COLUMNS,
        "INSERT INTO kubun_connector_sweep_checkpoint ({columns}) VALUES ($1, $2, $3, $4, $5, $6) \
        ON CONFLICT (owner_did, connector_name, partition) DO UPDATE SET provenance = excluded.provenance, \
        receipt_sequence = excluded.receipt_sequence, updated_at = excluded.updated_at";
    DELETE_COMMITTED: Receipt::COLUMNS,
        "DELETE FROM kubun_connector_sweep_receipt WHERE (owner_did, connector_name, partition, provenance) IN \
        (SELECT old.owner_did, old.connector_name, old.partition, old.provenance FROM kubun_connector_sweep_receipt AS old \
        WHERE old.passed = 1 AND old.committed_at < $1 ORDER BY old.committed_at LIMIT $2) \
        RETURNING {columns}";
    MARK_PASSED: "",
        "UPDATE kubun_connector_sweep_receipt SET passed = 1 WHERE owner_did = $1 AND connector_name = $2 AND partition = $3 \
        AND sequence < $4 AND committed_at IS NOT NULL AND passed IS NULL";
    PARTITIONS_OF_DOCUMENT: "",
        "SELECT DISTINCT owner_did, connector_name, partition FROM kubun_connector_sweep_candidate WHERE document_id = $1";
    DELETE_OF_DOCUMENT: Candidate::COLUMNS,
        "DELETE FROM kubun_connector_sweep_candidate WHERE document_id = $1 RETURNING {columns}";
}

/// The lock of everything in a partition.
pub(super) fn partition_lock(partition: &Partition) -> Lock {
    let [owner, connector, name] = partition.parts();
    Lock::partition(owner, connector, name)
}

pub(super) fn key_args<const N: usize>(parts: [&str; N]) -> Vec<Arg> {
    parts.into_iter().map(Arg::from).collect()
}

/// A receipt, locked until the transaction ends.
pub(super) async fn lock_receipt(tx: &mut Tx, key: [&str; 4]) -> Result<Option<Receipt>> {
    tx.first(&LOCK_RECEIPT, key_args(key)).await
}

/// The sequence that follows a partition's last.
pub(super) async fn next_sequence(tx: &mut Tx, partition: &Partition) -> Result<i64> {
    let last = tx.first::<(i64,)>(&LAST_SEQUENCE, key_args(partition.parts())).await?;
    Ok(last.map_or(0, |(sequence,)| sequence).saturating_add(1))
}

/// Makes a receipt; false when somebody made it meanwhile who takes no locks of ours.
pub(super) async fn insert_receipt(tx: &mut Tx, row: &Receipt) -> Result<bool> {
    tx.must_hold(partition_lock(&row.partition()))?;
    let mut args = key_args(row.parts());
    args.extend(args![
        row.sequence,
        &row.model_id,
        &row.scope,
        &row.keep,
        &row.source_fetch_hlc,
        &row.predicate,
        &row.kind,
        row.complete,
        row.created_at,
        row.committed_at,
        digest(&row.parts()),
    ]);
    let made = tx.write(&INSERT_RECEIPT, args).await? == 1;
    if made {
        tx.emit(NewChange::receipt("record_receipt", row).with("sequence", Some(row.sequence)));
    }
    Ok(made)
}

/// Adds the candidates that are not there yet; how many were.
pub(super) async fn add_candidates(tx: &mut Tx, rows: Vec<Candidate>) -> Result<usize> {
    let head = format!("INSERT INTO {CANDIDATES} ({}, node_key)", Candidate::COLUMNS);
    let tail = format!(
        " ON CONFLICT (owner_did, connector_name, partition, provenance, document_id) DO NOTHING RETURNING {}",
        Candidate::COLUMNS
    );
    let values = rows.iter().map(|row| {
        let mut args = key_args(row.parts());
        args.extend(args![
            &row.source_id,
            &row.model_id,
            row.state,
            row.attempts,
            row.apply_failures,
            &row.last_error,
            row.next_attempt_at,
            row.updated_at,
            digest(&row.parts()),
        ]);
        args
    });
    let added: Vec<Candidate> = insert_many(tx.writing(), (&head, &tail), values.collect()).await?;
    for row in &added {
        tx.emit(NewChange::candidate("add_candidate", row, [None, Some(row.state)]));
    }
    Ok(added.len())
}

/// A candidate, locked until the transaction ends.
pub(super) async fn lock_candidate(tx: &mut Tx, key: [&str; 5]) -> Result<Option<Candidate>> {
    tx.first(&LOCK_CANDIDATE, key_args(key)).await
}

/// Writes a candidate as a rule made it of the row that was read.
pub(super) async fn change_candidate(
    tx: &mut Tx,
    transition: &'static str,
    before: &Candidate,
    after: &Candidate,
) -> Result<()> {
    tx.must_hold(Lock::partition(&before.owner_did, &before.connector_name, &before.partition))?;
    let mut args = args![
        after.state,
        after.attempts,
        after.apply_failures,
        &after.last_error,
        after.next_attempt_at,
        after.updated_at,
    ];
    args.extend(key_args(before.parts()));
    args.extend(args![before.state]);
    tx.write_one(CANDIDATES, &UPDATE_CANDIDATE, args).await?;
    tx.emit(NewChange::candidate(transition, after, [Some(before.state), Some(after.state)]));
    Ok(())
}

/// The partitions that have a document among their candidates.
pub(super) async fn partitions_of_document(tx: &mut Tx, document_id: &str) -> Result<Vec<Partition>> {
    let found: Vec<(String, String, String)> = tx.all(&PARTITIONS_OF_DOCUMENT, args![document_id]).await?;
    Ok(found
        .into_iter()
        .map(|(owner_did, connector_name, partition)| Partition { owner_did, connector_name, partition })
        .collect())
}

/// Removes a document from every sweep.
pub(super) async fn remove_of_document(tx: &mut Tx, document_id: &str) -> Result<()> {
    for row in tx.write_returning::<Candidate>(&DELETE_OF_DOCUMENT, args![document_id]).await? {
        tx.must_hold(Lock::partition(&row.owner_did, &row.connector_name, &row.partition))?;
        tx.emit(NewChange::candidate("remove", &row, [Some(row.state), None]));
    }
    Ok(())
}

/// Removes receipts that were committed before a time and that their partition's checkpoint has passed; how many. The caller
/// keeps every other writer of ours out.
pub(super) async fn remove_committed(tx: &mut Tx, before: i64, limit: i32) -> Result<usize> {
    let removed: Vec<Receipt> = tx.write_returning(&DELETE_COMMITTED, args![before, limit]).await?;
    for row in &removed {
        tx.emit(NewChange::receipt("remove", row).with("sequence", Some(row.sequence)));
    }
    Ok(removed.len())
}

/// The first candidate of the receipt that is not resolved.
pub(super) async fn unresolved(tx: &mut Tx, receipt: &Receipt) -> Result<Option<Candidate>> {
    tx.first(&UNRESOLVED, key_args(receipt.parts())).await
}

/// A candidate of an earlier receipt of the partition that is not resolved. Of the package's receipts several may have one
/// sequence: then each is earlier than the other, so that no checkpoint passes what is not handled.
pub(super) async fn earlier_unresolved(tx: &mut Tx, receipt: &Receipt) -> Result<Option<Candidate>> {
    let mut args = key_args(receipt.partition().parts());
    args.extend(args![receipt.sequence, &receipt.provenance]);
    tx.first(&EARLIER_UNRESOLVED, args).await
}

/// Where the partition's checkpoint stands.
pub(super) async fn checkpoint(tx: &mut Tx, partition: &Partition) -> Result<Option<Checkpoint>> {
    tx.first(&CHECKPOINT, key_args(partition.parts())).await
}

/// Commits a receipt: its applied candidates go, the checkpoint moves to it unless it is further already.
pub(super) async fn commit(tx: &mut Tx, receipt: &Receipt) -> Result<(Receipt, Checkpoint)> {
    let partition = receipt.partition();
    tx.must_hold(partition_lock(&partition))?;
    let now = tx.now();
    let committed = Receipt { committed_at: Some(now), ..receipt.clone() };
    let mut args = args![now];
    args.extend(key_args(receipt.parts()));
    tx.write_one(RECEIPTS, &COMMIT_RECEIPT, args).await?;
    tx.emit(NewChange::receipt("commit", &committed).with("sequence", Some(receipt.sequence)));
    for row in tx.write_returning::<Candidate>(&DELETE_APPLIED, key_args(receipt.parts())).await? {
        tx.emit(NewChange::candidate("remove", &row, [Some(row.state), None]));
    }
    let stands = checkpoint(tx, &partition).await?;
    let reached = stands.as_ref().map_or(0, |stands| stands.receipt_sequence).max(receipt.sequence);
    let mut args = key_args(partition.parts());
    args.extend(args![reached]);
    tx.write(&MARK_PASSED, args).await?;
    if let Some(stands) = stands.filter(|stands| stands.receipt_sequence >= receipt.sequence) {
        return Ok((committed, stands));
    }
    let next = Checkpoint {
        owner_did: partition.owner_did,
        connector_name: partition.connector_name,
        partition: partition.partition,
        provenance: receipt.provenance.clone(),
        receipt_sequence: receipt.sequence,
        updated_at: now,
    };
    let mut args = key_args(receipt.partition().parts());
    args.extend(args![&next.provenance, next.receipt_sequence, next.updated_at]);
    tx.write(&PUT_CHECKPOINT, args).await?;
    tx.emit(NewChange::checkpoint(&next));
    Ok((committed, next))
}
