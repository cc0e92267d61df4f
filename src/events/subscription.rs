//! One subscription's way through the log: what it missed from the table, then what comes by broadcast.

use std::sync::Arc;

use futures_util::stream::{self, Stream};
use tokio::sync::broadcast::{self, error::RecvError};

use super::{BATCH, Batch, Feed};
use crate::domain::changes::{Change, ChangeFilter};
use crate::domain::viewer::Viewer;
use crate::store::{Error, Result, patiently};

/// Where a subscription is, and what it wants.
struct Follower {
    feed: Feed,
    live: broadcast::Receiver<Batch>,
    viewer: Arc<Viewer>,
    filter: ChangeFilter,
    /// The number of the last change that was looked at.
    looked_at: i64,
    /// The log has to be read up to this number before the broadcast is of use.
    behind_until: i64,
}

impl Feed {
    /// Follows the log: runs of changes that match, each change once, in order. `after` is the number to go on from;
    /// without one it starts with what is committed after the call. The second part is the place before everything that
    /// the stream will bring.
    ///
    /// # Errors
    /// When the database is not reached.
    pub async fn changes(
        &self,
        viewer: Arc<Viewer>,
        filter: ChangeFilter,
        after: Option<i64>,
    ) -> Result<(impl Stream<Item = Result<Vec<Arc<Change>>>> + Send + use<>, i64)> {
        // In this order: what is published after the position is read comes by the broadcast.
        let live = self.batches.subscribe();
        let (start, position) = if let Some(after) = after {
            (after, *self.position.borrow())
        } else {
            let position = self.caught_up().await?;
            (position, position)
        };
        let feed = self.clone();
        let follower = Follower { feed, live, viewer, filter, looked_at: start, behind_until: position };
        Ok((stream::try_unfold(follower, Follower::next), start))
    }
}

impl Follower {
    async fn next(mut self) -> Result<Option<(Vec<Arc<Change>>, Self)>> {
        loop {
            let batch = if self.looked_at < self.behind_until {
                self.read_log().await?
            } else {
                match self.live.recv().await {
                    Ok(batch) => batch,
                    Err(RecvError::Lagged(_)) => {
                        self.behind_until = *self.feed.position.borrow();
                        continue;
                    }
                    Err(RecvError::Closed) => return Ok(None),
                }
            };
            let fresh: Vec<Arc<Change>> = batch
                .iter()
                .filter(|change| change.sequence > self.looked_at)
                .filter(|change| self.filter.matches(&self.viewer, change))
                .cloned()
                .collect();
            if let Some(last) = batch.last() {
                self.looked_at = self.looked_at.max(last.sequence);
            }
            if !fresh.is_empty() {
                return Ok(Some((fresh, self)));
            }
        }
    }

    async fn read_log(&mut self) -> Result<Batch> {
        let store = &self.feed.store;
        let trimmed = patiently(|| store.feed_info()).await?.trimmed_through;
        if self.looked_at < trimmed {
            return Err(Error::CursorExpired { oldest: self.feed.cursor(trimmed).to_string() });
        }
        let changes = patiently(|| store.changes_between(self.looked_at, self.behind_until, BATCH)).await?;
        if i64::try_from(changes.len()) != Ok(BATCH) {
            // The rest of the range was never kept: go on live from its end.
            self.behind_until = changes.last().map_or(self.looked_at, |last| last.sequence);
        }
        Ok(Arc::new(changes.into_iter().map(Arc::new).collect()))
    }
}
