//! The server as clients see it.

use async_graphql::{Context, Object, SimpleObject};

use super::Services;
use super::errors::Failure;
use super::scalars::{DateTime, Json};

/// What a task of upkeep did last.
#[derive(Debug, SimpleObject)]
pub(super) struct UpkeepStatus {
    /// The task.
    task: String,
    /// When it ran last, on whichever server.
    last_run_at: Option<DateTime>,
    /// What its last batch did.
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

/// What can be asked of the server itself.
#[Object]
impl StatusQuery {
    /// How this server and its database do.
    async fn server_status(&self, ctx: &Context<'_>) -> async_graphql::Result<ServerStatus> {
        let Services { store, feed, started_at, .. } = ctx.data_unchecked::<Services>();
        let narrow = |count: i64| i32::try_from(count).unwrap_or(i32::MAX);
        let tasks = store.upkeep_tasks().await.map_err(Failure::from)?;
        let upkeep = tasks.into_iter().map(|task| {
            Ok(UpkeepStatus {
                task: task.task,
                last_run_at: Some(DateTime(task.last_run_at)),
                last_result: Some(Json::stored(&task.last_result)?),
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
