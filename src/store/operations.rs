//! The operations' table: what is read of it, and the two writes that every act goes through.

use super::acts::Note;
use super::engine::{Connection, args, statements};
use super::error::Result;
use super::row::row;
use super::select::{KeyPart, Keyed, Keyset, List, Page, Select, Slice};
use super::tx::Tx;
use super::{Store, locks::Lock};
use crate::domain::changes::NewChange;
use crate::domain::documents::WriteFacts;
use crate::domain::operations::Operation;
use crate::domain::viewer::Viewer;
use crate::domain::words::{DeferReason, OperationState};

const TABLE: &str = "kubun_connector_operation";

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
        "INSERT INTO kubun_connector_operation ({columns}, reissue_intent) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, \
        $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30) \
        ON CONFLICT (caller_did, operation_id) DO NOTHING";
    UPDATE: "",
        "UPDATE kubun_connector_operation SET provider_etag = $1, document_id = $2, state = $3, attempts = $4, \
        next_attempt_at = $5, defer_reason = $6, send_marker = $7, last_kind = $8, last_http_status = $9, version = $10, \
        lease_token = $11, lease_expires_at = $12, updated_at = $13, refunded_attempts = $14 \
        WHERE caller_did = $15 AND operation_id = $16 AND state = $17 AND version = $18 \
        AND lease_token IS NOT DISTINCT FROM $19";
    PUT_RESULT: "",
        "UPDATE kubun_connector_operation SET result_entity = $1 WHERE caller_did = $2 AND operation_id = $3 \
        AND state = 'committed' AND version = $4";
}

impl Keyed for Operation {
    fn key(&self, keyset: &Keyset) -> Vec<KeyPart> {
        let at = if keyset.columns[0] == "updated_at" { self.updated_at } else { self.created_at };
        vec![KeyPart::Int(at), KeyPart::Text(self.caller_did.clone()), KeyPart::Text(self.operation_id.clone())]
    }
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

/// Makes an operation; false when its key was taken meanwhile by a writer that takes no locks of ours.
pub(super) async fn insert(
    tx: &mut Tx,
    row: &Operation,
    reissue_intent: &str,
    transition: &'static str,
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
    ];
    let made = tx.write(&INSERT, args).await? == 1;
    if made {
        tx.emit(NewChange::operation(transition, None, row));
    }
    Ok(made)
}

/// Writes an operation as a rule made it of the row that was read, which the statement checks again.
pub(super) async fn update(tx: &mut Tx, before: &Operation, after: &Operation) -> Result<()> {
    tx.must_hold(Lock::operation(&before.caller_did, &before.operation_id))?;
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

/// Which operations a list shows. `None` does not filter, an empty list matches nothing.
#[derive(Debug, Clone, Default)]
#[expect(missing_docs, reason = "the fields are those of the GraphQL OperationFilter, where they are described")]
pub struct OperationFilter {
    pub states: Option<Vec<OperationState>>,
    pub document_ids: Option<Vec<String>>,
    pub visible_to: Option<String>,
    pub owner_did: Option<String>,
    pub caller_did: Option<String>,
    pub connector_name: Option<String>,
    pub model: Option<String>,
    pub defer_reasons: Option<Vec<DeferReason>>,
    pub last_kind: Option<String>,
    pub updated_since: Option<i64>,
    pub updated_before: Option<i64>,
}

impl OperationFilter {
    fn apply(&self, select: &mut Select) {
        select.among("state", self.states.as_deref());
        select.among("document_id", self.document_ids.as_deref());
        select.concerns(self.visible_to.as_deref());
        select.equals("owner_did", self.owner_did.as_deref());
        select.equals("caller_did", self.caller_did.as_deref());
        select.equals("connector_name", self.connector_name.as_deref());
        select.equals("model", self.model.as_deref());
        select.among("defer_reason", self.defer_reasons.as_deref());
        select.equals("last_kind", self.last_kind.as_deref());
        select.compares("updated_at", ">=", self.updated_since);
        select.compares("updated_at", "<", self.updated_before);
    }
}

/// The order of a list of operations; ties by caller and operation id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, async_graphql::Enum)]
pub enum OperationOrder {
    /// Oldest first.
    #[default]
    CreatedAsc,
    /// Newest first.
    CreatedDesc,
    /// Longest untouched first.
    UpdatedAsc,
    /// Last changed first.
    UpdatedDesc,
}

const CREATED: &[&str] = &["created_at", "caller_did", "operation_id"];
const UPDATED: &[&str] = &["updated_at", "caller_did", "operation_id"];

impl OperationOrder {
    /// The columns of this order.
    #[must_use]
    pub const fn keyset(self) -> Keyset {
        match self {
            Self::CreatedAsc => Keyset { columns: CREATED, descending: false },
            Self::CreatedDesc => Keyset { columns: CREATED, descending: true },
            Self::UpdatedAsc => Keyset { columns: UPDATED, descending: false },
            Self::UpdatedDesc => Keyset { columns: UPDATED, descending: true },
        }
    }
}

fn list(order: OperationOrder, filter: &(dyn Fn(&mut Select) + Sync)) -> List<'_> {
    List { table: TABLE, columns: Operation::COLUMNS, keyset: order.keyset(), filter }
}

const ONE: Slice = Slice { limit: 1, backward: false, after: None, before: None, look_back: false, count: false };

/// The newest of each document's operations that match, by document.
async fn newest_each(
    connection: &mut Connection,
    viewer: &Viewer,
    document_ids: &[String],
    state: Option<OperationState>,
) -> Result<Vec<Option<Operation>>> {
    let filter = |select: &mut Select| {
        select.concerns(viewer.confined_to());
        select.equals("state", state);
    };
    let pages =
        list(OperationOrder::CreatedDesc, &filter).page_each(connection, "document_id", document_ids, &ONE).await?;
    Ok(pages.into_iter().map(|page| page.rows.into_iter().next()).collect())
}

impl Store {
    /// An operation by its primary key.
    ///
    /// # Errors
    /// When the database refuses, or the row cannot be.
    pub async fn operation(&self, viewer: &Viewer, caller_did: &str, operation_id: &str) -> Result<Option<Operation>> {
        let found = self.read().await?.first::<Operation>(&BY_KEY, args![caller_did, operation_id]).await?;
        Ok(found.filter(|row| viewer.sees(Some(&row.owner_did), Some(&row.caller_did))))
    }

    /// The operations with these node keys, in no order.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn operations_by_node_key(&self, viewer: &Viewer, node_keys: &[String]) -> Result<Vec<Operation>> {
        self.operations_among(viewer, "node_key", node_keys).await
    }

    /// The operations that were reissued from these node keys, in no order.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn operations_reissued_from(&self, viewer: &Viewer, node_keys: &[String]) -> Result<Vec<Operation>> {
        self.operations_among(viewer, "reissued_from", node_keys).await
    }

    async fn operations_among(&self, viewer: &Viewer, column: &str, keys: &[String]) -> Result<Vec<Operation>> {
        let mut select = Select::new(Operation::COLUMNS, TABLE);
        select.among(column, Some(keys));
        select.concerns(viewer.confined_to());
        select.all(&mut self.read().await?, 1).await
    }

    /// The two JSON columns of the operations with these node keys, in no order.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn operation_json(&self, viewer: &Viewer, node_keys: &[String]) -> Result<Vec<OperationJson>> {
        let mut select = Select::new(OperationJson::COLUMNS, TABLE);
        select.among("node_key", Some(node_keys));
        select.concerns(viewer.confined_to());
        select.all(&mut self.read().await?, 1).await
    }

    /// A page of the operations that match.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn operations(
        &self,
        viewer: &Viewer,
        filter: &OperationFilter,
        order: OperationOrder,
        slice: &Slice,
    ) -> Result<Page<Operation>> {
        let filter = |select: &mut Select| {
            select.concerns(viewer.confined_to());
            filter.apply(select);
        };
        list(order, &filter).page(&mut self.read().await?, slice).await
    }

    /// The same page of each document's operations.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn operations_of_documents(
        &self,
        viewer: &Viewer,
        document_ids: &[String],
        slice: &Slice,
    ) -> Result<Vec<Page<Operation>>> {
        let filter = |select: &mut Select| select.concerns(viewer.confined_to());
        let list = list(OperationOrder::CreatedAsc, &filter);
        list.page_each(&mut self.read().await?, "document_id", document_ids, slice).await
    }

    /// The newest operation of each document.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn newest_operations(&self, viewer: &Viewer, document_ids: &[String]) -> Result<Vec<Option<Operation>>> {
        newest_each(&mut self.read().await?, viewer, document_ids, None).await
    }

    /// What each document's write state derives from.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn write_facts(&self, viewer: &Viewer, document_ids: &[String]) -> Result<Vec<WriteFacts>> {
        let mut connection = self.read().await?;
        let commits = newest_each(&mut connection, viewer, document_ids, Some(OperationState::Committed)).await?;
        let failures = newest_each(&mut connection, viewer, document_ids, Some(OperationState::Dead)).await?;
        let mut select = Select::new(Operation::COLUMNS, TABLE);
        select.among("document_id", Some(document_ids));
        select.among("state", Some(&[OperationState::Attempted, OperationState::ReconcileOnly]));
        select.concerns(viewer.confined_to());
        let mut open = select.all::<Operation>(&mut connection, 1).await?;
        open.sort_by(|a, b| crate::domain::documents::list_order(a).cmp(&crate::domain::documents::list_order(b)));
        let facts = document_ids.iter().zip(commits).zip(failures).map(|((id, last_commit), last_failure)| {
            let newer = |row: &Operation| {
                let order = crate::domain::documents::list_order;
                last_commit.as_ref().is_none_or(|commit| order(row) > order(commit))
            };
            WriteFacts {
                in_flight: open.iter().filter(|row| row.document_id.as_ref() == Some(id)).cloned().collect(),
                last_failure: last_failure.filter(newer),
                last_commit,
            }
        });
        Ok(facts.collect())
    }
}
