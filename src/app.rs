//! What resolvers, transports and loops receive: the only wiring.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::access::Access;
use crate::config::Config;
use crate::events::Feed;
use crate::graphql::{self, Schema};
use crate::store::{Result, Store};
use crate::upkeep;

/// How often a server sets its clock by the database's.
const CLOCK_REFRESH: std::time::Duration = std::time::Duration::from_secs(10);

/// A server's parts. Cheap to clone.
#[derive(Clone)]
pub struct App {
    /// The settings.
    pub config: Arc<Config>,
    /// Who signs in.
    pub access: Access,
    /// The database.
    pub store: Store,
    /// The changes.
    pub feed: Feed,
    /// What clients may ask.
    pub schema: Schema,
}

impl App {
    /// Starts the feed and the loops over a store; they stop with the token.
    ///
    /// # Errors
    /// When the database is not reached.
    pub async fn start(config: Config, access: Access, store: Store, stop: CancellationToken) -> Result<Self> {
        store.keep_tombstones(i64::from(config.upkeep.keep_tombstones_days) * upkeep::DAY_MS);
        let feed = Feed::start(store.clone(), stop.clone()).await?;
        tokio::spawn(access.clone().follow_file(store.metrics().clone(), stop.clone()));
        tokio::spawn(keep_time(store.clone(), stop));
        let schema = graphql::schema(store.clone(), feed.clone(), access.clone());
        Ok(Self { config: Arc::new(config), access, store, feed, schema })
    }

    /// Whether the server can do its work: the database is reached, its schema is ours, the feed runs.
    ///
    /// # Errors
    /// What is missing, in words for the person on call.
    pub async fn ready(&self) -> std::result::Result<(), String> {
        if let Err(error) = self.store.reached().await {
            tracing::warn!(%error, "not ready");
            return Err("the database is not reached".to_owned());
        }
        if !self.feed.is_running() {
            return Err("the feed does not run".to_owned());
        }
        Ok(())
    }
}

async fn keep_time(store: Store, stop: CancellationToken) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(CLOCK_REFRESH) => {}
            () = stop.cancelled() => return,
        }
        if let Err(error) = store.refresh_clock().await {
            tracing::warn!(%error, "the clock runs on by its last reading of the database's");
        }
    }
}
