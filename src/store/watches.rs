//! The watches' table: what is read of it, and the writes that every act goes through.
//!
//! A watch's node key is a digest of its primary key (`digests`).

use super::Store;
use super::digests::Digested;
use super::engine::{Statement, args, statements};
use super::error::Result;
use super::list::{KeyPart, Keyed, Keyset, List, Page, Slice};
use super::locks::Lock;
use super::narrowest::{Conditions, connectors_of};
use super::operation_lists::DueFilter;
use super::row::row;
use super::select::Select;
use super::tx::Tx;
use crate::domain::changes::NewChange;
use crate::domain::ids::digest;
use crate::domain::viewer::Viewer;
use crate::domain::watches::{Watch, WatchIdentity};
use crate::domain::words::{DeferReason, WatchStatus};

pub(super) const TABLE: &str = "kubun_connector_projection_watch";
/// How its rows are named.
pub(super) const DIGESTED: Digested =
    Digested { table: TABLE, key: &["owner_did", "connector_name", "model", "account_key", "source_id"] };

row!(Watch from "kubun_connector_projection_watch" {
    owner_did, connector_name, model, account_key, source_id, document_id, verified_state_digest,
    observed_winner_digest, verification_status, verification_attempts, repair_generation, next_attempt_at,
    claimed_until, defer_reason, version, created_at, updated_at, drifted_at,
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
        $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)";
    UPDATE: "",
        "UPDATE kubun_connector_projection_watch SET document_id = $1, verified_state_digest = $2, \
        observed_winner_digest = $3, verification_status = $4, verification_attempts = $5, repair_generation = $6, \
        next_attempt_at = $7, claimed_until = $8, defer_reason = $9, version = $10, updated_at = $11, drifted_at = $12 \
        WHERE owner_did = $13 AND connector_name = $14 AND model = $15 AND account_key = $16 AND source_id = $17 \
        AND verification_status = $18 AND version = $19";
    DELETE: "",
        "DELETE FROM kubun_connector_projection_watch WHERE owner_did = $1 AND connector_name = $2 AND model = $3 \
        AND account_key = $4 AND source_id = $5 AND version = $6";
}

/// Ordered by the primary key.
const KEYSET: Keyset =
    Keyset { columns: &["owner_did", "connector_name", "model", "account_key", "source_id"], descending: false };

/// The same of few rows, which are found by another index and sorted: an expression has none.
const SORTED: Keyset = Keyset {
    columns: &["(owner_did || '')", "connector_name", "model", "account_key", "source_id"],
    descending: false,
};

/// When it is due, ties by key.
pub const DUE: Keyset = Keyset {
    columns: &["due_at", "owner_did", "connector_name", "model", "account_key", "source_id"],
    descending: false,
};

/// What makes a watch due: its schedule, or, once it is settled, a winner that it has not seen. A failed repair is due too
/// when the winner has returned to what was verified.
const IS_DUE: &str = "(verification_status = 'pending_verification' OR (verification_status = 'repair_failed' \
    AND next_attempt_at <= {now}) OR EXISTS (SELECT 1 FROM document_winner AS winner \
    WHERE winner.document_id = kubun_connector_projection_watch.document_id \
    AND winner.digest IS DISTINCT FROM observed_winner_digest \
    AND (verification_status = 'repair_failed' OR winner.digest IS DISTINCT FROM verified_state_digest)))";

impl Keyed for Watch {
    fn key(&self, keyset: &Keyset) -> Vec<KeyPart> {
        let due = (keyset.columns[0] == "due_at").then(|| KeyPart::Int(self.due_at().unwrap_or_default()));
        let identity = self.identity();
        let parts = identity.parts().into_iter().map(|part| KeyPart::Text(part.to_owned()));
        due.into_iter().chain(parts).collect()
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
    if found.is_some() || DIGESTED.adopt(tx).await? == 0 {
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
                after.drifted_at,
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
                after.drifted_at,
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

/// The order that an index has a watch's columns in.
const BY_OWNER: &[&str] = &["owner_did"];

impl WatchFilter {
    /// The conditions, and that the viewer may see them.
    fn conditions<'a>(&'a self, viewer: &'a Viewer, connectors: Option<&'a [String]>) -> Conditions<'a> {
        let one = |value: Option<&'a str>| value.map(|value| [value]);
        let mut all = Conditions::of(TABLE);
        all.among("document_id", self.document_ids.as_ref().map(|ids| ids.iter().map(String::as_str)), &[]);
        let connector = self.connector_name.as_deref();
        all.of_owner(viewer.confined_to(), connector, BY_OWNER);
        all.of_owner(self.owner_did.as_deref(), connector, BY_OWNER);
        all.among(
            "defer_reason",
            self.defer_reasons.as_ref().map(|reasons| reasons.iter().map(|one| one.as_str())),
            BY_OWNER,
        );
        all.of_model(self.model.as_deref(), connectors, BY_OWNER);
        all.among("connector_name", one(connector), BY_OWNER);
        all.among(
            "verification_status",
            self.statuses.as_ref().map(|words| words.iter().map(|one| one.as_str())),
            BY_OWNER,
        );
        all
    }
}

fn visible(select: &mut Select, viewer: &Viewer) {
    select.equals("owner_did", viewer.confined_to());
}

/// The watches that are due at `now`.
pub(super) fn is_due(select: &mut Select, viewer: &Viewer, filter: &DueFilter, now: i64) {
    select.compares("due_at", "<=", Some(now - filter.overdue_ms));
    let at = select.arg(now);
    select.and(&IS_DUE.replace("{now}", &at));
    visible(select, viewer);
    select.equals("owner_did", filter.owner_did.as_deref());
    select.equals("connector_name", filter.connector_name.as_deref());
    if !filter.include_leased {
        select.and(&format!("(claimed_until IS NULL OR claimed_until <= {at})"));
    }
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
        self.by_node_key(&DIGESTED, Watch::COLUMNS, viewer, node_keys).await
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

    /// A page of the watches that are due at `now`, oldest due first: by schedule, and those whose winner drifted.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn due_watches(
        &self,
        viewer: &Viewer,
        filter: &DueFilter,
        now: i64,
        slice: &Slice,
    ) -> Result<Page<Watch>> {
        let filter = |select: &mut Select| is_due(select, viewer, filter, now);
        let list = List::of(TABLE, Watch::COLUMNS, DUE, &filter);
        list.page(&mut self.read().await?, slice).await
    }

    /// A page of the watches that match.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn watches(&self, viewer: &Viewer, filter: &WatchFilter, slice: &Slice) -> Result<Page<Watch>> {
        let connection = &mut self.read().await?;
        let (model, connector) = (filter.model.as_deref(), filter.connector_name.as_deref());
        let connectors = connectors_of(connection, TABLE, model, connector).await?;
        let conditions = filter.conditions(viewer, connectors.as_deref());
        let way = conditions.way(connection, KEYSET, SORTED).await?;
        let apply = |select: &mut Select| conditions.apply(select, &way);
        conditions.list(&way, Watch::COLUMNS, &apply).page(connection, slice).await
    }
}
