//! The document as clients see it: what became of its writes, derived as it is asked for.

use std::sync::Arc;

use async_graphql::{Context, InputObject, Object, SimpleObject};

use super::Services;
use super::changes::{ChangeConnection, timeline};
use super::errors::Result;
use super::loaders::{IsCandidate, OperationsOf, RepairOf, TrimOf, WatchesOf, WinnerOf, WriteFactsOf, load};
use super::operations::{self, Operation, OperationConnection};
use super::pages::{PageArgs, connection, decode_cursor, encode_cursor};
use super::scalars::{DateTime, Json};
use super::watches::Watch;
use crate::domain::bounds;
use crate::domain::documents as domain;
use crate::domain::viewer::Viewer;
use crate::domain::watches::Watch as WatchRow;
use crate::domain::words::DocumentWriteState;
use crate::store::{self, ChangesOf, Keyed as _, OperationOrder};

/// A document of the local store and what became of its writes, as far as the viewer may see them. Any id names one.
#[derive(Debug, Clone)]
pub(super) struct Document(pub String);

/// What the local store shows of a document now.
#[derive(Debug, Clone, SimpleObject)]
pub(super) struct Winner {
    /// The document.
    document_id: String,
    /// The digest of what it shows; of a deleted document the one that the connector defines for absence.
    digest: String,
    /// A hybrid logical clock text: a lower one never replaces a higher.
    version: Option<String>,
    /// When it was recorded.
    updated_at: DateTime,
}

impl From<&domain::Winner> for Winner {
    fn from(row: &domain::Winner) -> Self {
        Self {
            document_id: row.document_id.clone(),
            digest: row.digest.clone(),
            version: row.version.clone(),
            updated_at: DateTime(row.updated_at),
        }
    }
}

/// Fields that were left out of a document's copy at the provider.
#[derive(Debug, Clone, SimpleObject)]
pub(super) struct EntityTrim {
    /// The document.
    document_id: String,
    /// The DID whose data it is.
    owner_did: String,
    /// The connector that left them out.
    connector_name: String,
    /// Which fields, in the connector's own form.
    trimmed_fields: Json,
    /// When it was said last.
    updated_at: DateTime,
}

/// A repair that an observation decided and that is still to be written.
#[derive(Debug, Clone, SimpleObject)]
pub(super) struct ObservationRepair {
    /// The document.
    document_id: String,
    /// The DID whose data it is.
    owner: String,
    /// The hybrid logical clock of the fetch that asked for it.
    fetch_hlc: String,
    /// The hybrid logical clock of the decision.
    decision_hlc: String,
    /// Whether the document is to be there.
    present: bool,
    /// The digest of what it is to show.
    value_digest: Option<String>,
    /// When it was put.
    written_at: DateTime,
}

connection!(DocumentConnection, DocumentEdge, Document, "documents");

/// Which documents. A field that is left out or null does not filter.
#[derive(Debug, Default, InputObject)]
pub(super) struct DocumentFilter {
    /// With an operation of this owner.
    owner_did: Option<String>,
    /// With an operation by this connector.
    connector_name: Option<String>,
}

const LIST: &str = "documentsByWriteState";

/// The list of documents with one of some write states.
pub(super) async fn list_by_write_state(
    ctx: &Context<'_>,
    states: Vec<DocumentWriteState>,
    filter: DocumentFilter,
    args: PageArgs,
) -> Result<DocumentConnection> {
    let slice = args.slice(ctx, |field, cursor| decode_cursor(LIST, "t", field, cursor))?;
    bounds::length("states", states.len())?;
    bounds::optional_key("filter.ownerDid", filter.owner_did.as_deref())?;
    bounds::optional_key("filter.connectorName", filter.connector_name.as_deref())?;
    let filter = store::DocumentFilter { owner_did: filter.owner_did, connector_name: filter.connector_name };
    let store = &ctx.data_unchecked::<Services>().store;
    let viewer = ctx.data_unchecked::<Arc<Viewer>>();
    let page = store.documents_by_write_state(viewer, &states, &filter, &slice).await?;
    Ok(DocumentConnection::new(page, |row| {
        (encode_cursor(LIST, row.key(&store::BY_DOCUMENT)), Document(row.document_id))
    }))
}

impl EntityTrim {
    pub(super) fn of(row: &domain::EntityTrim) -> async_graphql::Result<Self> {
        Ok(Self {
            document_id: row.document_id.clone(),
            owner_did: row.owner_did.clone(),
            connector_name: row.connector_name.clone(),
            trimmed_fields: Json::stored(&row.trimmed_fields)?,
            updated_at: DateTime(row.updated_at),
        })
    }
}

impl From<&domain::ObservationRepair> for ObservationRepair {
    fn from(row: &domain::ObservationRepair) -> Self {
        Self {
            document_id: row.document_id.clone(),
            owner: row.owner.clone(),
            fetch_hlc: row.fetch_hlc.clone(),
            decision_hlc: row.decision_hlc.clone(),
            present: row.present != 0,
            value_digest: row.value_digest.clone(),
            written_at: DateTime(row.written_at),
        }
    }
}

impl Document {
    async fn facts(&self, ctx: &Context<'_>) -> Result<Arc<domain::WriteFacts>> {
        Ok(load(ctx, WriteFactsOf(self.0.clone())).await?.unwrap_or_default())
    }

    async fn watch_rows(&self, ctx: &Context<'_>) -> Result<Arc<Vec<WatchRow>>> {
        Ok(load(ctx, WatchesOf(self.0.clone())).await?.unwrap_or_default())
    }

    /// The watch of the latest commit's owner and model; none without a commit.
    async fn watch_row(&self, ctx: &Context<'_>, facts: &domain::WriteFacts) -> Result<Option<WatchRow>> {
        let Some(commit) = &facts.last_commit else { return Ok(None) };
        let watches = self.watch_rows(ctx).await?;
        Ok(watches.iter().find(|row| row.owner_did == commit.owner_did && row.model == commit.model).cloned())
    }
}

/// A document of the local store and what became of its writes, as far as the viewer may see them. Any id names one.
#[Object]
impl Document {
    /// The document's id in the local store.
    async fn id(&self) -> &str {
        &self.0
    }

    /// What became of its writes.
    async fn write_state(&self, ctx: &Context<'_>) -> async_graphql::Result<DocumentWriteState> {
        let facts = self.facts(ctx).await?;
        let watch = self.watch_row(ctx, &facts).await?;
        Ok(facts.write_state(watch.map(|watch| watch.verification_status)))
    }

    /// Its operations, oldest first.
    async fn operations(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "How many from the front, 0 to 100; 50 when neither this nor last is given.")] first: Option<
            i32,
        >,
        #[graphql(desc = "Only rows after this cursor.")] after: Option<String>,
        #[graphql(desc = "How many from the back, 0 to 100.")] last: Option<i32>,
        #[graphql(desc = "Only rows before this cursor.")] before: Option<String>,
    ) -> async_graphql::Result<OperationConnection> {
        let order = OperationOrder::CreatedAsc;
        let args = PageArgs { first, after, last, before };
        let slice = args
            .slice(ctx, |field, cursor| operations::decode(order, field, cursor))
            .map_err(super::errors::Failure::from)?;
        let page = load(ctx, OperationsOf { document_id: self.0.clone(), slice }).await?.unwrap_or_default();
        Ok(operations::connect(page, order))
    }

    /// Its operations that are not settled, of any age, oldest first.
    async fn in_flight(&self, ctx: &Context<'_>) -> async_graphql::Result<Vec<Operation>> {
        Ok(self.facts(ctx).await?.in_flight.iter().cloned().map(Operation::from).collect())
    }

    /// Its latest operation that was committed.
    async fn last_commit(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<Operation>> {
        Ok(self.facts(ctx).await?.last_commit.clone().map(Operation::from))
    }

    /// Its newest dead operation since the latest commit.
    async fn last_failure(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<Operation>> {
        Ok(self.facts(ctx).await?.last_failure.clone().map(Operation::from))
    }

    /// The watch of its latest commit's owner and model.
    async fn watch(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<Watch>> {
        let facts = self.facts(ctx).await?;
        Ok(self.watch_row(ctx, &facts).await?.map(Watch::from))
    }

    /// All its watches, by identity.
    async fn watches(&self, ctx: &Context<'_>) -> async_graphql::Result<Vec<Watch>> {
        Ok(self.watch_rows(ctx).await?.iter().cloned().map(Watch::from).collect())
    }

    /// What the local store shows of it now, as the connector said last.
    async fn winner(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<Winner>> {
        Ok(load(ctx, WinnerOf(self.0.clone())).await?.as_deref().map(Winner::from))
    }

    /// Fields that were left out of its copy at the provider.
    async fn trim(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<EntityTrim>> {
        load(ctx, TrimOf(self.0.clone())).await?.as_deref().map(EntityTrim::of).transpose()
    }

    /// The repair that it waits for.
    async fn repair(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<ObservationRepair>> {
        Ok(load(ctx, RepairOf(self.0.clone())).await?.as_deref().map(ObservationRepair::from))
    }

    /// Whether a watch, a sweep's candidate, a trim, a repair or an unsettled operation is left of it.
    async fn has_connector_work(&self, ctx: &Context<'_>) -> async_graphql::Result<bool> {
        let id = || self.0.clone();
        Ok(!self.facts(ctx).await?.in_flight.is_empty()
            || !self.watch_rows(ctx).await?.is_empty()
            || load(ctx, TrimOf(id())).await?.is_some()
            || load(ctx, RepairOf(id())).await?.is_some()
            || load(ctx, IsCandidate(id())).await?.is_some())
    }

    /// What happened to it, its operations and its watches, oldest first.
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
        Ok(timeline(ctx, ChangesOf::Document, self.0.clone(), args).await?)
    }
}
