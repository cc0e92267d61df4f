//! The watches' table: what is read of it, and the writes that every act goes through.
//!
//! A watch's node key is a digest of its primary key, in a column of ours. Rows that the package wrote have none until
//! they are asked for by id for the first time: then they are adopted.

use std::sync::Arc;

use super::engine::{Statement, args, statements};
use super::error::Result;
use super::locks::Lock;
use super::row::row;
use super::select::{KeyPart, Keyed, Keyset, List, Page, Select, Slice};
use super::tx::Tx;
use super::{Store, acts};
use crate::domain::changes::NewChange;
use crate::domain::ids::digest;
use crate::domain::viewer::Viewer;
use crate::domain::watches::{Watch, WatchIdentity};
use crate::domain::words::{DeferReason, WatchStatus};

const TABLE: &str = "kubun_connector_projection_watch";
/// Rows adopted by one statement.
const ADOPTED: usize = 500;

row!(Watch from "kubun_connector_projection_watch" {
    owner_did, connector_name, model, account_key, source_id, document_id, verified_state_digest,
    observed_winner_digest, verification_status, verification_attempts, repair_generation, next_attempt_at,
    claimed_until, defer_reason, version, created_at, updated_at,
});

statements! {
    BY_IDENTITY: Watch::COLUMNS,
        "SELECT {columns} FROM kubun_connector_projection_watch WHERE owner_did = $1 AND connector_name = $2 \
        AND model = $3 AND account_key = $4 AND source_id = $5";
    LOCK_BY_IDENTITY: Watch::COLUMNS,
        "SELECT {columns} FROM kubun_connector_projection_watch WHERE owner_did = $1 AND connector_name = $2 \
        AND model = $3 AND account_key = $4 AND source_id = $5 {for_update}";
    BY_NODE_KEY: Watch::COLUMNS,
        "SELECT {columns} FROM kubun_connector_projection_watch WHERE node_key = $1";
    LOCK_BY_NODE_KEY: Watch::COLUMNS,
        "SELECT {columns} FROM kubun_connector_projection_watch WHERE node_key = $1 {for_update}";
    BY_DOCUMENT: Watch::COLUMNS,
        "SELECT {columns} FROM kubun_connector_projection_watch WHERE document_id = $1";
    LOCK_BY_DOCUMENT: Watch::COLUMNS,
        "SELECT {columns} FROM kubun_connector_projection_watch WHERE document_id = $1 \
        ORDER BY owner_did, connector_name, model, account_key, source_id {for_update}";
    INSERT: Watch::COLUMNS,
        "INSERT INTO kubun_connector_projection_watch ({columns}, node_key) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, \
        $10, $11, $12, $13, $14, $15, $16, $17, $18)";
    UPDATE: "",
        "UPDATE kubun_connector_projection_watch SET document_id = $1, verified_state_digest = $2, \
        observed_winner_digest = $3, verification_status = $4, verification_attempts = $5, repair_generation = $6, \
        next_attempt_at = $7, claimed_until = $8, defer_reason = $9, version = $10, updated_at = $11 \
        WHERE owner_did = $12 AND connector_name = $13 AND model = $14 AND account_key = $15 AND source_id = $16 \
        AND verification_status = $17 AND version = $18";
    DELETE: "",
        "DELETE FROM kubun_connector_projection_watch WHERE owner_did = $1 AND connector_name = $2 AND model = $3 \
        AND account_key = $4 AND source_id = $5 AND version = $6";
    UNADOPTED: Watch::COLUMNS,
        "SELECT {columns} FROM kubun_connector_projection_watch WHERE node_key IS NULL LIMIT 500";
    ADOPT: "",
        "UPDATE kubun_connector_projection_watch SET node_key = $1 WHERE owner_did = $2 AND connector_name = $3 \
        AND model = $4 AND account_key = $5 AND source_id = $6 AND node_key IS NULL";
}

/// Ordered by the primary key.
const KEYSET: Keyset =
    Keyset { columns: &["owner_did", "connector_name", "model", "account_key", "source_id"], descending: false };

impl Keyed for Watch {
    fn key(&self, _: &Keyset) -> Vec<KeyPart> {
        self.identity().parts().into_iter().map(|part| KeyPart::Text(part.to_owned())).collect()
    }
}

/// The locks of an act on this watch as it is now.
pub(super) fn locks(row: &Watch) -> [Lock; 2] {
    [Lock::watch(&row.identity()), Lock::document(&row.document_id)]
}

/// Reads a watch without locking it.
pub(super) async fn peek(tx: &mut Tx, node_key: &str) -> Result<Option<Watch>> {
    by_node_key(tx, &BY_NODE_KEY, node_key).await
}

/// Reads a watch, its row locked until the transaction ends.
pub(super) async fn lock(tx: &mut Tx, node_key: &str) -> Result<Option<Watch>> {
    by_node_key(tx, &LOCK_BY_NODE_KEY, node_key).await
}

async fn by_node_key(tx: &mut Tx, statement: &'static Statement, node_key: &str) -> Result<Option<Watch>> {
    let found = tx.first(statement, args![node_key]).await?;
    if found.is_some() || adopt(tx).await? == 0 {
        return Ok(found);
    }
    tx.first(statement, args![node_key]).await
}

/// As `peek`, by identity.
pub(super) async fn peek_by_identity(tx: &mut Tx, identity: &WatchIdentity) -> Result<Option<Watch>> {
    tx.first(&BY_IDENTITY, identity_args(identity)).await
}

/// As `peek`, every watch of a document.
pub(super) async fn peek_of_document(tx: &mut Tx, document_id: &str) -> Result<Vec<Watch>> {
    tx.all(&BY_DOCUMENT, args![document_id]).await
}

/// As `lock`, by identity.
pub(super) async fn lock_by_identity(tx: &mut Tx, identity: &WatchIdentity) -> Result<Option<Watch>> {
    tx.first(&LOCK_BY_IDENTITY, identity_args(identity)).await
}

/// Every watch of a document, locked, by key.
pub(super) async fn lock_of_document(tx: &mut Tx, document_id: &str) -> Result<Vec<Watch>> {
    tx.all(&LOCK_BY_DOCUMENT, args![document_id]).await
}

/// Gives the package's rows their node keys; how many were found.
pub(super) async fn adopt(tx: &mut Tx) -> Result<usize> {
    let mut adopted = 0;
    loop {
        let rows: Vec<Watch> = tx.all(&UNADOPTED, args![]).await?;
        adopted += rows.len();
        for row in &rows {
            let identity = row.identity();
            let mut args = args![digest(&identity.parts())];
            args.extend(identity_args(&identity));
            tx.write(&ADOPT, args).await?;
        }
        if rows.len() < ADOPTED {
            return Ok(adopted);
        }
    }
}

fn identity_args(identity: &WatchIdentity) -> Vec<super::engine::Arg> {
    identity.parts().into_iter().map(super::engine::Arg::from).collect()
}

/// Writes a watch as a rule made it, new or of the row that was read, and adds to its change.
pub(super) async fn put(
    tx: &mut Tx,
    transition: &'static str,
    before: Option<&Watch>,
    after: &Watch,
    facts: impl FnOnce(NewChange) -> NewChange,
) -> Result<()> {
    locks(after).into_iter().try_for_each(|lock| tx.must_hold(lock))?;
    match before {
        None => {
            let key = digest(&after.identity().parts());
            let mut args = identity_args(&after.identity());
            args.extend(args![
                &after.document_id,
                &after.verified_state_digest,
                &after.observed_winner_digest,
                after.verification_status,
                after.verification_attempts,
                after.repair_generation,
                after.next_attempt_at,
                after.claimed_until,
                after.defer_reason,
                after.version,
                after.created_at,
                after.updated_at,
                key,
            ]);
            tx.write_one(TABLE, &INSERT, args).await?;
        }
        Some(before) => {
            tx.must_hold(Lock::document(&before.document_id))?;
            let mut args = args![
                &after.document_id,
                &after.verified_state_digest,
                &after.observed_winner_digest,
                after.verification_status,
                after.verification_attempts,
                after.repair_generation,
                after.next_attempt_at,
                after.claimed_until,
                after.defer_reason,
                after.version,
                after.updated_at,
            ];
            args.extend(identity_args(&before.identity()));
            args.extend(args![before.verification_status, before.version]);
            tx.write_one(TABLE, &UPDATE, args).await?;
        }
    }
    if let Some(change) = NewChange::watch(transition, before, Some(after)) {
        tx.emit(facts(change));
    }
    Ok(())
}

/// Removes a watch that another identity of its owner and model takes the place of.
pub(super) async fn remove(tx: &mut Tx, row: &Watch) -> Result<()> {
    locks(row).into_iter().try_for_each(|lock| tx.must_hold(lock))?;
    let mut args = identity_args(&row.identity());
    args.extend(args![row.version]);
    tx.write_one(TABLE, &DELETE, args).await?;
    if let Some(change) = NewChange::watch("remove", Some(row), None) {
        tx.emit(change);
    }
    Ok(())
}

/// Which watches a list shows. `None` does not filter, an empty list matches nothing.
#[derive(Debug, Clone, Default)]
#[expect(missing_docs, reason = "the fields are those of the GraphQL WatchFilter, where they are described")]
pub struct WatchFilter {
    pub statuses: Option<Vec<WatchStatus>>,
    pub document_ids: Option<Vec<String>>,
    pub owner_did: Option<String>,
    pub connector_name: Option<String>,
    pub model: Option<String>,
    pub defer_reasons: Option<Vec<DeferReason>>,
}

impl WatchFilter {
    fn apply(&self, select: &mut Select) {
        select.among("verification_status", self.statuses.as_deref());
        select.among("document_id", self.document_ids.as_deref());
        select.equals("owner_did", self.owner_did.as_deref());
        select.equals("connector_name", self.connector_name.as_deref());
        select.equals("model", self.model.as_deref());
        select.among("defer_reason", self.defer_reasons.as_deref());
    }
}

fn visible(select: &mut Select, viewer: &Viewer) {
    select.equals("owner_did", viewer.confined_to());
}

impl Store {
    /// A watch by its identity.
    ///
    /// # Errors
    /// When the database refuses, or the row cannot be.
    pub async fn watch(&self, viewer: &Viewer, identity: &WatchIdentity) -> Result<Option<Watch>> {
        let found = self.read().await?.first::<Watch>(&BY_IDENTITY, identity_args(identity)).await?;
        Ok(found.filter(|row| viewer.sees(Some(&row.owner_did), None)))
    }

    /// The watches with these node keys, in no order.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn watches_by_node_key(&self, viewer: &Viewer, node_keys: &[String]) -> Result<Vec<Watch>> {
        let found = self.watches_among(viewer, "node_key", node_keys).await?;
        if found.len() == node_keys.len() || self.read().await?.first::<Watch>(&UNADOPTED, args![]).await?.is_none() {
            return Ok(found);
        }
        self.perform(&Arc::new(Viewer::open()), acts::AdoptWatches).await?;
        self.watches_among(viewer, "node_key", node_keys).await
    }

    /// The watches of these documents, by key.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn watches_of_documents(&self, viewer: &Viewer, document_ids: &[String]) -> Result<Vec<Watch>> {
        let mut found = self.watches_among(viewer, "document_id", document_ids).await?;
        found.sort_by_cached_key(Watch::identity);
        Ok(found)
    }

    async fn watches_among(&self, viewer: &Viewer, column: &str, keys: &[String]) -> Result<Vec<Watch>> {
        let mut select = Select::new(Watch::COLUMNS, TABLE);
        select.among(column, Some(keys));
        visible(&mut select, viewer);
        select.all(&mut self.read().await?, 1).await
    }

    /// A page of the watches that match.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn watches(&self, viewer: &Viewer, filter: &WatchFilter, slice: &Slice) -> Result<Page<Watch>> {
        let filter = |select: &mut Select| {
            visible(select, viewer);
            filter.apply(select);
        };
        let list = List { table: TABLE, columns: Watch::COLUMNS, keyset: KEYSET, filter: &filter };
        list.page(&mut self.read().await?, slice).await
    }
}
