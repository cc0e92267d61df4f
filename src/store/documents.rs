//! What else is known of documents: trims, repairs, and whether a sweep still has them among its candidates.

use super::engine::{args, statements};
use super::error::Result;
use super::list::{KeyPart, Keyed, Keyset, List, Page, Slice};
use super::locks::Lock;
use super::row::row;
use super::select::Select;
use super::tx::Tx;
use super::{Store, seers};
use crate::domain::changes::NewChange;
use crate::domain::documents::{EntityTrim, ObservationRepair};
use crate::domain::viewer::Viewer;

const TRIMS: &str = "kubun_connector_entity_trim";
const REPAIRS: &str = "kubun_connector_observation_repair";

row!(EntityTrim from "kubun_connector_entity_trim" { document_id, owner_did, connector_name, trimmed_fields, updated_at });
row!(ObservationRepair from "kubun_connector_observation_repair" {
    document_id, owner, fetch_hlc, decision_hlc, present, value_digest, written_at, write_order,
});

statements! {
    /// By anybody, and by one owner.
    HELD: "",
        "SELECT CAST(EXISTS (SELECT 1 FROM document_holder WHERE document_id = $1) AS int), \
        CAST(EXISTS (SELECT 1 FROM document_holder WHERE document_id = $1 AND owner_did = $2) AS int)";
    PUT_TRIM: EntityTrim::COLUMNS,
        "INSERT INTO kubun_connector_entity_trim ({columns}) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (document_id) DO UPDATE \
        SET owner_did = excluded.owner_did, connector_name = excluded.connector_name, \
        trimmed_fields = excluded.trimmed_fields, updated_at = excluded.updated_at";
    CLEAR_TRIM: EntityTrim::COLUMNS,
        "DELETE FROM kubun_connector_entity_trim WHERE document_id = $1 RETURNING {columns}";
    REPAIR: ObservationRepair::COLUMNS,
        "SELECT {columns} FROM kubun_connector_observation_repair WHERE document_id = $1";
    PUT_REPAIR: "",
        "INSERT INTO kubun_connector_observation_repair (document_id, owner, fetch_hlc, decision_hlc, present, value_digest, \
        written_at) VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (document_id) DO UPDATE SET owner = excluded.owner, \
        fetch_hlc = excluded.fetch_hlc, decision_hlc = excluded.decision_hlc, present = excluded.present, \
        value_digest = excluded.value_digest, written_at = excluded.written_at";
    CLEAR_REPAIR: ObservationRepair::COLUMNS,
        "DELETE FROM kubun_connector_observation_repair WHERE document_id = $1 RETURNING {columns}";
}

/// In the order in which they were written.
const WRITTEN: Keyset = Keyset { columns: &["write_order"], descending: false };

impl Keyed for ObservationRepair {
    fn key(&self, _: &Keyset) -> Vec<KeyPart> {
        vec![KeyPart::Int(self.write_order)]
    }
}

/// Whether somebody holds a document, and whether this owner does: by a watch, a trim or a repair of it, or by an operation that is
/// proven.
pub(super) async fn held(tx: &mut Tx, document_id: &str, owner_did: &str) -> Result<Held> {
    let found = tx.first::<(i64, i64)>(&HELD, args![document_id, owner_did]).await?;
    Ok(match found {
        Some((_, 1)) => Held::Own,
        Some((1, _)) => Held::Foreign,
        _ => Held::Free,
    })
}

/// Whose a document is, as an owner asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Held {
    /// The owner holds it, and others may too.
    Own,
    /// Others alone do.
    Foreign,
    /// Nobody does.
    Free,
}

/// Whether an operation that counts or a watch of a document is this owner's.
pub(super) async fn is_of_owner(tx: &mut Tx, document_id: &str, owner_did: &str) -> Result<bool> {
    let mut select = Select::new("one.one", "(SELECT 1 AS one) AS one");
    let (document, owner) = (select.arg(document_id), select.arg(owner_did));
    select.and(&seen(&document, &owner, &format!("seen.owner_did = {owner}")));
    Ok(!tx.all_of::<(i64,)>(select).await?.is_empty())
}

/// That a document has an operation that counts, with this about it, or a watch of this owner.
fn seen(document: &str, owner: &str, operation: &str) -> String {
    format!(
        "(EXISTS (SELECT 1 FROM document_operation AS seen WHERE seen.document_id = {document} AND {operation}) \
        OR EXISTS (SELECT 1 FROM kubun_connector_projection_watch AS seen WHERE seen.document_id = {document} \
        AND seen.owner_did = {owner}))"
    )
}

/// Adds that the viewer sees an operation or a watch of the row's document: what is said of it is seen by who does.
pub(super) fn of_seen_documents(select: &mut Select, viewer: &Viewer, table: &str) {
    let Some(did) = viewer.confined_to() else { return };
    let did = select.arg(did);
    select.and(&seen(
        &format!("{table}.document_id"),
        &did,
        &format!("(seen.owner_did = {did} OR seen.caller_did = {did})"),
    ));
}

/// Says which fields were left out.
pub(super) async fn put_trim(tx: &mut Tx, row: &EntityTrim) -> Result<()> {
    tx.must_hold(Lock::document(&row.document_id))?;
    let args = args![&row.document_id, &row.owner_did, &row.connector_name, &row.trimmed_fields, row.updated_at];
    tx.write(&PUT_TRIM, args).await?;
    let change = NewChange::document("set_trim", &row.document_id);
    seers::tell(tx, change.of_owner(&row.owner_did, Some(&row.connector_name))).await
}

/// Forgets a trim; how many there were.
pub(super) async fn clear_trim(tx: &mut Tx, document_id: &str, seen_by: &str) -> Result<usize> {
    tx.must_hold(Lock::document(document_id))?;
    let removed: Vec<EntityTrim> = tx.write_returning(&CLEAR_TRIM, args![document_id]).await?;
    for row in &removed {
        let change = NewChange::document("clear_trim", document_id);
        tx.emit_seen_by(change.of_owner(&row.owner_did, Some(&row.connector_name)), seen_by);
    }
    Ok(removed.len())
}

/// A document's repair.
pub(super) async fn repair(tx: &mut Tx, document_id: &str) -> Result<Option<ObservationRepair>> {
    tx.first(&REPAIR, args![document_id]).await
}

/// Puts a repair. Never after its row was read locked: whoever writes one takes the counter's row first.
pub(super) async fn put_repair(tx: &mut Tx, row: &ObservationRepair) -> Result<()> {
    tx.must_hold(Lock::document(&row.document_id))?;
    let args = args![
        &row.document_id,
        &row.owner,
        &row.fetch_hlc,
        &row.decision_hlc,
        row.present,
        &row.value_digest,
        row.written_at,
    ];
    tx.write(&PUT_REPAIR, args).await?;
    let change = NewChange::document("put_repair", &row.document_id).of_owner(&row.owner, None);
    seers::tell(tx, change.with("present", Some(row.present != 0)).with("valueDigest", row.value_digest.as_deref()))
        .await
}

/// Forgets a repair; how many there were.
pub(super) async fn clear_repair(tx: &mut Tx, document_id: &str, seen_by: &str) -> Result<usize> {
    tx.must_hold(Lock::document(document_id))?;
    let removed: Vec<ObservationRepair> = tx.write_returning(&CLEAR_REPAIR, args![document_id]).await?;
    for row in &removed {
        let change = NewChange::document("clear_repair", document_id).of_owner(&row.owner, None);
        tx.emit_seen_by(change, seen_by);
    }
    Ok(removed.len())
}

impl Store {
    /// The trims of these documents, in no order.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn trims(&self, viewer: &Viewer, document_ids: &[String]) -> Result<Vec<EntityTrim>> {
        let mut select = Select::new(EntityTrim::COLUMNS, TRIMS);
        select.among("document_id", Some(document_ids));
        of_seen_documents(&mut select, viewer, TRIMS);
        select.all(&mut self.read().await?, 1).await
    }

    /// The repairs that these documents wait for, in no order.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn repairs(&self, viewer: &Viewer, document_ids: &[String]) -> Result<Vec<ObservationRepair>> {
        let mut select = Select::new(ObservationRepair::COLUMNS, REPAIRS);
        select.among("document_id", Some(document_ids));
        of_seen_documents(&mut select, viewer, REPAIRS);
        select.all(&mut self.read().await?, 1).await
    }

    /// A page of the repairs in the order in which they were written last.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn repairs_written(&self, viewer: &Viewer, slice: &Slice) -> Result<Page<ObservationRepair>> {
        let filter = |select: &mut Select| of_seen_documents(select, viewer, REPAIRS);
        let list = List::of(REPAIRS, ObservationRepair::COLUMNS, WRITTEN, &filter);
        list.page(&mut self.read().await?, slice).await
    }

    /// Which of these documents a sweep has among its candidates.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn sweep_candidates_among(&self, viewer: &Viewer, document_ids: &[String]) -> Result<Vec<String>> {
        let mut select = Select::new("DISTINCT document_id", "kubun_connector_sweep_candidate");
        select.among("document_id", Some(document_ids));
        select.unindexed(|select| select.equals("owner_did", viewer.confined_to()));
        let found = select.all::<(String,)>(&mut self.read().await?, 1).await?;
        Ok(found.into_iter().map(|(id,)| id).collect())
    }
}
