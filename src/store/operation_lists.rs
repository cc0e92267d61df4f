//! The operations' lists, and what is read of operations in passing: by key, by document, by what is due.

use super::Store;
use super::due::unindexed;
use super::engine::{Connection, args};
use super::error::Result;
use super::list::{COUNTED_MOST, KeyPart, Keyed, Keyset, List, Page, Slice};
use super::narrowest::{Conditions, Way, connectors_of};
use super::operations::{BY_KEY, OperationJson, TABLE};
use super::select::Select;
use super::stuck::{Finds, StuckReason};
use crate::domain::documents::WriteFacts;
use crate::domain::operations::Operation;
use crate::domain::viewer::Viewer;
use crate::domain::words::{DeferReason, OperationState};

impl Keyed for Operation {
    fn key(&self, keyset: &Keyset) -> Vec<KeyPart> {
        let at = match keyset.columns[0] {
            "updated_at" | SORTED_UPDATED => self.updated_at,
            "due_at" => self.due_at().unwrap_or_default(),
            _ => self.created_at,
        };
        vec![KeyPart::Int(at), KeyPart::Text(self.caller_did.clone()), KeyPart::Text(self.operation_id.clone())]
    }
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
    pub stuck: Option<StuckReason>,
    pub updated_since: Option<i64>,
    pub updated_before: Option<i64>,
}

/// The orders that an index has an operation's columns in.
const BOTH: &[&str] = &["created_at", "updated_at"];

impl OperationFilter {
    /// The conditions, and that the viewer may see them.
    fn conditions<'a>(&'a self, viewer: &'a Viewer, connectors: Option<&'a [String]>) -> Conditions<'a> {
        let one = |value: &'a Option<String>| value.as_deref().map(|value| [value]);
        let mut all = Conditions::of(TABLE);
        all.among("document_id", self.document_ids.as_ref().map(|ids| ids.iter().map(String::as_str)), &["created_at"]);
        all.among("owner_did", one(&self.owner_did), BOTH);
        all.concerns(viewer.confined_to());
        all.concerns(self.visible_to.as_deref());
        all.among(
            "defer_reason",
            self.defer_reasons.as_ref().map(|reasons| reasons.iter().map(|one| one.as_str())),
            BOTH,
        );
        all.among("last_kind", one(&self.last_kind), BOTH);
        all.among("caller_did", one(&self.caller_did), BOTH);
        all.of_model(self.model.as_deref(), connectors, BOTH);
        all.among("connector_name", one(&self.connector_name), BOTH);
        all.updated(self.updated_since, self.updated_before);
        all.among("state", self.states.as_ref().map(|states| states.iter().map(|one| one.as_str())), BOTH);
        all
    }
}

/// Which due work is meant.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the fields are those of the GraphQL DueFilter, where they are described")]
pub struct DueFilter {
    pub owner_did: Option<String>,
    pub connector_name: Option<String>,
    pub include_leased: bool,
    /// Only what has been due for this long, in ms.
    pub overdue_ms: i64,
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

/// The same orders of few rows, which are found by another index and sorted: an expression has none.
const SORTED_CREATED: &str = "(created_at + 0)";
const SORTED_UPDATED: &str = "(updated_at + 0)";

impl OperationOrder {
    /// The same, sorted.
    const fn sorted(self) -> Keyset {
        let columns: &[&str] = match self {
            Self::CreatedAsc | Self::CreatedDesc => &[SORTED_CREATED, "caller_did", "operation_id"],
            Self::UpdatedAsc | Self::UpdatedDesc => &[SORTED_UPDATED, "caller_did", "operation_id"],
        };
        Keyset { columns, ..self.keyset() }
    }

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

/// When it is due, ties by key.
pub const DUE: Keyset = Keyset { columns: &["due_at", "caller_did", "operation_id"], descending: false };

fn list(order: OperationOrder, filter: &(dyn Fn(&mut Select) + Sync)) -> List<'_> {
    List::of(TABLE, Operation::COLUMNS, order.keyset(), filter)
}

/// A list of due operations, to count.
fn due_list<'a>(filter: &'a (dyn Fn(&mut Select) + Sync), concerning: Vec<&'a str>) -> List<'a> {
    List::of(TABLE, "", DUE, filter).concerning(concerning)
}

/// The operations that are due at `now`: live ones alone have a time for it.
pub(super) fn is_due(select: &mut Select, filter: &DueFilter, now: i64) {
    due_or_leased(select, filter, now);
    if !filter.include_leased {
        let now = select.arg(now);
        select.and(&format!("(lease_token IS NULL OR lease_expires_at < {now})"));
    }
}

fn due_or_leased(select: &mut Select, filter: &DueFilter, now: i64) {
    select.compares("due_at", "<=", Some(now - filter.overdue_ms));
    select.equals("owner_did", filter.owner_did.as_deref());
    select.equals("connector_name", filter.connector_name.as_deref());
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
        let now = self.now_ms();
        let finds = match filter.stuck {
            Some(stuck) => Some(self.finds(viewer, stuck, now).await?),
            None => None,
        };
        let connection = &mut self.read().await?;
        let (model, connector) = (filter.model.as_deref(), filter.connector_name.as_deref());
        let connectors = connectors_of(connection, TABLE, model, connector).await?;
        let conditions = filter.conditions(viewer, connectors.as_deref());
        let way = match finds {
            Some(Finds::First(_)) => Way::other(order.sorted()),
            _ => conditions.way(connection, order.keyset(), order.sorted()).await?,
        };
        let apply = |select: &mut Select| {
            if let Some(finds) = finds {
                finds.apply(select, viewer, now);
            }
            conditions.apply(select, &way);
        };
        let list = conditions.list(&way, Operation::COLUMNS, &apply);
        let Some(Finds::Along(stuck)) = finds.filter(|_| slice.count) else {
            return list.page(connection, slice).await;
        };
        let mut page = list.page(connection, &Slice { count: false, ..slice.clone() }).await?;
        // In no order they are counted by their index.
        let other = Way::other(order.sorted());
        let apply = |select: &mut Select| {
            stuck.apply(select, now);
            conditions.apply(select, &other);
        };
        page.total = Some(conditions.list(&other, "", &apply).count(connection, COUNTED_MOST + 1).await?);
        Ok(page)
    }

    /// A page of the operations that are due at `now`, oldest due first.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn due_operations(
        &self,
        viewer: &Viewer,
        due: &DueFilter,
        now: i64,
        slice: &Slice,
    ) -> Result<Page<Operation>> {
        let filter = |select: &mut Select| is_due(select, due, now);
        let list = List::of(TABLE, Operation::COLUMNS, DUE, &filter).concerning(viewer.confined_to());
        let mut page = list.page(&mut self.read().await?, &Slice { count: false, ..slice.clone() }).await?;
        if slice.count {
            page.total = Some(self.count_due_operations(viewer, due, now, COUNTED_MOST + 1).await?);
        }
        Ok(page)
    }

    /// How many operations are due at `now`, as far as `most`: all that are, without those under a live lease. Both are counted in
    /// an index, which no row has to be looked at for.
    ///
    /// # Errors
    /// When the database refuses.
    pub(super) async fn count_due_operations(
        &self,
        viewer: &Viewer,
        due: &DueFilter,
        now: i64,
        most: i64,
    ) -> Result<i64> {
        let connection = &mut self.read().await?;
        let mut leased = 0;
        for unending in [false, true].into_iter().filter(|_| !due.include_leased) {
            let under = |select: &mut Select| {
                select.and("due_at IS NOT NULL AND lease_token IS NOT NULL");
                if unending {
                    select.and("lease_expires_at IS NULL");
                } else {
                    select.compares("lease_expires_at", ">=", Some(now));
                }
                select.compares("due_at", "<=", Some(now - due.overdue_ms));
                unindexed(select, viewer, [&due.owner_did, &due.connector_name]);
            };
            leased += due_list(&under, vec![]).count_by(connection, "lease_expires_at", most).await?;
        }
        let all = |select: &mut Select| due_or_leased(select, due, now);
        let all = due_list(&all, viewer.confined_to().into_iter().collect()).count(connection, most + leased).await?;
        // The two are read one after the other.
        Ok((all - leased).max(0))
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
