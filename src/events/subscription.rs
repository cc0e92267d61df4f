//! One subscription's way through the log: what it missed from the table, then what the router hands it.

use std::sync::Arc;

use futures_util::stream::{self, Stream};

use super::router::{Listening, Run, Taken, Wanted};
use super::{BATCH, Feed};
use crate::store::{Error, Result, patiently};

/// Where a subscription is.
struct Follower {
    feed: Feed,
    listening: Listening,
    /// The number of the last change that it got, or looked at in the log.
    looked_at: i64,
    /// The log has to be read up to this number before what is handed on is of use.
    behind_until: i64,
}

impl Feed {
    /// Follows the log: runs of changes that are wanted, each change once, in order. `after` is the number to go on from;
    /// without one it starts with what is committed after the call. The second part is the place before everything that
    /// the stream will bring.
    ///
    /// # Errors
    /// When the database is not reached.
    pub async fn changes(
        &self,
        wanted: Wanted,
        after: Option<i64>,
    ) -> Result<(impl Stream<Item = Result<Run>> + Send + use<>, i64)> {
        // In this order: what is published after the position is read is handed on to who listens by then.
        let listening = self.router.listen(wanted);
        let (start, position) = if let Some(after) = after {
            (after, *self.position.borrow())
        } else {
            let position = self.caught_up().await?;
            (position, position)
        };
        let follower = Follower { feed: self.clone(), listening, looked_at: start, behind_until: position };
        Ok((stream::try_unfold(follower, Follower::next), start))
    }
}

impl Follower {
    async fn next(mut self) -> Result<Option<(Run, Self)>> {
        loop {
            let mut run = if self.looked_at < self.behind_until {
                // Boxed: an idle subscription keeps no room for it.
                Box::pin(self.read_log()).await?
            } else {
                match self.listening.take().await {
                    Taken::Run(run) => run,
                    Taken::Overflowed => {
                        // Whatever was not kept was published before.
                        self.behind_until = *self.feed.position.borrow();
                        continue;
                    }
                    Taken::Closed => return Ok(None),
                }
            };
            let looked_at = self.looked_at;
            if let Some(last) = run.changes.last() {
                self.looked_at = looked_at.max(last.sequence);
            }
            let wanted = self.listening.wanted();
            run.changes.retain(|change| change.sequence > looked_at && wanted.matches(change));
            if !run.changes.is_empty() {
                return Ok(Some((run, self)));
            }
        }
    }

    async fn read_log(&mut self) -> Result<Run> {
        let store = &self.feed.store;
        let trimmed = patiently(|| store.feed_info()).await?.trimmed_through;
        if self.looked_at < trimmed {
            return Err(Error::CursorExpired { oldest: self.feed.cursor(trimmed) });
        }
        let changes = patiently(|| store.changes_between(self.looked_at, self.behind_until, BATCH)).await?;
        if i64::try_from(changes.len()) != Ok(BATCH) {
            // The rest of the range was never kept: go on live from its end.
            self.behind_until = changes.last().map_or(self.looked_at, |last| last.sequence);
        }
        Ok(Run { changes: changes.into_iter().map(Arc::new).collect(), shown: None })
    }
}
