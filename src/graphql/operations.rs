//! The operation as clients see it, its lists and filters.

use std::sync::Arc;

use async_graphql::{Context, Enum, ID, InputObject, Object, SimpleObject};

use super::changes::{ChangeConnection, timeline};
use super::documents::Document;
use super::errors::{Failure, Result};
use super::loaders::{JsonOf, NewestOf, OperationByNodeKey, ReissueOf, load};
use super::pages::{PageArgs, connection, decode_cursor, encode_cursor};
use super::scalars::{DateTime, Json};
use super::{Services, pages};
use crate::domain::bounds::{self, BadInput};
use crate::domain::changes::ChangeFilter;
use crate::domain::documents::list_order;
use crate::domain::ids::NodeId;
use crate::domain::operations as domain;
use crate::domain::viewer::Viewer;
use crate::domain::words::{DeferReason, EntityKind, OperationOp, OperationState, SendState};
use crate::store::{self, ChangesOf, KeyPart, Keyed as _, Page};

/// A write to an outside provider: claimed once under its key, driven under a lease, settled.
#[derive(Debug, Clone)]
pub(super) struct Operation(pub Arc<domain::Operation>);

/// A fencing lease on an operation. Its token is never readable.
#[derive(Debug, Clone, SimpleObject)]
pub(super) struct Lease {
    /// When it may be taken by somebody else.
    expires_at: DateTime,
    /// Whether it has not expired yet. An expired lease is its holder's until somebody takes it.
    live: bool,
}

impl From<domain::Operation> for Operation {
    fn from(row: domain::Operation) -> Self {
        Self(Arc::new(row))
    }
}

impl Operation {
    fn node_id(&self) -> NodeId {
        NodeId::operation(&self.0.node_key)
    }
}

/// A write to an outside provider: claimed once under its key, driven under a lease, settled.
#[Object]
impl Operation {
    /// Opaque and lasting: names the operation in every later mutation.
    pub(super) async fn id(&self) -> ID {
        ID(self.node_id().encode())
    }

    /// The caller's own name for it: with callerDid the idempotency key.
    async fn operation_id(&self) -> &str {
        &self.0.operation_id
    }

    /// The DID that claimed it.
    async fn caller_did(&self) -> &str {
        &self.0.caller_did
    }

    /// The DID whose data is written.
    async fn owner_did(&self) -> &str {
        &self.0.owner_did
    }

    /// The connector that writes.
    async fn connector_name(&self) -> &str {
        &self.0.connector_name
    }

    /// The kind of document.
    async fn model(&self) -> &str {
        &self.0.model
    }

    /// What the write does to the provider's copy.
    async fn op(&self) -> OperationOp {
        self.0.op
    }

    /// The account at the provider.
    async fn account_key(&self) -> &str {
        &self.0.account_key
    }

    /// Where at the provider the write goes.
    async fn target(&self) -> &str {
        &self.0.target
    }

    /// The provider's name for the document, where it is known at the claim.
    async fn source_id(&self) -> Option<&str> {
        self.0.source_id.as_deref()
    }

    /// The name that the written event has at every try.
    async fn deterministic_event_id(&self) -> &str {
        &self.0.deterministic_event_id
    }

    /// The digest of what is written.
    async fn payload_hash(&self) -> &str {
        &self.0.payload_hash
    }

    /// What is needed to write it again; null when nothing was given.
    async fn reissue_intent(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<Json>> {
        let found = load(ctx, JsonOf(self.0.node_key.clone())).await?;
        let intent = found.map(|json| Json::stored(&json.reissue_intent)).transpose()?;
        Ok(intent.filter(|intent| !intent.0.is_null()))
    }

    /// The provider's version of its copy, as it was seen last.
    async fn provider_etag(&self) -> Option<&str> {
        self.0.provider_etag.as_deref()
    }

    /// The document that is written, where it is known.
    async fn document_id(&self) -> Option<&str> {
        self.0.document_id.as_deref()
    }

    /// The document that is written, where it is known.
    async fn document(&self) -> Option<Document> {
        self.0.document_id.clone().map(Document)
    }

    /// What the provider answered to the finished write.
    async fn result_entity(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<Json>> {
        let found = load(ctx, JsonOf(self.0.node_key.clone())).await?;
        found.and_then(|json| json.result_entity.as_deref().map(Json::stored)).transpose()
    }

    /// Where it stands.
    async fn state(&self) -> OperationState {
        self.0.state
    }

    /// Attempts that were counted and not refunded.
    async fn attempts(&self) -> i32 {
        self.0.attempts
    }

    /// When it is due again; null: at once.
    async fn next_attempt_at(&self) -> Option<DateTime> {
        self.0.next_attempt_at.map(DateTime)
    }

    /// What it waits for.
    async fn defer_reason(&self) -> Option<DeferReason> {
        self.0.defer_reason
    }

    /// Whether the current attempt may have reached the provider.
    async fn send_state(&self) -> SendState {
        self.0.send_state()
    }

    /// The connector's word for how the last recorded attempt ended.
    async fn last_kind(&self) -> Option<&str> {
        self.0.last_kind.as_deref()
    }

    /// The provider's HTTP status in the last recorded attempt.
    async fn last_http_status(&self) -> Option<i32> {
        self.0.last_http_status
    }

    /// Counts the recorded attempts; recordOperation and finalizeOperation name the one that was read.
    async fn version(&self) -> i32 {
        self.0.version
    }

    /// Tells this row from an earlier one under the same key.
    async fn incarnation(&self) -> Option<&str> {
        self.0.incarnation.as_deref()
    }

    /// The lease that is held, live or expired; null when none is.
    async fn lease(&self, ctx: &Context<'_>) -> Option<Lease> {
        self.0.lease_token.as_ref()?;
        let expires_at = DateTime(self.0.lease_expires_at.unwrap_or(bounds::LAST_MS));
        let now = ctx.data_unchecked::<Services>().store.now_ms();
        Some(Lease { expires_at, live: self.0.has_live_lease(now) })
    }

    /// When it was claimed.
    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }

    /// When a transition took effect on it last.
    async fn updated_at(&self) -> DateTime {
        DateTime(self.0.updated_at)
    }

    /// Whether a newer operation on the same document exists that the viewer may see.
    async fn superseded(&self, ctx: &Context<'_>) -> async_graphql::Result<bool> {
        let Some(document_id) = self.0.document_id.clone() else { return Ok(false) };
        let newest = load(ctx, NewestOf(document_id)).await?;
        Ok(newest.is_some_and(|newest| list_order(&newest) > list_order(&self.0)))
    }

    /// The operation that this one was reissued from.
    async fn reissued_from(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<Operation>> {
        let Some(node_key) = self.0.reissued_from.clone() else { return Ok(None) };
        Ok(load(ctx, OperationByNodeKey(node_key)).await?.map(Operation))
    }

    /// The operation that this one was reissued as.
    async fn reissued_as(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<Operation>> {
        Ok(load(ctx, ReissueOf(self.0.node_key.clone())).await?.map(Operation))
    }

    /// What happened to it, oldest first.
    async fn changes(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "How many from the front, 0 to 100; 50 when neither this nor last is given.")] first: Option<
            i32,
        >,
        #[graphql(desc = "Only rows after this cursor.")] after: Option<String>,
        #[graphql(desc = "How many from the back, 0 to 100.")] last: Option<i32>,
        #[graphql(desc = "Only rows before this cursor.")] before: Option<String>,
    ) -> async_graphql::Result<ChangeConnection> {
        let args = PageArgs { first, after, last, before };
        Ok(timeline(ctx, ChangesOf::Entity, self.node_id().encode(), args).await?)
    }
}

connection!(OperationConnection, OperationEdge, Operation, "operations");

/// The order of a list of operations; ties by callerDid, then operationId.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(remote = "store::OperationOrder")]
pub(super) enum OperationOrder {
    /// Oldest first.
    CreatedAsc,
    /// Newest first.
    CreatedDesc,
    /// Longest untouched first.
    UpdatedAsc,
    /// Last changed first.
    UpdatedDesc,
}

/// Which operations. A field that is left out or null does not filter, an empty list matches nothing.
#[derive(Debug, Default, InputObject)]
pub(super) struct OperationFilter {
    /// In one of these states.
    states: Option<Vec<OperationState>>,
    /// Of one of these documents, at most 500.
    document_ids: Option<Vec<String>>,
    /// Claimed by this DID, or of this owner.
    visible_to: Option<String>,
    /// Of this owner.
    owner_did: Option<String>,
    /// Claimed by this DID.
    caller_did: Option<String>,
    /// By this connector.
    connector_name: Option<String>,
    /// Of this kind of document.
    model: Option<String>,
    /// Waiting for one of these.
    defer_reasons: Option<Vec<DeferReason>>,
    /// Whose last recorded attempt ended so.
    last_kind: Option<String>,
    /// Live, and kept so from going on by itself. Of lists alone: it comes with time, not with a change.
    stuck: Option<store::StuckReason>,
    /// Updated at or after this time.
    updated_since: Option<DateTime>,
    /// Updated before this time.
    updated_before: Option<DateTime>,
}

impl OperationFilter {
    fn check(&self) -> std::result::Result<(), BadInput> {
        if let Some(ids) = &self.document_ids {
            bounds::ids("filter.documentIds", ids)?;
        }
        bounds::length("filter.states", self.states.as_ref().map_or(0, Vec::len))?;
        bounds::length("filter.deferReasons", self.defer_reasons.as_ref().map_or(0, Vec::len))?;
        bounds::optional_key("filter.visibleTo", self.visible_to.as_deref())?;
        bounds::optional_key("filter.ownerDid", self.owner_did.as_deref())?;
        bounds::optional_key("filter.callerDid", self.caller_did.as_deref())?;
        bounds::optional_key("filter.connectorName", self.connector_name.as_deref())?;
        bounds::optional_key("filter.model", self.model.as_deref())?;
        bounds::optional_key("filter.lastKind", self.last_kind.as_deref())
    }

    /// For a list.
    pub(super) fn for_rows(self) -> std::result::Result<store::OperationFilter, BadInput> {
        self.check()?;
        Ok(store::OperationFilter {
            states: self.states,
            document_ids: self.document_ids,
            visible_to: self.visible_to,
            owner_did: self.owner_did,
            caller_did: self.caller_did,
            connector_name: self.connector_name,
            model: self.model,
            defer_reasons: self.defer_reasons,
            last_kind: self.last_kind,
            stuck: self.stuck,
            updated_since: self.updated_since.map(|at| at.0),
            updated_before: self.updated_before.map(|at| at.0),
        })
    }

    /// For a subscription: the same questions, asked of the change.
    pub(super) fn for_changes(self) -> std::result::Result<ChangeFilter, BadInput> {
        self.check()?;
        if self.stuck.is_some() {
            return Err(BadInput::new("filter.stuck", "is for lists: operations get stuck without a change"));
        }
        Ok(ChangeFilter {
            entities: Some(vec![EntityKind::Operation]),
            operation_states: self.states,
            document_ids: self.document_ids,
            visible_to: self.visible_to,
            owner_did: self.owner_did,
            caller_did: self.caller_did,
            connector_name: self.connector_name,
            model: self.model,
            defer_reasons: self.defer_reasons,
            last_kind: self.last_kind,
            since: self.updated_since.map(|at| at.0),
            before: self.updated_before.map(|at| at.0),
            ..ChangeFilter::default()
        })
    }
}

/// The name of each order's cursors: they are good for their own order alone.
fn list_name(order: store::OperationOrder) -> &'static str {
    match order {
        store::OperationOrder::CreatedAsc | store::OperationOrder::CreatedDesc => "operations.created",
        store::OperationOrder::UpdatedAsc | store::OperationOrder::UpdatedDesc => "operations.updated",
    }
}

/// Reads a cursor of a list in this order.
pub(super) fn decode(
    order: store::OperationOrder,
    field: &str,
    cursor: &str,
) -> std::result::Result<Vec<KeyPart>, BadInput> {
    decode_cursor(list_name(order), "itt", field, cursor)
}

/// A page in this order, as clients see it.
pub(super) fn connect(page: Page<Arc<domain::Operation>>, order: store::OperationOrder) -> OperationConnection {
    OperationConnection::new(page, |row| (encode_cursor(list_name(order), row.key(&order.keyset())), Operation(row)))
}

/// The list of operations.
pub(super) async fn list(
    ctx: &Context<'_>,
    filter: OperationFilter,
    order: store::OperationOrder,
    args: pages::PageArgs,
) -> Result<OperationConnection> {
    let slice = args.slice(ctx, |field, cursor| decode(order, field, cursor))?;
    let viewer = ctx.data_unchecked::<Arc<Viewer>>();
    let store = &ctx.data_unchecked::<Services>().store;
    let page = store.operations(viewer, &filter.for_rows()?, order, &slice).await.map_err(Failure::from)?;
    Ok(connect(page.shared(), order))
}
