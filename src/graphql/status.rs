//! The server as clients see it, and what is found in it.

use std::sync::Arc;

use async_graphql::{Context, Object, SimpleObject};

use super::Services;
use super::errors::{Failure, Result};
use super::node::{Node, node};
use super::scalars::{DateTime, Json};
use super::statistics::{Statistics, StatisticsFilter};
use crate::domain::bounds::{self, BadInput};
use crate::domain::ids::NodeId;
use crate::domain::viewer::Viewer;

/// What a task of upkeep did last.
#[derive(Debug, SimpleObject)]
pub(super) struct UpkeepStatus {
    /// The task.
    task: String,
    /// When it ran last, on whichever server.
    last_run_at: Option<DateTime>,
    /// What its last batch did; for services and operators.
    last_result: Option<Json>,
}

/// This server and its database.
#[derive(Debug, SimpleObject)]
pub(super) struct ServerStatus {
    /// The version of the program.
    version: String,
    /// The database: sqlite or postgres.
    engine: String,
    /// When this server started.
    started_at: DateTime,
    /// How many servers work on the database.
    servers: i32,
    /// How long the oldest change that subscribers have not been told of has waited, in ms.
    feed_lag_ms: i32,
    /// Acts that wait to be written by this server.
    queue_depth: i32,
    /// What each task of upkeep did last, on whichever server.
    upkeep: Vec<UpkeepStatus>,
}

/// What can be asked of the server itself.
#[derive(Default)]
pub struct StatusQuery;

/// What a search answers when it is not said how many are wanted, and the most.
const FOUND: (i32, i32) = (20, 100);

async fn search(ctx: &Context<'_>, text: &str, first: Option<i32>) -> Result<Vec<Node>> {
    bounds::key("text", text)?;
    let first = first.unwrap_or(FOUND.0);
    let limit = usize::try_from(first)
        .ok()
        .filter(|_| first <= FOUND.1)
        .ok_or_else(|| BadInput::new("first", format!("must be 0 to {}, got {first}", FOUND.1)))?;
    // A node id names one node and nothing else.
    let mut found: Vec<Node> = match NodeId::decode("text", text) {
        Ok(_) => node(ctx, "text", text).await?.into_iter().collect(),
        Err(_) => vec![],
    };
    let store = &ctx.data_unchecked::<Services>().store;
    let rows = store.search(ctx.data_unchecked::<Arc<Viewer>>(), text, limit).await?;
    found.extend(rows.operations.into_iter().map(|row| Node::Operation(Box::new(row.into()))));
    found.extend(rows.watches.into_iter().map(|row| Node::Watch(Box::new(row.into()))));
    found.extend(rows.candidates.into_iter().map(|row| Node::SweepCandidate(Box::new(row.into()))));
    found.truncate(limit);
    Ok(found)
}

/// What can be asked of the server itself.
#[Object]
impl StatusQuery {
    /// What has an id or a key that is this text or begins with it: by node id; operations by their own id, document, source or
    /// event; watches by document or source; sweep candidates by document. Exact ones come first in each kind.
    async fn search(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "An id or key, or its beginning; 1 to 512 bytes.")] text: String,
        #[graphql(desc = "How many at most, 0 to 100; 20 when left out.")] first: Option<i32>,
    ) -> async_graphql::Result<Vec<Node>> {
        Ok(search(ctx, &text, first).await?)
    }

    /// How many there are of what, what needs a person's eye, and what happened over time.
    async fn statistics(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Of whom and by what; of all when left out.")] filter: Option<StatisticsFilter>,
    ) -> async_graphql::Result<Statistics> {
        Ok(Statistics::of(ctx, filter)?)
    }

    /// How this server and its database do.
    async fn server_status(&self, ctx: &Context<'_>) -> async_graphql::Result<ServerStatus> {
        let Services { store, feed, started_at, .. } = ctx.data_unchecked::<Services>();
        let narrow = |count: i64| i32::try_from(count).unwrap_or(i32::MAX);
        let tasks = store.upkeep_tasks().await.map_err(Failure::from)?;
        // It counts what others had.
        let all = ctx.data_unchecked::<Arc<Viewer>>().confined_to().is_none();
        let upkeep = tasks.into_iter().map(|task| {
            Ok(UpkeepStatus {
                task: task.task,
                last_run_at: Some(DateTime(task.last_run_at)),
                last_result: all.then(|| Json::stored(&task.last_result)).transpose()?,
            })
        });
        Ok(ServerStatus {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            engine: store.engine().name().to_owned(),
            started_at: DateTime(*started_at),
            servers: narrow(store.servers().await.map_err(Failure::from)?),
            feed_lag_ms: narrow(feed.lag_ms().await.map_err(Failure::from)?),
            queue_depth: i32::try_from(store.queue_depth()).unwrap_or(i32::MAX),
            upkeep: upkeep.collect::<async_graphql::Result<_>>()?,
        })
    }
}
