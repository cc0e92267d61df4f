//! Everything that can be read.

use std::sync::Arc;

use async_graphql::{Context, ID, Object};

use super::Services;
use super::changes::{self, ChangeConnection, ChangeFilter};
use super::documents::Document;
use super::errors::Failure;
use super::node::{Node, node};
use super::operations::{self, Operation, OperationConnection, OperationFilter, OperationOrder};
use super::pages::PageArgs;
use super::viewer::Viewer;
use super::watches::{self, Watch, WatchConnection, WatchFilter, WatchIdentityInput};
use crate::domain::bounds;
use crate::domain::viewer::Viewer as Asking;

/// Everything that can be read. What a viewer may not see does not exist for them.
#[derive(Default)]
pub struct MainQuery;

/// Everything that can be read. What a viewer may not see does not exist for them.
#[Object]
impl MainQuery {
    /// The entity with this id; null when there is none.
    async fn node(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The id of any node.")] id: ID,
    ) -> async_graphql::Result<Option<Node>> {
        Ok(node(ctx, "id", &id).await?)
    }

    /// The entities with these ids, in the same order; null where there is none.
    async fn nodes(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Ids of any nodes, at most 500.")] ids: Vec<ID>,
    ) -> async_graphql::Result<Vec<Option<Node>>> {
        bounds::length("ids", ids.len()).map_err(Failure::from)?;
        let found = futures_util::future::join_all(ids.iter().map(|id| node(ctx, "ids", id))).await;
        Ok(found.into_iter().collect::<Result<Vec<_>, Failure>>()?)
    }

    /// Who is asking.
    async fn viewer(&self, ctx: &Context<'_>) -> Viewer {
        Viewer::from(&**ctx.data_unchecked::<Arc<Asking>>())
    }

    /// The operation under this key.
    async fn operation(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The DID that claimed it.")] caller_did: String,
        #[graphql(desc = "The caller's own name for it.")] operation_id: String,
    ) -> async_graphql::Result<Option<Operation>> {
        bounds::key("callerDid", &caller_did).map_err(Failure::from)?;
        bounds::key("operationId", &operation_id).map_err(Failure::from)?;
        let store = &ctx.data_unchecked::<Services>().store;
        let viewer = ctx.data_unchecked::<Arc<Asking>>();
        let found = store.operation(viewer, &caller_did, &operation_id).await.map_err(Failure::from)?;
        Ok(found.map(Operation::from))
    }

    /// The operations that match, by default oldest first.
    #[expect(clippy::too_many_arguments, reason = "Relay's four page arguments beside a filter and an order")]
    async fn operations(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Which operations; all when left out.")] filter: Option<OperationFilter>,
        #[graphql(desc = "The order; oldest first when left out.")] order_by: Option<OperationOrder>,
        #[graphql(desc = "How many from the front, 0 to 100; 50 when neither this nor last is given.")] first: Option<
            i32,
        >,
        #[graphql(desc = "Only rows after this cursor.")] after: Option<String>,
        #[graphql(desc = "How many from the back, 0 to 100.")] last: Option<i32>,
        #[graphql(desc = "Only rows before this cursor.")] before: Option<String>,
    ) -> async_graphql::Result<OperationConnection> {
        let order = order_by.map(Into::into).unwrap_or_default();
        let args = PageArgs { first, after, last, before };
        Ok(operations::list(ctx, filter.unwrap_or_default(), order, args).await?)
    }

    /// The watch with this identity.
    async fn watch(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "What names the watch.")] identity: WatchIdentityInput,
    ) -> async_graphql::Result<Option<Watch>> {
        let identity = identity.checked().map_err(Failure::from)?;
        let store = &ctx.data_unchecked::<Services>().store;
        let found = store.watch(ctx.data_unchecked::<Arc<Asking>>(), &identity).await.map_err(Failure::from)?;
        Ok(found.map(Watch::from))
    }

    /// The watches that match, by identity.
    async fn watches(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Which watches; all when left out.")] filter: Option<WatchFilter>,
        #[graphql(desc = "How many from the front, 0 to 100; 50 when neither this nor last is given.")] first: Option<
            i32,
        >,
        #[graphql(desc = "Only rows after this cursor.")] after: Option<String>,
        #[graphql(desc = "How many from the back, 0 to 100.")] last: Option<i32>,
        #[graphql(desc = "Only rows before this cursor.")] before: Option<String>,
    ) -> async_graphql::Result<WatchConnection> {
        Ok(watches::list(ctx, filter.unwrap_or_default(), PageArgs { first, after, last, before }).await?)
    }

    /// The document with this id, whether or not anything was ever written of it.
    async fn document(
        &self,
        #[graphql(desc = "The document's id in the local store.")] id: String,
    ) -> async_graphql::Result<Document> {
        bounds::key("id", &id).map_err(Failure::from)?;
        Ok(Document(id))
    }

    /// The documents with these ids, in the same order.
    async fn documents(
        &self,
        #[graphql(desc = "The documents' ids in the local store, at most 500.")] ids: Vec<String>,
    ) -> async_graphql::Result<Vec<Document>> {
        bounds::ids("ids", &ids).map_err(Failure::from)?;
        Ok(ids.into_iter().map(Document).collect())
    }

    /// What happened, oldest first. A cursor of any change goes on from there.
    async fn changes(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Which changes; all when left out.")] filter: Option<ChangeFilter>,
        #[graphql(desc = "How many from the front, 0 to 100; 50 when neither this nor last is given.")] first: Option<
            i32,
        >,
        #[graphql(desc = "Only rows after this cursor.")] after: Option<String>,
        #[graphql(desc = "How many from the back, 0 to 100.")] last: Option<i32>,
        #[graphql(desc = "Only rows before this cursor.")] before: Option<String>,
    ) -> async_graphql::Result<ChangeConnection> {
        Ok(changes::list(ctx, filter.unwrap_or_default(), PageArgs { first, after, last, before }).await?)
    }
}
