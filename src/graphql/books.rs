//! What can be read beside operations, watches and documents: due work, sweeps, sync, hand-offs, observations.

use std::sync::Arc;

use async_graphql::{Context, Object};

use super::Services;
use super::documents::{self, DocumentConnection, DocumentFilter, ObservationRepair};
use super::due::{self, DueFilter};
use super::errors::Failure;
use super::loaders::{RepairOf, load};
use super::observations::{self, ObservationDecision, ObservationKeyInput, ObservationRepairConnection};
use super::operations::OperationConnection;
use super::pages::PageArgs;
use super::pending_auth::{self, PendingAuth, PendingAuthConnection};
use super::sweeps::{
    self, SweepCandidateConnection, SweepCandidateFilter, SweepCheckpoint, SweepPartitionInput, SweepReceiptConnection,
    SweepReceiptFilter,
};
use super::sync::{self, SyncState, SyncStateConnection};
use super::watches::WatchConnection;
use crate::domain::bounds;
use crate::domain::viewer::Viewer;
use crate::domain::words::DocumentWriteState;

/// What can be read beside operations, watches and documents.
#[derive(Default)]
pub struct BookQuery;

const fn forward(first: Option<i32>, after: Option<String>) -> PageArgs {
    PageArgs { first, after, last: None, before: None }
}

/// What can be read beside operations, watches and documents.
#[Object]
impl BookQuery {
    /// The documents with one of these write states, by id, as far as the viewer may see why.
    async fn documents_by_write_state(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The write states; an empty list matches nothing.")] states: Vec<DocumentWriteState>,
        #[graphql(desc = "Which ones; all when left out.")] filter: Option<DocumentFilter>,
        #[graphql(desc = "How many, 0 to 100; 50 when left out.")] first: Option<i32>,
        #[graphql(desc = "Only rows after this cursor.")] after: Option<String>,
    ) -> async_graphql::Result<DocumentConnection> {
        let filter = filter.unwrap_or_default();
        Ok(documents::list_by_write_state(ctx, states, filter, forward(first, after)).await?)
    }

    /// The operations that are due now, oldest due first: what a worker may drive.
    async fn due_operations(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Which ones; all that nobody works on when left out.")] filter: Option<DueFilter>,
        #[graphql(desc = "How many, 0 to 100; 50 when left out.")] first: Option<i32>,
        #[graphql(desc = "Only rows after this cursor.")] after: Option<String>,
    ) -> async_graphql::Result<OperationConnection> {
        Ok(due::operations(ctx, filter, forward(first, after)).await?)
    }

    /// The watches that are due now, oldest due first: by their schedule, and settled ones whose winner has moved since.
    async fn due_watches(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Which ones; all that nobody works on when left out.")] filter: Option<DueFilter>,
        #[graphql(desc = "How many, 0 to 100; 50 when left out.")] first: Option<i32>,
        #[graphql(desc = "Only rows after this cursor.")] after: Option<String>,
    ) -> async_graphql::Result<WatchConnection> {
        Ok(due::watches(ctx, filter, forward(first, after)).await?)
    }

    /// The receipts of relists that match, by partition and sequence.
    async fn sweep_receipts(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Which ones; all when left out.")] filter: Option<SweepReceiptFilter>,
        #[graphql(desc = "How many, 0 to 100; 50 when left out.")] first: Option<i32>,
        #[graphql(desc = "Only rows after this cursor.")] after: Option<String>,
    ) -> async_graphql::Result<SweepReceiptConnection> {
        Ok(sweeps::list_receipts(ctx, filter.unwrap_or_default(), forward(first, after)).await?)
    }

    /// The sweep candidates that match, longest untouched first.
    async fn sweep_candidates(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Which ones; all when left out.")] filter: Option<SweepCandidateFilter>,
        #[graphql(desc = "How many, 0 to 100; 50 when left out.")] first: Option<i32>,
        #[graphql(desc = "Only rows after this cursor.")] after: Option<String>,
    ) -> async_graphql::Result<SweepCandidateConnection> {
        Ok(sweeps::list_candidates(ctx, filter.unwrap_or_default(), forward(first, after)).await?)
    }

    /// How far the sweeps of a partition are done; null before the first.
    async fn sweep_checkpoint(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "What names the partition.")] key: SweepPartitionInput,
    ) -> async_graphql::Result<Option<SweepCheckpoint>> {
        let partition = key.checked().map_err(Failure::from)?;
        let store = &ctx.data_unchecked::<Services>().store;
        let viewer = ctx.data_unchecked::<Arc<Viewer>>();
        let found = store.checkpoint(viewer, &partition).await.map_err(Failure::from)?;
        Ok(found.map(SweepCheckpoint::from))
    }

    /// How far a connector has read of an owner's data.
    async fn sync_state(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The connector that reads.")] connector_name: String,
        #[graphql(desc = "The DID whose data is read.")] owner_did: String,
    ) -> async_graphql::Result<Option<SyncState>> {
        bounds::key("connectorName", &connector_name).map_err(Failure::from)?;
        bounds::key("ownerDid", &owner_did).map_err(Failure::from)?;
        let store = &ctx.data_unchecked::<Services>().store;
        let viewer = ctx.data_unchecked::<Arc<Viewer>>();
        let found = store.sync_state(viewer, &connector_name, &owner_did).await.map_err(Failure::from)?;
        Ok(found.map(SyncState::from))
    }

    /// The sync states, by connector and owner.
    async fn sync_states(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Of this connector; of all when left out.")] connector_name: Option<String>,
        #[graphql(desc = "Of this owner; of all when left out.")] owner_did: Option<String>,
        #[graphql(desc = "How many, 0 to 100; 50 when left out.")] first: Option<i32>,
        #[graphql(desc = "Only rows after this cursor.")] after: Option<String>,
    ) -> async_graphql::Result<SyncStateConnection> {
        Ok(sync::list(ctx, connector_name, owner_did, forward(first, after)).await?)
    }

    /// The authorisation that is waited for under a state.
    async fn pending_auth(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "What names it.")] state: String,
    ) -> async_graphql::Result<Option<PendingAuth>> {
        bounds::key("state", &state).map_err(Failure::from)?;
        let store = &ctx.data_unchecked::<Services>().store;
        let viewer = ctx.data_unchecked::<Arc<Viewer>>();
        let found = store.pending_auth(viewer, &state).await.map_err(Failure::from)?;
        Ok(found.map(PendingAuth::from))
    }

    /// The authorisations that are waited for, oldest first.
    async fn pending_auths(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "For this owner's data; for all when left out.")] owner_did: Option<String>,
        #[graphql(desc = "At this provider; at all when left out.")] provider: Option<String>,
        #[graphql(desc = "How many, 0 to 100; 50 when left out.")] first: Option<i32>,
        #[graphql(desc = "Only rows after this cursor.")] after: Option<String>,
    ) -> async_graphql::Result<PendingAuthConnection> {
        Ok(pending_auth::list(ctx, (owner_did, provider), forward(first, after)).await?)
    }

    /// What counts of the signed claims about one owner and id.
    async fn observation_decision(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Whose observation it is.")] owner: String,
        #[graphql(desc = "What was observed.")] id: String,
    ) -> async_graphql::Result<Option<ObservationDecision>> {
        let found = observations::decisions(ctx, vec![ObservationKeyInput::of(owner, id)]).await?;
        Ok(found.into_iter().next().flatten())
    }

    /// What counts of each of these, in the same order; null where nothing is known.
    async fn observation_decisions(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "What names them, at most 500.")] keys: Vec<ObservationKeyInput>,
    ) -> async_graphql::Result<Vec<Option<ObservationDecision>>> {
        Ok(observations::decisions(ctx, keys).await?)
    }

    /// The repairs that these documents wait for, in the same order; null where there is none.
    async fn observation_repairs(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The documents, at most 500.")] document_ids: Vec<String>,
    ) -> async_graphql::Result<Vec<Option<ObservationRepair>>> {
        bounds::ids("documentIds", &document_ids).map_err(Failure::from)?;
        let found = document_ids.into_iter().map(|id| load(ctx, RepairOf(id)));
        let found = futures_util::future::join_all(found).await;
        let found = found.into_iter().collect::<Result<Vec<_>, Failure>>()?;
        Ok(found.into_iter().map(|row| row.as_deref().map(ObservationRepair::from)).collect())
    }

    /// The repairs in the order in which they were written: whoever goes on after a cursor misses no later write.
    async fn observation_repairs_written(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "How many, 0 to 100; 50 when left out.")] first: Option<i32>,
        #[graphql(desc = "Only rows after this cursor.")] after: Option<String>,
    ) -> async_graphql::Result<ObservationRepairConnection> {
        Ok(observations::repairs_written(ctx, forward(first, after)).await?)
    }
}
